"""A run on a cluster with a mapping of its own: nothing is changed, what applies is checked, and errors are found."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes.client import ApiClient

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.cleanup import Cleanup
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.permissions import cluster_role
from kueue_dra_clusters.preflight import RUN_LABEL
from kueue_dra_clusters.waiting import NotYet, eventually
from kueue_dra_fixtures import role_target
from kueue_dra_fixtures.lab import ROLE
from kueue_dra_ref.target import Manifest, Ref
from tests.clusters_live.manifests import KUEUE, RESOURCE, an_object
from tests.clusters_live.test_existing_cluster import a_kubeconfig, finalize_namespaces
from tests.commands import ROOT
from tests.test_roles import NVIDIA, a_row, mapped

HOME = "queueing"
SETTINGS = "queueing-config"
RBAC = "rbac.authorization.k8s.io"
USER = {"kind": "ServiceAccount", "name": "ci", "namespace": HOME}
CHOSEN = ("quota", "claims", "devices", "-k", "test_fits or test_unmapped_classes or test_any_devices")
PARTITIONABLE = "KueueDRAIntegrationPartitionableDevices"
RUNNING: Manifest = {**NVIDIA, "featureGates": {PARTITIONABLE: True}}
SHOWN: Manifest = RUNNING
THEIRS = (
    ("apps/v1", "Deployment"),
    (f"{RBAC}/v1", "ClusterRole"),
    (RESOURCE, "DeviceClass"),
    (RESOURCE, "ResourceSlice"),
    ("v1", "ConfigMap"),
    (KUEUE, "ClusterQueue"),
    (KUEUE, "Cohort"),
    (KUEUE, "ResourceFlavor"),
    (KUEUE, "LocalQueue"),
    ("v1", "Namespace"),
)


def a_class(name: str) -> Manifest:
    """Give a class of the cluster."""
    expression = "device.driver == 'gpu.nvidia.com'"
    return an_object(RESOURCE, "DeviceClass", name, spec={"selectors": [{"cel": {"expression": expression}}]})


def a_slice() -> Manifest:
    """Give what the driver has published: a partition that consumes the counter."""
    consumed = [{"counterSet": "gpu-0", "counters": {"memory": {"value": "10Gi"}}}]
    device = {"name": "mig-0", "consumesCounters": consumed}
    pool = {"name": "node-1", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.nvidia.com", "pool": pool, "nodeName": "node-1", "devices": [device]}
    return an_object(RESOURCE, "ResourceSlice", "node-1-gpu.nvidia.com", spec=spec)


def installed() -> list[Manifest]:
    """Give a Kueue that is installed under other names, classes, a queue of a tenant, and a user with the role."""
    container = {"name": "manager", "image": "registry.corp:5000/mirror/kueue:v0.19.2"}
    volumes = [{"name": "config", "configMap": {"name": SETTINGS}}]
    labels = {"app": "queueing"}
    pods = {"metadata": {"labels": labels}, "spec": {"containers": [container], "volumes": volumes}}
    role = cluster_role(config_map=SETTINGS, kueue_role=ROLE.name)
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role["metadata"]["name"]}
    tenant = {"namespaceSelector": {}, "cohortName": "some", "resourceGroups": []}
    return [
        an_object("v1", "Namespace", HOME),
        an_object(
            "apps/v1", "Deployment", "queueing", HOME, spec={"selector": {"matchLabels": labels}, "template": pods}
        ),
        an_object("v1", "ConfigMap", SETTINGS, HOME, data={"config.yaml": yaml.safe_dump(SHOWN)}),
        a_class("gpu.nvidia.com"),
        a_class("mig.nvidia.com"),
        a_slice(),
        an_object(KUEUE, "ClusterQueue", "tenant", spec=tenant),
        an_object("v1", "ServiceAccount", "ci", HOME),
        role,
        an_object(f"{RBAC}/v1", "ClusterRoleBinding", "ci", roleRef=reference, subjects=[USER]),
    ]


def _insist_on_status(objects: APIClient) -> None:
    queue = objects.read(Ref(api_version=KUEUE, kind="ClusterQueue", name="tenant"))
    if not queue or not queue.get("status", {}).get("conditions"):
        raise NotYet("no condition")


@pytest.fixture(scope="module")
def cluster(plane: ControlPlane, shared_target: LiveTarget) -> Iterator[APIClient]:
    """Have such a cluster, and a namespace controller."""
    assert shared_target.start(RUNNING) == ()
    objects = APIClient(api=plane.api)
    made = installed()
    for each in made:
        assert objects.create(each).ok
    eventually(partial(_insist_on_status, objects), within=10, what="Kueue to report on the tenant's queue")
    enough = threading.Event()
    controller = threading.Thread(target=finalize_namespaces, args=(ApiClient(plane.api.configuration), enough))
    controller.start()
    yield objects
    enough.set()
    controller.join()
    Cleanup(objects=objects, informers=InformerCache(objects=objects)).remove([Ref.of(each) for each in reversed(made)])


@pytest.fixture
def user(plane: ControlPlane, cluster: APIClient, tmp_path: Path) -> Path:
    """Have a kubeconfig of the user with the role."""
    path = f"/api/v1/namespaces/{HOME}/serviceaccounts/ci/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = cluster.call("POST", path, request).body["status"]["token"]
    settings = plane.api.configuration
    return a_kubeconfig(tmp_path, settings.host, settings.ssl_ca_cert, token)


def run(user: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the suite as this user, in the user's folder."""
    command = [sys.executable, "-m", "kueue_dra_cli", "run", "--target", "kueue", "--context", "mine", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    options = ["--kubeconfig", str(user)]
    return subprocess.run(
        [*command, *options], cwd=user.parent, env=environment, check=False, capture_output=True, text=True
    )


def report_of(user: Path) -> dict[str, Any]:
    """Read the report of a run."""
    found: dict[str, Any] = json.loads((user.parent / "out" / "report.json").read_text("utf-8"))
    return found


def what_is_there(cluster: APIClient) -> Mapping[str, str]:
    """Give every object as stored."""
    found = {}
    for version, kind in THEIRS:
        for each in cluster.list(version, kind):
            each["metadata"].pop("managedFields", None)
            found[str(Ref.of(each))] = json.dumps(each, sort_keys=True)
    return found


@pytest.mark.live
def test_a_run_takes_the_cluster_as_it_is(cluster: APIClient, user: Path) -> None:
    """With the published role only, and nothing is changed; what the mapping cannot serve has a reason."""
    before = what_is_there(cluster)

    done = run(user, *CHOSEN, "-n", "2")

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    report = report_of(user)
    rows = {check["id"] for check in report["checks"]}
    assert "quota/test_fits::test_devices_are_admitted_up_to_the_quota[fits-exactly]" in rows
    assert "claims/test_unmapped_classes::test_an_unmapped_class_is_refused_by_name" in {
        row.partition("[")[0] for row in rows
    }
    assert "devices/test_any_devices::test_more_devices_than_match_are_refused_whatever_the_quota[counter]" in rows
    reasons = {each["id"]: each["reason"] for each in report["notApplicable"]}
    assert reasons["quota/test_fits::test_published_devices_do_not_raise_the_quota"] == role_target.PUBLISHES
    about = report["target"]["about"]
    assert (about["kueue"], about["configuration"]) == ("v0.19.2", f"ConfigMap {HOME}/{SETTINGS}")
    assert about["roles"]["single"] == "gpu.nvidia.com/devices (gpu.nvidia.com)"
    assert about["roles"]["counter"] == "mig.nvidia.com/memory (mig.nvidia.com)"
    (configuration,) = report["target"]["kueue"]["configurations"]
    assert [each["name"] for each in configuration["deviceClassMappings"]] == [
        "gpu.nvidia.com/devices",
        "mig.nvidia.com/memory",
    ]
    assert what_is_there(cluster) == before


@pytest.mark.live
def test_a_preflight_shows_what_would_be_done(cluster: APIClient, user: Path) -> None:
    """Roles, counts, reasons, permissions and the time; nothing is created."""
    before = what_is_there(cluster)

    done = run(user, "quota", "--preflight")

    assert done.returncode == 0, done.stdout + done.stderr
    for text in (
        "Kubernetes v1.36.3",
        f"Kueue: 0.19.2 (Deployment {HOME}/queueing; Configuration in ConfigMap {HOME}/{SETTINGS})",
        "checked as: kueue-0.19.2",
        "single    gpu.nvidia.com/devices",
        "counter   mig.nvidia.com/memory",
        "needs a class that charges one capacity",
        "counter, capacity: only cases that hold whatever devices",
        "would run ",
        "requirements of the core that no case can check here:",
        "permissions: the user of the context has every one",
        "duration: about ",
    ):
        assert text in done.stdout
    assert not (user.parent / "out").exists()
    assert what_is_there(cluster) == before


@pytest.mark.live
def test_each_missing_permission_is_named(cluster: APIClient, user: Path) -> None:
    """By the preflight all of them, by a run in one line; both exit with 2."""
    role = Ref(api_version=f"{RBAC}/v1", kind="ClusterRole", name="kueue-dra-run")
    whole = cluster.read(role)
    assert whole is not None
    fewer = [rule for rule in whole["rules"] if rule["resources"] not in (["jobs"], ["cohorts"])]
    cluster.patch(role, {"rules": fewer})
    try:
        done = run(user, *CHOSEN, "--preflight")
        refused = run(user, *CHOSEN)
    finally:
        cluster.patch(role, {"rules": whole["rules"]})

    assert done.returncode == 2
    assert "permissions: 12 are missing" in done.stdout
    assert "  watch jobs.batch" in done.stdout
    assert "  update cohorts.kueue.x-k8s.io" in done.stdout
    assert refused.returncode == 2
    (line,) = filter(None, (refused.stdout + refused.stderr).splitlines())
    assert "the user may not create jobs.batch; delete jobs.batch" in line
    assert "and 8 more, which --preflight lists" in line
    assert len(line) < 400


@pytest.mark.live
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "sigterm"])
def test_an_interrupted_run_leaves_nothing(cluster: APIClient, user: Path, number: int, code: int) -> None:
    """Whatever its workers were doing."""
    before = what_is_there(cluster)
    command = [
        sys.executable,
        "-m",
        "kueue_dra_cli",
        "run",
        "--target",
        "kueue",
        "--context",
        "mine",
        "quota",
        "-n",
        "2",
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [*command, "--kubeconfig", str(user)],
        cwd=user.parent,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        eventually(lambda: has_jobs(cluster), within=180, every=0.1, at_most=0.5, what="Jobs of the run")
        os.killpg(process.pid, number)
        output, _ = process.communicate(timeout=120)
    finally:
        process.kill()

    assert process.returncode == code, output
    assert "Traceback" not in output
    assert what_is_there(cluster) == before


def has_jobs(cluster: APIClient) -> None:
    """Check that a run has created more than the Jobs of its fences."""
    if len(cluster.list("batch/v1", "Job", labels=RUN_LABEL)) < 3:
        raise NotYet("no Jobs of a run")


@pytest.mark.live
def test_another_mapping_than_the_config_map_shows_is_found(
    cluster: APIClient, shared_target: LiveTarget, user: Path
) -> None:
    """Kueue was not restarted: what is charged turns red, what does not depend on the mapping stays green."""
    other = mapped(a_row("gpu.nvidia.com/others", "gpu.nvidia.com"), NVIDIA["resources"]["deviceClassMappings"][1])
    assert shared_target.start({**RUNNING, "resources": other["resources"]}) == ()
    try:
        done = run(user, *CHOSEN)
    finally:
        assert shared_target.start(RUNNING) == ()

    assert done.returncode == 1, done.stdout[-3000:] + done.stderr
    outcomes = {check["id"]: check["outcome"] for check in report_of(user)["checks"]}
    assert outcomes["quota/test_fits::test_devices_are_admitted_up_to_the_quota[fits-exactly]"] == "failed"
    unmapped = [outcomes[row] for row in outcomes if row.startswith("claims/test_unmapped_classes::test_an_unmapped_")]
    assert unmapped
    assert set(unmapped) == {"passed"}
    assert cluster.list("v1", "Namespace", labels=RUN_LABEL) == []
