"""A running API server gives the answers of the table that the reference is held to, and to any object the same."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.waiting import TimedOut, WaitLimits
from kueue_dra_ref.apiserver import CONTROL_PLANE, AcceptedRequest, RejectedRequest
from kueue_dra_ref.target import Manifest, Ref
from tests.apiserver import NAMESPACES, Row, answer_of, in_order_of, rows, slim
from tests.object_grammar import Grammar
from tests.other_minors import ask, spec_in_v1

pytestmark = pytest.mark.live

SEED = int(os.environ.get("OBJECTS_SEED", "20261123"))
OBJECTS = int(os.environ.get("OBJECTS", "1000"))
_LARGE = 3000
"""Rows of more characters are limits of size, which the table asks about."""
_CHANGED = 0.25
"""How often an object is not new."""
_PATIENCE = 2.0
"""Seconds after which a closed connection is one, and no restart."""
_CLOSED = (500, "")
"""The end of an answer in which the API server divides by zero."""


@pytest.fixture(scope="module")
def objects(plane: ControlPlane) -> Iterator[APIClient]:
    """Have the namespaces that the objects are in."""
    found = APIClient(api=plane.api, limits=replace(WaitLimits(), ready=_PATIENCE))
    for name, labels in NAMESPACES.items():
        found.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    yield found
    for name in NAMESPACES:
        deleted = found.delete(Ref(api_version="v1", kind="Namespace", name=name))
        # No namespace controller runs here: without this the namespace is terminating for the tests that follow.
        found.replace({**deleted.body, "spec": {"finalizers": []}}, subresource="finalize")


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.case)
def test_the_api_server_answers_as_the_table_says(row: Row, objects: APIClient) -> None:
    """Code, message and the stored spec in v1 are those of the table."""
    answer, stored = ask(objects, row.manifest, row.before, CONTROL_PLANE)
    message, spec = in_order_of(row.message, answer.message), stored.get("spec")
    assert row.expects(answer.code, message, spec), (answer.code, message, slim(spec))


def test_objects_that_are_wrong_are_answered_as_an_api_server_answers_them(objects: APIClient) -> None:
    """OBJECTS of a seed, new and changed: code, message and the stored spec are the same."""
    source = random.Random(SEED)
    table = [row for row in rows() if len(str(row.manifest)) < _LARGE]
    grammar = Grammar(source, [row.manifest for row in table])
    wrong = []
    for _ in range(OBJECTS):
        row = source.choice(table)
        is_taken = row.code == 201 and row.stored and row.manifest["apiVersion"].endswith("/v1")
        before = row.manifest if is_taken and source.random() < _CHANGED else row.before
        manifest = grammar.wrong(row.manifest)
        ours, theirs = _ours(manifest, before), _theirs(manifest, before, objects)
        if not _is_alike(ours, theirs):
            wrong.append((manifest, before, theirs, ours))
    assert not wrong, f"{len(wrong)} with OBJECTS_SEED={SEED}, the first of them: {wrong[0]}"


def _is_alike(ours: tuple[int, object], theirs: tuple[int, object]) -> bool:
    """Compare codes and messages; a closed connection has no message."""
    if ours == theirs or ours[0] == theirs[0] == _CLOSED[0]:
        return True
    return ours[0] == theirs[0] and in_order_of(str(theirs[1]), str(ours[1])) == theirs[1]


def _ours(manifest: Manifest, before: Manifest | None) -> tuple[int, object]:
    match answer_of(manifest, before, CONTROL_PLANE):
        case RejectedRequest(code=code, message=message):
            return code, message
        case AcceptedRequest(obj=obj):
            return (200 if before else 201), spec_in_v1(obj, CONTROL_PLANE)


def _theirs(manifest: Manifest, before: Manifest | None, objects: APIClient) -> tuple[int, object]:
    try:
        answer, stored = ask(objects, manifest, before, CONTROL_PLANE)
    except TimedOut:
        return _CLOSED
    return answer.code, spec_in_v1(stored, CONTROL_PLANE) if answer.ok else answer.message
