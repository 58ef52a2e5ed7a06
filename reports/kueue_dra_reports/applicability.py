"""Derive from the cited requirements for which behaviours a case runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kueue_dra_ref.requirements.catalogue import Requirement, renamed

IDs = Iterable[str]
Catalogue = Mapping[str, Requirement]


def applies(ids: IDs, behaviour_name: str, catalogue: Catalogue) -> str | None:
    """Give the reason why a case that cites ``ids`` does not run for a behaviour; None if every requirement holds."""
    absent = [one for one in ids if behaviour_name not in catalogue[one].holds]
    if not absent:
        return None
    listed = ", ".join(absent)
    verb = "does" if len(absent) == 1 else "do"
    return f"{listed} {verb} not hold in {behaviour_name}"


def citation_faults(ids: IDs, catalogue: Catalogue) -> list[str]:
    """List the errors in the citations of a case: none at all, unknown IDs, or excluded ones."""
    cited = list(ids)
    if not cited:
        return ['cites no requirement; write @covers("ID") with an ID of the catalogue']
    faults = []
    for one in cited:
        fault = _citation_fault(one, catalogue)
        if fault:
            faults.append(fault)
    return faults


def _citation_fault(one: str, catalogue: Catalogue) -> str:
    if one not in catalogue:
        new_name = renamed(one)
        if new_name:
            return f"cites {one!r}: {new_name}"
        return f"cites {one!r}, which is in no catalogue: ours (kueue_dra_ref/requirements) or yours"
    reason = catalogue[one].excluded
    if reason:
        return f"cites {one}, which the catalogue excludes ({reason}); drop the citation or the exclusion"
    return ""
