"""A dump of a running cluster is where a simulation begins: what holds quota in it holds it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_differential.generate import batches
from kueue_dra_ref.api.conditions import is_true, message_of
from kueue_dra_ref.api.documents import parse
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.scenarios.playback import replayed
from kueue_dra_ref.simulation.inputs import given
from kueue_dra_ref.simulation.run import SimulationResult, simulate
from kueue_dra_ref.simulation.running_cluster import running_cluster
from kueue_dra_ref.target import Manifest
from tests.clusters_live.manifests import KUEUE, a_job, a_template, a_world, an_object
from tests.commands import kueue_dra

KUEUE_0_19 = behaviour("kueue-0.19.2")
_DUMPED = [kind for kind in KINDS if kind != "ClusterRole"]
_STATES = ("QuotaReserved", "Admitted", "Evicted", "Finished")
CONFIGURATION = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "resources": {"deviceClassMappings": [{"name": "whole-gpus", "deviceClassNames": ["gpu.example.com"]}]},
}
LACKS_ONE = (
    "couldn't assign flavors to pod set main: "
    "insufficient unused quota for whole-gpus in flavor team-flavor, 1 more needed"
)


def a_dump(*more: Manifest) -> list[Manifest]:
    """Give a cluster in which the Job zeta, the older one, holds both GPUs, and alpha is pending."""
    world = [_stored(each, day=1, number=index) for index, each in enumerate(a_world())]
    zeta = _job("zeta", "gpus-2", day=2, suspend=False) | {"status": {"active": 1, "startTime": _time(2)}}
    alpha = _job("alpha", "gpus-1", day=3)
    # Alphabetical, as kubectl prints them: what holds quota comes last.
    return [
        *world,
        alpha,
        zeta,
        _workload(alpha, "job-alpha-one", _pending()),
        _workload(zeta, "odd", _admitted()),
        *more,
    ]


def _job(name: str, template: str, *, day: int, suspend: bool = True) -> Manifest:
    job = _stored(a_job(name, template), day=day)
    job["spec"]["suspend"] = suspend
    return job


def _stored(obj: Manifest, *, day: int, number: int = 0) -> Manifest:
    meta = obj["metadata"]
    uid = f"00000000-0000-4000-8000-{day:06}{number:06}"
    stamp = {"uid": uid, "creationTimestamp": _time(day), "generation": 1, "resourceVersion": f"{day}{number}"}
    return {**obj, "metadata": {**meta, **stamp}}


def _time(day: int) -> str:
    return f"2026-11-{day:02}T08:00:00Z"


def _workload(job: Manifest, name: str, status: Manifest) -> Manifest:
    meta = job["metadata"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": meta["name"], "uid": meta["uid"], "controller": True}
    pod_set = {"name": "main", "count": 1, "template": {"spec": job["spec"]["template"]["spec"]}}
    spec = {"queueName": "main", "active": True, "priority": 0, "podSets": [pod_set]}
    workload = an_object(KUEUE, "Workload", name, "team", spec=spec, status=status)
    workload["metadata"] |= {"ownerReferences": [owner], "finalizers": ["kueue.x-k8s.io/resource-in-use"]}
    return _stored(workload, day=int(meta["creationTimestamp"][8:10]), number=9)


def _pending(message: str = LACKS_ONE) -> Manifest:
    return {"conditions": [_condition("QuotaReserved", "False", "Pending", message)]}


def _admitted() -> Manifest:
    assignment = {
        "name": "main",
        "count": 1,
        "flavors": {"cpu": "team-flavor", "whole-gpus": "team-flavor"},
        "resourceUsage": {"cpu": "1", "whole-gpus": "2"},
    }
    return {
        "admission": {"clusterQueue": "team", "podSetAssignments": [assignment]},
        "conditions": [
            _condition("QuotaReserved", "True", "QuotaReserved", "Quota reserved in ClusterQueue team"),
            _condition("Admitted", "True", "Admitted", "The workload is admitted"),
        ],
    }


def _condition(kind: str, status: str, reason: str, message: str) -> Manifest:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": _time(4)}


def _ask(command: str, objects: list[Manifest], *arguments: str, configuration: bool = True) -> Any:
    documents = [*objects, CONFIGURATION] if configuration else objects
    return kueue_dra(command, "-f", "-", *arguments, stdin=yaml.safe_dump_all(documents))


def _workloads(text: str) -> dict[str, Manifest]:
    items = json.loads(text)["items"]
    return {each["metadata"]["name"]: each for each in items if each["kind"] == "Workload"}


def test_a_pending_job_waits_for_the_one_that_holds_quota() -> None:
    """The explanation names the holder, what it holds of the quota, and what is lacking."""
    result = _ask("explain", a_dump(), "alpha")

    assert result.exit_code == 0
    assert result.stdout.startswith("team/alpha → ClusterQueue team: pending, not enough quota is left\n")
    assert f"pending: {LACKS_ONE}" in result.stdout
    holder = "Job team/zeta (Workload odd) holds 2 of 2 whole-gpus in flavor team-flavor of ClusterQueue team"
    assert holder in result.stdout
    assert "the cluster differs" not in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("day", "newer"), [pytest.param(3, True, id="newer"), pytest.param(2, False, id="same-second")]
)
def test_what_was_created_in_the_same_second_is_not_newer(day: int, newer: bool) -> None:
    """Timestamps have no parts of a second, and what is not newer is not preempted."""
    world = [_stored(each, day=1, number=index) for index, each in enumerate(a_world())]
    for each in world:
        if each["kind"] == "ClusterQueue":
            each["spec"]["preemption"] = {"withinClusterQueue": "LowerOrNewerEqualPriority"}
    waiting = _job("alpha", "gpus-1", day=2)
    holding = _job("zeta", "gpus-2", day=day, suspend=False) | {"status": {"active": 1, "startTime": _time(day)}}
    works = [waiting, holding, _workload(waiting, "job-alpha-one", {}), _workload(holding, "odd", _admitted())]
    result = _ask("explain", [*world, *works], "alpha")

    assert ("preempts team/odd" in result.stdout) is newer
    assert ("of an equally old workload" in result.stdout) is not newer


def test_a_job_that_holds_quota_keeps_it_with_the_amounts_of_its_admission() -> None:
    """Workloads keep their names, UIDs and status; Kueue creates no second one."""
    result = _ask("simulate", a_dump(), "-o", "json")

    assert result.exit_code == 0, result.stderr
    found = _workloads(result.stdout)
    assert set(found) == {"odd", "job-alpha-one"}
    assert found["odd"]["metadata"]["creationTimestamp"] == _time(2)
    assert found["odd"]["status"]["admission"] == _admitted()["admission"]
    assert found["job-alpha-one"]["status"]["conditions"][0]["message"] == LACKS_ONE


@pytest.mark.parametrize(
    "name",
    [
        ("zeta",),
        ("odd",),
        ("team/zeta",),
        ("job/zeta",),
        ("jobs.batch/zeta",),
        ("workload/odd", "-n", "team"),
        ("-n", "team", "zeta"),
    ],
)
def test_names_are_those_that_kubectl_shows(name: tuple[str, ...]) -> None:
    """Jobs and Workloads have names with a kind, a namespace, or none."""
    result = _ask("explain", a_dump(), *name)

    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("team/zeta → ClusterQueue team: admitted\n")
    assert "it holds 2 of 2 whole-gpus in flavor team-flavor of ClusterQueue team" in result.stdout
    assert "alpha" not in result.stdout


@pytest.mark.parametrize("name", [("workload/zeta",), ("job/odd",), ("-n", "other", "zeta")])
def test_a_name_of_another_kind_or_namespace_is_not_found(name: tuple[str, ...]) -> None:
    """A Workload is no Job, and neither is in another namespace."""
    result = _ask("explain", a_dump(), *name)

    assert result.exit_code == 2
    assert "found no Job or Workload" in result.stderr


def test_from_scratch_the_manifests_decide_in_their_order() -> None:
    """The status is ignored: alpha comes first in the input."""
    result = _ask("explain", a_dump(), "--from-scratch", "alpha")

    assert result.stdout.startswith("team/alpha → ClusterQueue team: admitted\n")


def test_new_manifests_come_after_what_is_there() -> None:
    """A Job without a UID is submitted to the running cluster, and is pending behind the others."""
    result = _ask("explain", a_dump(a_job("aaa", "gpus-1")), "aaa")

    assert result.stdout.startswith("team/aaa → ClusterQueue team: pending")


def test_a_decision_of_the_cluster_that_differs_is_shown_with_both_sides() -> None:
    """The cluster's message may be old; the explanation gives it and the derived one."""
    dump = [each for each in a_dump() if each["metadata"]["name"] != "job-alpha-one"]
    alpha = next(each for each in dump if each["metadata"]["name"] == "alpha")
    dump.append(_workload(alpha, "job-alpha-one", _pending("something else")))

    result = _ask("explain", dump, "alpha")

    both = 'it says QuotaReserved=False, Pending: "something else"; the reference derives QuotaReserved=False, '
    assert f'{both}Pending: "{LACKS_ONE}"' in result.stdout
    (facts,) = json.loads(_ask("explain", dump, "alpha", "-o", "json").stdout)
    assert facts["message"] == "something else"
    assert facts["clusterDiffers"]["cluster"] == 'QuotaReserved=False, Pending: "something else"'
    assert LACKS_ONE in facts["clusterDiffers"]["reference"]


def test_a_job_that_kueue_has_not_evaluated_again_waits() -> None:
    """Without the Job that held the quota it waits still, for its old reason; now Kueue would admit it."""
    dump = [each for each in a_dump() if each["metadata"]["name"] not in ("zeta", "odd")]

    result = _ask("explain", dump, "alpha")

    assert result.stdout.startswith("team/alpha → ClusterQueue team: pending, not enough quota is left\n")
    assert "the reference derives QuotaReserved=True, as if Kueue evaluated the workload now" in result.stdout
    (facts,) = json.loads(_ask("explain", dump, "alpha", "-o", "json").stdout)
    assert (facts["verdict"], facts["message"]) == ("pending", LACKS_ONE)
    simulated = _workloads(_ask("simulate", dump, "-o", "json").stdout)["job-alpha-one"]
    assert is_true(simulated, "QuotaReserved")


@pytest.mark.parametrize(("resource", "asked", "most"), [("cpu", 200, 100), ("whole-gpus", 3, 2)])
def test_what_kueue_leaves_to_chance_is_as_in_the_cluster(resource: str, asked: int, most: int) -> None:
    """Of two resources that can never fit, Kueue 0.18 names one at random; the other one is no difference."""
    dump = [each for each in a_dump() if each["metadata"]["name"] not in ("alpha", "job-alpha-one")]
    alpha = _job("alpha", "gpus-3", day=3)
    alpha["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "200"
    why = f"insufficient quota for {resource} in flavor team-flavor"
    more = f"previously considered podsets requests (0) + current podset request ({asked}) > maximum capacity ({most})"
    message = f"couldn't assign flavors to pod set main: {why}, {more}"
    dump += [alpha, _workload(alpha, "job-alpha-one", _pending(message))]

    result = _ask("explain", dump, "alpha", "--behaviour", "kueue-0.18")

    assert result.exit_code == 0, result.stderr
    assert f"pending: {message}" in result.stdout
    assert "the cluster differs" not in result.stdout


def _backing_off(until: str, *, claims: bool) -> list[Manifest]:
    """Give a cluster with free quota in which alpha was evicted."""
    gone = ("job-alpha-one", "zeta", "odd")
    dump = [each for each in a_dump() if each["metadata"]["name"] not in gone]
    alpha = next(each for each in dump if each["metadata"]["name"] == "alpha")
    if not claims:
        pod = alpha["spec"]["template"]["spec"]
        del pod["resourceClaims"], pod["containers"][0]["resources"]["claims"]
    why = ("PodsReadyTimeout", "Exceeded the PodsReady timeout team/job-alpha-one")
    conditions = [
        _condition("QuotaReserved", "False", "Pending", why[1]),
        _condition("Evicted", "True", *why),
        _condition("Requeued", "False", *why),
    ]
    status = {"conditions": conditions, "requeueState": {"count": 1, "requeueAt": until}}
    return [*dump, _workload(alpha, "job-alpha-one", status)]


@pytest.mark.parametrize("claims", [True, False])
def test_an_evicted_workload_backs_off_until_its_time(claims: bool) -> None:
    """Kueue does not try it before, though quota is free; after that it is admitted."""
    early, late = (_backing_off(f"2026-11-04T{hour}:00:00Z", claims=claims) for hour in ("09", "07"))

    waits = _ask("explain", early, "alpha")
    (again,) = json.loads(_ask("explain", late, "alpha", "-o", "json").stdout)

    assert waits.stdout.startswith("team/alpha → ClusterQueue team: evicted, PodsReadyTimeout\n")
    assert "it was evicted and backs off: Kueue does not try it before 2026-11-04T09:00:00Z" in waits.stdout
    assert "the cluster differs" not in waits.stdout
    assert again["clusterDiffers"]["reference"] == "QuotaReserved=True"


def test_the_time_of_a_backoff_has_a_format() -> None:
    """Another one is an error with its field."""
    result = _ask("explain", _backing_off("soon", claims=True), "alpha")

    assert result.exit_code == 2
    assert "status.requeueState.requeueAt: Invalid value: " in result.stderr


def test_what_the_dump_lacks_is_said_once_with_the_command() -> None:
    """Namespaces, the Configuration and templates decide; none of them is an error of the dump."""
    lacking = ("Namespace", "ResourceClaimTemplate")
    dump = [each for each in a_dump() if each["kind"] not in lacking]

    result = _ask("explain", dump, "zeta", configuration=False)

    assert result.exit_code == 0
    notes = result.stderr.splitlines()
    assert notes == [
        "note: the input has no Namespace team: kubectl get namespaces -o yaml prints what the cluster has",
        "note: the input has no Configuration, so no device class is mapped: "
        "kubectl get configmap kueue-manager-config -n kueue-system -o yaml prints what the cluster has",
        "note: the input has no ResourceClaimTemplate team/gpus-1, team/gpus-2: "
        "kubectl get resourceclaimtemplates -A -o yaml prints what the cluster has",
    ]


def test_slices_and_workloads_that_are_missing_are_said() -> None:
    """A selector without published devices, and queues whose Workloads were not printed."""
    selector = {"cel": {"expression": "device.driver == 'gpu.example.com'"}}
    template = a_template("selected")
    template["spec"]["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = [selector]

    without_slices = _ask("explain", a_dump(_stored(template, day=1, number=50)))
    queues = [each for each in a_dump() if each["kind"] not in ("Job", "Workload")]
    for each in queues:
        if each["kind"] == "ClusterQueue":
            each["status"] = {"reservingWorkloads": 1}
    without_workloads = _ask("explain", queues)

    assert "no ResourceSlices" in without_slices.stderr
    assert "fewer Workloads than hold quota in ClusterQueue team" in without_workloads.stderr


def test_other_kinds_are_counted_and_their_gates_and_version_taken(tmp_path: Path) -> None:
    """``kueue-dra dump`` writes a head, Nodes, Pods and Kueue's Deployment."""
    head = {"apiVersion": "kueue-dra.dev/v1alpha1", "kind": "ClusterDump", "spec": {"kubernetes": "v1.35.2"}}
    off = [f"KueueDRAIntegration{part}=false" for part in ("", "ExtendedResource", "PartitionableDevices")]
    args = ["--config=/x", f"--feature-gates={','.join(off)}"]
    pods = {"spec": {"containers": [{"name": "manager", "args": args}]}}
    manager = an_object("apps/v1", "Deployment", "kueue-controller-manager", "kueue-system", spec={"template": pods})
    others = [an_object("v1", "Node", name) for name in ("a", "b")]
    file = tmp_path / "cluster.yaml"
    items = {"apiVersion": "v1", "kind": "List", "items": [*a_dump(), manager, *others]}
    file.write_text(yaml.safe_dump_all([head, items, CONFIGURATION]))

    result = kueue_dra("explain", "-f", str(file), "alpha")

    assert result.exit_code == 0, result.stderr
    assert "left out objects of kinds that take no quota: 1 Deployment\n" in result.stderr
    assert "the KueueDRAIntegration feature gate is not enabled" in result.stdout


def test_manifests_without_a_status_are_submitted_in_order() -> None:
    """No UID, no status: Jobs are submitted in their order, and kinds that Kubernetes does not have are errors."""
    world = [*a_world(), a_job("one", "gpus-2"), a_job("two"), an_object("v1", "Nood", "a")]

    result = _ask("explain", world)

    assert result.exit_code == 2
    assert "team/two → ClusterQueue team: pending" in result.stdout
    assert "unknown kind" in result.stderr
    assert "holds 2 of 2" not in result.stdout


def test_a_template_of_a_new_job_is_still_an_error() -> None:
    """Only references of what runs are notes."""
    dump = a_dump(a_template("gpus-9"), a_job("new", "no-such-template"))

    result = _ask("explain", dump, "new")

    assert result.exit_code == 2
    assert 'Not found: "no-such-template"' in result.stderr


@pytest.mark.parametrize(
    ("path", "value", "error"),
    [
        pytest.param(("status", "admission"), None, "status.admission: Required value", id="no-admission"),
        pytest.param(("status", "conditions"), [{}], "status.conditions[].type: Required value", id="no-type"),
        pytest.param(("metadata", "uid"), 5, "metadata.uid: Wrong type", id="uid"),
        pytest.param(("spec", "podSets"), [], "spec.podSets", id="no-pod-sets"),
    ],
)
def test_a_workload_that_no_cluster_has_is_an_error(path: tuple[str, str], value: Any, error: str) -> None:
    """A dump that was edited by hand is rejected with the field."""
    dump = a_dump()
    dump[-1][path[0]] = {**dump[-1][path[0]], path[1]: value}

    result = _ask("explain", dump)

    assert result.exit_code == 2
    assert error in result.stderr


@pytest.mark.parametrize("number", [3, 11, 20])
def test_the_dump_of_a_generated_cluster_holds_the_same_quota(number: int) -> None:
    """In every scenario the same Workloads hold quota, finish or are evicted as in the cluster that was dumped."""
    for (scenario,) in batches(of=1, behaviour=KUEUE_0_19, number=number, count=4):
        target = ReferenceTarget(KUEUE_0_19)
        list(replayed(scenario, target))
        items = [each for kind in _DUMPED for each in target.list(KINDS[kind].storage, kind)]
        cluster = running_cluster(parse(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), "dump"))

        objects = given(cluster.documents, running=True)
        last = [each["restart"][-1] for each in scenario.steps if each.get("restart")]
        configuration = last[-1] if last else scenario.configuration
        result = simulate(KUEUE_0_19, configuration, objects, None, cluster.seconds)

        assert isinstance(result, SimulationResult)
        assert not result.refused
        assert _states(result.target) == _states(target)
        assert _used(result.target) == _used(target)


def _on_node(name: str, status: Manifest, *, day: int) -> Manifest:
    containers = [{"name": "main", "image": "none", "resources": {"requests": {"cpu": "1"}}}]
    pod_set = {
        "name": "main",
        "count": 1,
        "topologyRequest": {"unconstrained": True},
        "template": {"spec": {"containers": containers, "restartPolicy": "Never"}},
    }
    spec = {"queueName": "main", "podSets": [pod_set]}
    return _stored(an_object(KUEUE, "Workload", name, "team", spec=spec, status=status), day=day)


def test_pods_stay_on_their_nodes() -> None:
    """The one node is full, so another workload waits, although there is quota."""
    level = "kubernetes.io/hostname"
    placed = {
        "levels": [level],
        "slices": [{"domainCount": 1, "valuesPerLevel": [{"universal": "one"}], "podCounts": {"universal": 1}}],
    }
    assigned = {"name": "main", "count": 1, "flavors": {"cpu": "nodes"}, "resourceUsage": {"cpu": "1"}}
    holds = {
        "admission": {"clusterQueue": "nodes", "podSetAssignments": [{**assigned, "topologyAssignment": placed}]},
        "conditions": [
            _condition("QuotaReserved", "True", "QuotaReserved", "m"),
            _condition("Admitted", "True", "Admitted", "m"),
        ],
    }
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": "nodes", "resources": [{"name": "cpu", "nominalQuota": "9"}]}],
    }
    ready = {"allocatable": {"cpu": "1", "pods": "9"}, "conditions": [{"type": "Ready", "status": "True"}]}
    node = an_object("v1", "Node", "one", status=ready)
    node["metadata"]["labels"] = {level: "one"}
    cluster = [
        an_object("v1", "Namespace", "team"),
        an_object(KUEUE, "Topology", "nodes", spec={"levels": [{"nodeLabel": level}]}),
        an_object(KUEUE, "ResourceFlavor", "nodes", spec={"nodeLabels": {level: "one"}, "topologyName": "nodes"}),
        an_object(KUEUE, "ClusterQueue", "nodes", spec={"namespaceSelector": {}, "resourceGroups": [group]}),
        an_object(KUEUE, "LocalQueue", "main", "team", spec={"clusterQueue": "nodes"}),
        node,
    ]
    dump = [_stored(each, day=1, number=index) for index, each in enumerate(cluster)]
    dump += [_on_node("first", holds, day=2), _on_node("second", _pending(), day=3)]

    found = _workloads(_ask("simulate", dump, "-o", "json").stdout)

    assert is_true(found["first"], "Admitted")
    assert 'excluded: resource "cpu": 1' in message_of(found["second"], "QuotaReserved")


def _states(target: ReferenceTarget) -> dict[str, dict[str, str]]:
    found = {}
    for each in target.list(KUEUE, "Workload"):
        name = f"{each['metadata']['namespace']}/{each['metadata']['name']}"
        conditions = each.get("status", {}).get("conditions", ())
        found[name] = {one["type"]: one["status"] for one in conditions if one["type"] in _STATES}
    return found


def _used(target: ReferenceTarget) -> list[Any]:
    return [each["status"].get("flavorsReservation") for each in target.list(KUEUE, "ClusterQueue")]


@pytest.mark.parametrize(
    "words",
    [("simulate", "-o", "json"), ("explain", "-o", "json"), ("what-if", "--set", "clusterqueue/team:whole-gpus=3")],
)
def test_the_release_that_runs_in_the_cluster_decides(tmp_path: Path, words: tuple[str, ...]) -> None:
    """The image of Kueue's manager selects the behaviour, unless one is named; the newest patch before it decides."""
    manager = {"name": "manager", "image": "registry.k8s.io/kueue/kueue:v0.19.4"}
    spec = {"template": {"spec": {"containers": [manager]}}}
    deployment = an_object("apps/v1", "Deployment", "kueue-controller-manager", spec=spec)
    file = tmp_path / "cluster.yaml"
    file.write_text(yaml.safe_dump_all(a_dump(deployment)), "utf-8")
    command, *options = words
    given = (command, file) if command == "what-if" else (command, "-f", file)

    found = kueue_dra(*given, *options)
    named = kueue_dra(*given, *options, "--behaviour", "kueue-0.18.3")

    assert "note: Kueue's Deployment runs 0.19.4, so kueue-0.19.3 decides" in found.stderr
    assert "Deployment runs" not in named.stderr
