"""Kubernetes' CEL functions that the engine lacks: their types and, where it is certain, what they answer.

Kubernetes: k8s.io/apiserver/pkg/cel/environment/base.go (MustBaseEnvSet)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.cel import addresses, overrides, patterns, urls, value_types

_COMPARABLE = (
    "int",
    "uint",
    "double",
    "bool",
    "duration",
    "timestamp",
    "string",
    "bytes",
)
"""The elements of lists that have an order."""
_ADDED = frozenset({"int", "uint", "double", "duration"})
"""The elements of lists that can be added up."""


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
    functions = _FUNCTIONS | overrides.FUNCTIONS
    for signature, answer in functions.items():
        yield _overload(signature, answer)
    for element in _COMPARABLE:
        yield from _of_lists(element)


def _overload(signature: str, answer: Callable[..., Any]) -> Overload:
    head, gives = signature.split(" -> ")
    name, takes = head.split("(")
    types = [_SHORT.get(text, text) for text in takes.rstrip(")").split(", ")]
    return Overload(
        name=name.lstrip("."),
        takes=tuple(types),
        gives=_SHORT.get(gives, gives),
        answer=answer,
        member=name.startswith("."),
    )


def _of_lists(element: str) -> Iterator[Overload]:
    of_list = f"(list<{element}>)"
    yield _overload(f".isSorted{of_list} -> bool", value_types.is_sorted)
    yield _overload(f".min{of_list} -> {element}", value_types.least)
    yield _overload(f".max{of_list} -> {element}", value_types.greatest)
    if element in _ADDED:
        yield _overload(f".sum{of_list} -> {element}", value_types.total)


_SHORT = {
    "version": "kubernetes.Semver",
    "quantity": "kubernetes.Quantity",
    "ip": "net.IP",
    "cidr": "net.CIDR",
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "quantity(string) -> quantity": value_types.strict_quantity,
    "isQuantity(string) -> bool": value_types.is_quantity,
    "sign(quantity) -> int": lambda value: value_types.order(value, b"0"),
    ".compareTo(quantity, quantity) -> int": value_types.order,
    ".isGreaterThan(quantity, quantity) -> bool": lambda one, other: (
        value_types.order(one, other) > 0
    ),
    ".isLessThan(quantity, quantity) -> bool": lambda one, other: (
        value_types.order(one, other) < 0
    ),
    ".add(quantity, quantity) -> quantity": lambda one, other: (
        b"%d" % (int(one) + int(other))
    ),
    ".add(quantity, int) -> quantity": lambda one, other: (
        b"%d" % (int(one) + other * value_types.NANO)
    ),
    ".sub(quantity, quantity) -> quantity": lambda one, other: (
        b"%d" % (int(one) - int(other))
    ),
    ".sub(quantity, int) -> quantity": value_types.less,
    ".asInteger(quantity) -> int": value_types.integer,
    ".isInteger(quantity) -> bool": value_types.is_integer,
    ".asApproximateFloat(quantity) -> double": lambda value: (
        int(value) / value_types.NANO
    ),
    "semver(string) -> version": value_types.strict_version,
    "semver(string, bool) -> version": value_types.strict_version,
    "isSemver(string) -> bool": lambda text: value_types.is_valid(
        value_types.strict_version, text
    ),
    "isSemver(string, bool) -> bool": lambda text, tolerant: value_types.is_valid(
        lambda each: value_types.strict_version(each, tolerant), text
    ),
    ".compareTo(version, version) -> int": value_types.order_of_versions,
    ".isGreaterThan(version, version) -> bool": lambda one, other: (
        value_types.order_of_versions(one, other) > 0
    ),
    ".isLessThan(version, version) -> bool": lambda one, other: (
        value_types.order_of_versions(one, other) < 0
    ),
    ".major(version) -> int": value_types.number(0),
    ".minor(version) -> int": value_types.number(1),
    ".patch(version) -> int": value_types.number(2),
    ".find(string, string) -> string": patterns.find,
    ".findAll(string, string) -> list<string>": patterns.find_all,
    ".findAll(string, string, int) -> list<string>": patterns.find_some,
    ".includes(dyn, dyn) -> bool": value_types.includes,
    "isIP(string) -> bool": lambda text: value_types.is_valid(addresses.address, text),
    "ip(string) -> ip": lambda text: addresses.address(text).compressed.encode(),
    "ip.isCanonical(string) -> bool": lambda text: (
        addresses.address(text).compressed == text
    ),
    ".family(ip) -> int": lambda value: addresses.address(value.decode()).version,
    ".isLoopback(ip) -> bool": lambda value: (
        addresses.address(value.decode()).is_loopback
    ),
    ".isUnspecified(ip) -> bool": lambda value: (
        addresses.address(value.decode()).is_unspecified
    ),
    ".isLinkLocalMulticast(ip) -> bool": addresses.is_link_local_multicast,
    ".isLinkLocalUnicast(ip) -> bool": addresses.is_link_local_unicast,
    ".isGlobalUnicast(ip) -> bool": addresses.is_global_unicast,
    "isCIDR(string) -> bool": lambda text: value_types.is_valid(addresses.prefix, text),
    "cidr(string) -> cidr": lambda text: addresses.prefix(text).with_prefixlen.encode(),
    ".containsIP(cidr, string) -> bool": addresses.contains,
    ".containsIP(cidr, ip) -> bool": addresses.contains,
    ".containsCIDR(cidr, string) -> bool": addresses.covers,
    ".containsCIDR(cidr, cidr) -> bool": addresses.covers,
    ".ip(cidr) -> ip": lambda value: addresses.prefix(
        value.decode()
    ).ip.compressed.encode(),
    ".prefixLength(cidr) -> int": lambda value: (
        addresses.prefix(value.decode()).network.prefixlen
    ),
    ".masked(cidr) -> cidr": lambda value: addresses.prefix(
        value.decode()
    ).network.with_prefixlen.encode(),
    "isURL(string) -> bool": urls.is_url,
    "url(string) -> kubernetes.URL": urls.url,
    ".getScheme(kubernetes.URL) -> string": urls.scheme,
    ".getHost(kubernetes.URL) -> string": urls.host,
    ".getHostname(kubernetes.URL) -> string": urls.hostname,
    ".getPort(kubernetes.URL) -> string": urls.port,
    ".getEscapedPath(kubernetes.URL) -> string": urls.path,
    ".getQuery(kubernetes.URL) -> map<string,list<string>>": urls.query,
}
