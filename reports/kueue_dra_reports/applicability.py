"""Which behaviours a case is for: derived from the requirements it cites, never written in the case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kueue_dra_ref.requirements.catalogue import Requirement, renamed


def applies(
    ids: Iterable[str], behaviour_name: str, catalogue: Mapping[str, Requirement]
) -> str | None:
    """Say why a case that cites ``ids`` is not for a behaviour; None when every requirement holds there."""
    absent = [one for one in ids if behaviour_name not in catalogue[one].holds]
    if not absent:
        return None
    verb = "does" if len(absent) == 1 else "do"
    return f"{', '.join(absent)} {verb} not hold in {behaviour_name}"


def citation_faults(
    ids: Iterable[str], catalogue: Mapping[str, Requirement]
) -> list[str]:
    """Say what is wrong with the requirements that a case cites: none, unknown, or excluded."""
    cited = list(ids)
    if not cited:
        return ['cites no requirement; write @covers("ID") with an ID of the catalogue']
    return [fault for one in cited if (fault := _citation_fault(one, catalogue))]


def _citation_fault(one: str, catalogue: Mapping[str, Requirement]) -> str:
    if one not in catalogue:
        if now := renamed(one):
            return f"cites {one!r}: {now}"
        return f"cites {one!r}, which is not in the catalogue (kueue_dra_ref/requirements/*.toml)"
    if reason := catalogue[one].excluded:
        return f"cites {one}, which the catalogue excludes ({reason}); drop the citation or the exclusion"
    return ""
