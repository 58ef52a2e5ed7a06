"""``kueue-dra vendor check``: what is wrong with a driver's files for quota."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import cel_option, output_option
from kueue_dra_cli.printing import as_json
from kueue_dra_cli.vendor_files import (
    context_of,
    input_options,
    known_of,
    known_option,
)
from kueue_dra_vendor.catalogue import ALL
from kueue_dra_vendor.check import CHECKS, Check, Finding, VendorContext
from kueue_dra_vendor.files import VendorFiles
from kueue_dra_vendor.intent import ClassIntent, inferred
from kueue_dra_vendor.inventory import Inventory
from kueue_dra_vendor.junit import junit
from kueue_dra_vendor.known import KnownFinding
from kueue_dra_vendor.markdown import markdown
from kueue_dra_vendor.reading import VendorInput, counted_templates
from kueue_dra_vendor.report import VendorReport, reported

EPILOG = """\
\b
Examples
  kueue-dra vendor check examples/driver                classes, slices, templates, demos, and the mapping among them
  kueue-dra vendor check driver/ --config mapping.yaml  another mapping
  kueue-dra vendor check --context prod                 what a running cluster has
  kueue-dra vendor check examples/driver -o junit       for CI, one test case for each check
  kueue-dra vendor checks                               every check, with its effect and remedy

\b
Exit codes
  0  no error was found; warnings and advice may be
  1  a check of level error found something, or a known finding is gone
  2  a file cannot be read, or holds nothing to check
"""


@click.command(
    "check", epilog=EPILOG, short_help="Check a driver's classes, devices and demos."
)
@input_options()
@known_option
@cel_option
@click.option(
    "--only", multiple=True, metavar="ID", help="Run this check only; may be repeated."
)
@output_option("text", "json", "junit", "md")
def command(
    given: VendorInput,
    known: Path | None,
    only: tuple[str, ...],
    output: str,
) -> None:
    """Check DeviceClasses, ResourceSlices, claim templates and demos for what goes wrong under quota.

    Folders are read with everything below them. The mapping of a Configuration is checked against classes and devices.
    The last line sums it up.
    """
    checks = _chosen(only)
    context = context_of(given)
    report = reported(context, checks, known_of(given.paths, known))
    match output:
        case "json":
            as_json(_as_json(report))
        case "junit":
            click.echo(junit(report).rstrip("\n"))
        case "md":
            click.echo(markdown(report), nl=False)
        case _:
            for line in _lines(report):
                click.echo(line)
    raise SystemExit(0 if report.fits else 1)


def _chosen(only: tuple[str, ...]) -> list[Check]:
    unknown = [each for each in only if each not in CHECKS]
    if unknown:
        text = "there is no such check; see kueue-dra vendor checks"
        raise CliError([f"--only {each}: {text}" for each in unknown])
    return [each for each in ALL if not only or each.id in only]


def _lines(report: VendorReport) -> Iterator[str]:
    for each in report.findings:
        yield str(each)
    for each, reason in report.known:
        yield f"{each} (known: {reason})"
    for entry in report.gone:
        yield str(entry)
    context = report.context
    yield _looked_at(context.files, context.inventory)
    yield from _intent_lines(context)
    yield report.summary


def _looked_at(files: VendorFiles, inventory: Inventory) -> str:
    templates = len(files.of("ResourceClaimTemplate"))
    text = (
        f"checked {len(files.classes)} DeviceClasses, {len(inventory.devices)} devices in {len(files.slices)} "
        f"ResourceSlices of {len(inventory.drivers)} drivers, {templates} ResourceClaimTemplates, "
        f"{len(files.work)} objects with pods"
    )
    if files.templates:
        first = f"{files.templates[0].file}:{files.templates[0].line}"
        count = counted_templates(files)
        text = f"{text}; left out {count}, not rendered, the first {first}"
    return text


def _intent_lines(context: VendorContext) -> Iterator[str]:
    """Say how each class is meant to be charged, and where that comes from."""
    if context.descriptor:
        for each in context.descriptor.classes:
            yield f"declared: {each}"
        return
    if not context.inventory.devices:
        yield "inferred: nothing, because no devices were given"
        return
    for each in inferred(context.inventory):
        yield f"inferred: {each}: {each.why}"


def _as_json(report: VendorReport) -> dict[str, Any]:
    known = [{**_finding(each), "reason": reason} for each, reason in report.known]
    return {
        "summary": report.summary,
        "fits": report.fits,
        "findings": [_finding(each) for each in report.findings],
        "known": known,
        "gone": [_gone(each) for each in report.gone],
        "counts": report.counts,
        "intent": _intent(report.context),
    }


def _finding(finding: Finding) -> dict[str, str]:
    return {
        "check": finding.check.id,
        "level": finding.level.value,
        "place": finding.place,
        "object": finding.object,
        "text": finding.text,
        "effect": finding.check.effect,
        "remedy": finding.check.remedy,
    }


def _gone(each: KnownFinding) -> dict[str, str]:
    return {
        "check": each.check,
        "object": each.object,
        "place": each.place,
        "reason": each.reason,
    }


def _intent(context: VendorContext) -> dict[str, Any]:
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
