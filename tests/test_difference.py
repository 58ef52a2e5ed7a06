"""The difference between two behaviours: added, changed and dropped sentences, each once."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import permutations

import pytest

from kueue_dra_ref.features.gate_changes import GateChanges, gate_changes
from kueue_dra_ref.features.kube_features import Gate, Gates, Stage
from kueue_dra_ref.requirements.catalogue import Level, Requirement, catalogue
from kueue_dra_ref.requirements.difference import Sentence, difference
from kueue_dra_reports import changes_page, upgrade_page
from tests import not_decided_page
from tests.commands import ROOT, kueue_dra

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


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("reference/texts.md", changes_page.page),
        ("how-to/upgrade-kueue.md", upgrade_page.page),
        ("reference/not-decided.md", not_decided_page.page),
    ],
)
def test_the_committed_page_is_the_one_that_is_printed(name: str, text: Callable[[], str]) -> None:
    """It is made by the module, never by hand."""
    assert (ROOT / "docs" / name).read_text("utf-8") == text()


def test_each_kind_of_change_of_a_gate_is_told() -> None:
    """Those of Kubernetes' registry are not Kueue's, and a gate that stays is no change."""

    def gates(**table: Gate) -> Gates:
        return Gates(table=table)

    def gate(default: bool, *, locked: bool = False, shared: bool = False, of_kueue: bool = True) -> Gate:
        return Gate(name="g", default=default, stage=Stage.BETA, locked=locked, shared=shared, of_kueue=of_kueue)

    before = gates(Same=gate(True), Up=gate(False), Down=gate(True), Fixed=gate(True), Old=gate(True))
    after = gates(
        Same=gate(True, shared=True),
        Up=gate(True),
        Down=gate(False),
        Fixed=gate(True, locked=True),
        Fresh=gate(True),
        Trial=gate(False),
        Kubernetes=gate(True, shared=True, of_kueue=False),
    )

    assert gate_changes(before, after) == GateChanges(
        new_on=("Fresh",), new_off=("Trial",), now_on=("Up",), now_off=("Down",), locked=("Fixed",), gone=("Old",)
    )


def test_two_releases_are_compared_with_their_gates() -> None:
    """A text has none."""
    releases = kueue_dra("diff-texts", "kueue-0.18.3", "kueue-0.19.2").stdout
    text = kueue_dra("diff-texts", "kep-2025-09", "kueue-0.19.2").stdout
    read = json.loads(kueue_dra("diff-texts", "kueue-0.18.3", "kueue-0.19.2", "-o", "json").stdout)

    assert "### Feature gates" in releases
    assert "KueueDRAIntegrationConsumableCapacity" in read["gates"]["new_off"]
    assert "### Feature gates" not in text
