"""``kueue-dra requirements``: print the catalogue of requirements."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import BehaviourChoice, output_option
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_ref.requirements.catalogue import Requirement, catalogue, renamed

EPILOG = """\
\b
Examples
  kueue-dra requirements COUNT-001 QUOTA-004
  kueue-dra requirements --behaviour kep-2025-09 -o json
"""


@click.command("requirements", epilog=EPILOG)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--behaviour",
    type=BehaviourChoice(),
    help="List only the requirements of this behaviour.",
)
@output_option("table", "json")
def command(ids: tuple[str, ...], behaviour: str | None, output: str) -> None:
    """List the requirements that the cases check.

    Each is one sentence with a permanent ID. MUST, SHOULD and MAY come from the KEP; INFERRED means that the KEP does
    not decide, and the release of Kueue does.
    """
    found = [
        each
        for each in _chosen(catalogue(), ids)
        if behaviour is None or behaviour in each.holds
    ]
    if output == "json":
        as_json([_as_json(each, behaviour or "") for each in found])
    else:
        rows = [(each.id, *_row(each, behaviour or "")) for each in found]
        as_table(
            ("id", "level", "requirement", "holds in", "source"),
            rows,
            (None, None, 70, 14, 30),
        )


def _chosen(
    known: Mapping[str, Requirement], ids: Sequence[str]
) -> Sequence[Requirement]:
    wanted = [id_.upper() for id_ in ids]
    if unknown := [id_ for id_ in wanted if id_ not in known]:
        raise CliError(
            [
                renamed(id_) or f"unknown requirement {id_}{_hint(known, id_)}"
                for id_ in unknown
            ]
        )
    return [known[id_] for id_ in wanted] or list(known.values())


def _hint(known: Mapping[str, Requirement], id_: str) -> str:
    near = difflib.get_close_matches(id_, known, n=3)
    return (
        f"; near: {', '.join(near)}"
        if near
        else "; kueue-dra requirements lists all of them"
    )


def _row(found: Requirement, behaviour: str) -> tuple[str, ...]:
    """Give its level, text, behaviours, and its place in the text of a behaviour."""
    return (
        found.level_in(behaviour),
        found.text,
        ", ".join(found.holds),
        found.source_in(behaviour),
    )


def _as_json(found: Requirement, behaviour: str) -> dict[str, Any]:
    own: dict[str, Any] = {
        "id": found.id,
        "text": found.text,
        "source": found.source_in(behaviour),
        "level": str(found.level_in(behaviour)),
        "profile": found.profile,
        "holds": list(found.holds),
    }
    return own | ({"excluded": found.excluded} if found.excluded else {})
