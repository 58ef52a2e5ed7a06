"""What differs between two behaviours: requirements added, changed and dropped, with the headings of their texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kueue_dra_ref.requirements.catalogue import Level, Requirement


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A requirement as one behaviour has it, with its source and its level in the behaviour's text."""

    id: str
    text: str
    source: str
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The requirements of the earlier behaviour, and those that replace them in the later one."""

    before: tuple[Sentence, ...]
    after: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Every requirement that holds in one of two behaviours only, once; each list in the order of the catalogue."""

    earlier: str
    later: str
    added: tuple[Sentence, ...]
    changed: tuple[Change, ...]
    dropped: tuple[Sentence, ...]
    kept: int
    """How many requirements hold in both."""


def difference(
    requirements: Mapping[str, Requirement], earlier: str, later: str
) -> Difference:
    """Compare what holds in two behaviours; what replaces what is what ``instead_of`` links, either way round."""
    gone = {
        id_: r
        for id_, r in requirements.items()
        if earlier in r.holds and later not in r.holds
    }
    come = {
        id_: r
        for id_, r in requirements.items()
        if later in r.holds and earlier not in r.holds
    }
    groups = list(_groups(gone, come))
    linked = {id_ for group in groups for id_ in group}
    return Difference(
        earlier=earlier,
        later=later,
        added=_sentences((r for id_, r in come.items() if id_ not in linked), later),
        changed=tuple(
            Change(
                before=_sentences(
                    (r for id_, r in gone.items() if id_ in group), earlier
                ),
                after=_sentences((r for id_, r in come.items() if id_ in group), later),
            )
            for group in groups
        ),
        dropped=_sentences(
            (r for id_, r in gone.items() if id_ not in linked), earlier
        ),
        kept=sum(
            earlier in r.holds and later in r.holds for r in requirements.values()
        ),
    )


def _groups(
    gone: Mapping[str, Requirement], come: Mapping[str, Requirement]
) -> Iterable[set[str]]:
    """Requirements of either side that are linked, directly or through others."""
    groups: list[set[str]] = []
    for old in gone:
        for new in (
            new
            for new in come
            if old in come[new].instead_of or new in gone[old].instead_of
        ):
            joined = [group for group in groups if old in group or new in group]
            groups = [group for group in groups if group not in joined]
            groups.append(set().union({old, new}, *joined))
    return groups


def _sentences(found: Iterable[Requirement], behaviour: str) -> tuple[Sentence, ...]:
    return tuple(
        Sentence(
            id=r.id,
            text=r.text,
            source=r.source_in(behaviour),
            level=r.level_in(behaviour),
        )
        for r in found
    )
