"""The annotations and the scheduling gate of elastic work, whose number of pods may change while it runs.

Kueue: pkg/constants/constants.go (ElasticJobAnnotation);
    pkg/workloadslicing/workloadslicing.go (WorkloadSliceReplacementFor);
    apis/kueue/v1beta2/topology_types.go (WorkloadSliceNameAnnotation)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.metadata import annotations_of, owners_of
from kueue_dra_ref.target import Manifest

ELASTIC = "kueue.x-k8s.io/elastic-job"
"""The annotation of elastic work and of its Workloads, and the name of the scheduling gate of its pods."""
REPLACES = "kueue.x-k8s.io/workload-slice-replacement-for"
"""The annotation of a Workload: namespace and name of the one that it replaces."""
SLICE_NAME = "kueue.x-k8s.io/workload-slice-name"
"""The annotation of Workloads and pods: the name of the first Workload of the work."""


def annotation(obj: Manifest, name: str) -> str:
    """Give an annotation of an object; empty without it."""
    return str(annotations_of(obj).get(name, ""))


def replaced_by(workload: Manifest) -> str:
    """Give namespace and name of the Workload that one replaces; empty for none."""
    return annotation(workload, REPLACES)


def slice_name(workload: Manifest) -> str:
    """Name the first Workload of the work that a Workload belongs to.

    Kueue: pkg/workloadslicing/workloadslicing.go (SliceName)
    """
    return annotation(workload, SLICE_NAME) or str(workload["metadata"]["name"])


def slice_key(workload: Manifest) -> str:
    """Give namespace and name of a Workload, as the annotation of its replacement has them."""
    meta = workload["metadata"]
    return f"{meta['namespace']}/{meta['name']}"


def in_chain(workloads: Iterable[Manifest]) -> list[Manifest]:
    """Order Workloads by creation, and of one second so that each comes after the one that it replaces."""
    by_key = {slice_key(each): each for each in workloads}
    depths = {key: _depth(key, by_key) for key in by_key}

    def place(workload: Manifest) -> tuple[str, int]:
        created = workload["metadata"].get("creationTimestamp")
        return str(created or ""), depths[slice_key(workload)]

    return sorted(by_key.values(), key=place)


def _depth(key: str, by_key: Mapping[str, Manifest]) -> int:
    """Count the Workloads that a Workload has replaced, directly or not."""
    seen: set[str] = set()
    while key in by_key and key not in seen:
        seen.add(key)
        key = replaced_by(by_key[key])
    return len(seen)


def by_owner(workloads: Iterable[Manifest]) -> dict[str, Manifest]:
    """Give the Workload that counts for each owner: one that holds quota, else one that waits, else the newest."""
    found: dict[str, Manifest] = {}
    for workload in sorted(in_chain(workloads), key=_weight):
        for owner in owners_of(workload):
            found[str(owner.get("uid"))] = workload
    return found


def _weight(workload: Manifest) -> int:
    if is_true(workload, "Finished"):
        return 0
    return 2 if is_true(workload, "QuotaReserved") else 1
