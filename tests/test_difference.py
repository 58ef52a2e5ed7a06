"""The difference between two behaviours: added, changed and dropped sentences, each once."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from kueue_dra_ref.requirements.catalogue import Level, Requirement, catalogue
from kueue_dra_ref.requirements.difference import Sentence, difference
from kueue_dra_reports.changes_page import page

NAMES = ("kep-2025-04", "kep-2025-07", "kep-2025-09", "kueue-0.19.2")


def _requirement(id_: str, *holds: str, instead_of: tuple[str, ...] = ()) -> Requirement:
    return Requirement(id=id_, text=id_, source="s", level=Level.MUST, holds=holds, instead_of=instead_of)


FOUND = {
    r.id: r
    for r in (
        _requirement("K-001", "a", "b"),
        _requirement("K-002", "a"),
        _requirement("K-003", "a"),
        _requirement("K-004", "b", instead_of=("K-003",)),
        _requirement("K-005", "b"),
        _requirement("K-006", "c"),
    )
}


def _ids(found: tuple[Sentence, ...]) -> list[str]:
    return [one.id for one in found]


def test_each_sentence_of_one_side_is_told_once() -> None:
    """A sentence that another one replaces is a change; others are added or dropped."""
    found = difference(FOUND, "a", "b")

    assert (_ids(found.added), _ids(found.dropped), found.kept) == (["K-005"], ["K-002"], 1)
    assert [(_ids(change.before), _ids(change.after)) for change in found.changed] == [(["K-003"], ["K-004"])]


def test_the_other_way_round_additions_are_droppings() -> None:
    """The link works in both directions."""
    found = difference(FOUND, "b", "a")

    assert (_ids(found.added), _ids(found.dropped), found.kept) == (["K-002"], ["K-005"], 1)
    assert [(_ids(change.before), _ids(change.after)) for change in found.changed] == [(["K-004"], ["K-003"])]


@pytest.mark.parametrize(("earlier", "later"), list(permutations(NAMES, 2)))
def test_nothing_of_the_catalogue_is_lost(earlier: str, later: str) -> None:
    """Kept, dropped and changed make up the earlier behaviour; kept, added and changed the later one."""
    found = difference(catalogue(), earlier, later)
    before = [one.id for one in found.dropped] + [one.id for change in found.changed for one in change.before]
    after = [one.id for one in found.added] + [one.id for change in found.changed for one in change.after]

    assert len(set(before)) == len(before)
    assert len(set(after)) == len(after)
    assert len(before) + found.kept == sum(earlier in r.holds for r in catalogue().values())
    assert len(after) + found.kept == sum(later in r.holds for r in catalogue().values())


def test_headings_are_those_of_each_text() -> None:
    """A sentence that is dropped stands under a heading of the earlier text, one that is added of the later."""
    found = difference(catalogue(), "kep-2025-04", "kep-2025-07")

    assert {one.source[:16] for one in found.dropped} == {"KEP-2941 2025-04"}
    after = {one.source[:16] for change in found.changed for one in change.after if one.level is not Level.INFERRED}
    assert after == {"KEP-2941 2025-07"}


def test_the_committed_page_is_the_one_that_is_printed() -> None:
    """docs/reference/texts.md is made by the module, never by hand."""
    assert (Path(__file__).parent.parent / "docs" / "reference" / "texts.md").read_text("utf-8") == page()
