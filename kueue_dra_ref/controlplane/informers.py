"""Queues, flavors, namespaces and workloads of the store as nouns: each is read once for each spec that it has.

No counterpart: the informers of the in-memory control plane.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kueue_dra_ref.api.cluster_queues import cluster_queue_of
from kueue_dra_ref.api.labels import NAME_LABEL
from kueue_dra_ref.api.types import ClusterQueue, Workload
from kueue_dra_ref.api.workloads import workload_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.controlplane.store import Key, Store, is_deleted, key_of
from kueue_dra_ref.rules.queue.pending_workloads import (
    ClusterQueueCheck,
    ReasonMessage,
)
from kueue_dra_ref.target import Manifest


class Informers:
    """What one Kueue has read of a store, and what a ClusterQueue makes of it."""

    def __init__(self, behaviour: Behaviour, store: Store) -> None:
        self._rules, self._store = behaviour.queueing, store
        self._noted: dict[tuple[str, str], Manifest] = {}
        self._queues: dict[str, tuple[object, ClusterQueue]] = {}
        self._workloads: dict[Key, tuple[object, Workload]] = {}
        self._inactive: dict[str, tuple[ClusterQueue, list[ReasonMessage]]] = {}

    def names(self, kind: str) -> list[str]:
        """The names of all objects of a kind."""
        return [found["metadata"]["name"] for found in self._store.every(kind)]

    def queue(self, name: str) -> ClusterQueue | None:
        """A ClusterQueue."""
        found, noted = (
            self._store.find("ClusterQueue", name),
            self._index("ClusterQueue", name),
        )
        if found is None or noted is None:
            return None
        known, deleted = self._queues.get(name), is_deleted(found)
        if (
            known is None
            or known[0] is not noted["spec"]
            or known[1].deleted != deleted
        ):
            known = self._queues[name] = (
                noted["spec"],
                replace(cluster_queue_of(noted), deleted=deleted),
            )
        return known[1]

    def workloads_naming(self, flavor: str) -> list[str]:
        """The ClusterQueues that name a flavor."""
        queues = filter(None, map(self.queue, self.names("ClusterQueue")))
        return [
            queue.name
            for queue in queues
            if any(f.name == flavor for group in queue.groups for f in group.flavors)
        ]

    def _index(self, kind: str, name: str) -> Manifest | None:
        """A ClusterQueue or a flavor as it is in effect: not as it is stored, once changes of it do not matter."""
        found, key = self._store.find(kind, name), (kind, name)
        if found is None:
            return None
        if key not in self._noted or not any(
            rule(is_deleted(found)) for rule in self._rules.ignore_update
        ):
            self._noted[key] = found
        return self._noted[key]

    def workload(self, obj: Manifest) -> Workload:
        """A Workload, as it is written."""
        key = key_of(obj)
        known = self._workloads.get(key)
        if known is None or known[0] is not obj["spec"]:
            known = self._workloads[key] = obj["spec"], workload_of(obj)
        return known[1]

    def flavor(self, name: str) -> Mapping[str, object] | None:
        """The spec of a ResourceFlavor."""
        noted = self._index("ResourceFlavor", name)
        return None if noted is None else noted.get("spec") or {}

    def inactive(self, queue: ClusterQueue) -> list[ReasonMessage]:
        """Why a ClusterQueue cannot admit."""
        known = self._inactive.get(queue.name)
        if known is None or known[0] is not queue:
            named = [flavor.name for group in queue.groups for flavor in group.flavors]
            missing = tuple(name for name in named if self.flavor(name) is None)
            check = ClusterQueueCheck(queue=queue, missing_flavors=missing)
            told = self._rules.inactive(check)
            known = self._inactive[queue.name] = queue, told
        return known[1]

    def note_flavor(self, name: str) -> None:
        """A flavor came, changed or went, so what lacks a flavor has to be found out anew."""
        self._index("ResourceFlavor", name)
        self._inactive.clear()

    def selects(self, queue: ClusterQueue, namespace: str) -> bool:
        """Whether a ClusterQueue takes workloads of a namespace."""
        return self.mismatch(queue, namespace) is None

    def mismatch(self, queue: ClusterQueue, namespace: str) -> str | None:
        """What a ClusterQueue has against a namespace."""
        rules = self._rules.namespace
        return next(
            (told for rule in rules if (told := rule(queue, self.labels(namespace)))),
            None,
        )

    def labels(self, namespace: str) -> dict[str, str]:
        """The labels of a namespace, there or not."""
        return labels_of(
            self._store.find("Namespace", namespace)
            or {"metadata": {"name": namespace}}
        )


def labels_of(namespace: Manifest) -> dict[str, str]:
    """The labels of a namespace, with the one that the API server adds."""
    meta = namespace["metadata"]
    return {**(meta.get("labels") or {}), NAME_LABEL: meta["name"]}


def stop_policy(queue: Manifest | None) -> str:
    """The stop policy that is stored, also of a ClusterQueue that is deleted and changed after that; None for none."""
    return str((queue or {}).get("spec", {}).get("stopPolicy") or "None")
