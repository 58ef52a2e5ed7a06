"""``kueue-dra vendor minors``: from which Kubernetes minor and Kueue on a driver works with quota."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import click

from kueue_dra_cli.options import cel_option, output_option
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_cli.vendor_files import context_of, input_options
from kueue_dra_vendor.check import VendorContext
from kueue_dra_vendor.minors import DriverAnswer, MinorAnswer, answer
from kueue_dra_vendor.reading import VendorInput

EPILOG = """\
\b
Examples
  kueue-dra vendor minors examples/driver               from when on each class can be charged as intended
  kueue-dra vendor minors examples/driver -o json       every class under every minor

\b
Exit codes
  0  the driver works with quota from some Kubernetes minor on
  1  it works under no minor, or a check of level error finds something
  2  a file cannot be read, or holds nothing to check
"""
HEADERS = ("class", "charged by", "Kubernetes", "Kueue", "what is missing")


@click.command("minors", epilog=EPILOG, short_help="Say from when on a driver works.")
@input_options(has_minor=False)
@cel_option
@output_option("table", "json")
def command(
    given: VendorInput,
    output: str,
) -> None:
    """Print from which Kubernetes minor and Kueue release on each class can be charged as it is meant to be.

    Kubernetes 1.31 to 1.37 are asked with their feature gates by default, except for those that the descriptor or
    --kubernetes-feature-gates sets. The intent is that of the descriptor, or
    inferred from the devices.
    """

    @cache
    def load(kubernetes: str) -> VendorContext:
        return context_of(replace(given, kubernetes=kubernetes))

    found = answer(load)
    if output == "json":
        as_json(_as_json(found))
    else:
        as_table(HEADERS, list(_rows(found.answers)), (None, 30, None, None, 60))
        click.echo(_summary(found))
    raise SystemExit(0 if found.since[0] and not found.errors else 1)


def _rows(answers: Sequence[MinorAnswer]) -> Iterator[tuple[str, ...]]:
    """Give one row for neighbouring minors with one answer."""
    for (name, by, kueue, missing), some in itertools.groupby(answers, _answer_of):
        minors = [each.kubernetes for each in some]
        span = minors[0] if len(minors) == 1 else f"{minors[0]} to {minors[-1]}"
        yield name, by, span, kueue, missing


def _answer_of(each: MinorAnswer) -> tuple[str, str, str, str]:
    intent = each.intent
    by = f"{intent.quota} {intent.dimension}".strip()
    if intent.extended_resource:
        by = f"{by}, as {intent.extended_resource}"
    kueue = f"from {each.kueue}" if each.works else "no"
    return intent.name, by, kueue, "; ".join(each.obstacles)


def _summary(found: DriverAnswer) -> str:
    kubernetes, kueue = found.since
    if found.errors:
        return f"not fit for quota: see vendor check for {', '.join(found.errors)}"
    if not found.answers:
        return "no class is for quota"
    if not kubernetes:
        return "no Kubernetes minor works by default"
    return f"works with quota from Kubernetes {kubernetes} and Kueue {kueue} on"


def _as_json(found: DriverAnswer) -> dict[str, Any]:
    kubernetes, kueue = found.since
    return {
        "since": {"kubernetes": kubernetes, "kueue": kueue} if kubernetes else None,
        "errors": list(found.errors),
        "answers": [
            {
                "class": each.intent.name,
                "quota": each.intent.quota.value,
                "kubernetes": each.kubernetes,
                "kueue": each.kueue if each.works else None,
                "missing": list(each.obstacles),
            }
            for each in found.answers
        ],
    }
