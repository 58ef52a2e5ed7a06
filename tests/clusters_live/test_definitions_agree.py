"""An API server with Kueue takes and refuses the same objects of Kueue, and the same Jobs, as the reference."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_clusters.api_client import Answer, APIClient
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import Manifest, Ref, Rejection
from tests.apiserver import in_order_of
from tests.clusters_live.manifests import CONFIGURATION
from tests.object_grammar import Grammar

pytestmark = pytest.mark.live

SEED = int(os.environ.get("OBJECTS_SEED", "20261123"))
OBJECTS = int(os.environ.get("KUEUE_OBJECTS", "600"))
TAKEN = yaml.safe_load((Path(__file__).parent.parent / "golden" / "kueue_objects.yaml").read_text("utf-8"))
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
ALSO_WORDED = ("Job",)
"""Kinds whose refusals are compared word by word; of the others about three in a hundred are worded otherwise."""


@pytest.fixture
def objects(plane: ControlPlane, target: LiveTarget) -> APIClient:
    """Have a namespace for what is asked about, and what is there already to be changed."""
    assert target.apply([NAMESPACE, *map(_stored, TAKEN)]) == []
    return APIClient(api=plane.api)


def test_objects_that_are_wrong_are_refused_as_an_api_server_with_kueue_refuses_them(objects: APIClient) -> None:
    """KUEUE_OBJECTS of a seed, new and changed, asked about without being stored."""
    source = random.Random(SEED)
    grammar = Grammar(source, TAKEN)
    wrong = []
    for _ in range(OBJECTS):
        taken = source.choice(TAKEN)
        is_change = taken["kind"] != "Job" and source.random() < 0.3
        manifest = grammar.wrong(_stored(taken) if is_change else taken)
        answer = _theirs(manifest, objects, is_change=is_change)
        ours = _ours(manifest, taken if is_change else None)
        if not _agree(answer, ours, manifest["kind"]):
            wrong.append((manifest, answer.code, answer.message, ours))
    assert not wrong, f"{len(wrong)} with OBJECTS_SEED={SEED}, the first of them: {wrong[0]}"


def _stored(manifest: Manifest) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "name": f"stored-{manifest['kind'].lower()}"}}


def _theirs(manifest: Manifest, objects: APIClient, *, is_change: bool) -> Answer:
    ref = Ref.of(manifest)
    if not is_change:
        return objects.call("POST", f"{objects.path(ref, collection=True)}?dryRun=All", manifest)
    stored = objects.read(ref)
    assert stored is not None
    changed = {**manifest, "metadata": {**stored["metadata"], **manifest["metadata"]}}
    return objects.call("PUT", f"{objects.path(ref)}?dryRun=All", changed)


def _ours(manifest: Manifest, before: Manifest | None) -> Rejection | None:
    target = ReferenceTarget(behaviour("kueue-0.19.2"))
    target.start(CONFIGURATION)
    assert target.apply([NAMESPACE, *([_stored(before)] if before else ())]) == []
    return next(iter(target.apply([manifest])), None)


def _agree(theirs: Answer, ours: Rejection | None, kind: str) -> bool:
    if ours is None or theirs.ok:
        return ours is None and theirs.ok
    words = kind not in ALSO_WORDED or in_order_of(theirs.message, ours.message) == theirs.message
    return theirs.code == ours.code and words
