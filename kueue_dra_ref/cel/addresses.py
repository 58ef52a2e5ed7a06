"""IP addresses and prefixes as Kubernetes' CEL library reads them: no zone, no IPv4 inside IPv6, no leading zeros.

Kubernetes: k8s.io/apiserver/pkg/cel/library/ip.go (IP); k8s.io/apiserver/pkg/cel/library/cidr.go (CIDR)
"""

from __future__ import annotations

from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    ip_address,
    ip_interface,
)


def address(text: str) -> IPv4Address | IPv6Address:
    """Read one address.

    Raises:
        ValueError: the text is not one, or a kind that Kubernetes refuses.

    """
    read = ip_address(text)
    if isinstance(read, IPv4Address):
        return read
    if read.scope_id is not None:
        raise ValueError(f'IP address "{text}" with zone value is not allowed')
    if read.ipv4_mapped is not None:
        raise ValueError(f'IPv4-mapped IPv6 address "{text}" is not allowed')
    return read


def prefix(text: str) -> IPv4Interface | IPv6Interface:
    """Read an address with a prefix length in decimal.

    Raises:
        ValueError: the text is not one, or a kind that Kubernetes refuses.

    """
    host, _, length = text.partition("/")
    if not _is_decimal(length):
        raise ValueError(
            f'network address parse error during conversion from string: netip.ParsePrefix("{text}")'
        )
    address(host)
    return ip_interface(text)


def _is_decimal(length: str) -> bool:
    if not length.isascii() or not length.isdigit():
        return False
    return length == "0" or not length.startswith("0")


def contains(outer: bytes, inner: bytes | str) -> bool:
    """Tell whether an address lies in a prefix."""
    one = address(_text(inner))
    network = prefix(outer.decode()).network
    return one in network


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode()


def covers(outer: bytes, inner: bytes | str) -> bool:
    """Tell whether a prefix lies in a prefix."""
    one = prefix(_text(inner))
    network = prefix(outer.decode()).network
    if one.network.prefixlen < network.prefixlen:
        return False
    return one.ip in network


def is_global_unicast(value: bytes) -> bool:
    """Tell whether an address is neither unspecified, broadcast, loopback, multicast nor of the link."""
    one = address(value.decode())
    if one == IPv4Address("255.255.255.255"):
        return False
    if one.is_unspecified or one.is_loopback:
        return False
    return not one.is_multicast and not one.is_link_local


def is_link_local_unicast(value: bytes) -> bool:
    """Tell whether an address is of the link."""
    return address(value.decode()).is_link_local


def is_link_local_multicast(value: bytes) -> bool:
    """Tell whether an address is for many on the link."""
    one = address(value.decode())
    if isinstance(one, IPv4Address):
        return one in IPv4Network("224.0.0.0/24")
    first, second = one.packed[:2]
    return first == 0xFF and second & 0x0F == 2
