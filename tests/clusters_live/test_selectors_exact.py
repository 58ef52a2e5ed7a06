"""Generated selectors and devices, asked of our engine and of Kubernetes' own: right or undecided, never wrong."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kueue_dra_clusters.cel_oracle import cel_oracle
from kueue_dra_ref.cel import CompileError, Device, EvaluationError, Undecided, compiled
from kueue_dra_ref.cel.kubernetes_backend import KubernetesAnswers, OracleProgram
from tests.selector_grammar import Grammar

pytestmark = pytest.mark.live

SEED = int(os.environ.get("SELECTORS_SEED", "20261121"))
SELECTORS = int(os.environ.get("SELECTORS", "2000"))
DEVICES = 20
DEPTHS = (1, 2, 2, 2, 3, 3, 4)
# What a selector that compiles is undecided on, in the whole: it grows when the engine or the adapter loses ground.
MOST_UNDECIDED = 0.1


@pytest.fixture(scope="module")
def kubernetes() -> Iterator[OracleProgram]:
    """Have Kubernetes' own engine."""
    program = OracleProgram(str(cel_oracle()))
    yield program
    program.close()


def _wrong(expression: str, devices: list[Device], kubernetes: OracleProgram) -> tuple[list[str], int]:
    """Name the wrong answers of our engine, and count the answers that it does not give."""
    expected = kubernetes.ask(expression, devices)
    selector = compiled(expression)
    match selector, expected:
        case Undecided(), _:
            return [], len(devices)
        case CompileError(), CompileError():
            return [], 0
        case CompileError(detail=detail), _:
            return [f"refused: {detail}"], 0
        case _, CompileError(detail=detail):
            return [f"compiled, where Kubernetes says: {detail}"], 0
        case _, KubernetesAnswers(verdicts=verdicts):
            given = [selector.matches(device) for device in devices]
            pairs = list(zip(given, verdicts, strict=True))
            unlike = [f"{ours} for {theirs}" for ours, theirs in pairs if not _agree(ours, theirs)]
            return unlike, sum(isinstance(answer, Undecided) for answer in given)


def _agree(ours: bool | EvaluationError | Undecided, theirs: bool | EvaluationError) -> bool:
    if isinstance(ours, bool) and isinstance(theirs, bool):
        return ours == theirs
    return isinstance(ours, Undecided) or (isinstance(ours, EvaluationError) and isinstance(theirs, EvaluationError))


def test_generated_selectors_are_answered_as_kubernetes_answers_them(kubernetes: OracleProgram) -> None:
    """SELECTORS of a seed, each for 20 devices: none is answered wrongly, and few are not answered."""
    source = random.Random(SEED)
    grammar = Grammar(source)
    wrong: dict[str, list[str]] = {}
    undecided: Counter[str] = Counter()
    for _ in range(SELECTORS):
        expression = grammar.selector(source.choice(DEPTHS))
        found, unanswered = _wrong(expression, [grammar.device() for _ in range(DEVICES)], kubernetes)
        if found:
            wrong[expression] = found
        undecided["answers"] += DEVICES
        undecided["undecided"] += unanswered
    assert wrong == {}, f"with SELECTORS_SEED={SEED}"
    assert undecided["undecided"] <= MOST_UNDECIDED * undecided["answers"], undecided


@settings(max_examples=300)
@given(source=st.randoms(use_true_random=False), depth=st.sampled_from(DEPTHS))
def test_the_shortest_disagreement_is_found(kubernetes: OracleProgram, source: random.Random, depth: int) -> None:
    """The same by hypothesis, which shrinks what it finds."""
    grammar = Grammar(source)
    assert _wrong(grammar.selector(depth), [grammar.device() for _ in range(3)], kubernetes)[0] == []
