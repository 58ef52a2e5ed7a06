"""A dump of a running cluster is where the reference begins: it decides next what the cluster decides next."""

from __future__ import annotations

import pytest
import yaml

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.dump import dump
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.api.documents import parse
from kueue_dra_ref.apiserver import MINORS
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.sketches import SketchServer
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.inputs import given
from kueue_dra_ref.simulation.run import SimulationResult, simulate
from kueue_dra_ref.simulation.running_cluster import running_cluster
from kueue_dra_ref.target import Manifest, Ref, Target
from tests.clusters_live.manifests import CONFIGURATION, KUEUE, a_job, a_world, an_object

JOB = "batch/v1"
_COMPARED = ("QuotaReserved", "Admitted", "Evicted", "Finished", "Requeued")
_COUNTS = ("pendingWorkloads", "reservingWorkloads", "admittedWorkloads", "flavorsReservation", "flavorsUsage")


@pytest.mark.live
@pytest.mark.parametrize("strategy", ["BestEffortFIFO", "StrictFIFO"])
def test_the_reference_goes_on_from_a_dump(target: LiveTarget, plane: ControlPlane, strategy: str) -> None:
    """Each Workload has the same conditions and each ClusterQueue the same usage, now and after a Job is deleted."""
    _fill(target, strategy)

    result = _restored(plane)

    assert _decisions(result.target) == _decisions(target)
    assert _usage(result.target) == _usage(target)
    for side in (target, result.target):
        side.delete([Ref(api_version=JOB, kind="Job", name="zeta", namespace="team")])
        side.settle()
    assert _decisions(result.target) == _decisions(target)
    assert _usage(result.target) == _usage(target)


@pytest.mark.live
def test_a_circle_of_cohorts_has_the_status_that_kueue_writes(target: LiveTarget) -> None:
    """The ClusterQueue says Active, as nothing is wrong with it alone; the Workload says that it is inactive."""
    ours = ReferenceTarget(behaviour("kueue-0.19.2"))
    assert ours.start(CONFIGURATION) == ()
    found = []
    for side in (target, ours):
        side.apply([*_in_a_circle(), a_job("waits")])
        side.settle()
        queue = side.read(Ref(api_version=KUEUE, kind="ClusterQueue", name="team"))
        assert queue is not None
        found.append((_said(queue, "Active"), [*_decisions_by_job(side).items()]))

    assert found[0] == found[1]
    assert found[0][0][0] == "True"


def _in_a_circle() -> list[Manifest]:
    world = a_world()
    for each in world:
        if each["kind"] == "ClusterQueue":
            each["spec"]["cohortName"] = "one"
    circle = {"one": "two", "two": "one"}
    return [*world, *(an_object(KUEUE, "Cohort", name, spec={"parentName": up}) for name, up in circle.items())]


def _decisions_by_job(target: Target) -> dict[str, tuple[str, str, str]]:
    return {_job(each): _said(each, "QuotaReserved") for each in target.list(KUEUE, "Workload", "team")}


def _fill(target: Target, strategy: str) -> None:
    """Have Jobs that are admitted, pending, deactivated, finished and without a claim template."""
    assert target.apply(a_world(gpus=3, strategy=strategy)) == []
    for work in (a_job("zeta", "gpus-2"), a_job("done"), a_job("omega", "gpus-1")):
        assert target.apply([work]) == []
        target.settle()
    _finish(target, "done")
    # Names against the order of creation: what holds quota comes last in the alphabet.
    assert target.apply([a_job("yankee"), a_job("off"), a_job("alpha", "gpus-3"), a_job("beta")]) == []
    assert target.apply([a_job("lost", "no-such-template"), a_job("astray", queue="no-such-queue")]) == []
    target.settle()
    _deactivate(target, "off")
    _deactivate(target, "omega")
    target.settle()


def _finish(target: Target, name: str) -> None:
    done = {"status": {"conditions": [{"type": "Complete", "status": "True"}], "succeeded": 1}}
    assert target.apply([a_job(name) | done]) == []
    target.settle()


def _deactivate(target: Target, job: str) -> None:
    workload = next(each for each in target.list(KUEUE, "Workload", "team") if _job(each) == job)
    plain = {key: workload[key] for key in ("apiVersion", "kind")}
    meta = {"name": workload["metadata"]["name"], "namespace": "team"}
    assert target.apply([plain | {"metadata": meta, "spec": workload["spec"] | {"active": False}}]) == []
    target.settle()


def _restored(plane: ControlPlane) -> SimulationResult:
    """Give the simulation that begins with a dump of the cluster, read as a file is."""
    found = dump(APIClient(api=plane.api), lambda kind: None)
    text = yaml.safe_dump_all(found.documents())
    cluster = running_cluster(parse(text, "dump.yaml"))
    server = SketchServer(kubernetes=MINORS[cluster.kubernetes])
    objects = given(cluster.documents, running=True)
    result = simulate(behaviour("kueue-0.19.2"), CONFIGURATION, objects, server, cluster.seconds)
    assert isinstance(result, SimulationResult)
    assert result.refused == ()
    return result


def _decisions(target: Target) -> dict[str, dict[str, tuple[str, str, str]]]:
    """Give status, reason and message of each condition, by the name of the Workload and its Job."""
    found: dict[str, dict[str, tuple[str, str, str]]] = {}
    for each in target.list(KUEUE, "Workload", "team"):
        name = f"{each['metadata']['name']} of {_job(each)}"
        found[name] = {kind: _said(each, kind) for kind in _COMPARED if condition(each, kind)}
    return found


def _said(workload: Manifest, kind: str) -> tuple[str, str, str]:
    stored = condition(workload, kind) or {}
    return stored["status"], stored["reason"], stored["message"]


def _usage(target: Target) -> dict[str, object]:
    """Give the counts and the usage of the ClusterQueue; Kueue writes them a moment after its decisions."""
    queue = target.read(Ref(api_version=KUEUE, kind="ClusterQueue", name="team"))
    assert queue is not None
    return {key: queue["status"].get(key) for key in _COUNTS}


def _job(workload: Manifest) -> str:
    owners = workload["metadata"].get("ownerReferences") or [{"name": ""}]
    return str(owners[0]["name"])
