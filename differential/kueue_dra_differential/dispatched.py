"""Runs scenarios with workers on real Kueues: after each step it waits until they show what the reference does.

A manager and its workers never settle: each of them may answer the others a second later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from kueue_dra_clusters.waiting import NotYet, TimedOut, eventually, let_pass
from kueue_dra_ref.api.multikueue import MANAGED_BY
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.diff import difference
from kueue_dra_ref.scenarios.observation import KUEUE
from kueue_dra_ref.scenarios.playback import Playback
from kueue_dra_ref.scenarios.scenario import Observation, Scenario, is_comparable
from kueue_dra_ref.target import HasWorkers, Ref, Target

STEADY = 1.0
"""Seconds after which clusters have to show the same again."""
TRIES = 3
"""How often clusters may go on changing after they showed what the reference does."""
LEAVING = 4.0
"""Seconds in which a manager deletes the copies of deleted work; a lost worker keeps them."""
BETWEEN = 0.1
"""Seconds between two looks."""


def observed_together(
    batch: Sequence[Scenario], target: Target, behaviour: Behaviour
) -> Iterator[list[Observation]]:
    """Run scenarios side by side on a manager and its workers, and observe each after every step.

    Raises:
        ConfigurationRejected: a Kueue does not start with its configuration.

    """
    playback = Playback.of(batch, target)
    run = _Run(playback=playback, agreeing=set(range(len(batch))))
    expected = [answers(each, behaviour) for each in batch]
    try:
        playback.start()
        all_steps = [each.steps for each in batch]
        for steps in zip(*all_steps, strict=True):
            playback.run(steps)
            run.expected = [next(each) for each in expected]
            yield run.observe()
    finally:
        _clean(playback)


@dataclass(slots=True, kw_only=True)
class _Run:
    """A playback, and what the reference shows after its last step."""

    playback: Playback
    agreeing: set[int]
    """The scenarios that have not differed yet; a run waits for no others."""
    expected: Sequence[Observation] = field(default_factory=list)

    def observe(self) -> list[Observation]:
        """Give what the clusters show once it is what the reference does, or after a time in which it would be."""
        target = self.playback.target
        assert isinstance(target, HasWorkers)
        for _ in range(TRIES):
            target.wait(lambda: self._agrees(self.playback.observe()))
            before = self._agrees(self.playback.observe())
            let_pass(STEADY)
            seen = self.playback.observe()
            if self._agrees(seen) or not before:
                break
        return self._noted(seen)

    def _agrees(self, seen: Sequence[Observation]) -> bool:
        return all(self._is_expected(seen, index) for index in self.agreeing)

    def _is_expected(self, seen: Sequence[Observation], index: int) -> bool:
        wanted = self.expected[index]
        return not is_comparable(wanted) or difference(wanted, seen[index]) is None

    def _noted(self, seen: Sequence[Observation]) -> list[Observation]:
        """Note which scenarios differ, and mark what does not settle on the reference either."""
        found = []
        for index, (each, wanted) in enumerate(zip(seen, self.expected, strict=True)):
            if not self._is_expected(seen, index):
                self.agreeing.discard(index)
            mark = {} if is_comparable(wanted) else {"unsettled": True}
            found.append({**each, **mark})
        return found


def _clean(playback: Playback) -> None:
    """Delete the work on the manager, and let it delete the copies; then empty the workers."""
    work = []
    for refs in playback.stage.known:
        work += [ref for ref in refs if ref.kind in MANAGED_BY]
    target = playback.target
    target.delete(work)
    workers = [each.target for each in playback.workers.values()]
    namespaces = {ref.namespace for ref in work}

    def gone() -> None:
        if any(_copies(each, namespaces) for each in workers):
            raise NotYet("copies are left")

    with suppress(TimedOut):
        eventually(gone, within=LEAVING, every=BETWEEN, what="the copies")
    for each in workers:
        each.clean()


def _copies(target: Target, namespaces: set[str]) -> list[Ref]:
    found = target.list(KUEUE, "Workload")
    return [
        Ref.of(each) for each in found if each["metadata"]["namespace"] in namespaces
    ]
