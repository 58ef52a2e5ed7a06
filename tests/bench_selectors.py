"""A selector over 10,000 devices: what it costs beyond the CEL engine's own evaluation of prepared variables."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator

from kueue_dra_ref.cel import Device, Selector, compiled
from kueue_dra_ref.cel.activation import facts, variables

DEVICES = 10_000
EXPRESSION = (
    'device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "a100"'
    ' && device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0'
)


def rows() -> Iterator[list[str]]:
    """Give the seconds of the processor for the engine alone and for `Selector.matches`, and their ratio."""
    selector = compiled(EXPRESSION)
    if not isinstance(selector, Selector):
        raise TypeError(f"the benchmark's own selector does not compile: {selector}")
    devices = [_a_device(number) for number in range(DEVICES)]
    prepared = [variables(facts(device)) for device in devices]
    gc.freeze()  # objects that exist already do not count
    engine = _seconds(lambda: [selector.plain(each) for each in prepared])  # type: ignore[arg-type]
    matching = _seconds(lambda: [selector.matches(device) for device in devices])
    yield [f"{DEVICES:,}", f"{engine:.3f} s", f"{matching:.3f} s", f"{matching / engine:.2f}x"]


def _seconds(act: Callable[[], object]) -> float:
    began = time.process_time()
    act()
    return time.process_time() - began


def _a_device(number: int) -> Device:
    model = {"string": "a100" if number % 2 else "h100"}
    return Device(
        name=f"gpu-{number}",
        driver="gpu.example.com",
        attributes={"model": model, "index": {"int": number}},
        capacity={"memory": f"{40 + number % 8}Gi"},
    )
