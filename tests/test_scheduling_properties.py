"""Properties of every scenario: usage adds up, limits hold, lent quota comes back, more quota never hurts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kueue_dra_ref.api.cluster_queues import cluster_queue_of, cohort_of
from kueue_dra_ref.api.pods import units
from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.cache.hierarchy import Hierarchy, build_hierarchy
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import Manifest, Ref

KUEUE = "kueue.x-k8s.io/v1beta2"
CONFIGURATION: Manifest = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "resources": {"deviceClassMappings": [{"name": "gpus", "deviceClassNames": ["gpu.example.com"]}]},
}
FAIR = {**CONFIGURATION, "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare"]}}
GPUS = ("flavor", "gpus")

often = settings(max_examples=60, derandomize=True, suppress_health_check=list(HealthCheck))


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A ClusterQueue: its cohort, its quota with limits, its strategy and its policies."""

    cohort: str
    nominal: int
    borrowing: int | None = None
    lending: int | None = None
    strict: bool = False
    preemption: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A workload: which queue, how many devices, which priority."""

    queue: int
    devices: int
    priority: int


limits = st.none() | st.integers(0, 3)
policies = st.none() | st.fixed_dictionaries(
    {
        "withinClusterQueue": st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"]),
        "reclaimWithinCohort": st.sampled_from(["Never", "LowerPriority", "Any"]),
    }
)


def queues(cohorts: Sequence[str], policy: st.SearchStrategy[Any] = policies) -> st.SearchStrategy[list[Queue]]:
    """Between two and four ClusterQueues of some cohorts."""
    one = st.builds(
        Queue,
        cohort=st.sampled_from(cohorts),
        nominal=st.integers(0, 4),
        borrowing=limits,
        lending=limits,
        strict=st.booleans(),
        preemption=policy,
    )
    return st.lists(one, min_size=2, max_size=4)


works = st.lists(
    st.builds(Work, queue=st.integers(0, 3), devices=st.integers(1, 4), priority=st.integers(0, 2)),
    min_size=1,
    max_size=8,
)


class World:
    """A reference with queues in which workloads are made and deleted."""

    def __init__(self, found: Sequence[Queue], configuration: Manifest = CONFIGURATION) -> None:
        self.target = ReferenceTarget(behaviour())
        assert not self.target.start(configuration)
        self.queues = found
        self._made = 0
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}})
        self.apply({"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "flavor"}})
        for name in ("left", "right"):
            spec = {"parentName": "root"}
            self.apply({"apiVersion": KUEUE, "kind": "Cohort", "metadata": {"name": name}, "spec": spec})
        for value in range(4):
            meta = {"name": f"p{value}"}
            self.apply({"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": meta, "value": value})
        for index, queue in enumerate(found):
            self.put_queue(index, queue)
            meta, spec = {"name": f"lq{index}", "namespace": "ns"}, {"clusterQueue": f"cq{index}"}
            self.apply({"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": meta, "spec": spec})
        self.target.settle()

    def apply(self, manifest: Manifest) -> None:
        """Apply what has to be accepted."""
        assert not self.target.apply([manifest])

    def put_queue(self, index: int, queue: Queue) -> None:
        """Make a ClusterQueue or change it."""
        lent = None if queue.lending is None else min(queue.lending, queue.nominal)
        limits = {"borrowingLimit": queue.borrowing, "lendingLimit": lent} if queue.cohort else {}
        quota = {key: limit for key, limit in limits.items() if limit is not None}
        spec = {
            **({"cohortName": queue.cohort} if queue.cohort else {}),
            "namespaceSelector": {},
            "queueingStrategy": "StrictFIFO" if queue.strict else "BestEffortFIFO",
            "preemption": dict(queue.preemption or {}),
            "resourceGroups": [
                {
                    "coveredResources": ["gpus"],
                    "flavors": [
                        {"name": "flavor", "resources": [{"name": "gpus", "nominalQuota": queue.nominal, **quota}]}
                    ],
                }
            ],
        }
        self.apply({"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": f"cq{index}"}, "spec": spec})
        self.target.settle()

    def submit(self, work: Work, name: str = "") -> str:
        """Make a Job that asks for devices by a template of its own, and let it be decided."""
        self._made += 1
        name = name or f"w{self._made}"
        exactly = {"deviceClassName": "gpu.example.com", "count": work.devices}
        claim = {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}
        meta = {"name": name, "namespace": "ns"}
        template = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": dict(meta)}
        self.apply({**template, "spec": {"spec": claim}})
        pod = {
            "containers": [{"name": "c", "image": "none"}],
            "resourceClaims": [{"name": "c", "resourceClaimTemplateName": name}],
        }
        labels = {
            "kueue.x-k8s.io/queue-name": f"lq{work.queue % len(self.queues)}",
            "kueue.x-k8s.io/priority-class": f"p{work.priority}",
        }
        spec = {"template": {"spec": {**pod, "restartPolicy": "Never"}}}
        self.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {**meta, "labels": labels}, "spec": spec})
        self.target.settle()
        return name

    def delete(self, name: str) -> None:
        """Delete a workload and let the others be decided."""
        self.target.delete([Ref(api_version="batch/v1", kind="Job", name=name, namespace="ns")])
        self.target.settle()

    @property
    def admitted(self) -> Mapping[str, tuple[str, int]]:
        """The ClusterQueue and the devices of each Job that holds quota."""
        found = {}
        for workload in self.target.list(KUEUE, "Workload"):
            admission = (workload.get("status") or {}).get("admission") or {}
            for pod_set in admission.get("podSetAssignments") or ():
                devices = units("gpus", parse(pod_set["resourceUsage"]["gpus"]))
                found[workload["metadata"]["ownerReferences"][0]["name"]] = (admission["clusterQueue"], devices)
        return found

    @property
    def tree(self) -> Hierarchy:
        """The cohort tree as it is kept up to date."""
        assert self.target.manager is not None
        return self.target.manager.kueue.hierarchy

    @property
    def sums(self) -> Mapping[str, int]:
        """The sum of what the admitted workloads of each ClusterQueue use."""
        total: dict[str, int] = {}
        for queue, devices in self.admitted.values():
            total[queue] = total.get(queue, 0) + devices
        return total


def grown(found: Sequence[Queue], asked: Sequence[Work], configuration: Manifest = CONFIGURATION) -> World:
    """A cluster in which all of that was submitted, and every third workload deleted again."""
    world = World(found, configuration)
    for index, work in enumerate(asked):
        name = world.submit(work)
        if index % 3 == 2:
            world.delete(name)
    return world


@often
@given(queues(["", "left", "right", "root"]), works, st.sampled_from([CONFIGURATION, FAIR]))
def test_usage_is_the_sum_of_what_is_admitted(found: list[Queue], asked: list[Work], configuration: Manifest) -> None:
    """Status, and the tree that is kept up to date step by step, say what adding up the admissions says."""
    world = grown(found, asked, configuration)

    for index in range(len(found)):
        queue = world.target.read(Ref(api_version=KUEUE, kind="ClusterQueue", name=f"cq{index}"))
        assert queue is not None
        (shown,) = queue["status"]["flavorsReservation"][0]["resources"]
        assert units("gpus", parse(shown["total"])) == world.sums.get(f"cq{index}", 0)
    assert _used(world.tree) == _used(_anew(world))


@often
@given(queues(["", "left", "right", "root"]), works, st.sampled_from([CONFIGURATION, FAIR]))
def test_nobody_takes_more_than_limits_and_the_tree_allow(
    found: list[Queue], asked: list[Work], configuration: Manifest
) -> None:
    """No member of a tree uses more than it has and may borrow, and no tree more than it has."""
    tree = grown(found, asked, configuration).tree

    for node in (*tree.queues.values(), *tree.cohorts.values()):
        used, quota, borrowing = (
            node.usage.get(GPUS, 0),
            node.subtree_quota.get(GPUS, 0),
            node.quota_for(GPUS).borrowing,
        )
        assert node.parent is not None or used <= quota
        assert borrowing is None or used <= quota + borrowing
        assert used <= node.potential_available(GPUS)


@often
@given(queues(["left"], st.none()), works, st.integers(1, 4))
def test_what_is_lent_comes_back(found: list[Queue], asked: list[Work], nominal: int) -> None:
    """A queue that may reclaim from anybody gets its nominal quota at once, however it was borrowed.

    Only the head of a StrictFIFO queue that waits for what it lent, and may not reclaim it, is in the way of that: it
    holds its place in every cycle.
    """
    found = [replace(queue, strict=False) for queue in found]
    owner = Queue(cohort="left", nominal=nominal, preemption={"reclaimWithinCohort": "Any"})
    world = World([*found, owner])
    for work in asked:
        world.submit(Work(queue=work.queue % len(found), devices=work.devices, priority=work.priority + 1))

    name = world.submit(Work(queue=len(found), devices=nominal, priority=0))

    assert world.admitted[name] == (f"cq{len(found)}", nominal)


@often
@given(queues(["", "left", "right", "root"], st.none()), works, st.integers(0, 3), st.integers(1, 3))
def test_more_quota_takes_nothing_away(found: list[Queue], asked: list[Work], which: int, more: int) -> None:
    """Admitted workloads stay admitted when a quota is raised."""
    world = grown(found, asked)
    before, index = world.admitted, which % len(found)

    world.put_queue(index, replace(found[index], nominal=found[index].nominal + more))

    assert before.items() <= world.admitted.items()


@often
@given(queues([""]), works, st.randoms(use_true_random=False))
def test_the_order_of_independent_queues_does_not_matter(found: list[Queue], asked: list[Work], shuffle: Any) -> None:
    """However workloads of different queues are interleaved, each queue admits the same."""
    one, other = World(found), World(found)
    named = [(f"w{index}", work) for index, work in enumerate(asked)]
    order = sorted(range(len(found)), key=lambda _: shuffle.random())
    for name, work in named:
        one.submit(work, name)
    for queue in order:
        for name, work in named:
            if work.queue % len(found) == queue:
                other.submit(work, name)

    assert one.admitted == other.admitted


def _used(tree: Hierarchy) -> Mapping[str, int]:
    nodes = {**tree.queues, **tree.cohorts}
    return {name: amount for name, node in nodes.items() if (amount := node.usage.get(GPUS, 0))}


def _anew(world: World) -> Hierarchy:
    """The cohort tree, built again from the stored objects."""
    rules = world.target.behaviour.cohorts
    members = [cluster_queue_of(found) for found in world.target.store.every("ClusterQueue")]
    cohorts = [cohort_of(found) for found in world.target.store.every("Cohort")]
    return build_hierarchy(rules, members, cohorts, {name: {GPUS: used} for name, used in world.sums.items()})
