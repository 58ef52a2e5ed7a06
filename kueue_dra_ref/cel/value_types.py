"""How quantities and versions travel through the engine, and what Kubernetes' functions answer of them and of lists.

A quantity travels as bytes (its nano units in decimal), a version as a map of one private key: such a map is neither
ordered nor equal to anything else, and quantities have a static type that is checked beforehand.

Kubernetes: k8s.io/apiserver/pkg/cel/quantity.go (Quantity); k8s.io/apiserver/pkg/cel/semver.go (Semver)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Any

from kueue_dra_ref.api import quantities
from kueue_dra_ref.cel import semver
from kueue_dra_ref.cel.model import Undecidable

_VERSION = "kubernetes.Semver"
NANO = 1_000_000_000
_MIN_INT64 = -(2**63)
_MAX_INT64 = -_MIN_INT64 - 1
_MAX_INCLUDES = 48
_QUANTITY = re.compile(
    r"[+-]?[0-9]*(?:\.[0-9]*)?(?P<suffix>[eEinumkKMGTP]*[-+]?[0-9]*)"
)
_SUFFIX = re.compile(r"[KMGTPE]i|[eE][+-]?[0-9]+|[numkMGTPE]?")
_HUGE_EXPONENT = re.compile(r"[+-]?[0-9.]*[eE][+-]?[0-9]{5,}")


def version(text: str) -> dict[str, str]:
    """Encode a semantic version for the engine.

    Raises:
        semver.BadVersion: the text is not one.

    """
    return {_VERSION: semver.canonical(text)}


@lru_cache(maxsize=4096)
def quantity(text: str) -> bytes:
    """Encode a quantity for the engine.

    Raises:
        quantities.BadQuantity: the text is not one.

    """
    return b"%d" % int(quantities.parse(text).amount * NANO)


def strict_quantity(text: str) -> bytes:
    """Encode a quantity, or fail in Kubernetes' words."""
    if _HUGE_EXPONENT.fullmatch(text):
        raise Undecidable(f"the quantity {text}")
    try:
        return quantity(text)
    except quantities.BadQuantity as error:
        raise ValueError(_why_no_quantity(text)) from error
    except ValueError as error:
        # Python writes no number of so many digits.
        raise Undecidable(f"the quantity {text}") from error


def _why_no_quantity(text: str) -> str:
    parts = _QUANTITY.fullmatch(text)
    if parts is None or not text:
        return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    if _SUFFIX.fullmatch(parts["suffix"]):
        return "unable to parse numeric part of quantity"
    return "unable to parse quantity's suffix"


def is_valid(read: Callable[[str], object], text: str) -> bool:
    """Tell whether a text can be read."""
    try:
        read(text)
    except ValueError:
        return False
    return True


def is_quantity(text: str) -> bool:
    """Tell whether a text is a quantity."""
    return is_valid(strict_quantity, text)


def strict_version(text: str, normalize: bool = False) -> dict[str, str]:
    """Encode a semantic version, brought into full form first on request."""
    if normalize:
        text = semver.normalized(text)
    return version(text)


def order(one: bytes, other: bytes) -> int:
    """Compare two quantities: -1, 0 or 1."""
    left = int(one)
    right = int(other)
    return (left > right) - (left < right)


def order_of_versions(one: dict[str, str], other: dict[str, str]) -> int:
    """Compare two versions: -1, 0 or 1."""
    return semver.compare(one[_VERSION], other[_VERSION])


def number(of: int) -> Callable[[dict[str, str]], int]:
    """Make a reader of major (0), minor (1) or patch (2)."""
    return lambda value: semver.numbers(value[_VERSION])[of]


def is_integer(value: bytes) -> bool:
    """Tell whether a quantity is an int64."""
    whole, fraction = divmod(int(value), NANO)
    return not fraction and whole in range(_MIN_INT64, -_MIN_INT64)


def integer(value: bytes) -> int:
    """Give a quantity's integer."""
    if not is_integer(value):
        raise ValueError("cannot convert value to integer")
    return int(value) // NANO


def less(one: bytes, other: int) -> bytes:
    """Subtract an integer from a quantity."""
    if other == _MIN_INT64:
        # Go has no number that is its opposite.
        raise Undecidable("the least integer taken from a quantity")
    left = int(one) - other * NANO
    return b"%d" % left


def _comparable(values: list[Any]) -> list[Any]:
    for value in values:
        if isinstance(value, datetime | timedelta):
            # Python's are coarser than CEL's.
            raise Undecidable("lists of durations or timestamps")
    return values


def is_sorted(values: list[Any]) -> bool:
    """Tell whether no element is less than the one before."""
    pairs = pairwise(_comparable(values))
    return all(one <= following for one, following in pairs)


def least(values: list[Any]) -> Any:
    """Give the least element."""
    if not values:
        raise ValueError("min called on empty list")
    return min(_comparable(values))


def greatest(values: list[Any]) -> Any:
    """Give the greatest element."""
    if not values:
        raise ValueError("max called on empty list")
    return max(_comparable(values))


def total(values: list[Any]) -> Any:
    """Add all elements up."""
    added = sum(_comparable(values))
    if isinstance(added, int) and not _MIN_INT64 <= added <= _MAX_INT64:
        raise ValueError("integer overflow")
    return added


def includes(target: Any, wanted: Any) -> bool:
    """Tell whether a list has an element, or a single value is it."""
    if not isinstance(target, list):
        return equal(target, wanted)
    found = any(equal(item, wanted) for item in target[:_MAX_INCLUDES])
    if not found and len(target) > _MAX_INCLUDES:
        raise ValueError(
            f"'includes' function cannot be applied to lists longer than {_MAX_INCLUDES} values"
        )
    return found


def equal(one: Any, other: Any) -> bool:
    """Compare as CEL does, where true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
