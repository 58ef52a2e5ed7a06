"""``kueue-dra vendor``: whether a driver is fit for quota, before a customer finds out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from kueue_dra_cli import vendor_diff, vendor_minors
from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import (
    NamedChoice,
    cel_option,
    kubernetes_option,
    output_option,
    paths_argument,
)
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_cli.vendor_files import (
    context_of,
    descriptor_option,
    mapping_option,
)
from kueue_dra_ref.api.documents import written
from kueue_dra_vendor.catalogue import ALL
from kueue_dra_vendor.check import (
    CHECKS,
    Check,
    Finding,
    Level,
    VendorContext,
    run_checks,
)
from kueue_dra_vendor.files import VendorFiles
from kueue_dra_vendor.intent import ClassIntent, inferred
from kueue_dra_vendor.inventory import Inventory
from kueue_dra_vendor.mapping import documents, mapped
from kueue_dra_vendor.validated_files import schema

EPILOG = """\
\b
Examples
  kueue-dra vendor check chart-output.yaml slices/      classes, slices, templates, demos
  kueue-dra vendor check driver/ --config mapping.yaml  the mapping as well
  kueue-dra vendor checks                               every check, with its effect and remedy

\b
Exit codes
  0  no error was found; warnings and advice may be
  1  a check of level error found something
  2  a file cannot be read, or holds nothing to check
"""


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


SCHEMAS = ("descriptor",)
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


@group.command(
    "check", epilog=EPILOG, short_help="Check a driver's classes, devices and demos."
)
@paths_argument
@mapping_option
@descriptor_option
@kubernetes_option
@cel_option
@click.option(
    "--only", multiple=True, metavar="ID", help="Run this check only; may be repeated."
)
@output_option("text", "json")
def check_command(
    paths: tuple[Path, ...],
    configuration: Path | None,
    descriptor: Path | None,
    kubernetes: str,
    only: tuple[str, ...],
    output: str,
) -> None:
    """Check DeviceClasses, ResourceSlices, claim templates and demos for what goes wrong under quota.

    Folders are read with everything below them. The mapping of a Configuration is checked against classes and devices.
    """
    if unknown := [each for each in only if each not in CHECKS]:
        raise CliError(
            [
                f"--only {each}: there is no such check; see kueue-dra vendor checks"
                for each in unknown
            ]
        )
    context = context_of(paths, configuration, kubernetes, descriptor)
    found = run_checks(context, only)
    if output == "json":
        as_json(
            {
                "findings": [_as_json(each) for each in found],
                "counts": _counts(found),
                "intent": _intent_as_json(context),
            }
        )
    else:
        _print(context, found)
    raise SystemExit(1 if any(each.level is Level.ERROR for each in found) else 0)


@group.command("checks", short_help="List every check, with effect and remedy.")
@output_option("table", "json")
def checks_command(output: str) -> None:
    """List every check: its level, what goes wrong when it is ignored, and how to fix it."""
    if output == "json":
        as_json([_described(each) for each in ALL])
    else:
        rows = [
            (each.id, each.level, each.title, each.effect, each.remedy, each.since)
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
@paths_argument
@kubernetes_option
@cel_option
def mapping_command(paths: tuple[Path, ...], kubernetes: str) -> None:
    """Write a mapping of a driver's classes, and queues that fit its devices, ready to apply.

    Classes whose devices give out shares are charged by a capacity, those whose devices consume different amounts of
    a counter by that counter, all others by the number of devices. The reasons are printed on the error stream.
    """
    inventory = context_of(paths, None, kubernetes).inventory
    chosen, left = mapped(inventory)
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


def _print(context: VendorContext, found: Sequence[Finding]) -> None:
    for each in found:
        click.echo(str(each))
    click.echo(_looked_at(context.files, context.inventory))
    for line in _intent_lines(context):
        click.echo(line)
    counts = _counts(found)
    click.echo(
        ", ".join(f"{counts[level]} {level}" for level in counts) or "nothing found"
    )


def _looked_at(files: VendorFiles, inventory: Inventory) -> str:
    templates = len(files.of("ResourceClaimTemplate"))
    return (
        f"checked {len(files.classes)} DeviceClasses, {len(inventory.devices)} devices in {len(files.slices)} "
        f"ResourceSlices of {len(inventory.drivers)} drivers, {templates} ResourceClaimTemplates, "
        f"{len(files.work)} objects with pods"
    )


def _intent_lines(context: VendorContext) -> Iterator[str]:
    """Say how each class is meant to be charged, and where that comes from."""
    if context.descriptor:
        for each in context.descriptor.classes:
            yield f"declared: {each}"
        return
    for each in inferred(context.inventory):
        yield f"inferred: {each}: {each.why}"


def _intent_as_json(context: VendorContext) -> dict[str, Any]:
    descriptor = context.descriptor
    classes = descriptor.classes if descriptor else inferred(context.inventory)
    return {
        "from": descriptor.document.file if descriptor else "inferred",
        "classes": [_class_intent(each) for each in classes],
    }


def _class_intent(each: ClassIntent) -> dict[str, str]:
    found = {"class": each.name, "quota": each.quota.value}
    if each.dimension:
        found[each.quota.value] = each.dimension
    if each.extended_resource:
        found["extendedResourceName"] = each.extended_resource
    return {**found, "why": each.why} if each.why else found


def _counts(found: Sequence[Finding]) -> dict[str, int]:
    counted = Counter(each.level for each in found)
    return {level.value: counted[level] for level in Level if counted[level]}


def _as_json(finding: Finding) -> dict[str, str]:
    return {
        "check": finding.check.id,
        "level": finding.level.value,
        "place": finding.place,
        "object": finding.object,
        "text": finding.text,
        "effect": finding.check.effect,
        "remedy": finding.check.remedy,
    }


def _described(each: Check) -> dict[str, str]:
    return {
        "id": each.id,
        "level": each.level.value,
        "title": each.title,
        "effect": each.effect,
        "remedy": each.remedy,
        "since": each.since,
    }


group.add_command(vendor_diff.command)
group.add_command(vendor_minors.command)
