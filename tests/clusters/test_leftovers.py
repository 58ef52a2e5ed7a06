"""What an interrupted run leaves is deleted by its label, namespaces last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from kueue_dra_clusters.api_client import Answer, APIClient
from kueue_dra_clusters.existing_cluster import CleanupFailed, remove_leftovers
from kueue_dra_clusters.preflight import RUN_LABEL
from kueue_dra_ref.target import Manifest, Ref
from tests.clusters_live.manifests import KUEUE, an_object

RUN = "a1"
NS = "ns-kueue-dra"


@dataclass
class Stored:
    """An API server that holds some objects; ``stuck`` ones have a finalizer that stays."""

    objects: list[Manifest]
    stuck: str = ""
    deleted: list[str] = field(default_factory=list)

    def list(self, api_version: str, kind: str, namespace: str = "", *, labels: str = "") -> list[Manifest]:
        """List by kind and label."""
        key, _, value = labels.partition("=")
        return [
            each
            for each in self.objects
            if (each["apiVersion"], each["kind"]) == (api_version, kind)
            and (not labels or (each["metadata"].get("labels") or {}).get(key) == value)
        ]

    def delete(self, ref: Ref) -> Answer:
        """Delete, unless it is stuck."""
        self.deleted.append(ref.kind)
        self.objects = [each for each in self.objects if Ref.of(each) != ref or ref.kind == self.stuck]
        return Answer(code=200, body={})


def labelled(manifest: Manifest) -> Manifest:
    """Give the object of a run."""
    manifest["metadata"]["labels"] = {RUN_LABEL: RUN}
    return manifest


def a_left_cluster(**more: Any) -> Stored:
    """Give what a killed run left, and a tenant's objects."""
    other = an_object("batch/v1", "Job", "mine", "tenant")
    return Stored(
        objects=[
            labelled(an_object("v1", "Namespace", NS)),
            labelled(an_object("batch/v1", "Job", "a", NS)),
            an_object(KUEUE, "Workload", "job-a", NS),
            labelled(an_object(KUEUE, "ClusterQueue", "cq-kueue-dra")),
            other,
            an_object(KUEUE, "Workload", "job-mine", "tenant"),
        ],
        **more,
    )


def test_what_is_left_goes_and_tenants_keep_theirs() -> None:
    """Workloads carry no label, so they are found by their namespace."""
    cluster = a_left_cluster()

    remove_leftovers(cast(APIClient, cluster), RUN, "prod")

    assert [each["metadata"]["name"] for each in cluster.objects] == ["mine", "job-mine"]
    assert cluster.deleted[-1] == "Namespace"
    assert set(cluster.deleted[:-1]) == {"Job", "Workload", "ClusterQueue"}


def test_what_stays_has_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while, for the user to finish."""
    monkeypatch.setattr("kueue_dra_clusters.existing_cluster.LEFTOVERS", 0.5)
    cluster = a_left_cluster(stuck="ClusterQueue")

    with pytest.raises(CleanupFailed, match=r"kubectl --context prod delete clusterqueue.kueue.x-k8s.io cq-kueue-dra"):
        remove_leftovers(cast(APIClient, cluster), RUN, "prod")
