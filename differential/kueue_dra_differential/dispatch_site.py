"""The objects of a generated manager of MultiKueue and its workers: queues, connections, and the check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_differential import admission_checks
from kueue_dra_differential.dispatch_events import MANAGER
from kueue_dra_fixtures.lab.clusters import of_checks
from kueue_dra_fixtures.manifests import KUEUE, a_cluster_queue, a_group, an_object
from kueue_dra_fixtures.multikueue import NAMESPACE, a_check, a_cluster, a_namespace
from kueue_dra_ref.api.multikueue import CONFIG
from kueue_dra_ref.scenarios.scenario import WORKER_NAMES
from kueue_dra_ref.target import Manifest

CPU = 8
"""The CPUs of each cluster, more than most jobs need."""
OTHERS = 4
"""The quota of resources that are not contested."""
WORKERS = (1, 2)


def connection_of(worker: int) -> str:
    """Give how the names of the MultiKueueClusters of a worker begin."""
    return f"mk{worker}-"


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchQueue:
    """The ClusterQueue of one cluster."""

    nominal: int
    contested: str
    """The resource that the mapping of this cluster makes of the contested class."""
    others: tuple[str, ...] = ()
    preempts: bool = False
    checked: bool = False
    """Whether a worker has an admission check of its own."""
    policy: str = "None"


@dataclass(slots=True, kw_only=True)
class DispatchSite:
    """The objects of one scenario; ``mark`` makes their names unique."""

    mark: str
    queues: list[DispatchQueue]
    """That of the manager, then those of the workers."""
    used: tuple[int, ...] = WORKERS
    """The workers that the MultiKueueConfig names."""
    lost: dict[int, str] = field(default_factory=dict)
    """How the manager was cut off from a worker."""

    @property
    def namespace(self) -> str:
        """The namespace of the work."""
        return f"ns-{self.mark}"

    def space(self) -> Manifest:
        """Give the namespace, which each cluster has."""
        return a_namespace(self.namespace)

    def connection(self, worker: int) -> str:
        """Name the MultiKueueCluster of a worker, and its Secret."""
        return f"{connection_of(worker)}{self.mark}"

    @property
    def own_check(self) -> str:
        """Name the check that a worker has of its own."""
        return f"own-{self.mark}"

    def secret(self, worker: int) -> Manifest:
        """Give the Secret of a worker; a playback puts its kubeconfig in."""
        meta = {"name": self.connection(worker), "namespace": NAMESPACE}
        data = {"kubeconfig": WORKER_NAMES[worker - 1]}
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": meta,
            "stringData": data,
        }

    def cluster(self, worker: int, secret: str = "") -> Manifest:
        """Give the MultiKueueCluster of a worker."""
        name = self.connection(worker)
        return a_cluster(name, secret or name)

    def config(self) -> Manifest:
        """Give the MultiKueueConfig."""
        names = [self.connection(worker) for worker in self.used]
        return an_object(CONFIG, f"config-{self.mark}", clusters=names)

    def queue(self, cluster: int) -> Manifest:
        """Give the ClusterQueue of one cluster; that of the manager has the check."""
        line = self.queues[cluster]
        amounts: dict[str, Any] = {line.contested: line.nominal, "cpu": CPU}
        amounts |= dict.fromkeys(line.others, OTHERS)
        spec: dict[str, Any] = {"stopPolicy": line.policy}
        if line.preempts:
            spec["preemption"] = {"withinClusterQueue": "LowerPriority"}
        if cluster == MANAGER:
            spec["admissionChecksStrategy"] = of_checks([f"check-{self.mark}"])
        elif line.checked:
            spec["admissionChecksStrategy"] = of_checks([self.own_check])
        group = a_group({f"fl-{self.mark}": amounts})
        return a_cluster_queue(f"cq-{self.mark}", [group], **spec)

    def objects(self, cluster: int) -> Iterator[Manifest]:
        """Give the objects with which one cluster begins."""
        yield self.space()
        yield an_object("ResourceFlavor", f"fl-{self.mark}")
        if cluster == MANAGER:
            yield from self._connections()
        elif self.queues[cluster].checked:
            yield admission_checks.a_check(self.own_check, active=True)
        yield self.queue(cluster)
        yield self._local_queue()

    def _connections(self) -> Iterator[Manifest]:
        for worker in WORKERS:
            yield self.secret(worker)
            yield self.cluster(worker)
        config = self.config()
        yield config
        yield a_check(f"check-{self.mark}", config["metadata"]["name"])

    def _local_queue(self) -> Manifest:
        meta = {"name": "lq", "namespace": self.namespace}
        spec = {"clusterQueue": f"cq-{self.mark}"}
        return {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": meta,
            "spec": spec,
        }
