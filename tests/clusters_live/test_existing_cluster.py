"""An existing cluster: kueue-dra finds it by context and leaves it as it was."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from kubernetes.client import ApiClient

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.cleanup import Cleanup
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.existing_cluster import AttachedTarget, CannotServe, CleanupFailed, client_of, removal_of
from kueue_dra_clusters.existing_cluster import attached as open_target
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.installation import MANAGER, SETTINGS
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.ownership import NotOwned
from kueue_dra_clusters.preflight import RUN_LABEL
from kueue_dra_clusters.waiting import WaitLimits
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.target import Manifest, Ref
from tests.clusters_live.manifests import CONFIGURATION, KUEUE, a_job, a_world, an_object

CONTEXT = "mine"
OURS = "guest"
ANOTHER = Ref(api_version=KUEUE, kind="ResourceFlavor", name=f"{OURS}-flavor")


def a_kubeconfig(folder: Path, server: str = "https://127.0.0.1:1", authority: str = "", token: str = "none") -> Path:
    """Write a kubeconfig with two contexts."""
    cluster = {"server": server, **({"certificate-authority": authority} if authority else {})}
    contexts = [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in (CONTEXT, "other")]
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "other",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": contexts,
    }
    file = folder / "kubeconfig"
    file.touch(mode=0o600)
    file.write_text(yaml.safe_dump(document))
    return file


@pytest.fixture
def kubeconfig(tmp_path: Path, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a kubeconfig whose contexts lead to the control plane."""
    settings = plane.api.configuration
    token = settings.auth_settings()["BearerToken"]["value"].removeprefix("Bearer ")
    file = a_kubeconfig(tmp_path, settings.host, settings.ssl_ca_cert, token)
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(file))


@pytest.fixture
def installation(plane: ControlPlane, target: LiveTarget) -> Iterator[APIClient]:
    """Have a Kueue that looks installed as its release installs it, and a namespace controller."""
    objects = APIClient(api=plane.api)
    container = {"name": "manager", "image": "registry.k8s.io/kueue/kueue:v0.19.2"}
    labels = {"control-plane": "controller-manager"}
    pods = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": labels}, "template": pods}
    head = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    data = {"controller_manager_config.yaml": yaml.safe_dump(head | CONFIGURATION)}
    objects.create(an_object(MANAGER.api_version, MANAGER.kind, MANAGER.name, MANAGER.namespace, spec=spec))
    objects.create(an_object(SETTINGS.api_version, SETTINGS.kind, SETTINGS.name, SETTINGS.namespace, data=data))
    enough = threading.Event()
    controller = threading.Thread(target=finalize_namespaces, args=(ApiClient(plane.api.configuration), enough))
    controller.start()
    yield objects
    enough.set()
    controller.join()
    Cleanup(objects=objects, informers=InformerCache(objects=objects)).remove([MANAGER, SETTINGS])


def finalize_namespaces(api: ApiClient, enough: threading.Event) -> None:
    """Simulate the namespace controller until the event is set."""
    objects = APIClient(api=api)
    while not enough.wait(0.05):
        for namespace in objects.list("v1", "Namespace"):
            if namespace["metadata"].get("deletionTimestamp"):
                objects.replace({**namespace, "spec": {"finalizers": []}}, subresource="finalize")


@pytest.fixture
def attached(kubeconfig: None, installation: APIClient) -> Iterator[AttachedTarget]:
    """Have an attached target whose Kueue serves the cases."""
    with open_target(CONTEXT, CONFIGURATION, "0.19", limits=WaitLimits(gone=2)) as target:
        yield target


def test_an_unknown_context_names_those_that_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A typing error is found at once."""
    file = a_kubeconfig(tmp_path)
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(file))

    with pytest.raises(
        ClusterError, match="context mien: found none of that name in the kubeconfig, it has: mine, other"
    ):
        client_of("mien")


def test_no_kubeconfig_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has no traceback."""
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "none"))

    with pytest.raises(ClusterError, match="context mine: no kubeconfig could be read"):
        client_of(CONTEXT)


def test_a_removal_is_a_command_to_paste() -> None:
    """Names context, kind with group, name and namespace."""
    job = Ref(api_version="batch/v1", kind="Job", name="a", namespace="team")

    assert removal_of(job, "mine") == "kubectl --context mine delete job.batch a -n team"
    assert removal_of(Ref(api_version="v1", kind="Namespace", name="team"), "mine").endswith("delete namespace team")


@pytest.mark.live
def test_cases_run_in_the_users_cluster_and_leave_nothing(attached: AttachedTarget) -> None:
    """Everything made carries the run's label, and nothing with it is left."""
    assert attached.apply([*a_world(OURS, gpus=1), a_job("a", namespace=OURS), a_job("b", namespace=OURS)]) == []
    attached.settle()

    found = attached.list(KUEUE, "Workload", OURS)
    assert [is_true(each, "Admitted") for each in found].count(True) == 1
    for kind in ("ClusterQueue", "ResourceFlavor"):
        assert {each["metadata"]["labels"][RUN_LABEL] for each in attached.list(KUEUE, kind)} == {attached.run}
    assert attached.describe()["kueue"] == "v0.19.2"

    attached.stop()
    assert attached.left() == []
    assert attached.read(Ref(api_version="v1", kind="Namespace", name=OURS)) is None


@pytest.mark.live
def test_what_somebody_else_made_is_not_touched(attached: AttachedTarget, installation: APIClient) -> None:
    """Neither replaced nor deleted, and the run stops there."""
    somebodys = an_object(KUEUE, "ResourceFlavor", ANOTHER.name, spec={"nodeLabels": {"a": "b"}})
    before = installation.create(somebodys).body
    try:
        with pytest.raises(NotOwned, match="ResourceFlavor guest-flavor exists and was not created by this run"):
            attached.apply(a_world(OURS))
        with pytest.raises(NotOwned):
            attached.delete([ANOTHER])
        with pytest.raises(NotOwned):
            attached.touch([ANOTHER])
        attached.clean()

        stored = installation.read(ANOTHER)
        assert stored is not None
        assert stored["spec"] == before["spec"]
        assert "deletionTimestamp" not in stored["metadata"]
    finally:
        Cleanup(objects=installation, informers=InformerCache(objects=installation)).remove([ANOTHER])


@pytest.mark.live
def test_a_cluster_that_lacks_something_is_refused(attached: AttachedTarget) -> None:
    """All of it is named in one error."""
    wanted: Manifest = json.loads(json.dumps(CONFIGURATION))
    wanted["resources"]["deviceClassMappings"].append({"name": "nics", "deviceClassNames": ["nic.example.com"]})
    wanted["featureGates"] = {"KueueDRAIntegrationConsumableCapacity": True}

    with pytest.raises(CannotServe) as raised:
        attached.start(wanted)

    assert raised.value.missing == (
        "deviceClassMappings: nics must map nic.example.com (found: nothing)",
        "featureGates: KueueDRAIntegrationConsumableCapacity must be true (found: false)",
    )


@pytest.mark.live
def test_what_cannot_be_removed_is_said_with_the_command(attached: AttachedTarget, installation: APIClient) -> None:
    """The user can finish what we could not."""
    attached.apply([*a_world(OURS, gpus=1), a_job("a", namespace=OURS)])
    attached.settle()
    job = Ref(api_version="batch/v1", kind="Job", name="a", namespace=OURS)
    installation.patch(job, {"metadata": {"finalizers": ["example.com/held"]}})
    try:
        with pytest.raises(CleanupFailed) as raised:
            attached.clean()
        assert f"kubectl --context {CONTEXT} delete job.batch a -n {OURS}" in str(raised.value)
        assert f"delete clusterqueue.kueue.x-k8s.io {OURS}" in str(raised.value)
    finally:
        installation.patch(job, {"metadata": {"finalizers": []}})
