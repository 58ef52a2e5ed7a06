"""How a fault reaches the user: one line each on the error stream, ``FILE:LINE: field: what is wrong``, exit code 2."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from kueue_dra_ref.api.documents import DocumentError, ManifestDocument
from kueue_dra_ref.target import FieldError

GATES_OPTION = "--feature-gates"


class CliError(click.ClickException):
    """What keeps a command from answering, line by line."""

    exit_code = 2

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(lines)
        super().__init__("\n".join(self.lines))

    def show(self, file: IO[Any] | None = None) -> None:
        """Print each line as it is, so that editors find the place."""
        for line in self.lines:
            click.echo(line, file=file, err=file is None)


@contextmanager
def readable() -> Iterator[None]:
    """Turn what is wrong with a file into a trouble of the command."""
    try:
        yield
    except DocumentError as fault:
        raise CliError([fault.worded]) from None


def place_of(error: FieldError, document: ManifestDocument | None) -> tuple[str, int]:
    """Where a field of a Configuration stands; without a file the option that sets gates, or nothing."""
    if error.field.startswith("featureGates") and (
        document is None or not document.depth_of("featureGates")
    ):
        return GATES_OPTION, 0
    if document is None:
        return "(no Configuration given)", 0
    # A wrong type is told as Go's decoder tells it, without indexes; the exact place ends the detail.
    exact = (
        re.search(r" at (\S+)$", error.detail) if error.type == "Wrong type" else None
    )
    return document.file, document.line_of(exact[1] if exact else error.field)


def located(file: str, line: int, said: object) -> str:
    """One line that begins with its place."""
    return f"{file}:{line}: {said}" if line else f"{file}: {said}"
