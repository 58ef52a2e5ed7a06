"""A process that has collected the cases of one behaviour, and forks to answer each question.

`tests.mutants.servers` starts it; a fork swaps the functions of a mutant in, runs cases, and ends.
"""

from __future__ import annotations

import gc
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence

import coverage
import pytest

from kueue_dra_differential.mutants.places import PACKAGE, ROOT
from kueue_dra_reports.collection import ROW, catalogue_of
from kueue_dra_reports.shards import Shard
from tests.mutants import replays, swap
from tests.mutants.arguments import arguments
from tests.mutants.collected import Collected
from tests.mutants.messages import Answer, Profiles, Record, Try
from tests.mutants.serving import limit, opened


class Server(Collected):
    """Records what the cases reach, and tries mutants."""

    def __init__(self, door: socket.socket) -> None:
        super().__init__(door)
        self.items: Mapping[str, pytest.Item] = {}
        self.live: Mapping[str, swap.Live] = {}
        self.caches: Sequence[swap.Cache] = ()

    def begin(self, session: pytest.Session) -> None:
        """Find the cases, and the functions and caches of the reference."""
        gc.unfreeze()  # what is frozen cannot be found
        self.items = {item.nodeid: item for item in session.items}
        self.live = swap.live_functions(PACKAGE)
        self.caches = swap.caches(PACKAGE.name)

    def answer(self, asked: Profiles | Record | Try) -> Answer:
        """Name profiles, record, or try a mutant, in this process."""
        match asked:
            case Profiles():
                return Answer("", profiles=dict(self._profiles()))
            case Record():
                return self._recorded(asked)
            case Try():
                return self._tried(asked)

    def _profiles(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Give each case with the profiles of what it cites; a recording cites nothing."""
        for name, item in self.items.items():
            if row := item.stash.get(ROW, None):
                catalogue = catalogue_of(item.config)
                yield name, frozenset(catalogue[cited].profile for cited in row.requirements)

    def _recorded(self, asked: Record) -> Answer:
        measured = coverage.Coverage(
            data_file=asked.file,
            config_file=False,
            source=[str(PACKAGE)],
            messages=False,
        )
        measured.start()
        for item in self._running(self._share(asked.part)):
            self._forget()
            measured.switch_context(item.nodeid)
        measured.stop()
        measured.save()
        return Answer(", ".join(self.failed))

    def _share(self, part: Shard) -> Sequence[str]:
        """Give a part of the cases, neighbours, since those share what a module sets up."""
        names = list(self.items)
        begin, end = (len(names) * place // part.of for place in (part.index - 1, part.index))
        return names[begin:end]

    def _tried(self, asked: Try) -> Answer:
        self._swap(asked)
        self._forget(asked.file)
        for _ in self._running(asked.cases):
            if self.failed:
                break
        if self.failed:
            return Answer(self.failed[0])
        limit()
        steps = replays.differing(asked.recordings)
        return Answer("", tuple(steps))

    def _swap(self, asked: Try) -> None:
        file = ROOT / asked.file
        before = file.read_text("utf-8")
        old = swap.compiled(file, before)
        new = swap.compiled(file, asked.source)
        live = self.live.get(str(file), {})
        swap.swap(live, old, new)

    def _forget(self, changed: str = "") -> None:
        """Empty the caches of what an earlier case has run, and those that a changed module may change."""
        for cache in self.caches:
            if cache.depends_on(changed):
                cache.clear()

    def _running(self, cases: Sequence[str]) -> Iterator[pytest.Item]:
        """Run cases, each after it was given."""
        items = [self.items[case] for case in cases]
        for item, following in zip(items, [*items[1:], None], strict=False):
            yield item
            limit()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def main(behaviour: str, stories: str, *recordings: str) -> int:
    """Collect the cases of a behaviour, read the recorded scenarios, and serve."""
    for file in recordings:
        replays.read(file)
    with opened() as door:
        chosen = list(arguments(behaviour, stories))
        code = pytest.main(chosen, plugins=[Server(door)])
    return int(code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[2:]))
