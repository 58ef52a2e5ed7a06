"""Runs a function for several things at once, and gives up at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

Thing = TypeVar("Thing")
Result = TypeVar("Result")


def at_once(jobs: int, function: Callable[[Thing], Result], things: Iterable[Thing]) -> Iterator[Result]:
    """Give each result as soon as there is one; a fault or Ctrl-C drops what has not begun, and waits for nothing."""
    pool = ThreadPoolExecutor(jobs)
    try:
        futures = [pool.submit(function, thing) for thing in things]
        for future in as_completed(futures):
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
