"""Durations as Go prints and reads them, such as 5m or 1h30m."""

from __future__ import annotations

import re

_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")


def seconds(text: str) -> float:
    """Give a duration in seconds; the text has to be one."""
    total = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    return -total if text.startswith("-") else total
