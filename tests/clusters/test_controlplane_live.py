"""A real Kueue on a control plane of local processes: admission, webhooks, conversion, refusals, permissions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.errors import ProcessError
from kueue_dra_clusters.kueue_process import KueueProcess
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.processes import Processes
from kueue_dra_clusters.waiting import NotYet, WaitLimits, elapsed_since, eventually, moment_now
from kueue_dra_ref.target import FieldError, Manifest, Ref
from tests.clusters.test_processes import nothing_left

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
KUEUE = "kueue.x-k8s.io/v1beta2"
OLDER = "kueue.x-k8s.io/v1beta1"
MAPPED = {"resources": {"deviceClassMappings": [{"name": "whole-gpus", "deviceClassNames": ["gpu.example.com"]}]}}
UNNAMED = {"resources": {"deviceClassMappings": [{"name": "whole-gpus", "deviceClassNames": []}]}}
NO_NAMES = FieldError(
    field="resources.deviceClassMappings[0].deviceClassNames",
    type="Required value",
    detail="at least one device class name is required",
)


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """Have one control plane for all tests."""
    with ControlPlane() as plane:
        yield plane


@pytest.fixture
def objects(plane: ControlPlane) -> APIClient:
    """Have Kueue run with one mapped class, and everything that a Job needs."""
    assert plane.kueue.start(MAPPED) == ()
    objects = APIClient(api=plane.api)
    for manifest in a_world():
        assert objects.create(manifest).code in (201, 409)
    return objects


def a_world() -> list[Manifest]:
    """Write a queue with whole GPUs, and a template that asks for one."""
    resources = [{"name": "cpu", "nominalQuota": "4"}, {"name": "whole-gpus", "nominalQuota": "4"}]
    group = {"coveredResources": ["cpu", "whole-gpus"], "flavors": [{"name": "default", "resources": resources}]}
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}
    claim = {"spec": {"devices": {"requests": [request]}}}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}},
        {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "default"}},
        a_cluster_queue("gpus", group),
        {**a_named(KUEUE, "LocalQueue", "queue"), "spec": {"clusterQueue": "gpus"}},
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": "gpu.example.com"},
            "spec": {},
        },
        {**a_named("resource.k8s.io/v1", "ResourceClaimTemplate", "one-gpu"), "spec": claim},
    ]


def a_named(api_version: str, kind: str, name: str) -> Manifest:
    """Begin an object of the team."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "team"}}


def a_cluster_queue(name: str, *groups: Manifest) -> Manifest:
    """Write a ClusterQueue that takes every namespace."""
    spec = {"namespaceSelector": {}, "resourceGroups": list(groups)}
    return {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}


def a_job(name: str) -> Manifest:
    """Write a suspended Job that asks for one GPU by template."""
    job = a_named("batch/v1", "Job", name)
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "queue"}
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": "1"}, "claims": [{"name": "gpu"}]}}
    pod = {
        "restartPolicy": "Never",
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}],
        "containers": [container],
    }
    return job | {"spec": {"suspend": True, "template": {"spec": pod}}}


def admission(objects: APIClient, job: str) -> Manifest:
    """Wait for the admission of a Job's Workload."""

    def look() -> Manifest:
        for workload in objects.list(KUEUE, "Workload", "team"):
            owners = [owner["name"] for owner in workload["metadata"]["ownerReferences"]]
            if job in owners and (found := workload.get("status", {}).get("admission")):
                return dict(found)
        raise NotYet(f"no Workload of {job} is admitted")

    return eventually(look, within=10, what="admission")


def test_a_job_is_admitted_with_its_devices(objects: APIClient) -> None:
    """The real Kueue charges one whole GPU, and lets the Job go."""
    assert objects.create(a_job("admitted")).ok

    assert admission(objects, "admitted")["podSetAssignments"][0]["resourceUsage"] == {"cpu": "1", "whole-gpus": "1"}
    eventually(lambda: released(objects, "admitted"), within=10, what="the Job's release")


def released(objects: APIClient, job: str) -> None:
    """Pass once a Job is no longer suspended."""
    found = objects.read(Ref(api_version="batch/v1", kind="Job", name=job, namespace="team"))
    if found is None or found["spec"]["suspend"]:
        raise NotYet("it is suspended")


def test_a_webhook_of_the_release_denies(objects: APIClient) -> None:
    """A quota for another resource than the covered ones is denied in the release's words."""
    flavor = {"name": "default", "resources": [{"name": "memory", "nominalQuota": "1"}]}
    answer = objects.create(a_cluster_queue("wrong", {"coveredResources": ["cpu"], "flavors": [flavor]}))

    assert answer.code == 403
    assert "must match the name in coveredResources" in answer.message


def test_both_versions_are_served_and_converted(objects: APIClient) -> None:
    """An object that is written as v1beta1 is read as v1beta2, with the newer name of the field."""
    older = a_cluster_queue("converted") | {"apiVersion": OLDER}
    older["spec"] |= {"cohort": "together"}
    assert objects.create(older).code in (201, 409)

    newer = objects.read(Ref(api_version=KUEUE, kind="ClusterQueue", name="converted"))
    assert newer is not None
    assert newer["spec"]["cohortName"] == "together"


def test_a_refused_configuration_leaves_the_running_kueue_alone(objects: APIClient, plane: ControlPlane) -> None:
    """Kueue says why, and the one that runs goes on admitting."""
    assert plane.kueue.start(UNNAMED) == (NO_NAMES,)

    assert objects.create(a_job("meanwhile")).ok
    assert admission(objects, "meanwhile")["clusterQueue"] == "gpus"


@pytest.mark.parametrize(
    ("configuration", "fields"),
    [
        pytest.param(MAPPED, [], id="taken"),
        pytest.param(
            MAPPED | {"bogus": 1, "apiVersion": "config.kueue.x-k8s.io/v1beta1"}, ["bogus"], id="strictly-decoded"
        ),
        pytest.param({"featureGates": {"KueueDRAIntegration": False}}, ["featureGates", "featureGates"], id="gates"),
        pytest.param({"resources": {"deviceClassMappings": [{"name": 5}]}}, ["resources.deviceClassMappings.name"]),
    ],
)
def test_a_configuration_is_judged_alone(plane: ControlPlane, configuration: Manifest, fields: list[str]) -> None:
    """A check starts the real binary, and needs no control plane."""
    assert [fault.field for fault in plane.kueue.check(configuration)] == fields


def test_a_restart_is_quick(objects: APIClient, plane: ControlPlane) -> None:
    """Another Configuration is in force, with its webhooks answering, well under five seconds later."""
    begin = moment_now()
    plane.kueue.restart(MAPPED)

    assert elapsed_since(begin) < 5
    assert objects.create(a_cluster_queue("after-restart")).code in (201, 409)


def test_kueue_manages_its_certificates_where_it_must(plane: ControlPlane, objects: APIClient) -> None:
    """Where Linux gives no /etc of one's own, webhooks answer all the same."""
    quick = plane.kueue.place
    slow = {name: getattr(quick, name) for name in quick.__slots__} | {"etc": None}
    plane.kueue.place = type(quick)(**slow)
    try:
        assert plane.kueue.restart(MAPPED) == ()
        assert objects.create(a_cluster_queue("wrong", {"coveredResources": ["cpu"], "flavors": []})).code == 422
        assert objects.create(a_job("own-certificates")).ok
        assert admission(objects, "own-certificates")
    finally:
        plane.kueue.place = quick


def test_kueue_reads_devices_under_its_own_role(plane: ControlPlane) -> None:
    """The role lets Kueue read the four kinds of resource.k8s.io, and change none."""
    (rule,) = plane.kueue.rules()

    assert sorted(rule["resources"]) == [
        "deviceclasses",
        "resourceclaims",
        "resourceclaimtemplates",
        "resourceslices",
    ]
    assert sorted(rule["verbs"]) == ["get", "list", "watch"]


def test_a_permission_taken_shows_and_can_be_given_back(plane: ControlPlane, objects: APIClient) -> None:
    """Without the right to read templates the Job waits and Kueue complains; with it the Job is admitted."""
    plane.kueue.remove_permission("resourceclaimtemplates")
    plane.kueue.restart(MAPPED)
    assert objects.create(a_job("forbidden")).ok
    eventually(lambda: complained(plane.kueue, "resourceclaimtemplates"), within=10, what="Kueue's complaint")

    plane.kueue.restore_permissions()

    assert admission(objects, "forbidden")


def complained(kueue: KueueProcess, resource: str) -> None:
    """Pass once Kueue has logged that it may not read a resource."""
    if f'cannot list resource \\"{resource}\\"' not in kueue.log():
        raise NotYet(f"no word of {resource}")


BRIEF = """
from kueue_dra_clusters.controlplane import ControlPlane
with ControlPlane() as plane:
    processes = plane.kueue.processes
    plane.kueue.start({})
    print(processes.directory, *(processes.pid(name) for name in ("etcd", "kube-apiserver", "kueue")), flush=True)
    input()
"""


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_whatever_ends_the_run(blow: signal.Signals) -> None:
    """Ctrl-C, kill -9 and an ordinary kill leave no process and no directory."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", BRIEF], cwd=ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as run:
        assert run.stdout is not None
        directory, *pids = run.stdout.readline().split()
        run.send_signal(blow)

    nothing_left(Path(directory), [int(pid) for pid in pids])


def test_what_keeps_the_api_server_from_starting_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of the log of the process that ended is in the error, and nothing is left."""
    directories: list[Path] = []
    start = Processes.start

    def with_a_wrong_flag(self: Processes, name: str, argv: list[str], **rest: object) -> None:
        directories.append(self.directory)
        start(self, name, [*argv, "--no-such-flag"], **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Processes, "start", with_a_wrong_flag)

    with pytest.raises(ProcessError, match=r"etcd ended with exit code 2; the end of its log:\n +\w"):
        ControlPlane().start()
    nothing_left(directories[0], [])


def test_nobody_waits_for_an_api_server_that_has_ended() -> None:
    """A caller gets the end of its log at once."""
    with ControlPlane() as plane:
        objects = plane.objects(WaitLimits())
        os.kill(plane.kueue.processes.pid("kube-apiserver"), signal.SIGKILL)

        with pytest.raises(ProcessError, match="kube-apiserver ended with exit code -9; the end of its log:"):
            objects.delete(Ref(api_version="v1", kind="Namespace", name="team"))


def test_nobody_waits_for_a_kueue_that_has_ended() -> None:
    """Neither for what it is asked by the API server, nor for what it would do by itself."""
    with ControlPlane() as plane, closing(LiveTarget(plane)) as target:
        assert [*target.start({}), *target.apply(a_world())] == []
        os.kill(plane.kueue.processes.pid("kueue"), signal.SIGKILL)

        with pytest.raises(ProcessError, match="kueue ended with exit code -9; the end of its log:"):
            target.apply([a_job("late")])
        with pytest.raises(ProcessError, match="kueue ended with exit code -9; the end of its log:"):
            target.clean()


def test_what_nothing_owns_is_deleted_with_its_namespace() -> None:
    """As the Workload of a StatefulSet without replicas, up to Kueue 0.17: a later case would find it."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}
    left = {"queueName": "queue", "podSets": [{"name": "main", "count": 1, "template": {"spec": pod}}]}
    with ControlPlane() as plane, closing(LiveTarget(plane)) as target:
        assert [*target.start({}), *target.apply(a_world())] == []
        objects = APIClient(api=plane.api)
        assert objects.create({**a_named(KUEUE, "Workload", "left"), "spec": left}).code == 201

        target.clean()

        assert objects.list(KUEUE, "Workload") == []
