"""Generated-scenario runs without a real Kueue: the generator, shrinking, and scenarios that share a Kueue."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from kueue_dra_cli.release_option import recorded_minor
from kueue_dra_differential.generate import batches
from kueue_dra_differential.interrupt import tries
from kueue_dra_differential.oracle import Comparison, Oracle, OutcomeKind, apart, marked
from kueue_dra_differential.shrink import shrunk, smallest
from kueue_dra_differential.work_queue import Plan, WorkQueue
from kueue_dra_fixtures.manifests import a_priority_class
from kueue_dra_ref.api.elastic_work import ELASTIC
from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.api.pod_owners import POD_OWNERS
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.scenarios.diff import difference
from kueue_dra_ref.scenarios.playback import replayed_together
from kueue_dra_ref.scenarios.scenario import Observation, Scenario, is_comparable
from tests.clusters_live.manifests import CONFIGURATION, a_job, a_world

KUEUE_0_19 = behaviour("kueue-0.19.2")


def test_a_seed_gives_the_same_worlds_again() -> None:
    """Two draws of one number are alike, those of another are not."""
    first, again, other = ([*batches(of=2, behaviour=KUEUE_0_19, number=n, count=4)] for n in (5, 5, 6))

    assert first == again
    assert [world.steps for batch in first for world in batch] != [w.steps for batch in other for w in batch]


def test_worlds_beside_each_other_are_decided_as_if_alone() -> None:
    """On the reference, in steps that are compared; a run relies on the same for a real Kueue."""
    for batch in batches(of=4, behaviour=KUEUE_0_19, number=11, count=6):
        together = zip(*replayed_together(batch, ReferenceTarget(KUEUE_0_19)), strict=True)

        for world, seen in zip(batch, together, strict=True):
            assert difference(compared(world, seen), compared(world, answers(world, KUEUE_0_19))) is None


def compared(world: Scenario, seen: Iterable[Observation]) -> list[Observation]:
    """Give the observations without the parts that a run does not compare."""
    return [each for step, each in zip(world.steps, seen, strict=True) if is_comparable(marked(step, each))]


def test_generated_worlds_reach_what_the_hunt_is_about() -> None:
    """Work is admitted, waits, is refused, preempted and evicted, and objects are refused."""
    wanted = ("rejected", "Admitted", "Pending", "Inadmissible", "Preempted", "LocalQueueStopped")
    preempted = ("InClusterQueue", "InCohortReclamation", "InCohortReclaimWhileBorrowing", "InCohortFairSharing")
    assert never_told(f"'{word}'" for word in (*wanted, *preempted)) == []


def never_told(words: Iterable[str]) -> list[str]:
    """Generate scenarios until each phrase appears in a message, and give those that do not in four hundred."""
    missing = list(words)
    for batch in batches(of=2, behaviour=KUEUE_0_19, number=14, count=200):
        printed = str([[*answers(world, KUEUE_0_19)] for world in batch])
        missing = [each for each in missing if each not in printed]
        if not missing:
            break
    return missing


def test_generated_worlds_reach_what_surrounds_work() -> None:
    """Nodes, namespaces, counted pods, LimitRanges, queues that come and go: each affects a message."""
    words = (
        "untolerated taint",
        "doesn't match node affinity",
        "match ClusterQueue selector",
        "doesn't exist",
        "is inactive",
        "WorkloadPriorityClass cannot be removed",
        "requests must not be above the limitRange max",
        "requests must not be below the limitRange min",
        "requests must not exceed its limits",
        "'pods': '2'",
    )
    assert never_told(words) == []


def test_generated_worlds_build_their_queues_anew() -> None:
    """A scenario writes and deletes queues and claim templates while there are workloads."""
    kinds = ("ClusterQueue", "LocalQueue", "ResourceFlavor", "Cohort", "ResourceClaimTemplate")
    missing = {(verb, kind) for verb in ("apply", "delete") for kind in kinds}
    for batch in batches(of=4, behaviour=KUEUE_0_19, number=1, count=100):
        late = (step for world in batch for step in world.steps[2:])
        missing -= {
            (verb, each["kind"]) for step in late for verb in ("apply", "delete") for each in step.get(verb, ())
        }
        if not missing:
            break

    assert not missing


def test_generated_scenarios_submit_every_kind_of_work() -> None:
    """With its framework and its gate, and a TrainJob with its runtime; pods are made, end and are made again."""
    missing = {*JOB_KINDS, *POD_OWNERS, "TrainingRuntime", "rollOut", "report"}
    for batch in batches(of=4, behaviour=KUEUE_0_19, number=3, count=100):
        steps = [step for scenario in batch for step in scenario.steps]
        missing -= {each["kind"] for step in steps for each in step.get("apply", ())}
        missing -= {verb for step in steps for verb in step if step[verb]}
        if not missing:
            break

    assert not missing


@pytest.mark.parametrize(("name", "preempts"), [("kueue-0.16.2", False), ("kueue-0.18.3", True)])
def test_no_world_has_what_ends_its_kueue(name: str, preempts: bool) -> None:
    """Up to 0.16 that is a queue without a cohort that preempts under fair sharing."""
    found = (world for batch in batches(of=4, behaviour=behaviour(name), number=1, count=20) for world in batch)
    fair = (world.steps for world in found if "fairSharing" in world.configuration)
    applied = (each for steps in fair for step in steps for each in step.get("apply") or ())
    alone = [q["spec"] for q in applied if q["kind"] == "ClusterQueue" and not q["spec"].get("cohortName")]

    assert {each["preemption"]["withinClusterQueue"] != "Never" for each in alone} == {False, preempts}


@pytest.mark.parametrize(
    ("release", "minor"), [("0.14.0", "0.14"), ("0.17.1", "0.17"), ("0.13.1", "0.19"), ("", "0.19")]
)
def test_what_was_recorded_is_shrunk_on_the_same_release(release: str, minor: str) -> None:
    """Or on the newest, where that cannot be had."""
    assert recorded_minor(release) == minor


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_shrink_that_is_stopped_keeps_what_is_left(number: signal.Signals) -> None:
    """Once; a second interrupt ends the run at once."""
    scenario = next(iter(batches(of=1, behaviour=KUEUE_0_19, number=1)))[0]
    with tries() as going_on:
        assert going_on(scenario)
        signal.raise_signal(number)
        assert not going_on(scenario)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)


@pytest.fixture
def blind() -> Oracle:
    """Use a reference without a rule in the place of a real Kueue."""
    without = KUEUE_0_19.without("multiply_by_pod_count")
    return Oracle(target=ReferenceTarget(KUEUE_0_19), behaviour=without, kueue="0.19.2")


def test_elastic_work_may_run_on_without_quota() -> None:
    """A preempted Job whose larger Workload waits is not suspended (ELASTIC-012): no invariant counts there."""
    *around, queue, local_queue, one, _, three = a_world(gpus=3)
    queue["spec"]["preemption"] = {"withinClusterQueue": "LowerPriority"}
    elastic, rival = a_job("train"), a_job("urgent", "gpus-3")
    elastic["metadata"]["annotations"] = {ELASTIC: "true"}
    rival["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "high"
    sizes = [{**elastic, "spec": {**elastic["spec"], "parallelism": n, "completions": 9}} for n in (2, 4)]
    scenario = Scenario(
        name="runs-on",
        configuration={**CONFIGURATION, "featureGates": {"ElasticJobsViaWorkloadSlices": True}},
        inventory=(a_priority_class("high", 9),),
        steps=({"apply": [*around, queue, local_queue, one, three]}, *({"apply": [each]} for each in (*sizes, rival))),
    )

    found = Oracle(target=ReferenceTarget(KUEUE_0_19), behaviour=KUEUE_0_19, kueue="0.19.2").alone(scenario)

    assert found.kind is OutcomeKind.AGREES, found.trouble
    shown = found.scenario.recorded[-1]["workloads"]
    assert shown["urgent"]["Admitted"]["status"] == "True"
    assert shown["train/1"]["Preempted"]["status"] == "True"


def a_plan(**given: Any) -> Plan:
    """Plan a run for a minute, with a few scenarios at a time."""
    return Plan(**{"behaviour": KUEUE_0_19, "seed": 8, "budget": 60.0, "together": 6, **given})


def judged_until_one_differs(agenda: WorkQueue, judge: Oracle) -> Comparison:
    """Do the work of the queue until a scenario differs, and add that one to it."""
    for work in iter(agenda.next, None):
        if differing := [each for each in work(judge).outcomes if each.kind is OutcomeKind.DIFFERS]:
            agenda.large.append(differing[0])
            return differing[0]
    raise AssertionError("none differs")


def test_what_differs_is_shrunk_before_new_worlds_are_drawn(blind: Oracle) -> None:
    """The result still differs, in fewer steps."""
    agenda = WorkQueue(plan=a_plan(), drawn=a_plan().batches())
    large = judged_until_one_differs(agenda, blind)
    planned, work = agenda.planned, agenda.next()

    assert work is not None
    (found,) = work(blind).smallest
    assert found.kind is OutcomeKind.DIFFERS
    assert len(found.scenario.steps) < len(large.scenario.steps)
    assert agenda.planned == planned


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated(Oracle):
    """A real Kueue with the recordings that it gives one after another."""

    recordings: list[Comparison]

    def alone(self, scenario: Scenario) -> Comparison:
        """Give the next one."""
        return self.recordings.pop(0)


@pytest.mark.parametrize(
    ("same", "expected"),
    [
        pytest.param(5, OutcomeKind.RACE, id="another-result-in-the-last-run"),
        pytest.param(6, OutcomeKind.DIFFERS, id="the-same-result-each-time"),
    ],
)
def test_a_difference_that_the_real_kueue_does_not_repeat_is_a_race(
    blind: Oracle, same: int, expected: OutcomeKind
) -> None:
    """A random UID decides between two candidates for preemption: five runs of six can well be alike."""
    job = a_job("train")
    job["spec"] |= {"parallelism": 2, "completions": 2}
    scenario = Scenario(
        name="two-pods", configuration=CONFIGURATION, inventory=(), steps=({"apply": [*a_world(), job]},)
    )
    differs = blind.alone(scenario)
    assert differs.kind is OutcomeKind.DIFFERS
    shown = tuple(answers(differs.scenario, blind.behaviour))
    other = replace(differs, scenario=replace(differs.scenario, recorded=shown))
    kueue = Repeated(target=blind.target, behaviour=KUEUE_0_19, kueue="0.19.2", recordings=[*[differs] * same, other])

    (found,) = kueue.compare((scenario,))

    assert found.kind is expected


def test_nothing_is_begun_once_the_time_is_up(blind: Oracle) -> None:
    """Neither new scenarios nor candidates for shrinking."""
    agenda = WorkQueue(plan=a_plan(), drawn=a_plan().batches())
    agenda.large.append(judged_until_one_differs(agenda, blind))
    agenda.plan = a_plan(budget=0.0)

    assert agenda.next() is None


@pytest.mark.parametrize(
    ("ours", "theirs", "alike"),
    [
        ("in workload job-j0-394d9 podset main", "in workload job-j0-0b717 podset main", True),
        ("in workload job-j0-394d9 podset main", "in workload job-j1-0b717 podset main", False),
        ("in workload job-j0-394d9 podset main", "in workload job-j0-394d9 podset first", False),
        ('Invalid value: {"count":2,"name":"a"}: no', 'Invalid value: {"name":"a","meta":{},"count":2}: no', True),
        ('Invalid value: {"count":2,"name":"a"}: no', 'Invalid value: {"count":2,"name":"b"}: no', False),
        ('Invalid value: {"count":2}: no', 'Invalid value: {"count":2}: yes', False),
        ('{"no JSON', '{"no JSON either', False),
    ],
)
def test_what_is_chance_in_a_message_is_no_difference(ours: str, theirs: str, alike: bool) -> None:
    """The hash of a Job's UID, though not which Job it is; the order of an object's fields, though not the fields."""
    first, second = ({"QuotaReserved": {"message": words}} for words in (ours, theirs))

    assert (difference(first, second) is None) is alike


@pytest.mark.parametrize(
    ("trouble", "last"),
    [
        ("still moving: Workload ns-w1 j0", ["w1"]),
        ("ClusterQueue cq0-w0 counts 1 pending; ClusterQueue cq1-w3 counts 2", ["w0", "w3"]),
        ("the fence's workload still has no condition", ["w2", "w3"]),
        ("ns-w0, ns-w1, ns-w2, ns-w3", ["w2", "w3"]),
    ],
)
def test_worlds_that_a_trouble_names_are_played_apart(trouble: str, last: list[str]) -> None:
    """The others continue together; if none or all are named, they are halved."""
    (batch, *_) = (each for each in batches(of=4, behaviour=KUEUE_0_19, number=12, count=9) if "cq1-w3" in str(each))
    worlds = tuple(replace(world, name=f"w{index}") for index, world in enumerate(batch))

    rest, named = apart(worlds, trouble)

    assert [world.name for world in named] == last
    assert sorted(world.name for world in (*rest, *named)) == ["w0", "w1", "w2", "w3"]


def a_scenario(*steps: str) -> Scenario:
    """A scenario whose steps apply one named object each."""
    applied = tuple({"apply": [{"apiVersion": "v1", "kind": "K", "metadata": {"name": name}}]} for name in steps)
    return Scenario(name="s", configuration={}, inventory=(), steps=applied)


def names(scenario: Scenario) -> list[str]:
    """Give what a scenario applies, in order."""
    return [each["metadata"]["name"] for step in scenario.steps for each in step.get("apply") or ()]


@pytest.mark.parametrize("needed", [["a"], ["h"], ["c", "f"], ["a", "b", "h"]])
def test_only_what_the_difference_needs_is_left(needed: list[str]) -> None:
    """Everything that is not needed is removed, in few attempts."""
    tried = []

    def differs(scenario: Scenario) -> bool:
        tried.append(scenario)
        return set(needed) <= set(names(scenario))

    assert names(shrunk(a_scenario(*"abcdefgh"), differs)) == needed
    assert len(tried) < 60


def test_objects_within_a_step_are_left_out_too() -> None:
    """A step of many objects keeps the one that matters; the inventory goes."""
    (step,) = a_scenario("x").steps
    many = {"apply": [*step["apply"], *a_scenario("y").steps[0]["apply"]]}
    scenario = replace(a_scenario(), steps=(many,), inventory=tuple(step["apply"]))

    found = shrunk(scenario, lambda each: "y" in names(each))

    assert (names(found), found.inventory) == (["y"], ())


def test_what_ends_a_kueue_is_shrunk_too() -> None:
    """The result still makes it exit, though nothing differs where nothing can be compared."""

    def alone(world: Scenario) -> Comparison:
        kind = OutcomeKind.ENDED if {"b", "d"} <= set(names(world)) else OutcomeKind.AGREES
        return Comparison(scenario=world, kind=kind)

    found = smallest(alone(a_scenario("a", "b", "c", "d")), alone, going_on=lambda _: True)

    assert (found.kind, names(found.scenario)) == (OutcomeKind.ENDED, ["b", "d"])
