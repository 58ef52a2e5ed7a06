"""Kubernetes' CEL program as a backend: what it was asked and answered once is read as it was meant."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from kueue_dra_ref.cel import CompileError, EvaluationError
from kueue_dra_ref.cel.backend import answered_by, compiled
from kueue_dra_ref.cel.kubernetes_backend import KubernetesAnswers, KubernetesSelector, OracleProgram, ProgramFailed
from tests.recorded_oracle import ASKED, BAD_CAPACITY, GPU, MISTYPED, SHARED, VALUELESS

NO_MODEL = "no such key: model"
COSTLY, _ = ASKED[-1]


@pytest.fixture(scope="module")
def program() -> Iterator[OracleProgram]:
    """Have a program that answers as the real one did."""
    found = OracleProgram(sys.executable, "-m", "tests.recorded_oracle")
    yield found
    found.close()


def test_it_gives_the_recorded_answers(program: OracleProgram) -> None:
    """A verdict on each device, an error where there is one, and the cost, if it is not the highest."""
    assert program.ask("device.driver == 'x'", [GPU, SHARED]) == KubernetesAnswers(cost=3, verdicts=(False, True))
    assert program.ask("device.allowMultipleAllocations", [GPU, SHARED]) == KubernetesAnswers(
        cost=2, verdicts=(False, True)
    )
    assert program.ask("device.attributes['gpu.example.com'].model == 'a100'", [GPU, SHARED]) == KubernetesAnswers(
        cost=5, verdicts=(True, EvaluationError(detail=NO_MODEL))
    )
    assert program.ask("device.capacity['gpu.example.com'].memory == quantity('500m')", [GPU]) == KubernetesAnswers(
        cost=6, verdicts=(True,)
    )
    assert program.ask("true", []) == KubernetesAnswers(cost=0, verdicts=())
    assert program.ask("true", [VALUELESS]) == KubernetesAnswers(
        cost=0, verdicts=(EvaluationError(detail="attribute none: unsupported attribute value"),)
    )


def test_it_gives_the_recorded_refusals(program: OracleProgram) -> None:
    """With devices or without."""
    refused = CompileError(detail="must evaluate to bool or the unknown type, not int")
    assert program.ask("1 + 1", [GPU]) == refused
    assert program.ask("1 + 1", []) == refused


def test_a_selector_is_answered_by_it_in_its_block_only(program: OracleProgram) -> None:
    """It is compiled once and asked for each device."""
    with answered_by(program):
        selector = compiled("device.driver == 'x'")
        refused = compiled("1 + 1")
    assert isinstance(selector, KubernetesSelector)
    assert selector.matches(GPU) is False
    assert isinstance(refused, CompileError)
    assert not isinstance(compiled("device.driver == 'x'"), KubernetesSelector)


def test_what_it_cannot_read_is_a_failure_of_the_program(program: OracleProgram) -> None:
    """The message has the program's own words."""
    with pytest.raises(ProgramFailed, match=r"tests\.recorded_oracle: json: cannot unmarshal number"):
        program.ask("true", [MISTYPED])
    with pytest.raises(ProgramFailed, match="quantities must match"):
        program.ask("true", [BAD_CAPACITY])


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("[]", "an answer that is no object"),
        (f"[{'1' * 100}]", rf"an answer that is no object: \[{'1' * 79}$"),
        (f'{{"a": {"1" * 100}}}', rf"an answer without a verdict on each device: {{\'a\': {'1' * 74}$"),
        ("{}", "an answer without a verdict on each device"),
        ("none", "no answer"),
        ('{"malformed": "why"}', "why"),
        ('{"verdicts": [{"match": true}, {"match": true}]}', "an answer without a verdict on each device"),
    ],
)
def test_an_answer_of_no_sense_is_named(answer: str, problem: str) -> None:
    """The message begins with the command."""
    program = OracleProgram("sh", "-c", f"read line; echo '{answer}'")
    with pytest.raises(ProgramFailed, match=rf"^sh -c .*: {problem}"):
        program.ask("true", [GPU])
    program.close()


def test_a_selector_that_compiles_only_once_is_a_failure() -> None:
    """The program contradicts itself."""
    program = OracleProgram("sh", "-c", "read line; echo '{}'; read line; echo '{\"refused\": \"no\"}'")
    selector = program.compiled("true")
    assert isinstance(selector, KubernetesSelector)
    with pytest.raises(ProgramFailed, match="compiled once and now does not"):
        selector.matches(GPU)
    program.close()


def test_a_program_that_is_not_there_is_named() -> None:
    """Before it is asked anything."""
    with pytest.raises(ProgramFailed, match="/not/there: "):
        OracleProgram("/not/there")


def test_a_cost_without_bound_is_none(program: OracleProgram) -> None:
    """Kubernetes gives the greatest number for it."""
    stopped = EvaluationError(detail="operation cancelled: actual cost limit exceeded")
    assert program.ask(COSTLY, [GPU]) == KubernetesAnswers(cost=None, verdicts=(stopped,))
