"""A running API server gives the answers of the table that the reference is held to."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from clusters.controlplane import ControlPlane
from clusters.objects import Objects
from kueue_dra_ref.target import Manifest, Ref
from tests.apiserver import NAMESPACES, Row, rows, slim

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def objects(plane: ControlPlane) -> Iterator[Objects]:
    """Have the namespaces that the table is about."""
    found = Objects(api=plane.api)
    for name, labels in NAMESPACES.items():
        found.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    yield found
    for name in NAMESPACES:
        found.delete(Ref(api_version="v1", kind="Namespace", name=name))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.case)
def test_the_api_server_answers_as_the_table_says(row: Row, objects: Objects) -> None:
    """Code, message and the stored spec in v1 are those of the table."""
    ref = Ref.of({**row.manifest, "apiVersion": "resource.k8s.io/v1"})
    objects.delete(ref)
    if row.before is None:
        answer = objects.create(row.manifest)
    else:
        assert objects.create(row.before).ok
        answer = objects.replace(_over(objects.read(ref), row.manifest))

    spec = (objects.read(ref) or {}).get("spec") if answer.ok else None
    objects.delete(ref)

    message = _in_order_of(row.message, answer.message)
    assert row.expects(answer.code, message, spec), (answer.code, message, slim(spec))


def _in_order_of(expected: str, message: str) -> str:
    """Order the faults of a message as the table does: an API server goes through attributes in any order."""
    return expected if sorted(_faults(message)) == sorted(_faults(expected)) else message


def _faults(message: str) -> list[str]:
    return re.split(r", |(?<=: )\[|\]$", message)


def _over(stored: Manifest | None, manifest: Manifest) -> Manifest:
    assert stored is not None
    return {**manifest, "metadata": {**stored["metadata"], **manifest["metadata"]}}
