"""Write the output of a command to a file, which takes its place only when it is whole, or to standard output."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import click

STANDARD_OUTPUT = "-"
_PRIVATE, _AS_USUAL = 0o600, 0o666

output_file_option = click.option(
    "--output-file",
    default=STANDARD_OUTPUT,
    metavar="FILE",
    help="Where to write; the standard output unless given.",
)


def write_output(text: str, output: str, *, is_private: bool = False) -> None:
    """Write a text to a file, or to standard output for ``-``; only its owner reads a private one.

    Raises:
        OSError: the file cannot be written.

    """
    if output == STANDARD_OUTPUT:
        click.echo(text, nl=False)
        return
    try:
        _write(Path(output), text, _PRIVATE if is_private else _AS_USUAL)
    except OSError as fault:
        fault.filename = output
        raise


def _write(output: Path, text: str, mode: int) -> None:
    if output.exists() and not output.is_file():
        # A device, such as /dev/null, stays what it is.
        output.write_text(text, "utf-8")
        return
    target = output.resolve()
    part = target.with_name(f".kueue-dra-{secrets.token_hex(8)}")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
