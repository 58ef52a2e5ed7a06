"""Reads from a cluster everything that decides about quota for devices, and changes nothing.

Secrets are never read; of ConfigMaps and Deployments only those of Kueue. What a dump keeps of an object is in
`kueue_dra_clusters.dump_filter`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kueue_dra_clusters.api_client import Answer, APIClient, RequestRejected
from kueue_dra_clusters.dump_filter import filtered
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_ref.api.jobs import QUEUE_LABEL
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.scheme import KUEUE
from kueue_dra_ref.features.manager_flags import MANAGER_CONTAINER, gate_arguments
from kueue_dra_ref.simulation.running_cluster import HEAD
from kueue_dra_ref.target import Manifest

API_VERSION = "kueue-dra.dev/v1alpha1"
RESOURCE_GROUP = "resource.k8s.io"
MANAGER_LABELS = "app.kubernetes.io/name=kueue"
CONFIGURATION_KEY = "controller_manager_config.yaml"
CLUSTER_KINDS = (
    ("", "Namespace"),
    ("", "Node"),
    ("", "LimitRange"),
    ("node.k8s.io", "RuntimeClass"),
    ("scheduling.k8s.io", "PriorityClass"),
)
"""Group and kind of what decides, in addition to the groups that are read whole."""
WORK_KINDS = (
    ("batch", "Job"),
    ("batch", "CronJob"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("", "Pod"),
    ("jobset.x-k8s.io", "JobSet"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
    ("ray.io", "RayCluster"),
    ("ray.io", "RayJob"),
    ("ray.io", "RayService"),
    ("kubeflow.org", "MPIJob"),
    ("kubeflow.org", "PyTorchJob"),
    ("kubeflow.org", "TFJob"),
    ("kubeflow.org", "XGBoostJob"),
    ("kubeflow.org", "PaddleJob"),
    ("kubeflow.org", "JAXJob"),
    ("trainer.kubeflow.org", "TrainJob"),
    ("trainer.kubeflow.org", "TrainingRuntime"),
    ("trainer.kubeflow.org", "ClusterTrainingRuntime"),
    ("workload.codeflare.dev", "AppWrapper"),
    ("sparkoperator.k8s.io", "SparkApplication"),
)
"""Group and kind of the work that Kueue queues; a cluster has some of them."""
_GATE = re.compile(
    r'^kubernetes_feature_enabled\{name="(DRA\w+)",stage="\w*"\} ([01])$', re.MULTILINE
)
"""A line of the metrics of an API server about a feature gate for devices."""
UNLABELLED = frozenset({"TrainingRuntime", "ClusterTrainingRuntime"})
"""Kinds that carry no queue label, and decide what work that names them asks for."""


@dataclass(slots=True, kw_only=True)
class Dump:
    """What was read of a cluster."""

    kubernetes: str = ""
    """The API server's version, such as ``v1.36.3``."""
    objects: list[Manifest] = field(default_factory=list)
    gates: dict[str, bool] = field(default_factory=dict)
    """The feature gates for devices of the API server; empty if it does not tell them."""
    not_read: list[str] = field(default_factory=list)
    """What could not be read, each with the reason."""

    def documents(self) -> list[Manifest]:
        """Give a head that says what was read, and a List of the objects by kind, namespace and name."""
        head: Manifest = {
            "apiVersion": API_VERSION,
            "kind": HEAD,
            "spec": {"kubernetes": self.kubernetes, "notRead": self.not_read},
        }
        if self.gates:
            head["spec"]["kubernetesFeatureGates"] = self.gates
        items = sorted(self.objects, key=_place)
        return [head, {"apiVersion": "v1", "kind": "List", "items": items}]


def dump(client: APIClient, progress: Callable[[str], None]) -> Dump:
    """Read a cluster; ``progress`` gets each kind before it is read.

    Raises:
        ClusterError: the API server does not answer as one, or refuses to say which kinds it serves.

    """
    reader = _Reader(client, progress)
    reader.read_version()
    reader.read_gates()
    reader.read_groups((KUEUE, RESOURCE_GROUP))
    reader.read_kinds(CLUSTER_KINDS, labels="")
    reader.read_manager()
    reader.read_work()
    return reader.dump


class _Reader:
    """Reads one cluster, once."""

    def __init__(self, client: APIClient, progress: Callable[[str], None]) -> None:
        self._client, self._progress = client, progress
        self._versions = self._served_groups()
        self._kinds: dict[str, list[str]] = {}
        """The kinds that can be listed, by version."""
        self.dump = Dump()

    def read_version(self) -> None:
        """Read the API server's version."""
        answer = self._get("/version")
        self.dump.kubernetes = str(answer.body.get("gitVersion", ""))

    def read_gates(self) -> None:
        """Read the feature gates for devices from the metrics of the API server, if it shows them to this user."""
        answer = self._get("/metrics")
        if not answer.ok:
            return
        found = _GATE.findall(answer.message)
        self.dump.gates = {name: value == "1" for name, value in sorted(found)}

    def read_groups(self, groups: Iterable[str]) -> None:
        """Read every kind of some groups, in the version that the API server prefers."""
        for group in groups:
            version = self._versions.get(group)
            if version is None:
                self.dump.not_read.append(
                    f"{group}: the API server does not serve this group"
                )
                continue
            for kind in self._listable(version):
                self._read(version, kind)

    def read_kinds(self, kinds: Iterable[tuple[str, str]], *, labels: str) -> None:
        """Read some kinds that the API server serves."""
        for group, kind in kinds:
            version = self._versions.get(group)
            if version and kind in self._listable(version):
                self._read(version, kind, "" if kind in UNLABELLED else labels)

    def read_manager(self) -> None:
        """Read Kueue's Deployment, and the ConfigMap that it mounts with the Configuration."""
        self._progress("Kueue's Deployment and Configuration")
        for deployment in filter(
            _is_manager, self._list("apps/v1", "Deployment", MANAGER_LABELS)
        ):
            self.dump.objects.append(_manager(deployment))
            namespace = deployment["metadata"]["namespace"]
            for name in _mounted_config_maps(deployment):
                self._read_configuration(namespace, name)
        if not any(each["kind"] == "ConfigMap" for each in self.dump.objects):
            self.dump.not_read.append(
                "Configuration: found no ConfigMap of a Kueue Deployment"
            )

    def read_work(self) -> None:
        """Read the work that Kueue queues: what names a queue, and what a Workload belongs to."""
        self.read_kinds(WORK_KINDS, labels=QUEUE_LABEL)
        for (version, kind), wanted in sorted(self._absent_owners().items()):
            self._progress(f"{kind} (owners of Workloads and claims)")
            found = self._list(version, kind, "")
            self.dump.objects += [
                filtered(each) for each in found if _uid(each) in wanted
            ]

    def _absent_owners(self) -> dict[tuple[str, str], set[str]]:
        """Give the UIDs of the owners of Workloads and claims that were not read yet, by version and kind."""
        known = {_uid(each) for each in self.dump.objects}
        absent: dict[tuple[str, str], set[str]] = {}
        for owner in self._owners():
            kind = owner["apiVersion"], owner["kind"]
            if owner["uid"] not in known:
                absent.setdefault(kind, set()).add(owner["uid"])
        return absent

    def _owners(self) -> Iterator[Manifest]:
        """Give the owners of Workloads, and the pods of claims that were made from a template."""
        for each in self.dump.objects:
            if each["kind"] in ("Workload", "ResourceClaim"):
                yield from owners_of(each)

    def _read(self, version: str, kind: str, labels: str = "") -> None:
        self._progress(kind)
        self.dump.objects += map(filtered, self._list(version, kind, labels))

    def _read_configuration(self, namespace: str, name: str) -> None:
        answer = self._get(f"/api/v1/namespaces/{namespace}/configmaps/{name}")
        text = (answer.body.get("data") or {}).get(CONFIGURATION_KEY)
        if not answer.ok:
            self.dump.not_read.append(f"ConfigMap {namespace}/{name}: {_why(answer)}")
        elif text is not None:
            found = {"apiVersion": "v1", "kind": "ConfigMap", **answer.body}
            self.dump.objects.append(
                {**filtered(found), "data": {CONFIGURATION_KEY: text}}
            )

    def _list(self, version: str, kind: str, labels: str) -> Sequence[Manifest]:
        try:
            return self._client.list(version, kind, labels=labels)
        except RequestRejected as rejected:
            self.dump.not_read.append(f"{kind}: {_why(rejected.answer)}")
            return ()

    def _listable(self, version: str) -> list[str]:
        if version not in self._kinds:
            self._kinds[version] = self._discovered(version)
        return self._kinds[version]

    def _discovered(self, version: str) -> list[str]:
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        resources = self._get(root).body.get("resources") or []
        return [
            each["kind"]
            for each in resources
            if "/" not in each["name"] and "list" in each.get("verbs", ())
        ]

    def _served_groups(self) -> dict[str, str]:
        answer = self._get("/apis")
        groups = answer.body.get("groups")
        if not answer.ok or not isinstance(groups, list):
            raise ClusterError(
                f"cannot read which kinds the API server serves: {_why(answer)}"
            )
        preferred = {
            each["name"]: each["preferredVersion"]["groupVersion"] for each in groups
        }
        return {"": "v1", **preferred}

    def _get(self, path: str) -> Answer:
        return self._client.call("GET", path)


def _is_manager(deployment: Manifest) -> bool:
    containers = deployment["spec"]["template"]["spec"]["containers"]
    return any(each["name"] == MANAGER_CONTAINER for each in containers)


def _manager(deployment: Manifest) -> Manifest:
    """Give Kueue's Deployment with the arguments of its manager, which hold feature gates."""
    containers = deployment["spec"]["template"]["spec"]["containers"]
    kept = filtered(deployment)
    for container, full in zip(
        kept["spec"]["template"]["spec"]["containers"], containers, strict=True
    ):
        options = gate_arguments(full.get("args") or ())
        gates = [argument for option in options for argument in option]
        if gates:
            container["args"] = gates
    kept.pop("status", None)
    return kept


def _mounted_config_maps(deployment: Manifest) -> Iterator[str]:
    for volume in deployment["spec"]["template"]["spec"].get("volumes") or ():
        if name := (volume.get("configMap") or {}).get("name"):
            yield name


def _uid(obj: Manifest) -> str:
    return str(obj["metadata"].get("uid", ""))


def _why(answer: Answer) -> str:
    return f"{answer.code} {answer.message}".strip() if answer.code else answer.message


def _place(obj: Manifest) -> tuple[str, str, str]:
    metadata = obj["metadata"]
    return obj["kind"], metadata.get("namespace", ""), metadata["name"]
