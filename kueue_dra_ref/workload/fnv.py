"""Kueue 0.19 keeps resources in the order of a hash of their names (gate VectorizedResourceRequests).

Kueue: pkg/resources/slice_requests.go (hashResourceName)
"""

from __future__ import annotations

from functools import cache

_OFFSET, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, 0xFFFFFFFFFFFFFFFF


@cache
def fnv1a(name: str) -> int:
    """The 64-bit FNV-1a hash of a name."""
    value = _OFFSET
    for byte in name.encode():
        value = ((value ^ byte) * _PRIME) & _MASK
    return value
