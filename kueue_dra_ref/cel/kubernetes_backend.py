"""Kubernetes' own CEL package for device selectors, called over JSON lines in a program of ours.

Kubernetes: k8s.io/dynamic-resource-allocation/cel/compile.go (CompileCELExpression, DeviceMatches)
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from kueue_dra_ref.api import quantities
from kueue_dra_ref.cel.model import CompileError, Device, EvaluationError


class ProgramFailed(Exception):
    """The program that evaluates selectors cannot be run, or has ended."""

    def __init__(self, command: Sequence[str], problem: str) -> None:
        super().__init__(f"{' '.join(command)}: {problem}")


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesAnswers:
    """What a selector costs at most by Kubernetes' estimate, and what it gave for each device."""

    cost: int | None
    verdicts: tuple[bool | EvaluationError, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KubernetesSelector:
    """An expression that Kubernetes has compiled."""

    expression: str
    program: OracleProgram = field(repr=False)

    def matches(self, device: Device) -> bool | EvaluationError:
        """Evaluate on one device."""
        answers = self.program.ask(self.expression, [device])
        if isinstance(answers, CompileError):
            raise ProgramFailed(
                self.program.command,
                f"{self.expression!r} compiled once and now does not",
            )
        (verdict,) = answers.verdicts
        return verdict


class OracleProgram:
    """The running program; it ends when its standard input does."""

    def __init__(self, *command: str) -> None:
        self.command = command
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        except OSError as error:
            raise ProgramFailed(command, str(error)) from error
        self.compiled = cache(self._compiled)

    def ask(
        self, expression: str, devices: Iterable[Device]
    ) -> KubernetesAnswers | CompileError:
        """Compile an expression and evaluate it on devices.

        Raises:
            ProgramFailed: the program gives no answer.

        """
        wired = [_wire(device) for device in devices]
        answer = self._talk({"selector": expression, "devices": wired})
        if "refused" in answer:
            return CompileError(detail=answer["refused"])
        if len(answer.get("verdicts") or ()) != len(wired):
            raise ProgramFailed(
                self.command,
                f"an answer without a verdict on each device: {str(answer)[:80]}",
            )
        return KubernetesAnswers(
            cost=answer.get("cost"),
            verdicts=tuple(map(_verdict, answer.get("verdicts") or ())),
        )

    def close(self) -> None:
        """End the program."""
        self._process.communicate()

    def _compiled(self, expression: str) -> KubernetesSelector | CompileError:
        answer = self.ask(expression, [])
        return (
            answer
            if isinstance(answer, CompileError)
            else KubernetesSelector(expression=expression, program=self)
        )

    def _talk(self, question: dict[str, Any]) -> dict[str, Any]:
        asks, answers = self._process.stdin, self._process.stdout
        assert asks is not None
        assert answers is not None
        try:
            asks.write(json.dumps(question) + "\n")
            asks.flush()
            answer: dict[str, Any] = json.loads(answers.readline())
        except (OSError, ValueError) as error:
            raise ProgramFailed(self.command, f"no answer: {error}") from error
        if not isinstance(answer, dict):
            raise ProgramFailed(
                self.command, f"an answer that is no object: {str(answer)[:80]}"
            )
        if "malformed" in answer:
            raise ProgramFailed(self.command, answer["malformed"])
        return answer


def _wire(device: Device) -> dict[str, Any]:
    """Write a device as the program reads it, capacities in the form in which an API server stores them."""
    return {
        "driver": device.driver,
        "allowMultipleAllocations": device.allow_multiple_allocations,
        "attributes": {
            name: dict(value or {}) for name, value in device.attributes.items()
        },
        "capacity": {
            name: {"value": _stored(str(value))}
            for name, value in device.capacity.items()
        },
    }


def _stored(text: str) -> str:
    try:
        return str(quantities.parse(text))
    except quantities.BadQuantity:
        return text  # the program says what is wrong with it


def _verdict(found: dict[str, Any]) -> bool | EvaluationError:
    return (
        EvaluationError(detail=found["error"])
        if "error" in found
        else bool(found["match"])
    )
