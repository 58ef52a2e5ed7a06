"""Topology-aware scheduling with devices: quota for the devices, room on nodes for the pods (text: a non-goal)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from kueue_dra_fixtures.builders import GPU, Work, a_job, a_pod_set, a_template, a_workload, gpu, on_nodes_of
from kueue_dra_fixtures.lab import Lab, Queue
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending
from kueue_dra_ref.api.topologies import HOSTNAME, PREFERRED, REQUIRED, UNCONSTRAINED
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue

BLOCK = "example.com/block"
RACK = "example.com/rack"
CARD = "example.com/gpu"
ANY = {UNCONSTRAINED: "true"}
IN_A_RACK = {REQUIRED: RACK}
ON_A_NODE = {REQUIRED: HOSTNAME}
RATHER_IN_A_RACK = {PREFERRED: RACK}
NEW, ABSENT = ({"key": "example.com/model", "operator": "In", "values": [each]} for each in ("new", "absent"))
FAST = {"key": "example.com/speed", "operator": "In", "values": ["fast"]}


@dataclass(slots=True, kw_only=True)
class Pool:
    """Nodes of one flavor with a topology."""

    lab: Lab
    levels: tuple[str, ...] = (HOSTNAME,)
    tolerations: tuple[Mapping[str, str], ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    """Further node labels of the flavor."""
    flavor: str = field(init=False)
    topology: str = field(init=False)
    label: str = field(init=False)

    def __post_init__(self) -> None:
        self.label = self.lab.name("pool")
        self.topology = self.lab.topology(*self.levels)
        self.flavor = self.another_flavor()

    def another_flavor(self) -> str:
        """A flavor of the same nodes and topology."""
        spec: dict[str, Any] = {"nodeLabels": {"pool": self.label, **self.labels}, "topologyName": self.topology}
        if self.tolerations:
            spec["tolerations"] = list(self.tolerations)
        return self.lab.flavor(**spec)

    def node(self, *, rack: str = "", labels: Mapping[str, str] | None = None, **shape: Any) -> str:
        """A node of the pool."""
        own = {"pool": self.label, **({RACK: rack} if rack else {}), **(labels or {})}
        return self.lab.node(labels=own, **shape)

    def queue(self, *, cpu: int = 16, devices: int = 8, **spec: Any) -> Queue:
        """A queue of the flavor of the pool alone."""
        return self.lab.queue(groups=[{self.flavor: {"cpu": cpu, "whole-gpus": devices}}], **spec)


def cards(pods: int = 1, *, cpu: str = "1", **shape: Any) -> Work:
    """A Job whose pods have a cpu and a device of a claim each."""
    return a_job(pods=pods, cpu=cpu, claims=[a_template(gpu())], **shape)


def cpus(pods: int = 1, *, cpu: str = "1", **shape: Any) -> Work:
    """A Job whose pods have a cpu each."""
    return a_job(pods=pods, cpu=cpu, **shape)


@covers("TAS-001", "TAS-008", "TAS-010")
@pytest.mark.parametrize(
    "annotations",
    [
        pytest.param(ANY, id="unconstrained"),
        pytest.param(ON_A_NODE, id="required"),
        pytest.param({PREFERRED: HOSTNAME}, id="preferred"),
    ],
)
def test_devices_of_claims_take_quota_and_pods_take_room(lab: Lab, annotations: Mapping[str, str]) -> None:
    """No node has a device: devices are charged to the flavor, and the pods are placed by their cpu."""
    pool = Pool(lab=lab)
    node = pool.node(cpu="2")
    queue = pool.queue()
    job = queue.submit(cards(2, annotations=annotations))

    assert lab.verdict(job) == admitted({"cpu": 2, "whole-gpus": 2})
    assert lab.places(job) == {"main": {node: 2}}
    assert queue.figures.used[pool.flavor]["whole-gpus"] == "2"


@covers("TAS-009")
def test_claims_leave_no_room_in_earlier_releases(lab: Lab) -> None:
    """Up to 0.15, nodes have to have the resource that the claims are charged as."""
    pool = Pool(lab=lab)
    pool.node()
    queue = pool.queue()

    assert lab.verdict(queue.submit(cards(annotations=ANY))) == pending(Reason.NO_ROOM)
    assert lab.verdict(queue.submit(cpus(annotations=ANY))) == admitted({"cpu": 1})


@covers("TAS-034")
@pytest.mark.parametrize(
    ("annotations", "devices", "verdict"),
    [
        pytest.param(ANY, "0", pending(Reason.OUTRUN), id="unconstrained"),
        pytest.param(ON_A_NODE, "0", pending(Reason.OUTRUN), id="required"),
        pytest.param({}, "0", pending(Reason.OUTRUN), id="implied"),
        pytest.param(ANY, "1", pending(Reason.OUTRUN), id="too-few-on-the-node"),
        pytest.param(ANY, "2", admitted({"cpu": 2, "whole-gpus": 2}), id="enough-on-the-node"),
    ],
)
def test_pods_with_devices_of_claims_are_never_admitted(
    lab: Lab, annotations: Mapping[str, str], devices: str, verdict: Verdict
) -> None:
    """A fault of Kueue, except where nodes have a resource that is called as the claims are charged."""
    pool = Pool(lab=lab)
    allocatable: dict[str, Any] = {"whole-gpus": devices}
    pool.node(cpu="2", **allocatable)

    assert lab.verdict(pool.queue().submit(cards(2, annotations=annotations))) == verdict


@covers("TAS-002")
def test_pods_without_a_request_are_placed_where_all_flavors_have_a_topology(lab: Lab) -> None:
    """The annotations are not needed, and the room is needed all the same."""
    pool = Pool(lab=lab)
    node = pool.node(cpu="1")
    queue = pool.queue()
    first, second = queue.submit(cpus()), queue.submit(cpus())

    assert lab.places(first) == {"main": {node: 1}}
    assert lab.verdict(second) == pending(Reason.NO_ROOM)


@covers("TAS-033")
@pytest.mark.parametrize("annotations", [pytest.param(ANY, id="requested"), pytest.param({}, id="implied")])
def test_pods_with_claims_alone_are_never_admitted(lab: Lab, annotations: Mapping[str, str]) -> None:
    """A fault of Kueue: no amount is requested of the node, so that no number of pods fits; it tries for ever."""
    pool = Pool(lab=lab)
    pool.node()
    job = pool.queue().submit(a_job(claims=[a_template(gpu())], annotations=annotations))

    assert lab.verdict(job) == pending(Reason.OUTRUN)


@covers("TAS-002", "TAS-010")
def test_claims_without_a_request_are_placed_by_their_pods(lab: Lab) -> None:
    """Pods take the places of pods on their node as well."""
    pool = Pool(lab=lab)
    node = pool.node(pods="1")
    queue = pool.queue()
    first, second = queue.submit(cards()), queue.submit(cards())

    assert lab.verdict(first) == admitted({"cpu": 1, "whole-gpus": 1})
    assert lab.places(first) == {"main": {node: 1}}
    assert lab.verdict(second) == pending(Reason.NO_ROOM)


@covers("TAS-006")
@pytest.mark.parametrize("work", [pytest.param(cards(), id="devices"), pytest.param(cpus(), id="ordinary")])
def test_topology_flavors_are_for_pods_that_request_a_topology(lab: Lab, work: Work) -> None:
    """Other pods get the next flavor, or none."""
    pool = Pool(lab=lab)
    pool.node()
    plain = lab.flavor()
    quota = {"cpu": 1, "whole-gpus": 1}
    queue = lab.queue(groups=[{pool.flavor: quota, plain: quota}])
    first, second = queue.submit(work), queue.submit(work)

    assert set(lab.flavors(first)["main"].values()) == {plain}
    assert lab.places(first) == {}
    assert f'Flavor "{pool.flavor}" supports only TopologyAwareScheduling' in lab.message(second)


@covers("TAS-001", "TAS-003")
@pytest.mark.parametrize("work", [pytest.param(cards, id="devices"), pytest.param(cpus, id="ordinary")])
def test_placed_pods_get_no_flavor_without_a_topology(lab: Lab, work: Any) -> None:
    """The cpu of the pods has its quota in a flavor without a topology."""
    plain = lab.flavor()
    queue = lab.queue(groups=[{plain: {"cpu": 4, "whole-gpus": 4}}])
    job = queue.submit(work(annotations=ANY))

    assert lab.verdict(job) == pending(Reason.NO_FLAVOR)
    assert f'Flavor "{plain}" does not support TopologyAwareScheduling' in lab.message(job)


@covers("TAS-004")
def test_devices_of_claims_may_have_a_flavor_without_a_topology(lab: Lab) -> None:
    """The pods themselves request cpu alone, which has a topology flavor."""
    pool = Pool(lab=lab)
    node = pool.node()
    plain = lab.flavor()
    queue = lab.queue(groups=[{pool.flavor: {"cpu": 4}}, {plain: {"whole-gpus": 4}}])
    job = queue.submit(cards(annotations=ON_A_NODE))

    assert lab.verdict(job) == admitted({"cpu": 1, "whole-gpus": 1})
    assert lab.flavors(job) == {"main": {"cpu": pool.flavor, "whole-gpus": plain}}
    assert lab.places(job) == {"main": {node: 1}}


@covers("TAS-029")
def test_devices_of_claims_need_a_topology_flavor_in_earlier_releases(lab: Lab) -> None:
    """Up to 0.16, the flavor of the devices is skipped although the pods do not request them."""
    pool = Pool(lab=lab)
    pool.node()
    plain = lab.flavor()
    queue = lab.queue(groups=[{pool.flavor: {"cpu": 4}}, {plain: {"whole-gpus": 4}}])

    assert lab.verdict(queue.submit(cards(annotations=ON_A_NODE))) == pending(Reason.NO_FLAVOR)


def two_pools(lab: Lab) -> tuple[Pool, Pool, Queue]:
    """A queue with the cpu of pods in one pool, and their devices in another one."""
    first, second = Pool(lab=lab), Pool(lab=lab)
    first.node()
    second.node()
    return first, second, lab.queue(groups=[{first.flavor: {"cpu": 4}}, {second.flavor: {"whole-gpus": 4}}])


@covers("TAS-007")
def test_pods_cannot_be_in_two_topologies(lab: Lab) -> None:
    """The devices of the claims are in another topology flavor than the pods."""
    first, second, queue = two_pools(lab)
    job = queue.submit(cards(annotations=ON_A_NODE))

    assert lab.verdict(job) == pending(Reason.NO_FLAVOR)
    names = ", ".join(sorted((first.flavor, second.flavor)))
    assert lab.message(job).endswith(f"more than one TAS flavor assigned: {names}")


@covers("TAS-030")
def test_pods_in_two_topologies_are_not_placed_in_earlier_releases(lab: Lab) -> None:
    """Up to 0.17, Kueue admits them, and places them nowhere."""
    _, _, queue = two_pools(lab)
    job = queue.submit(cards(annotations=ON_A_NODE))

    assert lab.verdict(job) == admitted({"cpu": 1, "whole-gpus": 1})
    assert lab.places(job) == {}


@covers("TAS-005")
@pytest.mark.parametrize(
    "annotations",
    [
        pytest.param(IN_A_RACK, id="required"),
        pytest.param(RATHER_IN_A_RACK, id="preferred"),
        pytest.param({UNCONSTRAINED: "false"}, id="not-unconstrained"),
    ],
)
def test_the_topology_has_to_have_the_level(lab: Lab, annotations: Mapping[str, str]) -> None:
    """A level that is only preferred has to exist as well."""
    pool = Pool(lab=lab)
    pool.node()
    job = pool.queue().submit(cpus(annotations=annotations))

    assert lab.verdict(job) == pending(Reason.NO_FLAVOR)
    assert f'Flavor "{pool.flavor}" does not contain the requested level' in lab.message(job)


def racks(lab: Lab, **nodes: str) -> tuple[Pool, dict[str, str]]:
    """A pool of racks, and its nodes by their names in the case: the name begins with the rack, the value is cpu."""
    pool = Pool(lab=lab, levels=(RACK, HOSTNAME))
    return pool, {name: pool.node(rack=name[0], cpu=cpu) for name, cpu in nodes.items()}


@covers("TAS-015")
def test_a_required_rack_holds_all_pods(lab: Lab) -> None:
    """Three pods do not fit a rack of two nodes; two pods fit."""
    pool, _ = racks(lab, a1="1", a2="1", b1="1")
    queue = pool.queue()
    job = queue.submit(cpus(3, annotations=IN_A_RACK))

    assert lab.verdict(job) == pending(Reason.NO_ROOM)
    assert f'topology "{pool.topology}" allows to fit only 2 out of 3 pod(s)' in lab.message(job)
    assert lab.verdict(queue.submit(cpus(2, annotations=IN_A_RACK))) == admitted({"cpu": 2})


@covers("TAS-015", "TAS-010")
def test_a_required_rack_for_pods_with_devices(lab: Lab) -> None:
    """The smallest rack with room for all pods is taken, whatever devices it has."""
    pool, nodes = racks(lab, a1="4", a2="4", b1="1", b2="1", c1="1")
    job = pool.queue().submit(cards(2, annotations=IN_A_RACK))

    assert lab.places(job) == {"main": {nodes["b1"]: 1, nodes["b2"]: 1}}


@covers("TAS-015")
def test_in_a_rack_the_smallest_node_with_room_is_taken(lab: Lab) -> None:
    """Two pods fit either node of the rack."""
    pool, nodes = racks(lab, a1="3", a2="2")
    job = pool.queue().submit(cpus(2, annotations=IN_A_RACK))

    assert lab.places(job) == {"main": {nodes["a2"]: 2}}


@covers("TAS-016")
def test_a_preferred_rack_may_be_several(lab: Lab) -> None:
    """The rack with the most room is filled first."""
    pool, nodes = racks(lab, a1="1", b1="1", b2="1")
    job = pool.queue().submit(cpus(3, annotations=RATHER_IN_A_RACK))

    assert lab.places(job) == {"main": {nodes["a1"]: 1, nodes["b1"]: 1, nodes["b2"]: 1}}


@covers("TAS-016")
def test_a_preferred_rack_is_one_if_it_has_room(lab: Lab) -> None:
    """Two pods go to the rack that has room for both, not to the first one."""
    pool, nodes = racks(lab, a1="1", b1="1", b2="1")
    job = pool.queue().submit(cpus(2, annotations=RATHER_IN_A_RACK))

    assert lab.places(job) == {"main": {nodes["b1"]: 1, nodes["b2"]: 1}}


@covers("TAS-016")
def test_pods_that_do_not_fit_a_preferred_node_share_a_rack(lab: Lab) -> None:
    """Three pods go to the rack that has room for all, not to the node of another rack that has room for two."""
    pool, nodes = racks(lab, a1="2", b1="1", b2="2")
    job = pool.queue().submit(cpus(3, annotations={PREFERRED: HOSTNAME}))

    assert lab.places(job) == {"main": {nodes["b1"]: 1, nodes["b2"]: 2}}


def blocks(lab: Lab) -> tuple[Pool, dict[str, str]]:
    """Two blocks of racks, with room for 4 and 7 pods, and a node that has only one label of the flavor."""
    pool = Pool(lab=lab, levels=(BLOCK, RACK, HOSTNAME), labels={"example.com/model": "new"})
    rooms = {"a/r/1": 2, "a/r/2": 1, "a/s/3": 1, "b/t/4": 3, "b/u/5": 2, "b/u/6": 2}
    nodes = {}
    for name, cpu in rooms.items():
        block, rack, number = name.split("/")
        nodes[number] = pool.node(rack=rack, labels={BLOCK: block, **pool.labels}, cpu=str(cpu))
    pool.node(rack="r", labels={BLOCK: "a"}, cpu="16")
    return pool, nodes


@covers("TAS-015", "TAS-016")
@pytest.mark.parametrize(
    ("annotations", "pods", "placed"),
    [
        pytest.param({PREFERRED: RACK}, 3, {"1": 2, "2": 1}, id="the-first-of-two-racks"),
        pytest.param({PREFERRED: RACK}, 4, {"5": 2, "6": 2}, id="the-rack-with-most-room"),
        pytest.param({PREFERRED: RACK}, 5, {"4": 3, "5": 2}, id="racks-of-a-block"),
        pytest.param({PREFERRED: HOSTNAME}, 4, {"5": 2, "6": 2}, id="nodes-of-a-rack"),
        pytest.param({PREFERRED: HOSTNAME}, 6, {"4": 3, "5": 2, "6": 1}, id="nodes-of-a-block"),
        pytest.param({PREFERRED: BLOCK}, 9, {"1": 2, "4": 3, "5": 2, "6": 2}, id="blocks"),
        pytest.param({REQUIRED: BLOCK}, 3, {"1": 2, "2": 1}, id="the-smallest-block"),
        pytest.param({REQUIRED: BLOCK}, 7, {"4": 3, "5": 2, "6": 2}, id="all-of-a-block"),
    ],
)
def test_pods_fill_few_domains_of_three_levels(
    lab: Lab, annotations: Mapping[str, str], pods: int, placed: dict[str, int]
) -> None:
    """From the level with room for all pods, downwards: domains with most room first, the last pods where they fit."""
    pool, nodes = blocks(lab)
    job = pool.queue().submit(cpus(pods, annotations=annotations))

    assert lab.places(job) == {"main": {nodes[name]: count for name, count in placed.items()}}


@covers("TAS-015", "TAS-016")
@pytest.mark.parametrize(
    ("annotations", "pods", "fitting"),
    [
        pytest.param({PREFERRED: RACK}, 12, 11, id="preferred"),
        pytest.param({REQUIRED: BLOCK}, 8, 7, id="required"),
        pytest.param(ANY, 12, 11, id="unconstrained"),
    ],
)
def test_one_pod_too_many_for_domains_of_three_levels(
    lab: Lab, annotations: Mapping[str, str], pods: int, fitting: int
) -> None:
    """Kueue reports no excluded nodes: there are none."""
    pool, _ = blocks(lab)
    job = pool.queue().submit(cpus(pods, annotations=annotations))

    text = f'topology "{pool.topology}" allows to fit only {fitting} out of {pods} pod(s)'
    assert lab.message(job) == f"couldn't assign flavors to pod set main: {text}"


@covers("TAS-008")
def test_domains_without_nodes_are_named_by_all_their_labels(lab: Lab) -> None:
    """The lowest level are racks, which have the room of all their nodes."""
    pool = Pool(lab=lab, levels=("example.com/block", RACK))
    for _ in range(2):
        pool.node(rack="r1", labels={"example.com/block": "b1"}, cpu="1")
    job = pool.queue().submit(cpus(2, annotations=IN_A_RACK))

    assert lab.places(job) == {"main": {"b1/r1": 2}}


@covers("TAS-018")
@pytest.mark.parametrize(
    ("mixed", "large", "small"),
    [pytest.param(True, 3, 2, id="mixed"), pytest.param(False, 4, 1, id="best-fit")],
)
def test_unconstrained_pods_fill_small_nodes_first(lab: Lab, mixed: bool, large: int, small: int) -> None:
    """Without the gate, the node with the most room is filled first."""
    lab.start(switched={"TASProfileMixed": mixed})
    pool = Pool(lab=lab)
    nodes = pool.node(cpu="4"), pool.node(cpu="2")
    job = pool.queue().submit(cpus(5, annotations=ANY))

    assert lab.places(job) == {"main": {nodes[0]: large, nodes[1]: small}}


@covers("TAS-018")
def test_unconstrained_pods_fill_each_small_node(lab: Lab) -> None:
    """After the first one, a later node has room for all that are left; the next one takes its pods first."""
    lab.start(switched={"TASProfileMixed": True})
    pool = Pool(lab=lab)
    nodes = [pool.node(cpu=cpu) for cpu in ("1", "2", "3")]
    job = pool.queue().submit(cpus(4, annotations=ANY))

    assert lab.places(job) == {"main": {nodes[0]: 1, nodes[1]: 2, nodes[2]: 1}}


@covers("TAS-018")
@pytest.mark.parametrize("annotations", [pytest.param(ANY, id="unconstrained"), pytest.param({}, id="implied")])
def test_unconstrained_pods_fill_small_nodes_of_any_block(lab: Lab, annotations: Mapping[str, str]) -> None:
    """They are placed on the lowest level alone."""
    lab.start(switched={"TASProfileMixed": True})
    pool, nodes = blocks(lab)
    job = pool.queue().submit(cpus(5, annotations=annotations))

    assert lab.places(job) == {"main": {nodes["1"]: 2, nodes["2"]: 1, nodes["3"]: 1, nodes["5"]: 1}}


@covers("TAS-031")
def test_all_pods_fill_small_nodes_first_in_earlier_releases(lab: Lab) -> None:
    """Pods that prefer a node, too."""
    lab.start(switched={"TASProfileMixed": False, "TASProfileLeastFreeCapacity": True})
    pool = Pool(lab=lab)
    nodes = pool.node(cpu="4"), pool.node(cpu="2")
    job = pool.queue().submit(cpus(5, annotations={PREFERRED: HOSTNAME}))

    assert lab.places(job) == {"main": {nodes[0]: 3, nodes[1]: 2}}


TAINT = {"key": "example.com/gpus", "value": "only", "effect": "NoSchedule"}
TOLERATION = {"key": "example.com/gpus", "operator": "Exists"}


@covers("TAS-012")
@pytest.mark.parametrize(
    ("of_pods", "of_flavor", "effect", "has_room"),
    [
        pytest.param((), (), "NoSchedule", False, id="untolerated"),
        pytest.param((TOLERATION,), (), "NoSchedule", True, id="tolerated-by-pods"),
        pytest.param((), (TOLERATION,), "NoExecute", True, id="tolerated-by-flavor"),
        pytest.param((), (), "PreferNoSchedule", True, id="preferred"),
        pytest.param((), (), "", False, id="untolerated-and-preferred"),
    ],
)
def test_taints_of_nodes_count(lab: Lab, of_pods: Any, of_flavor: Any, effect: str, has_room: bool) -> None:
    """The tolerations of the pods and of the flavor are taken together."""
    pool = Pool(lab=lab, tolerations=of_flavor)
    several = ["PreferNoSchedule", "NoSchedule"]
    pool.node(taints=[{**TAINT, "effect": each} for each in ([effect] if effect else several)])
    work = cpus(annotations=ANY, spec={"tolerations": list(of_pods)})
    job = pool.queue().submit(work)

    assert lab.verdict(job) == (admitted({"cpu": 1}) if has_room else pending(Reason.NO_ROOM))


@covers("TAS-012")
def test_taints_of_nodes_do_not_count_where_racks_are_the_lowest_level(lab: Lab) -> None:
    """Kueue gives the pods a rack, and leaves the node to the scheduler of Kubernetes."""
    pool = Pool(lab=lab, levels=(RACK,))
    pool.node(rack="r", taints=[TAINT])
    job = pool.queue().submit(cpus(annotations=ANY))

    assert lab.places(job) == {"main": {"r": 1}}


@covers("TAS-013")
def test_the_node_selector_of_pods_counts(lab: Lab) -> None:
    """A label that no flavor has."""
    pool = Pool(lab=lab)
    pool.node()
    node = pool.node(labels={"example.com/model": "new"})
    queue = pool.queue()
    new, old = (
        queue.submit(cpus(annotations=ANY, spec={"nodeSelector": {"example.com/model": model}}))
        for model in ("new", "old")
    )

    assert lab.places(new) == {"main": {node: 1}}
    assert lab.verdict(old) == pending(Reason.NO_ROOM)


@covers("TAS-014")
@pytest.mark.parametrize(
    "terms",
    [
        pytest.param([[NEW, FAST]], id="all-of-a-term"),
        pytest.param([[ABSENT], [FAST]], id="one-of-the-terms"),
        pytest.param([[], [FAST]], id="an-empty-term-matches-none"),
    ],
)
def test_the_node_affinity_of_pods_counts(lab: Lab, terms: list[list[dict[str, Any]]]) -> None:
    """Of three nodes, the affinity matches one."""
    pool = Pool(lab=lab)
    pool.node(labels={"example.com/model": "old"})
    pool.node(labels={"example.com/model": "new"})
    node = pool.node(labels={"example.com/model": "new", "example.com/speed": "fast"})
    job = pool.queue().submit(cpus(annotations=ANY, spec=on_nodes_of(*terms)))

    assert lab.places(job) == {"main": {node: 1}}


@covers("TAS-017")
@pytest.mark.parametrize(
    "shape",
    [
        pytest.param({"ready": False}, id="not-ready"),
        pytest.param({"unschedulable": True}, id="unschedulable"),
        pytest.param({"rack": ""}, id="no-rack"),
        pytest.param({"labels": {"pool": "other"}}, id="other-pool"),
    ],
)
def test_nodes_that_no_pod_can_use(lab: Lab, shape: dict[str, Any]) -> None:
    """The only node is none of the topology."""
    pool = Pool(lab=lab, levels=(RACK, HOSTNAME))
    pool.node(**{"rack": "a", **shape})
    job = pool.queue().submit(cpus(annotations=IN_A_RACK))

    assert lab.verdict(job) == pending(Reason.NO_ROOM)
    assert lab.message(job).endswith(f"no topology domains at level: {RACK}")


@covers("TAS-019")
def test_workloads_take_room_until_they_end(lab: Lab) -> None:
    """Quota is left for the second workload, room is not."""
    pool = Pool(lab=lab)
    node = pool.node(cpu="2")
    queue = pool.queue()
    first, second = (queue.submit(cpus(2, annotations=ON_A_NODE)) for _ in range(2))
    assert lab.verdict(second) == pending(Reason.NO_ROOM)

    lab.delete(first)

    assert lab.places(second) == {"main": {node: 2}}


@pytest.mark.parametrize(
    "verdict",
    [
        pytest.param(pending(Reason.NO_ROOM), id="takes-room", marks=covers("TAS-045")),
        pytest.param(admitted({"cpu": 1}), id="takes-none", marks=covers("TAS-046")),
    ],
)
def test_resources_that_are_not_charged(lab: Lab, verdict: Verdict) -> None:
    """The node has one licence, which the quota does not know; two Jobs request it."""
    licence = "example.com/licence"
    lab.start(resources={"excludeResourcePrefixes": [licence]})
    pool = Pool(lab=lab)
    allocatable: dict[str, Any] = {licence: "1"}
    pool.node(cpu="4", **allocatable)
    queue = pool.queue()
    first, second = (queue.submit(a_job(requests={"cpu": "1", licence: "1"}, annotations=ANY)) for _ in range(2))

    assert lab.verdict(first) == admitted({"cpu": 1})
    assert lab.verdict(second) == verdict


@covers("TAS-019")
def test_pod_sets_of_a_workload_take_room_from_each_other(lab: Lab) -> None:
    """Each of two pod sets fills a node."""
    pool = Pool(lab=lab)
    nodes = {pool.node(cpu="2"), pool.node(cpu="2")}
    pods = [a_pod_set(name, pods=2, cpu="1", annotations=ON_A_NODE) for name in ("a", "b")]
    places = lab.places(pool.queue().submit(a_workload(*pods)))

    assert {node for each in places.values() for node in each} == nodes
    assert [sum(each.values()) for each in places.values()] == [2, 2]


@covers("TAS-020")
def test_two_flavors_of_the_same_nodes(lab: Lab) -> None:
    """The pods of one flavor have filled the node."""
    pool = Pool(lab=lab)
    pool.node(cpu="1")
    first = pool.queue().submit(cpus(annotations=ANY))
    other = lab.queue(groups=[{pool.another_flavor(): {"cpu": 4}}])

    assert lab.verdict(first) == admitted({"cpu": 1})
    assert lab.verdict(other.submit(cpus(annotations=ANY))) == pending(Reason.NO_ROOM)


@covers("TAS-020")
def test_a_flavor_of_racks_does_not_see_what_is_on_their_nodes(lab: Lab) -> None:
    """Its topology ends at the racks, one of which is called as the node that another flavor has filled."""
    pool = Pool(lab=lab)
    name = lab.name("node")
    pool.node(name=name, rack=name, cpu="1")
    first = pool.queue().submit(cpus(annotations=ANY))
    racks = lab.flavor(nodeLabels={"pool": pool.label}, topologyName=lab.topology(RACK))
    second = lab.queue(groups=[{racks: {"cpu": 4}}]).submit(cpus(annotations=ANY))

    assert lab.verdict(first) == admitted({"cpu": 1})
    assert lab.places(second) == {"main": {name: 1}}


@covers("TAS-020")
def test_two_flavors_of_the_same_nodes_for_one_workload(lab: Lab) -> None:
    """Each flavor has quota for one pod set, and each node has room for one."""
    pool = Pool(lab=lab)
    nodes = {pool.node(cpu="1"), pool.node(cpu="1")}
    queue = lab.queue(groups=[{flavor: {"cpu": 1} for flavor in (pool.flavor, pool.another_flavor())}])
    pods = [a_pod_set(name, cpu="1", annotations=ANY) for name in ("a", "b")]
    places = lab.places(queue.submit(a_workload(*pods)))

    assert {node for each in places.values() for node in each} == nodes


@covers("TAS-020")
def test_two_flavors_of_the_same_racks_for_one_workload(lab: Lab) -> None:
    """Where racks are the lowest level, a flavor does not see the pods of another, so that one rack has all pods."""
    pool = Pool(lab=lab, levels=(RACK,))
    for rack in ("a", "b"):
        pool.node(rack=rack, cpu="1")
    queue = lab.queue(groups=[{flavor: {"cpu": 1} for flavor in (pool.flavor, pool.another_flavor())}])
    pods = [a_pod_set(name, cpu="1", annotations=ANY) for name in ("a", "b")]

    assert lab.places(queue.submit(a_workload(*pods))) == {"a": {"a": 1}, "b": {"a": 1}}


LOWER: dict[str, Any] = {"preemption": {"withinClusterQueue": "LowerPriority"}}


@covers("TAS-021")
def test_pods_are_preempted_for_room(lab: Lab) -> None:
    """Half of the quota is free, but the node is full."""
    pool = Pool(lab=lab)
    node = pool.node(cpu="2")
    queue = pool.queue(cpu=4, **LOWER)
    low = queue.submit(cpus(2, annotations=ON_A_NODE, priority=1))
    high = queue.submit(cpus(2, annotations=ON_A_NODE, priority=2))

    assert lab.places(high) == {"main": {node: 2}}
    assert lab.preemptions(low) == 1


@covers("TAS-021")
def test_pods_on_another_node_are_not_preempted(lab: Lab) -> None:
    """They came last, and would be the first to go."""
    pool = Pool(lab=lab)
    node = pool.node(labels={"example.com/model": "new"}, cpu="1")
    queue = pool.queue(cpu=4, **LOWER)
    spec = {"nodeSelector": {"example.com/model": "new"}}
    low = queue.submit(cpus(annotations=ON_A_NODE, spec=spec, priority=1))
    other = pool.node(labels={"example.com/model": "old"}, cpu="1")
    spared = queue.submit(cpus(annotations=ON_A_NODE, priority=1))
    assert lab.places(spared) == {"main": {other: 1}}

    high = queue.submit(cpus(annotations=ON_A_NODE, spec=spec, priority=2))

    assert lab.places(high) == {"main": {node: 1}}
    assert [lab.preemptions(each) for each in (low, spared)] == [1, 0]


@covers("PREEMPT-002")
def test_without_the_gate_placed_pods_are_preempted(lab: Lab) -> None:
    """Kueue counts no nodes any more; the victim still has the node that it was given."""
    pool = Pool(lab=lab)
    pool.node(cpu="2")
    queue = pool.queue(cpu=2, **LOWER)
    low = queue.submit(cpus(2, annotations=ANY, priority=1))
    lab.start(switched={"TopologyAwareScheduling": False, "TASProfileMixed": False})
    high = queue.submit(cpus(2, priority=2))

    assert lab.verdict(high) == admitted({"cpu": 2})
    assert lab.preemptions(low) == 1


@covers("TAS-022")
@pytest.mark.parametrize(
    "allocatable",
    [
        pytest.param({}, id="no-device", marks=covers("TAS-010")),
        pytest.param({"whole-gpus": "8"}, id="allocatable"),
    ],
)
def test_victims_need_not_use_the_scarce_device(lab: Lab, allocatable: dict[str, Any]) -> None:
    """A device has to be freed, and the room of a workload that has none; 0.17 also looks for devices on the node."""
    pool = Pool(lab=lab)
    node = pool.node(cpu="2", **allocatable)
    queue = pool.queue(cpu=8, devices=1, **LOWER)
    queue.submit(cpus(annotations=ON_A_NODE, priority=1))
    queue.submit(cards(annotations=ON_A_NODE, priority=1))
    high = queue.submit(cards(cpu="2", annotations=ON_A_NODE, priority=2))

    assert lab.places(high) == {"main": {node: 1}}


@covers("TAS-049")
def test_victims_use_the_scarce_device(lab: Lab) -> None:
    """The room of a workload that has no device is not taken, although the pod needs it."""
    pool = Pool(lab=lab)
    device: dict[str, Any] = {"whole-gpus": "8"}
    pool.node(cpu="2", **device)
    queue = pool.queue(cpu=8, devices=1, **LOWER)
    spared = queue.submit(cpus(annotations=ON_A_NODE, priority=1))
    queue.submit(cards(annotations=ON_A_NODE, priority=1))
    queue.submit(cards(cpu="2", annotations=ON_A_NODE, priority=2))

    assert lab.verdict(spared) == admitted({"cpu": 1})
    assert lab.preemptions(spared) == 0


@covers("TAS-023")
@pytest.mark.parametrize(
    ("annotations", "shown"),
    [
        pytest.param(ANY, ANY, id="requested"),
        pytest.param({}, ANY, id="implied"),
        pytest.param(ON_A_NODE, ON_A_NODE, id="other"),
    ],
)
def test_placed_pods_wait_for_their_nodes(lab: Lab, annotations: dict[str, str], shown: dict[str, str]) -> None:
    """Kueue removes the gate from each pod once it has a node."""
    pool = Pool(lab=lab)
    pool.node()
    job = pool.queue().submit(cpus(annotations=annotations))
    template = lab.read(job.ref)["spec"]["template"]

    assert template["spec"]["schedulingGates"] == [{"name": "kueue.x-k8s.io/topology"}]
    requests = (REQUIRED, PREFERRED, UNCONSTRAINED)
    added = template["metadata"]["annotations"]
    assert {key: added[key] for key in requests if key in added} == shown


@covers("TAS-024")
def test_a_missing_topology_deactivates_the_cluster_queue(lab: Lab) -> None:
    """The queue admits once the Topology is there."""
    topology, label = lab.name("topology"), lab.name("pool")
    flavor = lab.flavor(nodeLabels={"pool": label}, topologyName=topology)
    queue = lab.queue(groups=[{flavor: {"cpu": 4}}])
    lab.node(labels={"pool": label})
    job = queue.submit(cpus())
    assert lab.verdict(job) == inadmissible(Reason.QUEUE_STOPPED)

    lab.topology(name=topology)

    assert lab.verdict(job) == admitted({"cpu": 1})


@covers("TAS-017", "TAS-027")
def test_a_flavor_of_one_host_waits_for_its_node(lab: Lab) -> None:
    """The node has no label but the name of its host, which the topology and the flavor name."""
    host, topology = lab.name("node"), lab.topology(HOSTNAME)
    flavor = lab.flavor(nodeLabels={HOSTNAME: host}, topologyName=topology)
    job = lab.queue(groups=[{flavor: {"cpu": 4}}]).submit(cpus())
    assert lab.verdict(job) == pending(Reason.NO_ROOM)

    lab.node(name=host)

    assert lab.verdict(job) == admitted({"cpu": 1})


@covers("TAS-025")
def test_a_topology_in_use_is_not_deleted(lab: Lab) -> None:
    """It goes with the flavor that names it."""
    topology = lab.topology()
    flavor = lab.flavor(nodeLabels={"pool": "any"}, topologyName=topology)
    ref = lab.topology_ref(topology)

    lab.remove(ref)
    assert lab.is_there(ref)

    lab.remove(lab.flavor_ref(flavor))
    assert not lab.is_there(ref)


@covers("TAS-026")
@pytest.mark.parametrize(
    ("allocatable", "has_room"),
    [
        pytest.param({}, False, id="no-device"),
        pytest.param({"example.com__gpu": "1"}, True, id="allocatable", marks=covers("TAS-010")),
    ],
)
def test_extended_resources_have_to_be_allocatable(lab: Lab, allocatable: dict[str, Any], has_room: bool) -> None:
    """The name that a class provides is no resource of the node, so its pods have no room there."""
    lab.stands_for(CARD, GPU)
    pool = Pool(lab=lab)
    pool.node(**allocatable)
    job = pool.queue().submit(a_job(requests={"cpu": "1", CARD: "1"}, annotations=ANY))

    if has_room:
        assert lab.verdict(job) == admitted({"cpu": 1, "whole-gpus": 1})
    else:
        assert lab.verdict(job) == pending(Reason.NO_ROOM)
        assert lab.message(job).endswith(f'Total nodes: 1; excluded: resource "{CARD}": 1')


@covers("TAS-027")
@pytest.mark.parametrize("grows", [pytest.param(False, id="new-node"), pytest.param(True, id="more-room")])
def test_more_room_admits(lab: Lab, grows: bool) -> None:
    """Kueue tries the workload again; nodes of another flavor have racks."""
    Pool(lab=lab, levels=(RACK,))
    pool = Pool(lab=lab)
    node = pool.node(cpu="1")
    job = pool.queue().submit(cpus(cpu="2", annotations=ANY))
    assert lab.verdict(job) == pending(Reason.NO_ROOM)

    node = pool.node(name=node if grows else "", cpu="2")
    lab.settle()

    assert lab.places(job) == {"main": {node: 1}}


@covers("TAS-011")
def test_the_message_counts_the_excluded_nodes(lab: Lab) -> None:
    """By reasons, in the order of their texts."""
    pool = Pool(lab=lab)
    pool.node(cpu="1")
    pool.node(taints=[TAINT])
    pool.node(labels={"example.com/model": "old"}, cpu="4")
    job = pool.queue().submit(cpus(cpu="2", annotations=ANY, spec={"nodeSelector": {"example.com/model": "new"}}))

    counts = 'nodeSelector: 2, taint "example.com/gpus=only:NoSchedule": 1'
    text = f'topology "{pool.topology}" doesn\'t allow to fit any of 1 pod(s). Total nodes: 3; excluded: {counts}'
    assert lab.message(job) == f"couldn't assign flavors to pod set main: {text}"


@covers("TAS-028")
@pytest.mark.parametrize(
    ("held", "reason"),
    [pytest.param(False, "TopologyPlacementFailed", id="never"), pytest.param(True, "WaitingForQuota", id="held")],
)
def test_the_reason_of_pods_without_room(lab: Lab, held: bool, reason: str) -> None:
    """Another workload uses the node, or the node is too small."""
    lab.start(switched={"UnadmittedWorkloadsObservability": True})
    pool = Pool(lab=lab)
    pool.node(cpu="2")
    queue = pool.queue()
    if held:
        queue.submit(cpus(annotations=ANY))
    job = queue.submit(cards(cpu="2" if held else "3", annotations=ANY))

    assert lab.condition(job, "QuotaReserved") == ("False", reason)


@covers("OBSERVE-010", "TAS-028")
def test_equal_pods_without_room_are_passed_over(lab: Lab) -> None:
    """Kueue tries one of two equivalent workloads; the other one gets its reason, and keeps it."""
    lab.start(switched={"UnadmittedWorkloadsObservability": True})
    pool = Pool(lab=lab)
    pool.node(cpu="2")
    queue = pool.queue()
    queue.change(stopPolicy="Hold")
    first, job = (queue.submit(cpus(cpu="3", annotations=ANY)) for _ in range(2))

    queue.change(stopPolicy="None")
    lab.retry(job)

    assert lab.condition(first, "QuotaReserved") == ("False", "TopologyPlacementFailed")
    assert lab.condition(job, "QuotaReserved") == ("False", "TopologyPlacementFailed")
    assert lab.message(job) == "Bypassed scheduling evaluation because an equivalent workload recently failed"


@covers("TAS-035")
@pytest.mark.parametrize(
    ("observed", "reasons"),
    [
        pytest.param(True, {}, id="observed"),
        pytest.param(False, {"QuotaReserved": ("False", "Pending")}, id="not-observed"),
    ],
)
def test_two_pod_sets_without_room_for_different_causes(
    lab: Lab, observed: bool, reasons: Mapping[str, tuple[str, str]]
) -> None:
    """One pod set lacks room that others hold; the other one is larger than the node, and has no message of its own."""
    lab.start(switched={"UnadmittedWorkloadsObservability": observed})
    pool = Pool(lab=lab)
    pool.node(cpu="2")
    queue = pool.queue()
    queue.submit(cpus(2, annotations=ANY))
    pods = [a_pod_set(name, cpu=cpu, annotations=ANY) for name, cpu in (("held", "1"), ("large", "3"))]
    job = queue.submit(a_workload(*pods))

    assert lab.conditions(job) == reasons


@covers("TAS-032")
def test_the_gate_switches_all_of_it_off(lab: Lab) -> None:
    """There is neither a node nor a Topology."""
    lab.start(switched={"TopologyAwareScheduling": False, "TASProfileMixed": False})
    flavor = lab.flavor(nodeLabels={"pool": "any"}, topologyName=lab.name("topology"))
    job = lab.queue(groups=[{flavor: {"cpu": 4, "whole-gpus": 4}}]).submit(cards(annotations=IN_A_RACK))

    assert lab.verdict(job) == admitted({"cpu": 1, "whole-gpus": 1})
    assert lab.places(job) == {}


@covers("TAS-032")
def test_the_gate_off_ignores_what_a_workload_requests(lab: Lab) -> None:
    """No node has room for the pods of a Workload that names a topology itself."""
    lab.start(switched={"TopologyAwareScheduling": False, "TASProfileMixed": False})
    pool = Pool(lab=lab)
    pool.node(cpu="1")
    pods = a_pod_set("main", pods=2, cpu="1", annotations=ON_A_NODE)
    job = pool.queue().submit(a_workload(pods))

    assert lab.verdict(job) == admitted({"cpu": 2})
    assert lab.places(job) == {}


@covers("TAS-010")
def test_nodes_of_one_hostname_are_one_domain(lab: Lab) -> None:
    """A domain of the lowest level is named by its hostname alone, whatever rack its nodes are in."""
    pool = Pool(lab=lab, levels=(RACK, HOSTNAME))
    for rack in ("a", "b"):
        pool.node(rack=rack, labels={HOSTNAME: "shared"}, cpu="1")
    job = pool.queue().submit(cpus(2, annotations=ON_A_NODE))

    assert lab.verdict(job) == admitted({"cpu": 2})
    assert lab.places(job) == {"main": {"shared": 2}}


@covers("TAS-010", "TAS-015")
def test_racks_of_one_name_in_two_blocks_are_two_domains(lab: Lab) -> None:
    """Each has room for one of two pods that need the same rack."""
    pool = Pool(lab=lab, levels=(BLOCK, RACK))
    for block in ("a", "b"):
        pool.node(rack="r", labels={BLOCK: block}, cpu="1")
    job = pool.queue().submit(cpus(2, annotations=IN_A_RACK))

    assert lab.verdict(job) == pending(Reason.NO_ROOM)


@covers("TAS-010")
def test_of_equal_racks_the_first_has_all_pods(lab: Lab) -> None:
    """The nodes of the other rack do not count, though one of them has room for all pods."""
    pool = Pool(lab=lab, levels=(BLOCK, RACK, HOSTNAME))
    block = {BLOCK: "one"}
    small = [pool.node(rack="a", labels=block, cpu="1") for _ in range(2)]
    pool.node(rack="b", labels=block, cpu="2")
    job = pool.queue().submit(cpus(2, annotations={REQUIRED: BLOCK}))

    assert lab.places(job) == {"main": dict.fromkeys(small, 1)}


RECOMPUTES = "TASRecomputeAssignmentWithinSchedulingCycle"


@pytest.mark.parametrize(
    ("gates", "reason"),
    [
        pytest.param({RECOMPUTES: True}, Reason.NO_ROOM, id="gate-on", marks=covers("TAS-041")),
        pytest.param({RECOMPUTES: False}, Reason.OUTRUN, id="gate-off", marks=covers("TAS-042")),
        pytest.param({}, Reason.OUTRUN, id="earlier", marks=covers("TAS-043")),
    ],
)
@covers("TAS-008", "PREEMPT-018")
def test_who_waits_for_room_keeps_others_from_it(lab: Lab, gates: dict[str, bool], reason: Reason) -> None:
    """The head of a StrictFIFO queue needs a whole node, half of which is in use; no workload gets the other half."""
    lab.start(switched=gates)
    pool = Pool(lab=lab)
    pool.node(cpu="2")
    head, other = pool.queue(queueingStrategy="StrictFIFO"), pool.queue()
    other.submit(cpus(annotations=ON_A_NODE))
    waiting = head.submit(cpus(2, annotations=ON_A_NODE))
    late = other.submit(cpus(annotations=ON_A_NODE))

    assert lab.verdict(waiting) == pending(Reason.NO_ROOM)
    assert lab.verdict(late) == pending(reason)


@covers("TAS-041")
def test_two_heads_share_a_node_that_has_room_for_both(lab: Lab) -> None:
    """Both try the same node in one cycle, once a Job has released their quota."""
    lab.start(switched={RECOMPUTES: True})
    pool = Pool(lab=lab)
    nodes = [pool.node(cpu="2") for _ in range(2)]
    cohort = lab.name("cohort")
    lender, *borrowers = (pool.queue(cpu=cpu, cohortName=cohort) for cpu in (2, 0, 0))
    blocking = lender.submit(cpus(2, annotations=ON_A_NODE))
    jobs = [queue.submit(cpus(annotations=ON_A_NODE)) for queue in borrowers]

    lab.delete(blocking)

    placed = [lab.places(job) for job in jobs]
    assert placed[0] == placed[1]
    assert placed[0] in [{"main": {node: 1}} for node in nodes]


@covers("TAS-008", "PREEMPT-018")
def test_who_can_always_reclaim_keeps_no_room_from_others(lab: Lab) -> None:
    """With reclaimWithinCohort Any, the other half of the node is free."""
    pool = Pool(lab=lab)
    node = pool.node(cpu="2")
    head = pool.queue(queueingStrategy="StrictFIFO", preemption={"reclaimWithinCohort": "Any"})
    other = pool.queue()
    other.submit(cpus(annotations=ON_A_NODE))
    waiting = head.submit(cpus(2, annotations=ON_A_NODE))
    late = other.submit(cpus(annotations=ON_A_NODE))

    assert lab.verdict(waiting) == pending(Reason.NO_ROOM)
    assert lab.places(late) == {"main": {node: 1}}


@covers("TAS-001", "TAS-006")
def test_only_pods_that_request_a_topology_are_placed(lab: Lab) -> None:
    """A leader has a flavor without a topology, and its workers have nodes of the other one."""
    pool = Pool(lab=lab)
    node, plain = pool.node(), lab.flavor()
    queue = lab.queue(groups=[{plain: {"cpu": 4}, pool.flavor: {"cpu": 4}}])
    workers = a_pod_set("workers", pods=2, cpu="1", annotations=ANY)
    job = queue.submit(a_workload(a_pod_set("leader", cpu="1"), workers))

    assert lab.flavors(job) == {"leader": {"cpu": plain}, "workers": {"cpu": pool.flavor}}
    assert lab.places(job) == {"workers": {node: 2}}


@covers("TAS-044")
def test_a_pod_set_without_pods_needs_no_node(lab: Lab) -> None:
    """The pods of the other one are placed."""
    pool = Pool(lab=lab)
    node = pool.node()
    pods = [a_pod_set(name, pods=count, cpu="1", annotations=ANY) for name, count in (("none", 0), ("one", 1))]

    assert lab.places(pool.queue().submit(a_workload(*pods))) == {"one": {node: 1}}
