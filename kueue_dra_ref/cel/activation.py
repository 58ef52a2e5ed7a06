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
_ENCODED = {"version": str}
"""The kind that is brought into another form first."""
_UNTYPED: dict[str, Any] = {"": None}
"""An attribute without a value."""


class Activation(NamedTuple):
    """The fields of a device that a selector reads; a tuple, for there may be very many of them."""

    driver: str
    shared: bool
    attributes: tuple[tuple[str, str, Any], ...]
    capacity: tuple[tuple[str, str], ...]

    def named(self, kinds: frozenset[str]) -> frozenset[str]:
        """Give the names, without domain, of the attributes of these kinds."""
        found = set()
        for name, kind, _ in self.attributes:
            if kind in kinds:
                identifier = name.partition("/")[2]
                found.add(identifier or name)
        return frozenset(found)

    @property
    def shows_all_integers(self) -> bool:
        """Whether every capacity that is an integer is seen as one, in the form in which the API server stores it."""
        for _, text in self.capacity:
            stored = str(quantities.parse(text))
            if not quantities.shows_its_integer(stored):
                return False
        return True


def facts(device: Device) -> Activation:
    """Read the fields of a device that a selector can read."""
    attributes = []
    for name, typed in device.attributes.items():
        for kind, value in (typed or _UNTYPED).items():
            if type(value) is list:
                value = tuple(value)
            attributes.append((name, kind, value))
    capacity = [(name, str(value)) for name, value in device.capacity.items()]
    return Activation(
        driver=device.driver,
        shared=device.allow_multiple_allocations,
        attributes=tuple(attributes),
        capacity=tuple(capacity),
    )


def variables(seen: Activation) -> dict[str, Any] | EvaluationError | Undecided:
    """Lay the device out for the engine, names without domain under the driver's."""
    attributes: dict[str, dict[str, Any]] = {}
    for name, kind, value in sorted(seen.attributes):
        is_plain = type(value) is _PLAIN.get(kind)
        read = value if is_plain else _attribute(kind, value)
        if isinstance(read, EvaluationError):
            return EvaluationError(detail=f"attribute {name}: {read.detail}")
        domain, identifier = _qualified(name, seen.driver)
        attributes.setdefault(domain, {})[identifier] = read
    capacity: dict[str, dict[str, bytes]] = {}
    for name, text in seen.capacity:
        domain, identifier = _qualified(name, seen.driver)
        try:
            amount = value_types.quantity(text)
        except ValueError as error:
            return Undecided(reason=f"capacity {name}: {error}")
        capacity.setdefault(domain, {})[identifier] = amount
    return {
        "device.driver": seen.driver,
        "device.allowMultipleAllocations": seen.shared,
        "device.attributes": attributes,
        "device.capacity": capacity,
    }


def _attribute(kind: str, value: Any) -> Any:
    """Encode one attribute; lists belong to a feature that Kueue keeps off."""
    if type(value) is not _ENCODED.get(kind):
        return EvaluationError(detail="unsupported attribute value")
    try:
        return value_types.version(value)
    except semver.BadVersion as error:
        return EvaluationError(detail=f"parse semantic version: {error}")


def _qualified(name: str, driver: str) -> tuple[str, str]:
    domain, slash, identifier = name.partition("/")
    if not slash:
        return driver, name
    return domain, identifier
