"""Ends a long search at a signal, and keeps what it has found."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import click

from kueue_dra_ref.explain.step import named
from kueue_dra_ref.scenarios.scenario import Scenario

STOPPING = "stopping after one more run of what is left; again to stop at once"


@contextmanager
def tries() -> Iterator[Callable[[Scenario], bool]]:
    """Give a function that prints each try and returns whether to make it; a first SIGINT or SIGTERM ends the tries.

    A second one ends the process as usual.
    """
    numbers, asked = count(1), list[int]()

    def stop(number: int, _: object) -> None:
        asked.append(number)
        signal.signal(number, signal.default_int_handler)
        click.echo(STOPPING, err=True)

    def report(scenario: Scenario) -> bool:
        if not asked:
            shape = f"{named(len(scenario.steps), 'step')}, {named(len(scenario.inventory), 'object')} before"
            click.echo(f"try {next(numbers)}: {shape}", err=True)
        return not asked

    before = {
        each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield report
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
