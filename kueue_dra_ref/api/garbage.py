"""How often Python looks for cyclic garbage: manifests have no cycles, and each search walks all of them.

No counterpart: Python only.
"""

from __future__ import annotations

import gc

_THRESHOLDS = (100_000, 50, 100)
"""By how many objects and how many earlier searches each generation grows before it is searched."""


def collect_rarely() -> None:
    """Have this process search for garbage rarely; by default that takes a third of the time of many manifests."""
    gc.set_threshold(*_THRESHOLDS)
