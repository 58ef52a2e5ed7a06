"""A client sends v1beta2 to a Kueue that serves v1beta1 only: it converts what differs, both ways."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from kubernetes.client import ApiClient

from kueue_dra_clusters.api_client import Answer, APIClient
from kueue_dra_clusters.v1beta1_conversion import NEWER, OLDER, V1beta1Client, newer, older
from kueue_dra_ref.target import Manifest, Ref

PRIORITY = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}
PAIRS = [
    pytest.param({"spec": {"cohort": "c"}}, {"spec": {"cohortName": "c"}}, id="cohort"),
    pytest.param({"status": {"flavorUsage": []}}, {"status": {"flavorsUsage": []}}, id="usage"),
    pytest.param(
        {"spec": {"flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}}},
        {"spec": {"flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "MayStopSearch"}}},
        id="search-stops",
    ),
    pytest.param(
        {"spec": {"flavorFungibility": {"whenCanPreempt": "TryNextFlavor"}}},
        {"spec": {"flavorFungibility": {"whenCanPreempt": "TryNextFlavor"}}},
        id="search-goes-on",
    ),
    pytest.param(
        {"spec": {"priorityClassName": "high", "priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass"}},
        {"spec": {"priorityClassRef": PRIORITY}},
        id="priority",
    ),
    pytest.param(
        {"spec": {"kubeConfig": {"location": "east"}}},
        {"spec": {"clusterSource": {"kubeConfig": {"location": "east"}}}},
        id="cluster",
    ),
    pytest.param({"spec": {"podSets": [{"cohort": "c"}]}}, {"spec": {"podSets": [{"cohort": "c"}]}}, id="deeper"),
]


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_each_version_is_read_as_the_other(before: Manifest, after: Manifest) -> None:
    """There and back again, and what went in is untouched."""
    old, new = {"apiVersion": OLDER, **before}, {"apiVersion": NEWER, **after}

    assert newer(old) == new
    assert older(new) == old


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_the_items_of_a_list_are_read_too(before: Manifest, after: Manifest) -> None:
    """Items of custom resources name their version, so that they can be written again."""
    old, new = {"apiVersion": OLDER, **before}, {"apiVersion": NEWER, **after}

    assert newer({"apiVersion": OLDER, "items": [old]}) == {"apiVersion": NEWER, "items": [new]}


def test_what_is_of_another_group_is_left_as_it_is() -> None:
    """An answer that refuses, for example."""
    refused = {"apiVersion": "v1", "kind": "Status", "message": "no", "status": "Failure"}

    assert newer(refused) == refused


@dataclass(slots=True)
class Heard:
    """Give the request that reached the API server."""

    calls: list[tuple[str, Any]] = field(default_factory=list)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Heard:
    """Let an API server answer every request with what it was sent."""
    found = Heard()

    def answer(_: APIClient, method: str, path: str, body: Any, content: str) -> Answer:
        found.calls.append((f"{method} {path}", body))
        return Answer(code=200, body=body or {"kind": "APIResourceList", "groupVersion": OLDER, "resources": []})

    monkeypatch.setattr(APIClient, "_request", answer)
    return found


def test_paths_and_bodies_reach_the_older_version(heard: Heard) -> None:
    """Objects are returned in the newer version."""
    queue = {"apiVersion": NEWER, "kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": {"cohortName": "c"}}
    answer = V1beta1Client(api=ApiClient()).create(queue)

    assert answer.body == queue
    path, body = heard.calls[-1]
    assert path == f"POST /apis/{OLDER}/clusterqueues"
    assert body == {**queue, "apiVersion": OLDER, "spec": {"cohort": "c"}}


def test_a_change_is_brought_there_too(heard: Heard) -> None:
    """A patch carries no version."""
    ref = Ref(api_version=NEWER, kind="ClusterQueue", name="q")
    V1beta1Client(api=ApiClient()).patch(ref, {"spec": {"cohortName": "c"}})

    assert heard.calls[-1] == (f"PATCH /apis/{OLDER}/clusterqueues/q", {"spec": {"cohort": "c"}})


@pytest.mark.parametrize("version", [OLDER, "batch/v1"])
def test_who_asks_for_another_version_gets_that(heard: Heard, version: str) -> None:
    """A case may read the older version as it is."""
    ref = Ref(api_version=version, kind="ClusterQueue", name="q")
    answer = V1beta1Client(api=ApiClient()).patch(ref, {"apiVersion": version, "spec": {"cohort": "c"}})

    assert answer.body == {"apiVersion": version, "spec": {"cohort": "c"}}
    assert heard.calls[-1][0] == f"PATCH /apis/{version}/clusterqueues/q"
