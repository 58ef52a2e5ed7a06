"""A search that takes long, ends when it is asked to, and keeps what it has."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import click

from kueue_dra_ref.scenarios.scenario import Scenario


@contextmanager
def tries() -> Iterator[Callable[[Scenario], bool]]:
    """Give what tells of each try, and whether to make it: a first Ctrl-C, or an ordinary kill, ends them.

    A second one ends the process as ever.
    """
    numbers, asked = count(1), list[int]()

    def stop(number: int, _: object) -> None:
        asked.append(number)
        signal.signal(number, signal.default_int_handler)
        click.echo(
            "stopping: what is left is judged once more; again to leave it", err=True
        )

    def tell(scenario: Scenario) -> bool:
        if not asked:
            shape = (
                f"{len(scenario.steps)} steps, {len(scenario.inventory)} objects before"
            )
            click.echo(f"try {next(numbers)}: {shape}", err=True)
        return not asked

    before = {
        each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield tell
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
