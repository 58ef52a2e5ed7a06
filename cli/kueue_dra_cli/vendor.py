"""``kueue-dra vendor``: whether a driver is fit for quota, before a customer finds out."""

from __future__ import annotations

import click

from kueue_dra_cli import vendor_charges, vendor_check, vendor_diff, vendor_minors
from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import (
    NamedChoice,
    cel_option,
    output_option,
)
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_cli.vendor_files import context_of, input_options
from kueue_dra_ref.api.documents import written
from kueue_dra_vendor.catalogue import ALL
from kueue_dra_vendor.check import Check
from kueue_dra_vendor.mapping import documents, mapped
from kueue_dra_vendor.reading import VendorInput
from kueue_dra_vendor.validated_files import schema

MAPPING_EPILOG = """\
\b
Examples
  kueue-dra vendor mapping driver/ > quota.yaml
  kueue-dra simulate -f driver/ -f quota.yaml -o table    what the demos would be charged

\b
Exit codes
  0  written
  2  a file cannot be read, or no class matches a device
"""


ALWAYS = "always"
"""Since when a check matters that depends on no release."""
SCHEMAS = ("descriptor", "known")
SCHEMA_EPILOG = """\
\b
Examples
  kueue-dra vendor schema descriptor > descriptor.schema.json

\b
Exit codes
  0  printed
  2  there is no such schema
"""


@click.group("vendor")
def group() -> None:
    """Check whether a driver's classes and devices are fit for quota."""


@group.command("checks", short_help="List every check, with effect and remedy.")
@output_option("table", "json")
def checks_command(output: str) -> None:
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


@group.command("schema", epilog=SCHEMA_EPILOG, short_help="Print a file's JSON Schema.")
@click.argument("name", type=NamedChoice(SCHEMAS), metavar="|".join(SCHEMAS))
def schema_command(name: str) -> None:
    """Print the JSON Schema of a file that a vendor writes, for editors and validators."""
    as_json(schema(name))


@group.command(
    "mapping", epilog=MAPPING_EPILOG, short_help="Write a mapping and queues that fit."
)
@input_options(has_mapping=False)
@cel_option
def mapping_command(given: VendorInput) -> None:
    """Write a mapping of a driver's classes, and queues that fit its devices, ready to apply.

    Classes whose devices give out shares are charged by a capacity, those whose devices consume different amounts of
    a counter by that counter, all others by the number of devices. A descriptor decides first. The reasons are printed
    on the error stream.
    """
    context = context_of(given)
    inventory = context.inventory
    declared = context.descriptor.quotas if context.descriptor else None
    chosen, left = mapped(inventory, declared)
    if not chosen:
        raise CliError(
            [f"{each.title}: {why}" for each, why in left] or ["found no DeviceClass"]
        )
    click.echo(written(documents(inventory, chosen)), nl=False)
    for found in chosen:
        click.echo(
            f"{found.device_class.title} -> {found.resource} {found.nominal}: {found.why}",
            err=True,
        )
    for each, why in left:
        click.echo(f"{each.title} is not mapped: {why}", err=True)


def _described(each: Check) -> dict[str, str]:
    return {
        "id": each.id,
        "level": each.level.value,
        "title": each.title,
        "effect": each.effect,
        "remedy": each.remedy,
        "since": each.since or ALWAYS,
    }


group.add_command(vendor_charges.command)
group.add_command(vendor_check.command)
group.add_command(vendor_diff.command)
group.add_command(vendor_minors.command)
