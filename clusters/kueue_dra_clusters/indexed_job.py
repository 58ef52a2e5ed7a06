"""The manifests of a run in pods: a namespace with an Indexed Job, one pod for each part of the cases.

The pods need nothing of the cluster: no token, no permission, no volume but scratch space.  They print their results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.preflight import RUN_LABEL
from kueue_dra_ref.api.jobs import QUEUE_LABEL
from kueue_dra_ref.target import Manifest

NAME = "kueue-dra"
SHARDS_VARIABLE = "KUEUE_DRA_SHARDS"
FILES = "/files"
"""Where the pods find the files of a run."""
INVALID_INPUT = 2
"""The exit code of a run that another try does not help."""
USER = 65532
RETRIES = 2
DEADLINE = 4 * 3600
GRACE = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class PodRun:
    """A run in pods."""

    name: str
    """Of the namespace, and the value of the label of the run."""
    image: str
    pods: int
    command: Sequence[str]
    """What each pod runs, with the arguments."""
    arguments: Sequence[str]
    """Of `kueue-dra run` or `kueue-dra differential`, without `--shard`."""
    requests: Mapping[str, str]
    """Resources that each pod requests."""
    queue: str = ""
    """The ClusterQueue that admits the Job; none by default."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The text of files below `FILES`, by name."""
    deadline: int = DEADLINE
    """Seconds after which the Job ends."""

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of every object of the run."""
        return {"app.kubernetes.io/name": NAME, RUN_LABEL: self.name}

    def manifests(self) -> Sequence[Manifest]:
        """Give the objects, in the order in which they are created."""
        found = [self._namespace()]
        if self.files:
            data = dict(self.files)
            found.append({**self._head("v1", "ConfigMap"), "data": data})
        if self.queue:
            spec = {"clusterQueue": self.queue}
            found.append({**self._head(KUEUE, "LocalQueue"), "spec": spec})
        return [*found, self._job()]

    def _head(self, api_version: str, kind: str) -> Manifest:
        labels = dict(self.labels)
        metadata = {"name": NAME, "namespace": self.name, "labels": labels}
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata}

    def _namespace(self) -> Manifest:
        enforced = {"pod-security.kubernetes.io/enforce": "restricted"}
        metadata = {"name": self.name, "labels": {**self.labels, **enforced}}
        return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}

    def _job(self) -> Manifest:
        job = self._head("batch/v1", "Job")
        if self.queue:
            job["metadata"]["labels"][QUEUE_LABEL] = NAME
        job["spec"] = {
            "completionMode": "Indexed",
            "completions": self.pods,
            "parallelism": self.pods,
            "backoffLimitPerIndex": RETRIES,
            "podFailurePolicy": {"rules": _failure_rules()},
            "activeDeadlineSeconds": self.deadline,
            "template": {
                "metadata": {"labels": dict(self.labels)},
                "spec": self._pod(),
            },
        }
        return job

    def _pod(self) -> Manifest:
        identity = {"runAsUser": USER, "runAsGroup": USER, "fsGroup": USER}
        profile = {"seccompProfile": {"type": "RuntimeDefault"}}
        volumes: list[Manifest] = [
            {"name": name, "emptyDir": {}} for name in ("tmp", "work")
        ]
        if self.files:
            volumes.append({"name": "files", "configMap": {"name": NAME}})
        return {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": GRACE,
            "securityContext": {"runAsNonRoot": True, **identity, **profile},
            "containers": [self._container([one["name"] for one in volumes])],
            "volumes": volumes,
        }

    def _container(self, volumes: Sequence[str]) -> Manifest:
        mounts = [{"name": name, "mountPath": f"/{name}"} for name in volumes]
        shards = {"name": SHARDS_VARIABLE, "value": str(self.pods)}
        return {
            "name": NAME,
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            "command": list(self.command),
            "args": list(self.arguments),
            "env": [shards],
            "resources": {"requests": dict(self.requests)},
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
            "volumeMounts": mounts,
        }


def _failure_rules() -> list[Manifest]:
    """Fail an index whose input is wrong at once; do not count an eviction or a preemption as a try."""
    codes = {"containerName": NAME, "operator": "In", "values": [INVALID_INPUT]}
    return [
        {"action": "FailIndex", "onExitCodes": codes},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
    ]
