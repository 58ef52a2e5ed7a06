"""What differs between two behaviours: requirements added, changed and dropped, with the headings of their texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kueue_dra_ref.requirements.catalogue import Level, Requirement

Requirements = dict[str, Requirement]


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
    """Compare what holds in two behaviours; ``instead_of`` links a requirement and its replacement."""
    gone: Requirements = {}
    come: Requirements = {}
    kept = 0
    for id_, requirement in requirements.items():
        before = earlier in requirement.holds
        after = later in requirement.holds
        if before and after:
            kept += 1
        elif before:
            gone[id_] = requirement
        elif after:
            come[id_] = requirement
    groups = list(_groups(gone, come))
    linked = set().union(*groups)
    return Difference(
        earlier=earlier,
        later=later,
        added=_sentences(come, come.keys() - linked, later),
        changed=tuple(_change(gone, come, group, earlier, later) for group in groups),
        dropped=_sentences(gone, gone.keys() - linked, earlier),
        kept=kept,
    )


def _change(
    gone: Requirements, come: Requirements, group: set[str], earlier: str, later: str
) -> Change:
    return Change(
        before=_sentences(gone, group, earlier),
        after=_sentences(come, group, later),
    )


def _groups(gone: Requirements, come: Requirements) -> Iterable[set[str]]:
    """Group requirements of either side that are linked, directly or through others."""
    groups: list[set[str]] = []
    for old, before in gone.items():
        for new, after in come.items():
            if old in after.instead_of or new in before.instead_of:
                groups = _joined(groups, {old, new})
    return groups


def _joined(groups: list[set[str]], pair: set[str]) -> list[set[str]]:
    """Join the groups of two requirements."""
    apart = []
    joined = set(pair)
    for group in groups:
        if group.isdisjoint(pair):
            apart.append(group)
        else:
            joined |= group
    return [*apart, joined]


def _sentences(
    found: Requirements, ids: Collection[str], behaviour: str
) -> tuple[Sentence, ...]:
    return tuple(
        Sentence(
            id=id_,
            text=requirement.text,
            source=requirement.source_in(behaviour),
            level=requirement.level_in(behaviour),
        )
        for id_, requirement in found.items()
        if id_ in ids
    )
