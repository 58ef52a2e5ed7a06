"""Kubernetes' own CEL engine for a command: the program that is built from its package answers every selector."""

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
    """The program cannot be had, or ended before it had answered."""

    exit_code = 2

    def __init__(self, trouble: Exception) -> None:
        super().__init__(f"--cel kubernetes: {trouble}")


class _KubernetesAnswers(OracleProgram):
    def ask(
        self, expression: str, devices: Iterable[Device]
    ) -> KubernetesAnswers | CompileError:
        """Ask, and end the command where there is no answer."""
        try:
            return super().ask(expression, devices)
        except ProgramFailed as trouble:
            raise NoAnswer(trouble) from None


@contextmanager
def kubernetes_answers() -> Iterator[None]:
    """Have every selector answered by Kubernetes until the block ends.

    Raises:
        NoAnswer: the program cannot be had.

    """
    try:
        program = _KubernetesAnswers(str(cel_oracle()))
    except (ClusterError, ProgramFailed) as trouble:
        raise NoAnswer(trouble) from None
    with closing(program), answered_by(program):
        yield
