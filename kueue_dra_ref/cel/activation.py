"""A device as the engine's variables, and as a value to remember answers by.

Kubernetes: k8s.io/dynamic-resource-allocation/cel/compile.go (DeviceMatches, Device)
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kueue_dra_ref.api import quantities
from kueue_dra_ref.cel import semver, value_types
from kueue_dra_ref.cel.model import Device, EvaluationError, Undecided

_PLAIN = {"string": str, "bool": bool, "int": int}
"""The kinds of attributes that the engine takes as they are."""


class Activation(NamedTuple):
    """What a selector can see of a device; a tuple, for there may be very many of them."""

    driver: str
    shared: bool
    attributes: tuple[tuple[str, str, Any], ...]
    capacity: tuple[tuple[str, str], ...]

    def named(self, kinds: frozenset[str]) -> frozenset[str]:
        """Give the names, without domain, of the attributes of these kinds."""
        found = [
            name.partition("/")[2] or name
            for name, kind, _ in self.attributes
            if kind in kinds
        ]
        return frozenset(found)

    @property
    def shows_all_integers(self) -> bool:
        """Whether every capacity that is an integer is seen as one, in the form in which the API server stores it."""
        return all(
            quantities.shows_its_integer(str(quantities.parse(text)))
            for _, text in self.capacity
        )


def facts(device: Device) -> Activation:
    """Take what counts from a device."""
    return Activation(
        driver=device.driver,
        shared=device.allow_multiple_allocations,
        attributes=tuple(
            [
                (name, kind, tuple(value) if type(value) is list else value)
                for name, typed in device.attributes.items()
                for kind, value in (typed or {"": None}).items()
            ]
        ),
        capacity=tuple([(name, str(value)) for name, value in device.capacity.items()]),
    )


def variables(seen: Activation) -> dict[str, Any] | EvaluationError | Undecided:
    """Lay the device out for the engine, names without domain under the driver's."""
    attributes: dict[str, dict[str, Any]] = {}
    for name, kind, value in sorted(seen.attributes):
        read = value if type(value) is _PLAIN.get(kind) else _attribute(kind, value)
        if isinstance(read, EvaluationError):
            return EvaluationError(detail=f"attribute {name}: {read.detail}")
        domain, identifier = _qualified(name, seen.driver)
        attributes.setdefault(domain, {})[identifier] = read
    capacity: dict[str, dict[str, bytes]] = {}
    for name, text in seen.capacity:
        domain, identifier = _qualified(name, seen.driver)
        try:
            capacity.setdefault(domain, {})[identifier] = value_types.quantity(text)
        except quantities.BadQuantity as error:
            return Undecided(reason=f"capacity {name}: {error}")
    return {
        "device.driver": seen.driver,
        "device.allowMultipleAllocations": seen.shared,
        "device.attributes": attributes,
        "device.capacity": capacity,
    }


def _attribute(kind: str, value: Any) -> Any:
    """Encode one attribute; lists belong to a feature that Kueue keeps off."""
    match kind, value:
        case "version", str():
            try:
                return value_types.version(value)
            except semver.BadVersion as error:
                return EvaluationError(detail=f"parse semantic version: {error}")
        case _:
            return EvaluationError(detail="unsupported attribute value")


def _qualified(name: str, driver: str) -> tuple[str, str]:
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)
