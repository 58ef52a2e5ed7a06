"""``kueue-dra dump`` on a real Kueue: what it reads under its published roles, and what it never writes down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.cleanup import Cleanup
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.dump_filter import filtered
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.installation import MANAGER, SETTINGS
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.redact import redacted
from kueue_dra_ref.target import Manifest, Ref
from tests.clusters_live.manifests import CONFIGURATION, a_job, a_world, an_object
from tests.clusters_live.test_existing_cluster import a_kubeconfig
from tests.commands import ROOT, kueue_dra

PLANTED = "hunter2-planted"
RBAC = "rbac.authorization.k8s.io"
USER = {"kind": "ServiceAccount", "name": "reader", "namespace": "kueue-system"}


@pytest.fixture
def installation(plane: ControlPlane, target: LiveTarget) -> Iterator[APIClient]:
    """Have a Kueue that looks installed, a Secret, and a reader with the published roles only."""
    objects = APIClient(api=plane.api)
    made = [*_installed(), *_reader()]
    for each in made:
        objects.create(each)
    yield objects
    Cleanup(objects=objects, informers=InformerCache(objects=objects)).remove([Ref.of(each) for each in made])


@pytest.fixture
def kubeconfig(plane: ControlPlane, installation: APIClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a kubeconfig of that reader."""
    settings = plane.api.configuration
    path = "/api/v1/namespaces/kueue-system/serviceaccounts/reader/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = installation.call("POST", path, body).body["status"]["token"]
    _use(a_kubeconfig(tmp_path, settings.host, settings.ssl_ca_cert, token), monkeypatch)


@pytest.mark.live
def test_a_dump_has_what_decides_and_no_secret(target: LiveTarget, kubeconfig: None, tmp_path: Path) -> None:
    """Under the published roles everything can be read; nothing of the environment or of Secrets is written."""
    work = a_job("one")
    work["metadata"]["annotations"] = {"example.com/note": PLANTED}
    work["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "TOKEN", "value": PLANTED}]
    work["spec"]["template"]["spec"]["containers"][0]["args"] = [f"--password={PLANTED}"]
    assert target.apply([*a_world(), work]) == []
    target.settle()
    file = tmp_path / "cluster.yaml"

    done = kueue_dra("dump", "--context", "mine", "-o", str(file))
    again = kueue_dra("dump", "--context", "mine", "-o", "-")

    assert (done.exit_code, done.stderr) == (0, ""), done.output
    text = file.read_text("utf-8")
    assert PLANTED not in text
    assert again.stdout == text
    head, found = yaml.safe_load_all(text)
    assert head["spec"] == {"kubernetes": "v1.36.3", "notRead": []}
    kinds = {each["kind"] for each in found["items"]}
    assert {"ClusterQueue", "Workload", "Job", "ResourceClaimTemplate", "ConfigMap", "Deployment", "Namespace"} <= kinds
    assert "Secret" not in kinds
    by_kind = {each["kind"]: each for each in found["items"]}
    assert by_kind["Workload"]["status"]["conditions"]
    manager = by_kind["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    assert manager["args"] == ["--feature-gates=TopologyAwareScheduling=false"]


@pytest.mark.live
def test_a_reader_without_roles_is_told_what_it_lacks(
    target: LiveTarget, plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong token is one line, exit code 2, and no file."""
    settings = plane.api.configuration
    _use(a_kubeconfig(tmp_path, settings.host, settings.ssl_ca_cert, "wrong"), monkeypatch)

    done = kueue_dra("dump", "--context", "mine", "-o", str(tmp_path / "cluster.yaml"))

    assert done.exit_code == 2
    assert done.stderr.strip().splitlines() == [
        "kueue-dra dump: context mine: cannot read which kinds the API server serves: 401 Unauthorized"
    ]
    assert not (tmp_path / "cluster.yaml").exists()


def test_an_unreachable_server_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No server listens at that port."""
    _use(a_kubeconfig(tmp_path), monkeypatch)

    done = kueue_dra("dump", "-o", str(tmp_path / "cluster.yaml"))

    assert done.exit_code == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "context other" in done.stderr


def test_opaque_parameters_and_foreign_annotations_are_left_out() -> None:
    """That a driver is configured decides in old releases; how it is configured does not."""
    config = [{"opaque": {"driver": "gpu.example.com", "parameters": {"secret": PLANTED}}}]
    meta = {"name": "t", "annotations": {"kueue.x-k8s.io/a": "b", "example.com/c": PLANTED}}
    found = filtered(
        {"kind": "ResourceClaimTemplate", "metadata": meta, "spec": {"spec": {"devices": {"config": config}}}}
    )

    assert PLANTED not in str(found)
    assert found["spec"]["spec"]["devices"]["config"] == [{"opaque": {"driver": "gpu.example.com", "parameters": {}}}]
    assert found["metadata"]["annotations"] == {"kueue.x-k8s.io/a": "b"}


def test_redaction_is_the_same_everywhere() -> None:
    """A name in a reference, a message and an image has one other name; public names stay."""
    queue = an_object("kueue.x-k8s.io/v1beta2", "ClusterQueue", "acme")
    message = "ClusterQueue acme is inactive: acme/job-acme"
    work = an_object("batch/v1", "Job", "job-acme", "acme", status={"message": message}, image="acme.io/x:1")
    public = an_object("resource.k8s.io/v1", "DeviceClass", "gpu.example.com")

    found: list[Manifest] = redacted([queue, work, public])

    name = found[0]["metadata"]["name"]
    assert "acme" not in str(found)
    assert found[1]["metadata"]["namespace"] == name
    assert found[1]["status"]["message"] == f"ClusterQueue {name} is inactive: {name}/{found[1]['metadata']['name']}"
    assert found[2] == public


def _use(kubeconfig: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(kubeconfig))


def _installed() -> list[Manifest]:
    secret = [{"name": "TOKEN", "value": PLANTED}]
    args = ["--config=/x.yaml", "--feature-gates=TopologyAwareScheduling=false", f"--secret={PLANTED}"]
    container = {"name": "manager", "image": "registry.k8s.io/kueue/kueue:v0.19.2", "env": secret, "args": args}
    labels = {"control-plane": "controller-manager"}
    volumes = [{"name": "manager-config", "configMap": {"name": SETTINGS.name}}]
    pods = {"metadata": {"labels": labels}, "spec": {"containers": [container], "volumes": volumes}}
    manager = an_object(MANAGER.api_version, MANAGER.kind, MANAGER.name, MANAGER.namespace)
    manager["metadata"]["labels"] = {"app.kubernetes.io/name": "kueue"}
    data = {"controller_manager_config.yaml": yaml.safe_dump(CONFIGURATION)}
    return [
        {**manager, "spec": {"selector": {"matchLabels": labels}, "template": pods}},
        an_object(SETTINGS.api_version, SETTINGS.kind, SETTINGS.name, SETTINGS.namespace, data=data),
        an_object("v1", "Secret", "planted", "kueue-system", stringData={"token": PLANTED}),
    ]


def _reader() -> list[Manifest]:
    published = list(yaml.safe_load_all((ROOT / "examples" / "rbac" / "dump.yaml").read_text("utf-8")))
    account = an_object("v1", "ServiceAccount", "reader", "kueue-system")
    bindings = [_binding(role) for role in published]
    return [account, *published, *bindings]


def _binding(role: Manifest) -> Manifest:
    namespace = role["metadata"].get("namespace", "")
    kind = f"{role['kind']}Binding"
    ref = {"apiGroup": RBAC, "kind": role["kind"], "name": role["metadata"]["name"]}
    return an_object(f"{RBAC}/v1", kind, "kueue-dra-dump", namespace, roleRef=ref, subjects=[USER])
