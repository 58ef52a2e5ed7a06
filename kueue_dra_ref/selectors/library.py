"""Kubernetes' CEL functions that the engine lacks: their types and, where it is certain, what they answer.

A quantity travels through the engine as bytes (its nano units in decimal), a version as a map of one private key: such
a map is neither ordered nor equal to anything else, and capacities have a static type that is checked beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from kueue_dra_ref.api import quantities

from . import addresses, patterns, semver
from .model import Undecidable

_VERSION = "kubernetes.Semver"
_NANO = 10**9
_MAX_INT64, _MIN_INT64 = 2**63 - 1, -(2**63)
_MAX_INCLUDES = 48
_HUGE_EXPONENT = re.compile(r"[+-]?[0-9.]*[eE][+-]?[0-9]{5,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overload:
    """One typed form of a function; types are spelled as in CEL."""

    name: str
    takes: tuple[str, ...]
    gives: str
    answer: Callable[..., Any]
    member: bool


def overloads() -> Iterator[Overload]:
    """Give every function that Kubernetes' environment has beyond the engine's own extensions."""
    for signature, answer in _FUNCTIONS.items():
        head, gives = signature.split(" -> ")
        name, takes = head.split("(")
        types = tuple(_SHORT.get(text, text) for text in takes.rstrip(")").split(", ") if text)
        yield Overload(
            name=name.lstrip("."), takes=types, gives=_SHORT.get(gives, gives), answer=answer, member=name[0] == "."
        )
    for element in ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"):
        takes = (f"list<{element}>",)
        yield Overload(name="isSorted", takes=takes, gives="bool", answer=_is_sorted, member=True)
        yield Overload(name="min", takes=takes, gives=element, answer=_least, member=True)
        yield Overload(name="max", takes=takes, gives=element, answer=_greatest, member=True)
        if element in ("int", "uint", "double", "duration"):
            yield Overload(name="sum", takes=takes, gives=element, answer=_sum, member=True)


def version(text: str) -> dict[str, str]:
    """Encode a semantic version for the engine.

    Raises:
        semver.BadVersion: the text is not one.

    """
    return {_VERSION: semver.canonical(text)}


def quantity(text: str) -> bytes:
    """Encode a quantity for the engine.

    Raises:
        quantities.BadQuantity: the text is not one.

    """
    return b"%d" % int(quantities.parse(text).amount * _NANO)


def _quantity(text: str) -> bytes:
    if _HUGE_EXPONENT.fullmatch(text):
        raise Undecidable(f"the quantity {text}")
    try:
        return quantity(text)
    except quantities.BadQuantity as error:
        raise ValueError(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ) from error


def _is_valid(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def is_quantity(text: str) -> bool:
    """Tell whether a text is a quantity."""
    return _is_valid(_quantity, text)


def _version(text: str, normalize: bool = False) -> dict[str, str]:
    return version(semver.normalized(text) if normalize else text)


def _order(one: bytes | dict[str, str], other: bytes | dict[str, str]) -> int:
    if isinstance(one, dict) and isinstance(other, dict):
        return semver.compare(one[_VERSION], other[_VERSION])
    if isinstance(one, dict) or isinstance(other, dict):
        raise ValueError("no such overload")
    return (int(one) > int(other)) - (int(one) < int(other))


def _number(of: int) -> Callable[[dict[str, str]], int]:
    return lambda value: semver.numbers(value[_VERSION])[of]


def _is_integer(value: bytes) -> bool:
    return int(value) % _NANO == 0 and _MIN_INT64 <= int(value) // _NANO <= _MAX_INT64


def _integer(value: bytes) -> int:
    if not _is_integer(value):
        raise ValueError("cannot convert value to integer")
    return int(value) // _NANO


def _comparable(values: list[Any]) -> list[Any]:
    if any(isinstance(value, datetime | timedelta) for value in values):
        raise Undecidable("lists of durations or timestamps")  # Python's are coarser than CEL's
    return values


def _is_sorted(values: list[Any]) -> bool:
    return all(one <= next_one for one, next_one in zip(_comparable(values), values[1:], strict=False))


def _least(values: list[Any]) -> Any:
    if not values:
        raise ValueError("min called on empty list")
    return min(_comparable(values))


def _greatest(values: list[Any]) -> Any:
    if not values:
        raise ValueError("max called on empty list")
    return max(_comparable(values))


def _sum(values: list[Any]) -> Any:
    total = sum(_comparable(values))
    if isinstance(total, int) and not _MIN_INT64 <= total <= _MAX_INT64:
        raise ValueError("integer overflow")
    return total


def _includes(target: Any, wanted: Any) -> bool:
    if not isinstance(target, list):
        return _equal(target, wanted)
    found = any(_equal(item, wanted) for item in target[:_MAX_INCLUDES])
    if not found and len(target) > _MAX_INCLUDES:
        raise ValueError(f"'includes' function cannot be applied to lists longer than {_MAX_INCLUDES} values")
    return found


def _equal(one: Any, other: Any) -> bool:
    """Compare as CEL does, where true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _unknown(what: str) -> Callable[..., Any]:
    def refuse(*_: Any) -> Any:
        raise Undecidable(what)

    return refuse


_SHORT = {"version": _VERSION, "quantity": "kubernetes.Quantity", "ip": "net.IP", "cidr": "net.CIDR"}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "quantity(string) -> quantity": _quantity,
    "isQuantity(string) -> bool": is_quantity,
    "sign(quantity) -> int": lambda value: (int(value) > 0) - (int(value) < 0),
    ".compareTo(quantity, quantity) -> int": _order,
    ".isGreaterThan(quantity, quantity) -> bool": lambda one, other: _order(one, other) > 0,
    ".isLessThan(quantity, quantity) -> bool": lambda one, other: _order(one, other) < 0,
    ".add(quantity, quantity) -> quantity": lambda one, other: b"%d" % (int(one) + int(other)),
    ".add(quantity, int) -> quantity": lambda one, other: b"%d" % (int(one) + other * _NANO),
    ".sub(quantity, quantity) -> quantity": lambda one, other: b"%d" % (int(one) - int(other)),
    ".sub(quantity, int) -> quantity": lambda one, other: b"%d" % (int(one) - other * _NANO),
    ".asInteger(quantity) -> int": _integer,
    ".isInteger(quantity) -> bool": _is_integer,
    ".asApproximateFloat(quantity) -> double": lambda value: int(value) / _NANO,
    "semver(string) -> version": _version,
    "semver(string, bool) -> version": _version,
    "isSemver(string) -> bool": lambda text: _is_valid(_version, text),
    "isSemver(string, bool) -> bool": lambda text, tolerant: _is_valid(lambda each: _version(each, tolerant), text),
    ".compareTo(version, version) -> int": _order,
    ".isGreaterThan(version, version) -> bool": lambda one, other: _order(one, other) > 0,
    ".isLessThan(version, version) -> bool": lambda one, other: _order(one, other) < 0,
    ".major(version) -> int": _number(0),
    ".minor(version) -> int": _number(1),
    ".patch(version) -> int": _number(2),
    ".find(string, string) -> string": patterns.find,
    ".findAll(string, string) -> list<string>": patterns.find_all,
    ".findAll(string, string, int) -> list<string>": patterns.find_all,
    ".includes(dyn, dyn) -> bool": _includes,
    "isIP(string) -> bool": lambda text: _is_valid(addresses.address, text),
    "ip(string) -> ip": lambda text: addresses.address(text).compressed.encode(),
    "ip.isCanonical(string) -> bool": lambda text: addresses.address(text).compressed == text,
    ".family(ip) -> int": lambda value: addresses.address(value.decode()).version,
    ".isLoopback(ip) -> bool": lambda value: addresses.address(value.decode()).is_loopback,
    ".isUnspecified(ip) -> bool": lambda value: addresses.address(value.decode()).is_unspecified,
    ".isLinkLocalMulticast(ip) -> bool": _unknown("isLinkLocalMulticast()"),
    ".isLinkLocalUnicast(ip) -> bool": _unknown("isLinkLocalUnicast()"),
    ".isGlobalUnicast(ip) -> bool": _unknown("isGlobalUnicast()"),
    "isCIDR(string) -> bool": lambda text: _is_valid(addresses.prefix, text),
    "cidr(string) -> cidr": lambda text: addresses.prefix(text).with_prefixlen.encode(),
    ".containsIP(cidr, string) -> bool": addresses.contains,
    ".containsIP(cidr, ip) -> bool": addresses.contains,
    ".containsCIDR(cidr, string) -> bool": addresses.covers,
    ".containsCIDR(cidr, cidr) -> bool": addresses.covers,
    ".ip(cidr) -> ip": lambda value: addresses.prefix(value.decode()).ip.compressed.encode(),
    ".prefixLength(cidr) -> int": lambda value: addresses.prefix(value.decode()).network.prefixlen,
    ".masked(cidr) -> cidr": lambda value: addresses.prefix(value.decode()).network.with_prefixlen.encode(),
    "isURL(string) -> bool": _unknown("isURL()"),
    "url(string) -> kubernetes.URL": _unknown("url()"),
    ".getScheme(kubernetes.URL) -> string": _unknown("getScheme()"),
    ".getHost(kubernetes.URL) -> string": _unknown("getHost()"),
    ".getHostname(kubernetes.URL) -> string": _unknown("getHostname()"),
    ".getPort(kubernetes.URL) -> string": _unknown("getPort()"),
    ".getEscapedPath(kubernetes.URL) -> string": _unknown("getEscapedPath()"),
    ".getQuery(kubernetes.URL) -> map<string,list<string>>": _unknown("getQuery()"),
}
