"""``kueue-dra devices``: which class matches which device, and which selector keeps the others out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import cel_option, output_option
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_cli.vendor_files import context_of, input_options
from kueue_dra_ref.cel import EvaluationError, Undecided
from kueue_dra_ref.explain.step import listed
from kueue_dra_vendor.check import VendorContext
from kueue_dra_vendor.device_charges import class_charges
from kueue_dra_vendor.files import VendorObject
from kueue_dra_vendor.inventory import Inventory, InventoryDevice, Match, selectors_of
from kueue_dra_vendor.reading import VendorInput

HEADERS = ("class", "matches", "kept out by", "fails on")
WIDTHS = (None, None, 60, 60)
EPILOG = """\
\b
Examples
  kueue-dra devices classes.yaml slices.yaml               classes and devices, as a table
  kueue-dra devices classes.yaml slices.yaml -o json       each pair, with the selector that decides
  kueue-dra devices --class gpu.example.com driver/        one class, device by device
  kueue-dra devices driver/ --config mapping.yaml          also what one device of each class is charged

\b
Exit codes
  0  printed
  2  a file cannot be read, no file holds an object of resource.k8s.io, or no class has the name of --class
"""


@click.command("devices", epilog=EPILOG)
@input_options()
@click.option(
    "--class", "only", default="", metavar="NAME", help="One class, device by device."
)
@cel_option
@output_option("table", "json")
def command(given: VendorInput, only: str, output: str) -> None:
    """Print which DeviceClass matches which device of the ResourceSlices.

    A device that a class does not match is shown with the first selector that does not hold; one on which a selector
    fails, with the error and the attributes that the device has. With Kueue's Configuration, among the files or named
    by --config, it also prints what one device of the class is charged, for a request that names no amount.
    """
    context = context_of(replace(given, insists_on_one=False))
    inventory = context.inventory
    classes = [each for each in inventory.files.classes if only in ("", each.name)]
    if only and not classes:
        known = ", ".join(each.name for each in inventory.files.classes) or "none"
        raise CliError([f"--class {only}: found no such DeviceClass; known: {known}"])
    if output == "json":
        as_json([_class_as_json(context, each) for each in classes])
    elif only:
        _print_devices(context, classes)
    else:
        _print_classes(context, classes)


def _print_classes(context: VendorContext, classes: Sequence[VendorObject]) -> None:
    rows = []
    for each in classes:
        counted = _counted(context.inventory, each)
        rows.append((each.name, *counted, _charged(context, each)))
    if context.configuration:
        as_table((*HEADERS, "charged"), rows, (*WIDTHS, 60))
    else:
        as_table(HEADERS, [row[:-1] for row in rows], WIDTHS)


def _charged(context: VendorContext, each: VendorObject) -> str:
    """Say what a device of a class is charged under each mapping of the Configuration."""
    devices = context.inventory.matching(each)
    if not devices:
        return ""
    found = class_charges(each, devices, context.mappings)
    return "; ".join(map(str, found)) or "not mapped"


def _counted(inventory: Inventory, each: VendorObject) -> tuple[str, str, str]:
    matches = inventory.matches(each)
    holding = sum(1 for match in matches if match.holds)
    excluded: dict[int, int] = {}
    failing: list[str] = []
    for device, match in zip(inventory.devices, matches, strict=True):
        if match.outcome is False:
            excluded[match.index] = excluded.get(match.index, 0) + 1
        elif not match.holds:
            failing.append(device.title)
    shown = "; ".join(
        f"selector {index}: {count}" for index, count in sorted(excluded.items())
    )
    return f"{holding} of {len(matches)}", shown, listed(failing, most=1)


def _print_devices(context: VendorContext, classes: Sequence[VendorObject]) -> None:
    inventory = context.inventory
    for each in classes:
        pairs = zip(inventory.devices, inventory.matches(each), strict=True)
        rows = []
        for device, match in pairs:
            charged = ", ".join(_charges(context, each, device)) if match.holds else ""
            rows.append((device.title, *_verdict(each, device, match), charged))
        if context.configuration:
            as_table(
                ("device", each.name, "why", "charged"), rows, (None, None, 80, 40)
            )
        else:
            shown = [row[:-1] for row in rows]
            as_table(("device", each.name, "why"), shown, (None, None, 80))


def _charges(
    context: VendorContext, each: VendorObject, device: InventoryDevice
) -> Iterator[str]:
    """Give what one device charges under each mapping of its class."""
    for found in class_charges(each, [device], context.mappings):
        yield str(found)


def _verdict(
    each: VendorObject, device: InventoryDevice, match: Match
) -> tuple[str, str]:
    if match.holds:
        return "matches", ""
    selector = selectors_of(each)[match.index]
    if isinstance(match.outcome, EvaluationError):
        keys = ", ".join(sorted(device.device.attributes)) or "none"
        return (
            "fails",
            f"selector {match.index} ({selector}): {match.outcome.detail}; it has the attributes {keys}",
        )
    if isinstance(match.outcome, Undecided):
        return (
            "undecided",
            f"selector {match.index} ({selector}): {match.outcome.reason}",
        )
    return "no", f"selector {match.index} ({selector})"


def _class_as_json(context: VendorContext, each: VendorObject) -> dict[str, Any]:
    inventory = context.inventory
    devices = []
    for device, match in zip(inventory.devices, inventory.matches(each), strict=True):
        shown = _device_as_json(each, device, match)
        if match.holds and context.configuration:
            shown["charged"] = list(_charges(context, each, device))
        devices.append(shown)
    return {"class": each.name, "selectors": selectors_of(each), "devices": devices}


def _device_as_json(
    each: VendorObject, device: InventoryDevice, match: Match
) -> dict[str, Any]:
    verdict, why = _verdict(each, device, match)
    return {"device": device.title, "verdict": verdict, **({"why": why} if why else {})}
