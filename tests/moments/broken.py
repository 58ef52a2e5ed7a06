"""Which findings of an audit a step of the scenario explains: it broke the cluster, and the audit has to say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kueue_dra_ref.target import Manifest, Ref
from tests.moments.drawn import Plan

_CHANGED: Mapping[str, frozenset[str]] = {
    "quota changed since": frozenset({"ClusterQueue", "Cohort", "ResourceFlavor", "LocalQueue"}),
    "template changed since": frozenset({"ResourceClaimTemplate"}),
    "class changed since": frozenset({"DeviceClass"}),
    "slices changed since": frozenset({"ResourceSlice", "DeviceClass"}),
}
"""How sure a finding is, and the kinds of which one has to have changed."""
_INTEGRATION = "KueueDRAIntegration"


def is_broken_by(plan: Plan, step: int, dump: list[Manifest], finding: Mapping[str, str]) -> bool:
    """Whether a step before the dump did what a finding says."""
    kinds = _CHANGED.get(finding["sure"])
    if kinds is not None:
        return bool(kinds & set(_changed(plan, step)))
    match finding["requirement"]:
        case "CLASS-001":
            return finding["object"].removeprefix("DeviceClass ") not in _classes(dump)
        case "DEVICE-012":
            return bool({"ResourceSlice", "DeviceClass"} & set(_changed(plan, step)))
        case "GATE-005" | "GATE-003":
            return _is_off(plan.configuration(step))
        case "COUNT-006":
            return bool(plan.configuration(step)["resources"] != plan.configuration(0)["resources"])
        case _:
            return False


def _classes(dump: list[Manifest]) -> set[str]:
    return {each["metadata"]["name"] for each in dump[1]["items"] if each["kind"] == "DeviceClass"}


def _is_off(configuration: Manifest) -> bool:
    gates = configuration.get("featureGates") or {}
    return bool(gates.get(_INTEGRATION) is False)


def _changed(plan: Plan, step: int) -> Iterator[str]:
    """Give the kind of each object that a step deletes, or writes otherwise than before, or late."""
    for scenario in plan.batch:
        known = {Ref.of(each): each for each in scenario.inventory}
        for number, each in enumerate(scenario.steps[:step]):
            for ref in each.get("delete") or ():
                yield ref["kind"]
            for manifest in each.get("apply") or ():
                before = known.get(Ref.of(manifest))
                if before != manifest and (before is not None or number > 1):
                    yield manifest["kind"]
                known[Ref.of(manifest)] = manifest
