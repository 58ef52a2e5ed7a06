"""Print tables for people, and JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import click
from tabulate import tabulate


def as_table(
    headers: Sequence[str],
    rows: Iterable[Sequence[object]],
    widths: Sequence[int | None] = (),
) -> None:
    """Print a table; a width wraps its column."""
    found = [[str(cell) for cell in row] for row in rows]
    limits = list(widths) if widths and found else None
    click.echo(
        tabulate(
            found,
            headers=headers,
            tablefmt="simple",
            disable_numparse=True,
            maxcolwidths=limits,
        )
    )


def as_json(value: Any) -> None:
    """Print one JSON document, indented."""
    click.echo(json_text(value))


def json_text(value: Any) -> str:
    """Give one JSON document, indented."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def as_json_line(value: Any) -> None:
    """Print one JSON document on a line of its own."""
    click.echo(json.dumps(value, ensure_ascii=False))
