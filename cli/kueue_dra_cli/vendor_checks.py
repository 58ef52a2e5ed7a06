"""``kueue-dra vendor checks`` and ``schema``: what the checks are, and what the files of a vendor look like."""

from __future__ import annotations

import click

from kueue_dra_cli.options import NamedChoice, output_option
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_reports.json_schema import published
from kueue_dra_vendor.catalogue import ALL
from kueue_dra_vendor.check import Check

ALWAYS = "always"
"""Since when a check matters that depends on no release."""
SCHEMAS = {
    "descriptor": "kueue_dra_vendor",
    "known": "kueue_dra_vendor",
    "driver": "kueue_dra_fixtures",
}
"""The published schemas, each with the package that has it."""
SCHEMA_EPILOG = """\
\b
Examples
  kueue-dra vendor schema descriptor > descriptor.schema.json

\b
Exit codes
  0  printed
  2  there is no such schema
"""


@click.command("checks", short_help="List every check, with effect and remedy.")
@output_option("table", "json")
def command(output: str) -> None:
    """List every check: its level, what goes wrong when it is ignored, and how to fix it."""
    if output == "json":
        as_json([_described(each) for each in ALL])
    else:
        rows = [
            (
                each.id,
                each.level,
                each.title,
                each.effect,
                each.remedy,
                each.since or ALWAYS,
            )
            for each in ALL
        ]
        as_table(
            ("id", "level", "check", "effect", "remedy", "since"),
            rows,
            (None, None, 30, 40, 30, 14),
        )


@click.command("schema", epilog=SCHEMA_EPILOG, short_help="Print a file's JSON Schema.")
@click.argument("name", type=NamedChoice(tuple(SCHEMAS)), metavar="|".join(SCHEMAS))
def schema_command(name: str) -> None:
    """Print the JSON Schema of a file that a vendor writes, for editors and validators."""
    as_json(published(SCHEMAS[name], name))


def _described(each: Check) -> dict[str, str]:
    return {
        "id": each.id,
        "level": each.level.value,
        "title": each.title,
        "effect": each.effect,
        "remedy": each.remedy,
        "since": each.since or ALWAYS,
    }
