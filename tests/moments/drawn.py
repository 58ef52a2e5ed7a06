"""Draws scenarios and the steps after which a dump is taken; a seed gives the same ones again.

The scenarios are those of `kueue_dra_differential`.  Several share a cluster, each with a namespace of its own.  In
some batches the Jobs are of several kinds, some of them name no queue, or a ClusterQueue has an AdmissionCheck.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kueue_dra_differential.batch import Batch
from kueue_dra_differential.generate import batches
from kueue_dra_fixtures.frameworks import all_of
from kueue_dra_fixtures.manifests import KUEUE, QUEUE_LABEL
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.scenarios.playback import replayed_together
from kueue_dra_ref.scenarios.scenario import Observation, Scenario
from kueue_dra_ref.simulation.run import a_namespace
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.map_order import MapOrder
from tests.moments.kinds import Kinds

TOGETHER = (1, 1, 2, 3)
"""How many scenarios share a cluster, each as often as it is listed."""
MOST_DUMPS = 3
"""How many dumps are taken of a cluster."""
_KINDS = ("Job", "JobSet", "PyTorchJob", "RayCluster")
CHECK: Manifest = {
    "apiVersion": KUEUE,
    "kind": "AdmissionCheck",
    "metadata": {"name": "bench"},
    "spec": {"controllerName": "example.com/none"},
    "status": {"conditions": [{"type": "Active", "status": "True", "reason": "Active", "message": "none"}]},
}
"""A check whose controller does not run."""
Step = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Scenarios of one Configuration that share a cluster, and the steps, from 1, after which it is dumped."""

    name: str
    batch: Batch
    dumps: tuple[int, ...]
    checked: bool = False
    """Whether a ClusterQueue has an AdmissionCheck, which stays pending."""

    def configuration(self, step: int) -> Manifest:
        """Give the Configuration that Kueue runs with after a step."""
        first = self.batch[0]
        found = first.configuration
        for each in first.steps[:step]:
            for configuration in each.get("restart") or ():
                found = configuration
        return found


def plans(behaviour: Behaviour, seed: int) -> Iterator[Plan]:
    """Draw plans without end."""
    drawn = {of: batches(of=of, behaviour=behaviour, number=10 * seed + of) for of in set(TOGETHER)}
    choose = random.Random(seed)
    number = 0
    while True:
        number += 1
        of = choose.choice(TOGETHER)
        batch = _widened(next(drawn[of]), choose, behaviour.kueue)
        checked = choose.random() < 0.03
        if checked:
            batch = tuple(map(_with_check, batch))
        steps = list(_with_waiting_work(batch, behaviour))
        if steps:
            dumps = choose.sample(steps, min(MOST_DUMPS, len(steps)))
            yield Plan(name=f"{seed}-{number}", batch=batch, dumps=tuple(sorted(dumps)), checked=checked)


def _with_waiting_work(batch: Batch, behaviour: Behaviour) -> Iterator[int]:
    """Give the steps, except the last, after which work waits in the reference, until it no longer settles."""
    order = MapOrder(orders=behaviour.random_map_order)
    target = ReferenceTarget(behaviour, map_order=order)
    target.apply([a_namespace("default")])
    for step, seen in enumerate(replayed_together(batch, target), 1):
        if any(each.get("unsettled") for each in seen):
            return
        if step < len(batch[0].steps) and any(map(_has_waiting_work, seen)):
            yield step


def _has_waiting_work(seen: Observation) -> bool:
    workloads = seen.get("workloads") or {}
    return any(not each["admission"] for each in workloads.values())


def _widened(batch: Batch, choose: random.Random, release: str) -> Batch:
    """Give some batches work of several kinds, and some Jobs without a queue that Kueue manages as well."""
    settings: Manifest = {}
    found = list(batch)
    if choose.random() < 0.3:
        settings["integrations"] = all_of(release)
        found = [_of_several_kinds(each, choose) for each in found]
    if choose.random() < 0.15:
        settings["manageJobsWithoutQueueName"] = True
        found = [_partly_unqueued(each) for each in found]
    return tuple(_configured(each, settings) for each in found)


def _with_check(scenario: Scenario) -> Scenario:
    """Give the first ClusterQueue of a scenario an AdmissionCheck."""
    steps = []
    for step in scenario.steps:
        applied = [_checked(each) for each in step.get("apply") or ()]
        steps.append({**step, "apply": applied} if applied else step)
    return replace(scenario, steps=tuple(steps))


def _checked(manifest: Manifest) -> Manifest:
    if manifest["kind"] != "ClusterQueue" or not manifest["metadata"]["name"].startswith("cq0"):
        return manifest
    checks = {"admissionChecks": [{"name": CHECK["metadata"]["name"]}]}
    return {**manifest, "spec": {**manifest["spec"], "admissionChecksStrategy": checks}}


def _of_several_kinds(scenario: Scenario, choose: random.Random) -> Scenario:
    kinds = Kinds(choose, _KINDS)
    return replace(scenario, steps=tuple(map(kinds.step, scenario.steps)))


def _configured(scenario: Scenario, settings: Manifest) -> Scenario:
    """Give a scenario with further settings in each of its Configurations."""
    if not settings:
        return scenario
    steps = []
    for step in scenario.steps:
        restarts = [{**each, **settings} for each in step.get("restart") or ()]
        steps.append({**step, "restart": restarts} if restarts else step)
    configuration = {**scenario.configuration, **settings}
    return replace(scenario, configuration=configuration, steps=tuple(steps))


def _partly_unqueued(scenario: Scenario) -> Scenario:
    steps = []
    for step in scenario.steps:
        applied = [_unqueued(each) for each in step.get("apply") or ()]
        steps.append({**step, "apply": applied} if applied else step)
    return replace(scenario, steps=tuple(steps))


def _unqueued(manifest: Manifest) -> Manifest:
    """Take the queue from some Jobs, the same ones in each step."""
    meta = manifest["metadata"]
    if manifest["kind"] != "Job" or meta["name"][-1] not in "27":
        return manifest
    labels = {key: value for key, value in meta["labels"].items() if key != QUEUE_LABEL}
    return {**manifest, "metadata": {**meta, "labels": labels}}
