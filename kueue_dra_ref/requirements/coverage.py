"""Coverage: which requirements of a behaviour are proven, which are untested, which no case can prove and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kueue_dra_ref.requirements.catalogue import CatalogueError, Requirement


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Every requirement of one behaviour: proven, untested or excluded, each in the order of the catalogue."""

    behaviour: str
    proven: Mapping[str, tuple[str, ...]]
    """The cases that passed, by the ID that they cite."""
    untested: tuple[str, ...]
    excluded: Mapping[str, str]
    """The reason, by ID."""

    @property
    def required(self) -> int:
        """Count the requirements of the behaviour, the excluded ones included."""
        return len(self.proven) + len(self.untested) + len(self.excluded)


def coverage(
    requirements: Mapping[str, Requirement],
    passed: Mapping[str, Collection[str]],
    behaviour: str,
) -> Coverage:
    """Sort the requirements of ``behaviour`` into proven, untested and excluded ones.

    Args:
        requirements: the catalogue.
        passed: the IDs that each case cites, by case; the caller leaves out cases that did not pass.
        behaviour: the name that ``holds`` must list.

    Raises:
        CatalogueError: a case cites an ID that is not in the catalogue.

    """
    cases = cases_by_id(requirements, passed)
    proven: dict[str, tuple[str, ...]] = {}
    untested: list[str] = []
    excluded: dict[str, str] = {}
    for id_, requirement in requirements.items():
        if behaviour not in requirement.holds:
            continue
        if requirement.excluded:
            excluded[id_] = requirement.excluded
        elif id_ in cases:
            proven[id_] = cases[id_]
        else:
            untested.append(id_)
    return Coverage(
        behaviour=behaviour,
        proven=proven,
        untested=tuple(untested),
        excluded=excluded,
    )


def cases_by_id(
    requirements: Mapping[str, Requirement], cited: Mapping[str, Collection[str]]
) -> dict[str, tuple[str, ...]]:
    """Turn "case cites IDs" into "ID is cited by cases", sorted by case.

    Raises:
        CatalogueError: a case cites an ID that is not in the catalogue.

    """
    cases: defaultdict[str, list[str]] = defaultdict(list)
    for case, ids in sorted(cited.items()):
        for id_ in dict.fromkeys(ids):
            if id_ not in requirements:
                raise CatalogueError(case, id_, "no requirement has this ID")
            cases[id_].append(case)
    return {id_: tuple(found) for id_, found in cases.items()}
