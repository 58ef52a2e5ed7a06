"""``kueue-dra devices``: which class matches which device, and which selector keeps the others out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import (
    cel_option,
    kubernetes_option,
    output_option,
    paths_argument,
)
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_cli.vendor_files import context_of
from kueue_dra_ref.cel import EvaluationError, Undecided
from kueue_dra_ref.explain.step import listed
from kueue_dra_vendor.files import VendorObject
from kueue_dra_vendor.inventory import Inventory, InventoryDevice, Match, selectors_of

EPILOG = """\
\b
Examples
  kueue-dra devices classes.yaml slices.yaml               classes and devices, as a table
  kueue-dra devices classes.yaml slices.yaml -o json       each pair, with the selector that decides
  kueue-dra devices --class gpu.example.com driver/        one class, device by device

\b
Exit codes
  0  printed
  2  a file cannot be read, no file holds an object of resource.k8s.io, or no class has the name of --class
"""


@click.command("devices", epilog=EPILOG)
@paths_argument
@click.option(
    "--class", "only", default="", metavar="NAME", help="One class, device by device."
)
@kubernetes_option
@cel_option
@output_option("table", "json")
def command(paths: tuple[Path, ...], only: str, kubernetes: str, output: str) -> None:
    """Print which DeviceClass matches which device of the ResourceSlices.

    A device that a class does not match is shown with the first selector that does not hold; one on which a selector
    fails, with the error and the attributes that the device has.
    """
    inventory = context_of(paths, None, kubernetes, has_mapping=False).inventory
    classes = [each for each in inventory.files.classes if only in ("", each.name)]
    if only and not classes:
        known = ", ".join(each.name for each in inventory.files.classes) or "none"
        raise CliError([f"--class {only}: found no such DeviceClass; known: {known}"])
    if output == "json":
        as_json([_class_as_json(inventory, each) for each in classes])
    elif only:
        _print_devices(inventory, classes)
    else:
        _print_classes(inventory, classes)


def _print_classes(inventory: Inventory, classes: Sequence[VendorObject]) -> None:
    rows = [(each.name, *_counted(inventory, each)) for each in classes]
    as_table(
        ("class", "matches", "kept out by", "fails on"), rows, (None, None, 60, 60)
    )


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


def _print_devices(inventory: Inventory, classes: Sequence[VendorObject]) -> None:
    for each in classes:
        pairs = zip(inventory.devices, inventory.matches(each), strict=True)
        rows = [
            (device.title, *_verdict(each, device, match)) for device, match in pairs
        ]
        as_table(("device", each.name, "why"), rows, (None, None, 80))


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


def _class_as_json(inventory: Inventory, each: VendorObject) -> dict[str, Any]:
    pairs = zip(inventory.devices, inventory.matches(each), strict=True)
    devices = [_device_as_json(each, device, match) for device, match in pairs]
    return {"class": each.name, "selectors": selectors_of(each), "devices": devices}


def _device_as_json(
    each: VendorObject, device: InventoryDevice, match: Match
) -> dict[str, Any]:
    verdict, why = _verdict(each, device, match)
    return {"device": device.title, "verdict": verdict, **({"why": why} if why else {})}
