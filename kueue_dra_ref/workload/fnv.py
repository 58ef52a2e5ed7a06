"""FNV-1a: Kueue 0.19 keeps resources in the order of this hash (gate VectorizedResourceRequests).

Kueue: pkg/resources/slice_requests.go (hashResourceName)
"""

from __future__ import annotations

from functools import cache

_OFFSET = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_MASK = 0xFFFFFFFFFFFFFFFF


@cache
def fnv1a(name: str) -> int:
    """Compute the 64-bit FNV-1a hash of a name."""
    value = _OFFSET
    for byte in name.encode():
        value ^= byte
        value = value * _PRIME & _MASK
    return value
