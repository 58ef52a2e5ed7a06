"""Prints the start of a long step, and its duration."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from kueue_dra_clusters.go_tool import progress
from kueue_dra_clusters.waiting import elapsed_since, moment_now


@contextlib.contextmanager
def reported(what: str) -> Iterator[None]:
    """Print the start of a step, and its end or failure."""
    began, end = moment_now(), "ended early"
    progress(what)
    try:
        yield
        end = "done"
    finally:
        progress(f"{what}: {end} after {elapsed_since(began):.0f} s")
