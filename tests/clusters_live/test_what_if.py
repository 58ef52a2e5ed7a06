"""What-if is confirmed by doing it: the change that the reference tried is made on a real Kueue, side by side.

``KUEUE_DRA_CHANGES=50`` compares more changes, and ``KUEUE_DRA_CHANGES_FROM=7`` other ones.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.dump import dump
from kueue_dra_clusters.fence import PREFIX
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.waiting import TimedOut, WaitLimits
from kueue_dra_differential.generate import batches
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.documents import parse
from kueue_dra_ref.apiserver import MINORS
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.controlplane.store import key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.reference.sketches import SketchServer
from kueue_dra_ref.scenarios.playback import replayed
from kueue_dra_ref.scenarios.scenario import Scenario
from kueue_dra_ref.simulation.cluster_change import ClusterChange, make
from kueue_dra_ref.simulation.inputs import given
from kueue_dra_ref.simulation.quota_fields import QuotaField, flavor_resources, with_quotas
from kueue_dra_ref.simulation.run import SimulationResult, simulate
from kueue_dra_ref.simulation.running_cluster import running_cluster
from kueue_dra_ref.simulation.trials import ref_to_end
from kueue_dra_ref.target import Manifest, NotQuiescent, Ref, Target
from tests.clusters_live.manifests import KUEUE, a_job, a_world
from tests.clusters_live.test_existing_cluster import a_kubeconfig
from tests.commands import kueue_dra

pytestmark = pytest.mark.live
KUEUE_0_19 = behaviour("kueue-0.19.2")
CHANGES = int(os.environ.get("KUEUE_DRA_CHANGES", "4"))
FIRST = int(os.environ.get("KUEUE_DRA_CHANGES_FROM", "3"))
TRIES = 8
"""Among how many changes one that admits something is looked for."""
Held = dict[Key, Any]
"""What each Workload that holds quota is charged."""


@dataclass(frozen=True, kw_only=True)
class Sides:
    """One change on both sides: the quota that is held before and after it."""

    name: str
    change: ClusterChange
    before: tuple[Held, Held]
    after: tuple[Held, Held]

    @property
    def agrees(self) -> bool:
        """Whether both sides hold the same, before and after."""
        return self.before[0] == self.before[1] and self.after[0] == self.after[1]

    @property
    def has_effect(self) -> bool:
        """Whether the change admits or ends something on the real Kueue."""
        real_before, real_after = self.before[1], self.after[1]
        return bool(real_after.keys() - real_before.keys())


def test_predictions_come_true(plane: ControlPlane, target: LiveTarget) -> None:
    """The same Workloads hold the same quota after the change as what-if says; some change admits another one."""
    found: list[Sides] = []
    effects = 0
    for each in _changes(plane, target):
        found.append(each)
        same = "agrees" if each.agrees else f"DIFFERS\n  before {each.before}\n  after {each.after}"
        print(f"{len(found)} {each.name}: {each.change.quotas or each.change.ended}: {same}", flush=True)
        effects = sum(one.has_effect for one in found)
        if len(found) >= CHANGES and (effects or len(found) == 4 * CHANGES):
            break

    print(f"{len(found)} changes, {sum(each.agrees for each in found)} agree, {effects} admit further workloads")
    assert len(found) >= CHANGES
    assert [each.name for each in found if not each.agrees] == []
    assert effects


def _changes(plane: ControlPlane, target: LiveTarget) -> Iterator[Sides]:
    """Stop generated scenarios half way, and change the cluster there."""
    for (scenario,) in batches(of=1, behaviour=KUEUE_0_19, number=FIRST, count=40 * CHANGES):
        if not _is_decided(scenario):
            continue
        target.clean()
        half = Scenario(
            name=scenario.name,
            configuration=scenario.configuration,
            inventory=scenario.inventory,
            steps=scenario.steps[: 1 + len(scenario.steps) // 2],
        )
        if not _is_reached(half, target):
            continue
        sides = _sides(plane, target, half)
        if sides:
            yield sides


def _is_reached(scenario: Scenario, target: LiveTarget) -> bool:
    """Replay a scenario; False if either side does not settle, as when workloads preempt each other without an end."""
    try:
        return not any(each.get("unsettled") for each in replayed(scenario, target))
    except TimedOut:
        return False


def _is_decided(scenario: Scenario) -> bool:
    """Whether Kueue decides about a scenario in one way only: not while queues stop, and without a race."""
    text = json.dumps(scenario.steps)
    return "stopPolicy" not in text and len(scenario.steps) > 1


def _sides(plane: ControlPlane, target: LiveTarget, scenario: Scenario) -> Sides | None:
    """Predict a change from a dump, and make it; None if there is nothing to change."""
    found = dump(APIClient(api=plane.api), lambda kind: None)
    text = yaml.safe_dump_all(found.documents())
    predicted = _restored(text, scenario)
    before = _held(predicted.target), _held(target)
    change = _a_change(text, scenario, random.Random(scenario.name))
    if change is None:
        return None
    manifests = with_quotas(predicted.target.store, change.quotas)
    ended = [ref_to_end(predicted.target, key) for key in change.ended]
    outcome = make(predicted.target, change)
    rejected = target.apply(manifests)
    if outcome.failed or rejected:
        assert bool(outcome.failed) == bool(rejected)
        return None
    target.delete(ended)
    if outcome.restless or not _settled(target):
        return None
    return Sides(
        name=scenario.name,
        change=change,
        before=before,
        after=(_held(predicted.target), _held(target)),
    )


def _settled(target: Target) -> bool:
    try:
        target.settle()
        target.list(KUEUE, "ClusterQueue")
        target.settle()
    except NotQuiescent:
        return False
    return True


def _restored(text: str, scenario: Scenario) -> SimulationResult:
    """Give the simulation that begins with a dump of the cluster, read as a file is."""
    cluster = running_cluster(parse(text, "dump.yaml"))
    server = SketchServer(kubernetes=MINORS[cluster.kubernetes])
    restarts = [each["restart"][-1] for each in scenario.steps if each.get("restart")]
    configuration = restarts[-1] if restarts else scenario.configuration
    result = simulate(KUEUE_0_19, configuration, given(cluster.documents, running=True), server, cluster.seconds)
    assert isinstance(result, SimulationResult)
    return result


def _a_change(text: str, scenario: Scenario, choose: random.Random) -> ClusterChange | None:
    """Choose what changes; in every second scenario one that admits something, if there is one among a few."""
    change = None
    for _ in range(choose.choice((1, TRIES))):
        predicted = _restored(text, scenario)
        before = _held(predicted.target)
        change = _one_change(predicted, choose)
        if change is None:
            return None
        make(predicted.target, change)
        if _held(predicted.target).keys() - before.keys():
            return change
    return change


def _one_change(predicted: SimulationResult, choose: random.Random) -> ClusterChange | None:
    """Choose a change: work that holds quota ends, or a quota is raised or lowered."""
    holders = sorted(_held(predicted.target))
    quotas = sorted(_quotas(predicted))
    if holders and choose.random() < 0.5:
        return ClusterChange(ended=(choose.choice(holders),))
    if not quotas:
        return None
    field = choose.choice(quotas)
    amount = choose.choice((0, 1, 2, 3, 5, 8, 20))
    return ClusterChange(quotas={field: str(amount)})


def _quotas(predicted: SimulationResult) -> Iterator[QuotaField]:
    for queue in predicted.target.store.every("ClusterQueue"):
        name = queue["metadata"]["name"]
        if name.startswith(PREFIX):
            continue
        for (flavor, resource), _ in flavor_resources(queue):
            yield QuotaField(kind="ClusterQueue", name=name, flavor=flavor, resource=resource)


def _held(target: Target) -> Held:
    """Give what the Workloads that hold quota are charged."""
    found = {}
    for each in target.list(KUEUE, "Workload"):
        if each["metadata"]["namespace"].startswith(PREFIX):
            continue
        if is_true(each, "QuotaReserved") and not is_true(each, "Finished"):
            found[key_of(each)] = _charges(each)
    return found


def _charges(workload: Manifest) -> list[tuple[str, Any, Any]]:
    admission = workload["status"]["admission"]
    charges = []
    for each in admission["podSetAssignments"]:
        charges.append((each["name"], each.get("flavors") or {}, each.get("resourceUsage") or {}))
    return charges


def _sentence(workloads: Sequence[Manifest]) -> str:
    """Count the Workloads of the cluster, those of the target itself among them."""
    unfinished = [each for each in workloads if not is_true(each, "Finished")]
    waiting = [each for each in unfinished if not is_true(each, "QuotaReserved")]
    verb = "waits" if len(waiting) == 1 else "wait"
    return f"{len(waiting)} of {len(unfinished)} workloads {verb}"


def test_a_cluster_is_asked_by_its_context(target: LiveTarget, plane: ControlPlane, tmp_path: Path) -> None:
    """What explain and what-if say about a context comes true when it is done."""
    assert target.apply([*a_world(gpus=2), a_job("zeta", "gpus-2")]) == []
    target.settle()
    assert target.apply([a_job("alpha")]) == []
    target.settle()
    settings = plane.api.configuration
    token = settings.auth_settings()["BearerToken"]["value"].removeprefix("Bearer ")
    kubeconfig = a_kubeconfig(tmp_path, settings.host, settings.ssl_ca_cert, token)
    mapping = tmp_path / "config.yaml"
    written = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    mappings = [{"name": "whole-gpus", "deviceClassNames": ["gpu.example.com"]}]
    mapping.write_text(yaml.safe_dump({**written, "resources": {"deviceClassMappings": mappings}}), "utf-8")
    cluster = ("--context", "mine", "--kubeconfig", kubeconfig, "--config", mapping)

    why = kueue_dra("explain", *cluster, "job/alpha")
    what = kueue_dra("what-if", *cluster, "--without", "zeta", "-o", "json")
    table = kueue_dra("simulate", *cluster, "-o", "table")
    page = kueue_dra("show", *cluster)

    assert (why.exit_code, what.exit_code, table.exit_code) == (0, 0, 0), why.stderr + what.stderr + table.stderr
    assert page.exit_code == 0, page.stderr
    heading = page.stdout.partition("<h1>")[2].partition("</h1>")[0]
    assert heading == _sentence(plane.objects(WaitLimits()).list(KUEUE, "Workload"))
    assert "context mine, decided as kueue-0.19.2" in page.stdout
    assert "it would be admitted if Job team/zeta" in why.stdout
    effects = {each["job"]: each["effect"] for each in json.loads(what.stdout)["workloads"]}
    assert effects == {"alpha": "newly admitted", "zeta": "ended"}
    assert "alpha" in table.stdout
    target.delete([Ref(api_version="batch/v1", kind="Job", name="zeta", namespace="team")])
    target.settle()
    (held,) = _held(target)
    assert held[1].startswith("job-alpha-")
