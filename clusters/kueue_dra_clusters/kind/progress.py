"""Tells who waits what begins, and how long it took."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from kueue_dra_clusters.go_tool import progress
from kueue_dra_clusters.waiting import elapsed_since, moment_now


@contextlib.contextmanager
def told(what: str) -> Iterator[None]:
    """Say that something begins, and when it is done or has failed."""
    began, end = moment_now(), "ended early"
    progress(what)
    try:
        yield
        end = "done"
    finally:
        progress(f"{what}: {end} after {elapsed_since(began):.0f} s")
