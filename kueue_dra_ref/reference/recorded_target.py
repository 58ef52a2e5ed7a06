"""The reference as a recording sees Kueue: a look at the queues is itself a change of them.

No counterpart: Kueue updates the status of a ClusterQueue up to a second late.  A recording does not wait for that: it
changes an annotation of each ClusterQueue whose Workloads have changed, or a queue or Cohort of its tree, LocalQueues
among them, and Kueue updates it at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from kueue_dra_ref.api.deepcopy import packed
from kueue_dra_ref.api.workloads import admission_of, local_queue_of
from kueue_dra_ref.controlplane.store import Event, key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import Manifest, NotQuiescent, Ref, Rejection

Look = Mapping[Key, Sequence[bytes | None]]
"""What the status of each ClusterQueue depends on: the specs of all queues and Cohorts of its tree; its Workloads."""


class RecordedTarget(ReferenceTarget):
    """A reference whose ClusterQueues change when they are listed, if their Workloads or their trees have changed.

    Below a Cohort that has a parent, such a change requeues the workloads of the whole cohort tree (COHORT-025).  As in
    a recording, that happens before the next step.
    """

    _last_look: Look = {}
    _requeue_is_due = False

    def list(
        self, api_version: str, kind: str, namespace: str = ""
    ) -> Sequence[Manifest]:
        """List objects; for ClusterQueues, change those first whose Workloads or trees have changed."""
        if kind == "ClusterQueue":
            self._change_queues()
        return super().list(api_version, kind, namespace)

    def apply(self, manifests: Iterable[Manifest]) -> Sequence[Rejection]:
        """Write objects, after the requeue that the last look has caused."""
        self._await_requeue()
        return super().apply(manifests)

    def delete(self, refs: Iterable[Ref]) -> None:
        """Delete objects, after the requeue that the last look has caused."""
        self._await_requeue()
        super().delete(refs)

    def clean(self) -> None:
        """Begin again with an empty store."""
        super().clean()
        self._last_look = {}
        self._requeue_is_due = False

    def _change_queues(self) -> None:
        look = self._look()
        for queue in self.store.every("ClusterQueue"):
            key = key_of(queue)
            known = self._last_look.get(key)
            if known == look[key]:
                continue
            if self.manager is not None:
                self.manager.kueue.refresh(key[1])
            if not self._is_nested(queue):
                continue
            event = Event(kind="ClusterQueue", key=key, old=queue, new=queue)
            self._on_event(event)
            self._requeue_is_due = True
        self._last_look = look

    def _is_nested(self, queue: Manifest) -> bool:
        """Whether the Cohort of a ClusterQueue has a parent; a change of any other one requeues nothing."""
        if self.manager is None:
            return False
        cohorts = self.manager.kueue.hierarchy.cohorts
        cohort = cohorts.get(queue["spec"].get("cohortName", ""))
        return cohort is not None and cohort.parent is not None

    def _await_requeue(self) -> None:
        if self._requeue_is_due:
            self._requeue_is_due = False
            with suppress(NotQuiescent):
                self.settle()

    def _look(self) -> Look:
        found: defaultdict[Key, list[bytes | None]] = defaultdict(list)
        trees: defaultdict[str, list[bytes | None]] = defaultdict(list)
        for kind in ("Cohort", "ClusterQueue", "LocalQueue"):
            for each in self.store.every(kind):
                spec = packed([kind, key_of(each), each["spec"]])
                trees[self._root_of(each)].append(spec)
        for queue in self.store.every("ClusterQueue"):
            found[key_of(queue)] += trees[self._root_of(queue)]
        for workload in self.store.every("Workload"):
            counted = [
                workload["metadata"]["uid"],
                workload["spec"],
                workload.get("status"),
            ]
            for name in self._queues_of(workload):
                found["", name].append(packed(counted))
        return found

    def _root_of(self, obj: Manifest) -> str:
        """Name the root Cohort of a queue or a Cohort; a ClusterQueue without one is alone, with its LocalQueues."""
        if obj["kind"] == "Cohort":
            return self._root(obj["metadata"]["name"])
        queue: Manifest | None = obj
        name = obj["metadata"]["name"]
        if obj["kind"] == "LocalQueue":
            name = obj["spec"].get("clusterQueue", "")
            queue = self.store.find("ClusterQueue", name)
        cohort = queue["spec"].get("cohortName") if queue else None
        return self._root(cohort) if cohort else f"ClusterQueue/{name}"

    def _root(self, cohort: str) -> str:
        cohorts = self.manager.kueue.hierarchy.cohorts if self.manager else {}
        node = cohorts.get(cohort)
        return node.root.name if node is not None else cohort

    def _queues_of(self, workload: Manifest) -> set[str]:
        """Name the ClusterQueues in which a Workload is queued, and in which it is admitted."""
        namespace, name = local_queue_of(workload)
        local = self.store.find("LocalQueue", name, namespace)
        queued = local["spec"].get("clusterQueue", "") if local else ""
        return {queued, admission_of(workload).get("clusterQueue", "")}
