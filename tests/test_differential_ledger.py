"""The ledger of settled differences: strict both ways."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kueue_dra_differential.generate import batches
from kueue_dra_differential.ledger import LedgerError, entries, known, stale
from kueue_dra_ref.api.documents import written
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.diff import Difference
from kueue_dra_ref.scenarios.scenario import as_document

SETTLED = {"as": "kueue-defect", "why": "a workload counted twice"}


def an_entry(folder: Path, *, wrong: bool, settled: dict[str, Any] | None = None) -> None:
    """Write a scenario whose recorded figures are right, or off by one."""
    kueue = behaviour("kueue-0.19.2")
    ((world,),) = batches(of=1, behaviour=kueue, number=3, count=1)
    recorded = list(answers(world, kueue))
    queue = next(iter(recorded[-1]["clusterQueues"].values()))
    queue["pending"] += 1 if wrong else 0
    found = as_document(replace(world, kueue="0.19.2", recorded=tuple(recorded)), settled=settled or SETTLED)
    (folder / "entry.yaml").write_text(written([found]), "utf-8")


def test_every_entry_of_the_ledger_still_differs() -> None:
    """One that does not is to be removed."""
    assert stale(entries()) == []


@pytest.mark.parametrize("wrong", [True, False])
def test_an_entry_that_no_longer_differs_is_stale(tmp_path: Path, *, wrong: bool) -> None:
    """It is named by its file."""
    an_entry(tmp_path, wrong=wrong)

    assert stale(entries(tmp_path)) == ([] if wrong else [str(tmp_path / "entry.yaml")])


@pytest.mark.parametrize("settled", [{"as": "whatever", "why": "x"}, {"as": "kueue-defect"}])
def test_an_entry_says_what_it_is(tmp_path: Path, settled: dict[str, Any]) -> None:
    """A classification of those that there are, and a reason."""
    an_entry(tmp_path, wrong=True, settled=settled)

    with pytest.raises(LedgerError, match=r"entry\.yaml: status\.settled: .*expected as: ambiguous-text \| kueue-de"):
        list(entries(tmp_path))


@pytest.mark.parametrize(
    ("minor", "path", "theirs", "is_known"),
    [
        pytest.param("0.19", "clusterQueues.cq7-w3.pending", 4, True, id="other-names-and-numbers"),
        pytest.param("0.18", "clusterQueues.cq7-w3.pending", 4, False, id="another-minor"),
        pytest.param("0.19", "clusterQueues.cq7-w3.admitted", 4, False, id="another-place"),
        pytest.param("0.19", "clusterQueues.cq7-w3.pending", None, False, id="another-answer"),
    ],
)
def test_a_difference_is_known_by_its_kind(
    tmp_path: Path, minor: str, path: str, theirs: int | None, *, is_known: bool
) -> None:
    """Names and numbers do not matter."""
    an_entry(tmp_path, wrong=True)

    assert known(minor, Difference(path=path, ours=3, recorded=theirs), entries(tmp_path)) is is_known
