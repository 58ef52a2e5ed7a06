"""``differential --against-mutant``: scenarios that tell a changed reference from the reference."""

from __future__ import annotations

import sys
from itertools import chain

import pytest

from kueue_dra_differential.generate import batches
from kueue_dra_differential.mutants.answering import Changed
from kueue_dra_differential.mutants.hunt import NO_ANSWER, Hunt, Suspect
from kueue_dra_differential.mutants.places import ROOT
from kueue_dra_differential.mutants.process import ChangedReference
from kueue_dra_differential.oracle import OutcomeKind
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.diff import difference
from tests.commands import kueue_dra

KUEUE = behaviour("kueue-0.19.2")
FILE = "kueue_dra_ref/rules/preemption/preemption_policies.py"
LOWER = "return allowed and pair.priority > pair.other_priority"


def suspect(name: str, line: str) -> Suspect:
    """Change the line that lets work preempt only work of a lower priority in its ClusterQueue."""
    source = (ROOT / FILE).read_text("utf-8")
    assert source.count(LOWER) == 1
    changed = Changed(FILE, source.replace(LOWER, line), KUEUE.name)
    return Suspect(name, line, ChangedReference(changed))


def test_mutants_are_told_apart_by_a_shrunk_scenario() -> None:
    """One admits otherwise, one raises an error; one that means the same is left."""
    same = suspect("same", "return not (not allowed or pair.priority <= pair.other_priority)")
    turned = suspect("turned", LOWER.replace(">", "<="))
    raises = suspect("raises", "raise ValueError(pair)")
    hunt = Hunt(behaviour=KUEUE, suspects=[same, turned, raises])
    drawn = chain.from_iterable(batches(of=4, behaviour=KUEUE, number=4, count=2))

    found = {each.name: outcome for each, outcome in hunt.found(drawn, lambda _: True)}

    assert {name: outcome.kind for name, outcome in found.items()} == {
        "turned": OutcomeKind.DIFFERS,
        "raises": OutcomeKind.ENDED,
    }
    assert [each.name for each in hunt.suspects] == ["same"]
    assert found["raises"].trouble == NO_ANSWER
    scenario = found["turned"].scenario
    assert not any(map(difference, answers(scenario, KUEUE), scenario.recorded))


def test_a_process_that_was_ended_answers_again() -> None:
    """A scenario after one that raised an error starts another process."""
    raises = suspect("raises", "raise ValueError(pair)").reference
    (batch,) = batches(of=2, behaviour=KUEUE, number=4, count=1)
    answered = []
    for scenario in batch:
        raises.ask(scenario)
        answered.append(raises.answers() is not None)
    raises.close()

    assert answered == [True, False]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--against-mutant=cycle.py"], "found 'cycle.py'; expected FILE:LINE"),
        (["--against-mutant=a.py:1", "--keep=a.jsonl"], "--keep and --against-mutant exclude each other"),
        (["--against-mutant=a.py:1", "--log=a"], "--log and --against-mutant exclude each other"),
    ],
)
def test_wrong_options_are_answered(words: list[str], message: str) -> None:
    """Before a scenario is drawn."""
    result = kueue_dra("differential", *words)

    assert result.exit_code == 2
    assert message in result.output


def test_without_cosmic_ray_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra, as hypothesis is."""
    monkeypatch.setitem(sys.modules, "cosmic_ray", None)
    monkeypatch.delitem(sys.modules, "kueue_dra_differential.mutants.mutant", raising=False)
    monkeypatch.delitem(sys.modules, "kueue_dra_differential.mutants.operators", raising=False)

    result = kueue_dra("differential", f"--against-mutant={FILE}:142")

    assert result.exit_code == 2
    assert "cosmic-ray is missing: pip install cosmic-ray" in result.output
