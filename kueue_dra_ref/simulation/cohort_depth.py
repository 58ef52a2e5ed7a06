"""Rejects Cohorts that are deeper than the reference computes.

No counterpart: a limit of the reference, which computes the quota of a tree by recursion.
"""

from __future__ import annotations

from collections.abc import Iterable

from kueue_dra_ref.simulation.inputs import SimulationInputs

DEEPEST = 500
"""How many cohorts may be above each other."""
_PARENT_FIELDS = ("parentName", "parent")
"""The field in v1beta2, and in v1beta1."""


def insist_on_depth(given: Iterable[SimulationInputs]) -> None:
    """Reject a Cohort that has too many others above it.

    Raises:
        DocumentError: it has.

    """
    cohorts = {each.ref.name: each for each in given if each.ref.kind == "Cohort"}
    if len(cohorts) <= DEEPEST:
        return
    for each in cohorts.values():
        if _is_too_deep(each, cohorts):
            field = f"spec.{_PARENT_FIELDS[0]}"
            found = f"more than {DEEPEST} cohorts above Cohort {each.ref.name}"
            expected = f"at most {DEEPEST}"
            raise each.documents[-1].fault(field, found, expected)


def _is_too_deep(start: SimulationInputs, cohorts: dict[str, SimulationInputs]) -> bool:
    """Whether a path upwards is too long; one that forms a circle is not."""
    seen = set()
    current: SimulationInputs | None = start
    while current is not None and current.ref.name not in seen:
        seen.add(current.ref.name)
        current = cohorts.get(_parent(current))
    return current is None and len(seen) > DEEPEST


def _parent(cohort: SimulationInputs) -> str:
    spec = cohort.manifest.get("spec")
    if not isinstance(spec, dict):
        return ""
    for field in _PARENT_FIELDS:
        parent = spec.get(field)
        if isinstance(parent, str):
            return parent
    return ""
