"""Evaluates the selectors of a command with Kubernetes' own CEL engine, in a program built from its package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager

import click

from kueue_dra_clusters.cel_oracle import cel_oracle
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_ref.cel import CompileError, Device
from kueue_dra_ref.cel.backend import answered_by
from kueue_dra_ref.cel.kubernetes_backend import (
    KubernetesAnswers,
    OracleProgram,
    ProgramFailed,
)


class NoAnswer(click.ClickException):
    """The program is not available, or exited before its answer."""

    exit_code = 2

    def __init__(self, trouble: Exception) -> None:
        super().__init__(f"--cel kubernetes: {trouble}")


class _KubernetesAnswers(OracleProgram):
    def ask(
        self, expression: str, devices: Iterable[Device]
    ) -> KubernetesAnswers | CompileError:
        """Ask the program; without an answer, the command fails."""
        try:
            return super().ask(expression, devices)
        except ProgramFailed as trouble:
            raise NoAnswer(trouble) from None


@contextmanager
def kubernetes_answers() -> Iterator[None]:
    """Evaluate every selector with Kubernetes' engine until the block ends.

    Raises:
        NoAnswer: the program is not available.

    """
    try:
        program = _KubernetesAnswers(str(cel_oracle()))
    except (ClusterError, ProgramFailed) as trouble:
        raise NoAnswer(trouble) from None
    with closing(program), answered_by(program):
        yield
