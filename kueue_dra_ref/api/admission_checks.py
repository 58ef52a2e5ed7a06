"""AdmissionChecks: which of them a ClusterQueue names, for which flavors, and their states in a Workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kueue_dra_ref.api.unstructured import Object, child, mappings, text
from kueue_dra_ref.target import Manifest

ADMISSION_CHECK = "AdmissionCheck"
PENDING = "Pending"
READY = "Ready"
RETRY = "Retry"
REJECTED = "Rejected"
STATES = (PENDING, READY, RETRY, REJECTED)
"""The states of a check."""


def checks_of(spec: Object) -> Mapping[str, frozenset[str]]:
    """Give the flavors that each check of a ClusterQueue names; a check that names none is for all of them.

    Raises:
        ManifestError: a field is missing or of the wrong type.

    """
    strategy = child(spec, "admissionChecksStrategy", dict, {}, "spec")
    path = "spec.admissionChecksStrategy"
    found = {}
    for index, each in enumerate(mappings(strategy, "admissionChecks", path)):
        at = f"{path}.admissionChecks[{index}]"
        name = text(each, "name", at)
        named = child(each, "onFlavors", list, [], at)
        found[name] = frozenset(named)
    return found


def checks_named_by(cluster_queue: Object) -> set[str]:
    """Give the names of the AdmissionChecks of a ClusterQueue."""
    return set(checks_of(cluster_queue["spec"]))


def check_states(workload: Manifest) -> Sequence[Manifest]:
    """Give the states of the checks of a Workload."""
    status = workload.get("status") or {}
    return status.get("admissionChecks") or ()


def assigned_flavors(workload: Manifest) -> frozenset[str] | None:
    """Give the flavors in the admission of a Workload; None without an admission."""
    status = workload.get("status") or {}
    admission = status.get("admission")
    if not admission:
        return None
    names: set[str] = set()
    for assignment in admission["podSetAssignments"]:
        flavors = assignment.get("flavors") or {}
        names.update(flavors.values())
    return frozenset(names)
