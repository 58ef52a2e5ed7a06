"""CRD validation of Topologies by the API server (topology_types.go).

Kueue: apis/kueue/v1beta2/topology_types.go (TopologySpec, TopologyLevel)
"""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.crd_validation import Faults, at_least, at_most, invalid, missing
from kueue_dra_ref.api.topologies import HOSTNAME
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest

_LEVELS = "spec.levels"
_MUTABLE = (
    f"levels are mutable only when {HOSTNAME} is the lowest level both before and after"
    " the change"
)
_LOWEST = f"the {HOSTNAME} label can only be used at the lowest level of topology"


@rule("OBJECT-056")
def levels_are_required(write: AdmissionRequest) -> Faults:
    """The API server rejects a Topology without levels, or a level without a nodeLabel.

    Kueue: apis/kueue/v1beta2/topology_types.go (TopologySpec, TopologyLevel)
    """
    yield from missing(write.new, f"{_LEVELS}[]", "nodeLabel")
    yield from missing(write.new, "spec", "levels")


@rule("OBJECT-058")
def between_1_and_16_levels(write: AdmissionRequest) -> Faults:
    """The API server rejects a Topology without any level, or with more than 16.

    Kueue: apis/kueue/v1beta2/topology_types.go (TopologySpec)
    """
    yield from at_least(write.new, _LEVELS, 1)
    yield from at_most(write.new, _LEVELS, 16)


@rule("OBJECT-061")
def levels_are_immutable(write: AdmissionRequest) -> Faults:
    """The API server rejects an update of the levels of a Topology.

    Kueue: apis/kueue/v1beta2/topology_types.go (TopologySpec)
    """
    if _are_changed(write):
        yield invalid(_LEVELS, "field is immutable")


@rule("OBJECT-062")
def levels_change_above_hostname(write: AdmissionRequest) -> Faults:
    """The API server rejects an update of levels unless kubernetes.io/hostname is and stays the lowest.

    No counterpart: announced for Kueue 0.20, in no pinned release.
    """
    lowest = {_labels(each)[-1] for each in (write.before, write.new) if _levels(each)}
    if _are_changed(write) and lowest != {HOSTNAME}:
        yield invalid(_LEVELS, _MUTABLE)


@rule("OBJECT-058")
def levels_are_unique(write: AdmissionRequest) -> Faults:
    """The API server rejects a Topology with two levels of the same nodeLabel.

    Kueue: apis/kueue/v1beta2/topology_types.go (TopologySpec)
    """
    labels = _labels(write.new)
    distinct = set(labels)
    if len(distinct) < len(labels):
        yield invalid(_LEVELS, "must be unique")


@rule("OBJECT-058")
def hostname_is_the_lowest_level(write: AdmissionRequest) -> Faults:
    """The API server rejects a Topology with kubernetes.io/hostname above another level.

    Kueue: apis/kueue/v1beta2/topology_types.go (TopologySpec)
    """
    labels = _labels(write.new)
    if HOSTNAME in labels[:-1]:
        yield invalid(_LEVELS, _LOWEST)


def _are_changed(write: AdmissionRequest) -> bool:
    before = _levels(write.before)
    return bool(before) and before != _levels(write.new)


def _levels(topology: Manifest) -> list[Any]:
    spec = topology.get("spec") or {}
    return spec.get("levels") or []


def _labels(topology: Manifest) -> list[str]:
    return [each["nodeLabel"] for each in _levels(topology)]
