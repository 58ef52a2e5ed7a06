"""All checks of a driver over 10,000 devices: what they cost beyond the evaluation of the selectors.

``python -m tests.bench_vendor`` prints that, and the cost of all data sets next to that of ``make conformance``.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tabulate import tabulate

from kueue_dra_ref.cel import Selector, compiled
from kueue_dra_ref.cel.selector import _matches as remembered
from kueue_dra_vendor.catalogue import ALL
from kueue_dra_vendor.check import VendorContext, run_checks
from kueue_dra_vendor.files import load
from kueue_dra_vendor.inventory import Inventory, selectors_of
from tests.commands import ROOT
from tests.vendor_examples import DATA_SETS

DRIVER = "gpu.example.com"
CLASSES, EACH = 20, 50
"""Classes, and devices of a slice."""
SLICES = (50, 100, 200)
KUBERNETES = "1.36"
HEADERS = (
    "devices",
    "reading",
    "selectors alone",
    "all checks",
    "ratio",
    "each device and class",
    "checks, findings",
)


def rows() -> Iterator[list[str]]:
    """Give the seconds of the processor for reading, the selectors alone and all checks, and their ratio."""
    for slices in SLICES:
        yield _row(slices)


def side_by_side() -> Iterator[list[str]]:
    """Give the seconds of the processor of one command for each data set, together, and of ``make conformance``."""
    program = str(Path(sys.executable).parent / "kueue-dra")
    commands = [[program, "vendor", "check", str(each)] for each in DATA_SETS]
    checking = sum(_spent(each) for each in commands)
    suite = _spent(["make", "--no-print-directory", "conformance"])
    yield [str(len(commands)), f"{checking:.1f} s", f"{suite:.1f} s", f"{checking / suite:.2f}x"]


def _spent(command: list[str]) -> float:
    """Run a command and give what it and its children cost."""
    before = os.times()
    subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Print both tables."""
    print(tabulate(rows(), headers=HEADERS))
    print()
    print(tabulate(side_by_side(), headers=["data sets", "vendor check, each", "make conformance", "ratio"]))


def _row(slices: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "driver.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(_objects(slices))}))
        reading, files = _timed(lambda: load([file], KUBERNETES))
    inventory = Inventory.of(files)
    gc.freeze()  # objects that exist already do not count
    selecting, _ = _timed(lambda: _select(inventory))
    checking, found = _timed(
        lambda: run_checks(VendorContext(files=files, inventory=Inventory.of(files), kubernetes=KUBERNETES))
    )
    devices = len(inventory.devices)
    pairs = devices * CLASSES
    return [
        f"{devices:,}",
        f"{reading:.1f} s",
        f"{selecting:.2f} s",
        f"{checking:.2f} s",
        f"{checking / selecting:.2f}x",
        f"{1e6 * checking / pairs:.1f} us",
        f"{len(ALL)}, {len(found)}",
    ]


def _select(inventory: Inventory) -> None:
    """Evaluate each selector of each class on each device, and nothing else."""
    for each in inventory.files.classes:
        for expression in selectors_of(each):
            selector = compiled(expression)
            if isinstance(selector, Selector):
                for device in inventory.devices:
                    selector.matches(device.device)


def _timed(act: Callable[[], Any]) -> tuple[float, Any]:
    remembered.cache_clear()  # each measures evaluations of its own
    began = time.process_time()
    found = act()
    return time.process_time() - began, found


def _objects(slices: int) -> Iterator[dict[str, Any]]:
    for number in range(CLASSES):
        expression = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].model == 'm{number}'"
        yield _object("DeviceClass", f"m{number}.example.com", {"selectors": [{"cel": {"expression": expression}}]})
    for number in range(slices):
        name = f"node-{number}"
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        devices = [_device(number, index) for index in range(EACH)]
        yield _object("ResourceSlice", name, {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": devices})


def _device(number: int, index: int) -> dict[str, Any]:
    attributes = {
        "model": {"string": f"m{index % CLASSES}"},
        "uuid": {"string": f"gpu-{number}-{index}"},
        "index": {"int": index},
        "driverVersion": {"version": "1.0.0"},
    }
    return {"name": f"gpu-{index}", "attributes": attributes, "capacity": {"memory": {"value": "80Gi"}}}


def _object(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


if __name__ == "__main__":
    main()
