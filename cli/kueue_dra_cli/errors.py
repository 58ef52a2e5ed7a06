"""Print errors one per line on standard error, as ``FILE:LINE: field: what is wrong``, and exit with code 2."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from kueue_dra_ref.api.documents import DocumentError, ManifestDocument
from kueue_dra_ref.target import FieldError

LONGEST_LINE, HEAD, TAIL = 300, 180, 110
"""Characters of a message on one line: the most, and what stays of a longer one; a label may precede it."""
GATES_OPTION = "--feature-gates"


class CliError(click.ClickException):
    """Invalid input; each line is one error."""

    exit_code = 2

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(lines)
        super().__init__("\n".join(self.lines))

    def show(self, file: IO[Any] | None = None) -> None:
        """Print each line unchanged, so that editors find the place."""
        for line in self.lines:
            click.echo(shortened(line), file=file, err=file is None)


def shortened(line: str) -> str:
    """Cut the middle out of a line that is too long to read; its place and its end stay."""
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:HEAD]} … {line[-TAIL:]}"


@contextmanager
def readable() -> Iterator[None]:
    """Report an error in a file as an error of the command."""
    try:
        yield
    except DocumentError as fault:
        raise CliError([fault.worded]) from None


def place_of(error: FieldError, document: ManifestDocument | None) -> tuple[str, int]:
    """Give the file and line of a field of the Configuration, or the option that sets feature gates."""
    if error.field.startswith("featureGates"):
        in_document = document is not None and document.depth_of("featureGates")
        if not in_document:
            return GATES_OPTION, 0
    if document is None:
        return "(no Configuration given)", 0
    field = error.field
    if error.type == "Wrong type":
        # Go's decoder reports the field without indexes; the exact place ends the detail.
        exact = re.search(r" at (\S+)$", error.detail)
        field = exact[1] if exact else field
    return document.file, document.line_of(field)


def located(file: str, line: int, message: object) -> str:
    """Put the place before a message."""
    if not line:
        return f"{file}: {message}"
    return f"{file}:{line}: {message}"
