"""Say on a terminal what a command is doing, so that long work does not look like no work."""

from __future__ import annotations

import sys

import click


def doing(text: str) -> None:
    """Print what the command does now, if its errors go to a terminal."""
    if sys.stderr.isatty():
        context = click.get_current_context(silent=True)
        command = context.command_path if context else "kueue-dra"
        click.echo(f"{command}: {text}", err=True)
