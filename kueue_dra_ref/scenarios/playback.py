"""Replays scenarios on any target, step by step, alone or several at once, and observes the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.job_kinds import POD
from kueue_dra_ref.scenarios.changes import changed
from kueue_dra_ref.scenarios.check_answers import answered
from kueue_dra_ref.scenarios.dispatching import (
    copies_of,
    observed_dispatch,
    with_kubeconfig,
)
from kueue_dra_ref.scenarios.observation import (
    KUEUE,
    ObservedState,
    has_pods,
    namespaces_of,
    observed,
)
from kueue_dra_ref.scenarios.renaming import renamed
from kueue_dra_ref.scenarios.roll_out import in_turns, reported, rolled_out
from kueue_dra_ref.scenarios.scenario import Observation, Scenario
from kueue_dra_ref.target import (
    FieldError,
    Manifest,
    NotQuiescent,
    Ref,
    Rejection,
    Target,
    workers_of,
)

_OF_WORKLOADS = ("touch", "answer")
"""Verbs that name work, and are about its Workload."""
Step = Mapping[str, Any]
"""One step of a scenario: the objects to apply, delete and touch."""


class ConfigurationRejected(Exception):
    """The target did not start with the scenario's configuration."""

    def __init__(self, name: str, faults: Iterable[FieldError]) -> None:
        self.faults = tuple(faults)
        details = "; ".join(map(str, self.faults))
        super().__init__(f"{name}: the configuration is refused: {details}")


def replayed(scenario: Scenario, target: Target) -> Iterator[Observation]:
    """Replay a scenario on a target and observe it after every step.

    Raises:
        ConfigurationRejected: the target does not start with a configuration.

    """
    for observations in replayed_together([scenario], target):
        yield observations[0]


def replayed_together(
    scenarios: Sequence[Scenario], target: Target
) -> Iterator[list[Observation]]:
    """Replay scenarios of one configuration and one inventory side by side, and observe each after every step.

    They share only the objects that are equal in the same step of all: their queues, cohorts and namespaces differ.
    Where one restarts Kueue with another configuration, all do.  If the target does not settle, its observations are
    marked as unsettled, as in recordings.

    Raises:
        ConfigurationRejected: the target does not start with the configuration.

    """
    playback = Playback.of(scenarios, target)
    playback.start()
    all_steps = [scenario.steps for scenario in scenarios]
    for steps in zip(*all_steps, strict=True):
        playback.run(steps)
        mark = settled(target)
        observations = playback.observe()
        yield [{**each, **mark} for each in observations]


@dataclass(slots=True, kw_only=True)
class Stage:
    """One cluster on which scenarios run side by side, with what each of them has applied there."""

    target: Target
    known: list[set[Ref]]
    shared: set[Ref] = field(default_factory=set)
    """The inventory."""
    written: list[set[Ref]] = field(default_factory=list)
    """What each scenario has written since the last observation."""
    rejected: list[Rejection] = field(default_factory=list)
    """What was rejected since the last observation."""
    configuration: Manifest = field(default_factory=dict)
    """The Configuration with which Kueue runs."""

    def start(
        self,
        scenario: Scenario,
        configuration: Manifest,
        inventory: Sequence[Manifest],
    ) -> None:
        """Run Kueue with a Configuration of a scenario, and create the inventory."""
        self._started(scenario, configuration)
        self.rejected += self.target.apply(inventory)
        self.shared |= _refs(inventory)
        for refs in self.known:
            refs |= self.shared

    def run(self, scenario: Scenario, steps: Sequence[Step]) -> None:
        """Run the same step of all scenarios, of which one is the first."""
        for configuration in steps[0].get("restart") or ():
            self._started(scenario, configuration)
        self.rejected += ran(steps, self.target)
        self.written = []
        for refs, step in zip(self.known, steps, strict=True):
            refs |= _applied(step)
            self.written.append(self.shared | _applied(step) | _answered(step))

    def _started(self, scenario: Scenario, configuration: Manifest) -> None:
        started(scenario, configuration, self.target)
        self.configuration = configuration

    def observe(self) -> list[Observation]:
        """Observe each scenario on this cluster."""
        state = ObservedState.by(
            self.target,
            pods=any(map(has_pods, self.known)),
            configuration=self.configuration,
            refs=set().union(*self.known),
        )
        found = []
        for refs, written in zip(self.known, self.written, strict=True):
            own = [each for each in self.rejected if _is_of(each.ref, written, refs)]
            found.append(observed(state, refs, own))
        return found


@dataclass(slots=True, kw_only=True)
class Playback:
    """Scenarios that run side by side on one cluster, or on a manager of MultiKueue and its workers."""

    scenarios: Sequence[Scenario]
    stage: Stage
    """The only cluster, or the manager."""
    workers: dict[str, Stage]
    kubeconfigs: Mapping[str, str]
    """The kubeconfig of each worker."""

    @classmethod
    def of(cls, scenarios: Sequence[Scenario], target: Target) -> Playback:
        """Prepare a playback on a target."""
        names = sorted(scenarios[0].workers)
        workers = workers_of(target) if names else ()
        stages, kubeconfigs = {}, {}
        for name, worker in zip(names, workers, strict=True):
            stages[name] = _stage(worker.target, scenarios)
            kubeconfigs[name] = worker.kubeconfig
        return cls(
            scenarios=scenarios,
            stage=_stage(target, scenarios),
            workers=stages,
            kubeconfigs=kubeconfigs,
        )

    @property
    def target(self) -> Target:
        """The only cluster, or the manager."""
        return self.stage.target

    def start(self) -> None:
        """Run each Kueue, and create the inventories.

        Raises:
            ConfigurationRejected: a Kueue does not start with its configuration.

        """
        first = self.scenarios[0]
        for name, stage in self.workers.items():
            worker = first.workers[name]
            stage.start(first, worker.configuration, worker.inventory)
        self.stage.start(first, first.configuration, first.inventory)

    def run(self, steps: Sequence[Step]) -> None:
        """Run the same step of all scenarios, its parts for workers first."""
        first = self.scenarios[0]
        self._forget_rejected()
        for worker, stage in self.workers.items():
            parts = [self._part(step, worker) for step in steps]
            stage.run(first, parts)
        if self.workers:
            steps = [with_kubeconfig(step, self.kubeconfigs) for step in steps]
        self.stage.run(first, steps)

    def _forget_rejected(self) -> None:
        """Forget what was rejected in the step before; the inventory has none before it."""
        for stage in (self.stage, *self.workers.values()):
            if stage.written:
                stage.rejected = []

    def _part(self, step: Step, worker: str) -> Step:
        """Give the part of a step for a worker, where verbs of Workloads are about the copy of that of some work."""
        part = dict((step.get("workers") or {}).get(worker) or {})
        for verb in _OF_WORKLOADS:
            if part.get(verb):
                part[verb] = [*copies_of(self.target, part[verb])]
        return part

    def observe(self) -> list[Observation]:
        """Observe each scenario; with workers, also what is dispatched, and each worker."""
        found = self.stage.observe()
        if not self.workers:
            return found
        own = self._dispatched(self.stage)
        parts = {}
        for name, stage in self.workers.items():
            shown = zip(stage.observe(), self._dispatched(stage), strict=True)
            parts[name] = [{**seen, **work} for seen, work in shown]
        observations = []
        for index, (seen, work) in enumerate(zip(found, own, strict=True)):
            workers = {name: each[index] for name, each in parts.items()}
            observations.append({**seen, **work, "workers": workers})
        return observations

    def _dispatched(self, stage: Stage) -> list[Observation]:
        refs = self.stage.known
        return observed_dispatch(stage.target, refs, manager=stage is self.stage)


def _stage(target: Target, scenarios: Sequence[Scenario]) -> Stage:
    return Stage(target=target, known=[set() for _ in scenarios])


def _is_of(rejected: Ref, written: set[Ref], refs: set[Ref]) -> bool:
    """Whether a scenario wrote an object, or made the pod by rolling out."""
    if rejected.kind == POD.name:
        return rejected.namespace in namespaces_of(refs)
    return rejected in written


def known_refs(scenario: Scenario, steps: int) -> set[Ref]:
    """Name what a scenario has applied after so many steps."""
    refs = _refs(scenario.inventory)
    for step in scenario.steps[:steps]:
        refs |= _applied(step)
    return refs


def settled(target: Target) -> Observation:
    """Settle a target; give the mark of an observation for which it did not.

    Kueue may requeue a whole cohort tree after it has updated the counts of its queues, so settling comes twice.
    """
    try:
        target.settle()
        target.list(KUEUE, "ClusterQueue")
        target.settle()
    except NotQuiescent:
        return {"unsettled": True}
    return {}


def started(
    scenario: Scenario,
    configuration: Manifest,
    target: Target,
) -> None:
    """Start a target with a Configuration of a scenario.

    Raises:
        ConfigurationRejected: it does not start with it.

    """
    faults = target.start(configuration)
    if faults:
        raise ConfigurationRejected(scenario.name, faults)


def _applied(step: Step) -> set[Ref]:
    manifests = (*(step.get("apply") or ()), *(step.get("change") or ()))
    return _refs(manifests)


def _answered(step: Step) -> set[Ref]:
    answers = step.get("answer") or ()
    return _refs(answers)


def _refs(manifests: Iterable[Manifest]) -> set[Ref]:
    return set(map(Ref.of, manifests))


def ran(steps: Sequence[Step], target: Target) -> list[Rejection]:
    """Run one step of every scenario; what several of them have in common runs once."""
    applied = renamed(target, _merged(steps, "apply"))
    rejected = list(target.apply(applied))
    changes = renamed(target, _merged(steps, "change"))
    rejected += target.apply(changed(target, changes))
    deleted = renamed(target, _merged(steps, "delete"))
    touched = renamed(target, _merged(steps, "touch"))
    target.delete(map(Ref.of, deleted))
    target.touch(map(Ref.of, touched))
    return [
        *rejected,
        *_through_pods(steps, target),
        *_by_checks(steps, target),
    ]


def _through_pods(steps: Sequence[Step], target: Target) -> list[Rejection]:
    """Act as what makes pods and what runs them, once Kueue has marked the objects of the step."""
    owners = _merged(steps, "rollOut")
    reports = _merged(steps, "report")
    if owners or reports:
        settled(target)
    rejected = rolled_out(target, map(Ref.of, owners)) if owners else []
    reported(target, reports)
    return rejected


def _by_checks(steps: Sequence[Step], target: Target) -> list[Rejection]:
    """Act as the controllers of admission checks, once everything before has settled."""
    answers = in_turns([step.get("answer") or () for step in steps])
    if not answers:
        return []
    settled(target)
    return answered(target, answers)


def _merged(steps: Sequence[Step], verb: str) -> list[Manifest]:
    """Give the objects of one verb in a step of all scenarios, each object once: the first ones of all come first."""
    found = {}
    for each in in_turns([step.get(verb) or () for step in steps]):
        found[Ref.of(each)] = each
    return list(found.values())
