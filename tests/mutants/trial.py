"""Try mutants: the cases that reach the changed line, behaviour by behaviour, and then the recorded scenarios."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kueue_dra_differential.mutants.places import ROOT
from tests.mutants.arguments import CASES
from tests.mutants.at_once import at_once
from tests.mutants.messages import Answer, Try
from tests.mutants.order import limited, ordered
from tests.mutants.reach import Reach, rows
from tests.mutants.servers import Server
from tests.mutants.swap import changes_import, compiled

if TYPE_CHECKING:
    from kueue_dra_differential.mutants.mutant import Mutant  # it needs the library that makes mutants

CAUGHT, SURVIVED, UNREACHED = "caught", "survived", "unreached"
RECORDINGS = "recordings"
NO_ANSWER = "it does not end"
OF_FIRST = 10
"""How many times more cases than the limit look on in the first behaviour, which has the recorded scenarios."""
AT_IMPORT = 2
"""And in the others, at a mutant that changes an import: what is imported is far from most of what it changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of a mutant."""

    name: str
    outcome: str
    """Whether a case failed; without a case that runs its line it is unreached."""
    by: str = ""
    """The behaviour whose cases caught it, or the recordings."""
    case: str = ""
    """The case that failed, or the steps of recordings that differ."""
    before: str
    after: str
    seconds: float
    state: str
    """The state of the sources for which this holds."""
    profiles: Sequence[str] = ()
    """The profiles of the cases that run its line."""
    limit: int | None = None
    """At most so many cases of a behaviour looked at it."""

    @property
    def file(self) -> str:
        """The module."""
        return self.name.partition(":")[0]

    def holds(self, limit: int | None) -> bool:
        """Whether it is a result with another limit too: a case that caught it did, and fewer cases see no more."""
        if self.outcome == CAUGHT or self.limit is None:
            return True
        return limit is not None and limit <= self.limit

    @property
    def text(self) -> str:
        """The result as one line."""
        return f"{self.outcome}: {self.name}: {self.before} -> {self.after}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """Tries mutants, several at once."""

    reaches: Sequence[Reach]
    at_import: Path
    """A file of coverage: the lines that the import runs."""
    fresh: Server
    """The server for mutants that change what runs at the import."""
    recordings: Sequence[str]
    expected: frozenset[str]
    """The steps of the recordings that differ unchanged."""
    jobs: int
    limit: int | None
    state: str
    profiles: Mapping[str, frozenset[str]]
    """The profiles of each case."""
    killers: dict[str, Counter[str]] = field(default_factory=dict)
    """How many mutants of a module each case has caught; those that caught most are tried first."""

    def of(self, mutants: Sequence[Mutant]) -> Iterator[Result]:
        """Give the result of each mutant as soon as there is one."""
        return at_once(self.jobs, self._tried, mutants)

    def _tried(self, mutant: Mutant) -> Result:
        began = time.monotonic()
        source = mutant.source
        before, after = mutant.change(source)
        outcome, by, case = self._outcome(mutant, source)
        result = Result(
            name=mutant.name,
            outcome=outcome,
            by=by,
            case=case,
            before=before,
            after=after,
            seconds=round(time.monotonic() - began, 1),
            state=self.state,
            profiles=sorted(self._profiles(mutant)),
            limit=self.limit,
        )
        self.note([result])
        return result

    def _profiles(self, mutant: Mutant) -> Iterator[str]:
        """Give the profiles whose cases run the line."""
        running = set[str]()
        for reach in self.reaches:
            running.update(reach.cases(mutant.file, mutant.lines))
        yield from frozenset[str]().union(*(self.profiles.get(case, frozenset()) for case in running))

    def note(self, results: Iterable[Result]) -> None:
        """Note the cases that caught mutants of a module."""
        for each in results:
            if each.case:
                self.killers.setdefault(each.file, Counter())[each.case] += 1

    def _outcome(self, mutant: Mutant, source: str) -> tuple[str, str, str]:
        """Give the outcome, the behaviour whose cases caught the mutant, and the case."""
        reached = False
        for by, answer in self._answers(mutant, source):
            reached = True
            if answer is None:
                return CAUGHT, by, NO_ANSWER
            if answer.failed:
                return CAUGHT, RECORDINGS if _is_recorded(answer.failed) else by, answer.failed
        return SURVIVED if reached else UNREACHED, "", ""

    def _answers(self, mutant: Mutant, source: str) -> Iterator[tuple[str, Answer | None]]:
        """Ask one server after another; a mutant that changes an import is tried by all cases."""
        if not _changes_import(mutant, source):
            yield from self._swapped(mutant, source)
            if not self._runs_at_import(mutant):
                return
        yield from self._imported(mutant, source)

    def _swapped(self, mutant: Mutant, source: str) -> Iterator[tuple[str, Answer | None]]:
        for reach in self.reaches:
            if cases := self._ordered(mutant, reach, reach.cases(mutant.file, mutant.lines), 1):
                yield reach.server.name, reach.server.ask(Try(file=mutant.file, source=source, cases=cases))
        server = self.reaches[0].server
        answer = server.ask(Try(file=mutant.file, source=source, recordings=self.recordings))
        yield from self._of_recordings(answer)

    def _imported(self, mutant: Mutant, source: str) -> Iterator[tuple[str, Answer | None]]:
        """Ask for all cases of the first behaviour, and for those that run the module, or one that imports it.

        The limit is for the others: what a table holds may show in a case that runs none of the lines that it has.
        """
        for reach in self.reaches:
            readers = reach.of_readers(mutant.file)
            first = self._ordered(mutant, reach, readers, AT_IMPORT)
            asked = Try(
                file=mutant.file,
                source=source,
                cases=first,
                recordings=self.recordings if reach is self.reaches[-1] else (),
                behaviour=reach.server.name,
                every=reach is self.reaches[0],
            )
            answer = self.fresh.ask(asked)
            yield reach.server.name, answer
            yield from self._of_recordings(answer) if asked.recordings else ()

    def _of_recordings(self, answer: Answer | None) -> Iterator[tuple[str, Answer | None]]:
        """Turn steps that differ now into a failure; without one there is nothing to add."""
        if answer is None:
            yield RECORDINGS, None
            return
        changed = sorted(self.expected ^ set(answer.differing))
        if changed:
            yield RECORDINGS, Answer(changed[0])

    def _ordered(
        self,
        mutant: Mutant,
        reach: Reach,
        running: Mapping[str, int],
        times: int,
    ) -> Sequence[str]:
        """Order cases; those beyond some times the limit are left out."""
        caught: Mapping[str, int] = self.killers.get(mutant.file, Counter())
        limit = self.limit and self.limit * (OF_FIRST if reach is self.reaches[0] else times)
        return limited(ordered(running, reach.weights, caught, mutant.name), limit)

    def _runs_at_import(self, mutant: Mutant) -> bool:
        lines = rows(self.at_import, mutant.file)
        return any(reached >> mutant.line & 1 for _, reached in lines)


def _is_recorded(case: str) -> bool:
    """Whether a test compares with recorded answers, rather than being a case of the suite."""
    return not case.startswith(CASES)


def _changes_import(mutant: Mutant, source: str) -> bool:
    file = ROOT / mutant.file
    return changes_import(compiled(file, file.read_text("utf-8")), compiled(file, source))
