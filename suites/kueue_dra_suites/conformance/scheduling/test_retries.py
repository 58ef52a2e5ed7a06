"""What makes Kueue try a workload again: it waits for room, and another ClusterQueue releases some unnoticed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job
from kueue_dra_fixtures.lab import Lab, Queue
from kueue_dra_fixtures.lab.jobs import Job
from kueue_dra_fixtures.manifests import an_object
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.api.topologies import HOSTNAME
from kueue_dra_ref.verdict import Verdict
from kueue_dra_suites.conformance.scheduling.test_topology import ANY, RACK, Pool, cpus

pytestmark = owns_kueue

LARGE = cpus(cpu="9", annotations=ANY)
TAINT = {"key": "a", "value": "b", "effect": "PreferNoSchedule"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A workload that has room now, and was not tried since; and what there is around it."""

    lab: Lab
    pool: Pool
    node: str
    spare: str
    cohort: str
    queue: Queue
    job: Job
    large: Job
    running: Job
    beside: Queue
    partner: Queue
    check: str
    elsewhere: Job
    plain: str
    placed: str
    apart: str

    def later(self, kind: str) -> str:
        """The name of what ClusterQueues of the cohort lack."""
        return f"{kind}-of-{self.cohort}"


Event = Callable[[Waiting], object]


def waiting(lab: Lab) -> Waiting:
    """Fill a node from another ClusterQueue, let a workload wait for room, and release the room."""
    pool = Pool(lab=lab, levels=(RACK, HOSTNAME))
    node = pool.node(rack="a", cpu="2")
    spare = pool.node(rack="b", unschedulable=True)
    first = pool.queue().submit(cpus(annotations=ANY))
    cohort, plain = lab.name("cohort"), lab.flavor()
    queue = pool.queue(namespace=lab.namespace(team="a"), namespaceSelector=selector("a"), cohortName=cohort)
    running = queue.submit(cpus(annotations=ANY, priority=1))
    found = Waiting(
        lab=lab,
        pool=pool,
        node=node,
        spare=spare,
        cohort=cohort,
        queue=queue,
        beside=queue.beside(),
        partner=lab.queue(groups=[{plain: {"cpu": 1}}], cohortName=cohort, namespaceSelector=selector("b")),
        check=lab.admission_check(),
        running=running,
        large=queue.submit(LARGE),
        elsewhere=lab.queue({"cpu": "1"}).submit(a_job(cpu="2")),
        job=queue.submit(cpus(annotations=ANY)),
        plain=plain,
        placed=lab.flavor(nodeLabels={"pool": "later"}, topologyName=f"topology-of-{cohort}"),
        apart=lab.flavor(nodeLabels={"pool": "apart"}, topologyName=f"topology-of-{cohort}"),
    )
    with_partners(found)
    assert lab.verdict(found.job) == pending(Reason.NO_ROOM)

    lab.delete(first)

    return found


def selector(team: str) -> Mapping[str, Any]:
    """Select namespaces."""
    return {"matchLabels": {"team": team}}


def with_partners(has: Waiting) -> None:
    """Put ClusterQueues into the cohort that lack something."""
    lab = has.lab
    lab.cluster_queue(groups=[{has.placed: {"cpu": 1}}], cohortName=has.cohort)
    lab.cluster_queue(groups=[{has.later("flavor"): {"cpu": 1}}], cohortName=has.cohort)
    for flavor, check in (
        (lab.flavor(), has.later("check")),
        (has.later("first"), has.later("second")),
        (lab.flavor(), has.check),
    ):
        checks = {"admissionChecks": [{"name": check}]}
        lab.cluster_queue(groups=[{flavor: {"cpu": 1}}], cohortName=has.cohort, admissionChecksStrategy=checks)
    lab.settle()


def taint(has: Waiting) -> None:
    """Taint the nodes of a flavor of the cohort."""
    has.lab.change(has.lab.flavor_ref(has.plain), nodeTaints=[TAINT])


def taint_other_nodes(has: Waiting) -> None:
    """Taint the nodes of a flavor with a topology, which no ClusterQueue names."""
    has.lab.change(has.lab.flavor_ref(has.apart), nodeTaints=[TAINT])


def make_topology(has: Waiting) -> None:
    """Make the topology that a ClusterQueue of the cohort lacks."""
    has.lab.topology(name=has.later("topology"))


def end_waiting_work(has: Waiting) -> None:
    """Delete other work that waits."""
    has.lab.delete(has.large)


NONE = [
    pytest.param(lambda _: None, id="nothing"),
    pytest.param(lambda has: has.lab.node(labels={"pool": "other", RACK: "a"}), id="node-of-others"),
    pytest.param(lambda has: has.pool.node(), id="node-without-a-rack"),
    pytest.param(lambda has: has.lab.topology(), id="topology"),
    pytest.param(
        lambda has: has.lab.annotate(has.lab.topology_ref(has.pool.topology), note="new"), id="topology-annotation"
    ),
    pytest.param(lambda has: has.lab.flavor(), id="flavor"),
    pytest.param(lambda has: has.lab.annotate(has.lab.flavor_ref(has.plain), note="new"), id="flavor-annotation"),
    pytest.param(lambda has: has.lab.remove(has.lab.flavor_ref(has.pool.flavor)), id="flavor-deleted"),
    pytest.param(lambda has: has.lab.flavor(name=has.later("first")), id="flavor-of-two-that-lack"),
    pytest.param(lambda has: has.lab.admission_check(), id="check"),
    pytest.param(lambda has: has.lab.admission_check(name=has.later("second")), id="check-of-two-that-lack"),
    pytest.param(lambda has: has.lab.switch_check(has.check, False), id="check-off"),
    pytest.param(lambda has: has.lab.queue({"cpu": "1"}), id="cluster-queue"),
    pytest.param(lambda has: has.lab.apply(an_object("Cohort", has.lab.name("cohort"))), id="cohort"),
    pytest.param(lambda has: has.queue.annotate(note="new"), id="annotation"),
    pytest.param(lambda has: has.queue.beside(), id="local-queue"),
    pytest.param(lambda has: has.beside.delete_local(), id="local-queue-gone"),
    pytest.param(lambda has: has.beside.change_local(stopPolicy="Hold"), id="local-queue-stopped"),
    pytest.param(lambda has: has.lab.namespace(), id="namespace"),
    pytest.param(lambda has: has.lab.label(has.queue.namespace, team="a", note="new"), id="labels"),
    pytest.param(lambda has: has.lab.label(has.elsewhere.ref.namespace, team="c"), id="labels-elsewhere"),
    pytest.param(lambda has: has.queue.submit(LARGE), id="work"),
    pytest.param(lambda has: has.lab.delete(has.elsewhere), id="work-elsewhere-gone"),
    pytest.param(lambda has: has.lab.prefer(has.large, 3), id="priority-of-waiting-work"),
    pytest.param(taint, id="taints", marks=covers("QUEUE-064")),
    pytest.param(taint_other_nodes, id="taints-of-a-topology", marks=covers("TAS-040")),
    pytest.param(make_topology, id="topology-of-partner", marks=covers("TAS-038")),
    pytest.param(end_waiting_work, id="work-gone", marks=covers("QUEUE-056")),
]
AGAIN = [
    pytest.param(lambda has: has.pool.node(rack="c", cpu="0"), id="node"),
    pytest.param(lambda has: has.pool.node(name=has.spare, rack="b", unschedulable=True, cpu="3"), id="room"),
    pytest.param(lambda has: has.lab.node(name=has.spare, labels={"pool": "other"}), id="node-of-others-now"),
    pytest.param(
        lambda has: has.lab.flavor(nodeLabels={"pool": "other"}, topologyName="none"),
        id="flavor-with-a-topology",
        marks=covers("TAS-036"),
    ),
    pytest.param(taint, id="taints", marks=covers("QUEUE-063")),
    pytest.param(taint_other_nodes, id="taints-of-a-topology", marks=covers("TAS-039")),
    pytest.param(make_topology, id="topology-of-partner", marks=covers("TAS-037")),
    pytest.param(lambda has: has.lab.flavor(name=has.later("flavor")), id="flavor-of-partner"),
    pytest.param(lambda has: has.lab.admission_check(name=has.later("check")), id="check-of-partner"),
    pytest.param(lambda has: has.queue.regroup({has.pool.flavor: {"cpu": 17, "whole-gpus": 8}}), id="quota"),
    pytest.param(lambda has: has.partner.change(preemption={"withinClusterQueue": "LowerPriority"}), id="partner"),
    pytest.param(lambda has: has.lab.queue({"cpu": "1"}, cohortName=has.cohort), id="new-partner"),
    pytest.param(lambda has: has.lab.apply(an_object("Cohort", has.cohort)), id="cohort-of-its-own"),
    pytest.param(lambda has: has.queue.change(preemption={"withinClusterQueue": "LowerPriority"}), id="preemption"),
    pytest.param(lambda has: has.lab.label(has.elsewhere.ref.namespace, team="a"), id="labels"),
    pytest.param(lambda has: has.lab.label(has.elsewhere.ref.namespace, team="b"), id="labels-for-partner"),
    pytest.param(end_waiting_work, id="work-gone", marks=covers("QUEUE-055")),
    pytest.param(lambda has: has.lab.activate(has.large, False), id="work-deactivated"),
    pytest.param(lambda has: has.lab.end(has.large), id="work-ended"),
    pytest.param(lambda has: has.lab.finish(has.running), id="running-work-ended"),
    pytest.param(lambda has: has.lab.prefer(has.running, 3), id="priority", marks=covers("PRIORITY-005")),
]


def verdict_after(lab: Lab, event: Event) -> Verdict:
    """The verdict on the workload that waits for room, once something has happened."""
    has = waiting(lab)
    event(has)
    lab.settle()
    return lab.verdict(has.job)


@covers("TAS-027")
@pytest.mark.parametrize("event", NONE)
def test_it_goes_on_waiting(lab: Lab, event: Event) -> None:
    """Nothing of its cohort has changed, and no node of its flavor."""
    assert verdict_after(lab, event) == pending(Reason.NO_ROOM)


@covers("TAS-027")
@pytest.mark.parametrize("event", AGAIN)
def test_it_is_tried_again(lab: Lab, event: Event) -> None:
    """Something of its cohort has changed, or a node of its flavor."""
    assert verdict_after(lab, event) == admitted({"cpu": 1})
