"""The queue controllers: which lines there are, when they are swept, the status of ClusterQueues and LocalQueues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kueue_dra_ref.admission.queues import Key, Line
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.labels import selects
from kueue_dra_ref.api.nouns import ClusterQueue
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.cluster.kueue import Kueue, ManagedQueue
from kueue_dra_ref.cluster.ledger import Tally
from kueue_dra_ref.cluster.nouns import labels_of
from kueue_dra_ref.cluster.status import say
from kueue_dra_ref.cluster.store import Event, is_deleted
from kueue_dra_ref.quota import FlavorResource, Node, share
from kueue_dra_ref.rules.reporting import Figures
from kueue_dra_ref.said import Said
from kueue_dra_ref.target import Manifest


class QueueControllers:
    """Follows ClusterQueues, LocalQueues, ResourceFlavors, ResourceSlices and Namespaces."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue, self.rules = kueue, kueue.behaviour.reporting

    def on_cluster_queue(self, event: Event) -> None:
        """Open, change or close the line of a ClusterQueue."""
        name, kueue = event.key[1], self.kueue
        kueue.replant()
        if event.old is not None and event.new is not None and is_deleted(event.new):
            self._change_deleted(name)
            return
        if event.new is None:
            kueue.lines.pop(name, None)
        elif event.old is None:
            self._open(name)
        if event.new is not None and _spec(event.old) != _spec(event.new):
            kueue.sweep_later(name)
        if event.old is None or event.new is None or _stop(event.old) != _stop(event.new):
            for key in self._local_queues(name):
                self._reconcile_workloads(key)
        kueue.refresh(name)

    def _change_deleted(self, name: str) -> None:
        """Look at the workloads of a ClusterQueue that is deleted, or changed after that; nothing else follows."""
        for key in self._local_queues(name):
            self._reconcile_workloads(key)
        self.kueue.refresh(name)

    def on_figures(self, event: Event) -> None:
        """Any change of a ClusterQueue, of its figures too, has Kueue look at the cohorts between it and the root.

        Looking at a cohort sweeps its whole tree, as if the cohort itself had changed; a flat cohort has none between.
        """
        named = next(obj["spec"].get("cohortName", "") for obj in (event.new, event.old) if obj)
        cohort = self.kueue.tree.cohorts.get(named)
        for each in [cohort, *cohort.above()][:-1] if cohort else ():
            if self.kueue.store.find("Cohort", each.name):
                self.kueue.sweep_cohort_later(each.name)
                self._show(each.name)

    def on_cohort(self, event: Event) -> None:
        """A cohort that comes or changes lets its whole tree be tried again."""
        self.kueue.replant()
        if event.new is not None:
            self.kueue.sweep_cohort_later(event.key[1])
        for name in self.kueue.tree.cohorts:
            self._show(name)

    def _show(self, cohort: str) -> None:
        """Have the share of a cohort written, where there are shares."""
        if self.kueue.configuration.fair_sharing is not None:
            self.kueue.stale["Cohort", ("", cohort)] = None

    def on_local_queue(self, event: Event) -> None:
        """Manage a LocalQueue, or let it go while it is stopped."""
        kueue, key = self.kueue, event.key
        if event.new is None or _stop(event.new) != "None":
            self._let_go(key)
        elif key not in kueue.local_queues:
            self._manage(key, event.new)
        if event.old is None or event.new is None or _stop(event.old) != _stop(event.new):
            self._reconcile_workloads(key)
        for obj in filter(None, (event.old, event.new)):
            kueue.refresh(obj["spec"].get("clusterQueue", ""))
        kueue.stale["LocalQueue", key] = None

    def on_flavor(self, event: Event) -> None:
        """A flavor that comes, changes or goes concerns the ClusterQueues that name it."""
        self.kueue.nouns.note_flavor(event.key[1])
        if event.old is not None and event.new is not None and is_deleted(event.new):
            return
        self.kueue.moves += 1
        for name in self.kueue.nouns.naming(event.key[1]):
            self.kueue.sweep_later(name)
            self.kueue.refresh(name)

    def on_slice(self, event: Event) -> None:
        """A slice of a driver that is followed lets everything that waits be tried again."""
        followed = self.kueue.behaviour.processing.sourcing.followed
        drivers = {driver for rule in followed for driver in rule(self.kueue.configuration.mappings)}
        if any(each["spec"].get("driver") in drivers for each in (event.old, event.new) if each):
            for name in self.kueue.lines:
                self.kueue.sweep_later(name)

    def on_namespace(self, event: Event) -> None:
        """A namespace whose labels come to match a ClusterQueue has its workloads tried again."""
        if event.old is None or event.new is None:
            return
        before, after = labels_of(event.old), labels_of(event.new)
        for name in list(self.kueue.lines):
            queue = self.kueue.nouns.queue(name)
            selector = queue.namespace_selector if queue else None
            if selector is not None and selects(selector, after) and not selects(selector, before):
                self.kueue.sweep_later(name)

    def write(self, kind: str, key: Key) -> None:
        """Write the status of one queue."""
        found = self.kueue.store.find(kind, key[1], key[0])
        if found is not None and (kind != "ClusterQueue" or not is_deleted(found) or self.rules.deleted):
            write = {"ClusterQueue": self._cluster_queue, "LocalQueue": self._local_queue, "Cohort": self._cohort}
            status = write[kind](found)
            self.kueue.store.put({**found, "metadata": dict(found["metadata"]), "status": status})

    def _cluster_queue(self, found: Manifest) -> dict[str, Any]:
        kueue, queue = self.kueue, self.kueue.nouns.queue(found["metadata"]["name"])
        assert queue is not None
        pending = len(kueue.lines.get(queue.name, ()))
        figures = self._figures(queue.name, pending, kueue.ledger.of_cluster_queue(queue.name))
        status: dict[str, Any] = {"conditions": [dict(c) for c in (found.get("status") or {}).get("conditions") or ()]}
        for written in (rule(figures) for rule in self.rules.cluster_queue):
            status |= written
        for said in self._readiness(queue):
            say({"status": status}, said, kueue.clock.now)
        return status | self._share(kueue.tree.queues.get(queue.name))

    def _readiness(self, queue: ClusterQueue) -> Iterator[Said]:
        """Say whether a ClusterQueue can admit."""
        told = self.kueue.nouns.inactive(queue)
        for rule in self.rules.cluster_queue_active if not queue.deleted else ():
            yield rule([t.reason for t in told], [t.message for t in told])
        for said in self.rules.deleted if queue.deleted else ():
            yield said()

    def _cohort(self, found: Manifest) -> dict[str, Any]:
        return self._share(self.kueue.tree.cohorts.get(found["metadata"]["name"]))

    def _share(self, node: Node | None) -> dict[str, Any]:
        if node is None or self.kueue.configuration.fair_sharing is None:
            return {}
        shown = (rule(share(node)) for rule in self.kueue.behaviour.fair_sharing.shown)
        return {key: value for written in shown for key, value in written.items()}

    def _local_queue(self, found: Manifest) -> dict[str, Any]:
        kueue, meta = self.kueue, found["metadata"]
        key, name = (meta["namespace"], meta["name"]), found["spec"].get("clusterQueue", "")
        queue, managed = kueue.nouns.queue(name), kueue.local_queues.get(key)
        stopped = _stop(found) != "None"
        held = kueue.ledger.of_local_queue(key, name) if queue else Tally()
        figures = self._figures(name, len(managed.items) if managed and not stopped else 0, held)
        status: dict[str, Any] = {"conditions": [dict(c) for c in (found.get("status") or {}).get("conditions") or ()]}
        for written in (rule(figures) for rule in self.rules.local_queue):
            status |= written
        shown = kueue.store.find("ClusterQueue", name)
        state = "missing" if shown is None else "active" if is_true(shown, "Active") else "inactive"
        for rule in self.rules.local_queue_active:
            say({"status": status}, rule(stopped, state), kueue.clock.now)
        return status

    def _figures(self, name: str, pending: int, held: Tally) -> Figures:
        queue = self.kueue.nouns.queue(name)
        return Figures(
            pending=pending,
            reserving=held.reserving,
            admitted=held.admitted,
            reserved=held.reserved,
            used=held.used,
            groups=queue.groups if queue else (),
            borrowed=self._borrowed(name, held),
            in_bytes=self.kueue.in_bytes,
        )

    def _borrowed(self, name: str, held: Tally) -> dict[str, dict[FlavorResource, int]]:
        """What is reserved and used beyond the nominal quota; nothing for a ClusterQueue outside any cohort."""
        node = self.kueue.tree.queues.get(name)
        rules = self.kueue.behaviour.cohorts.borrowed if node and node.parent else ()
        return {
            word: {of: rule(amount, node.limit(of).nominal) for of, amount in amounts.items() for rule in rules}
            for word, amounts in (("reserved", held.reserved), ("used", held.used))
            if node
        }

    def _open(self, name: str) -> None:
        line = self.kueue.lines.setdefault(name, Line(self.kueue.behaviour.queueing))
        for managed in self.kueue.local_queues.values():
            if managed.cluster_queue == name:
                line.join(managed.items.values())

    def _manage(self, key: Key, found: Manifest) -> None:
        managed = self.kueue.local_queues[key] = ManagedQueue(cluster_queue=found["spec"].get("clusterQueue", ""))
        for workload in self.kueue.store.every("Workload"):
            if (workload["metadata"]["namespace"], workload["spec"].get("queueName")) != key:
                continue
            self.kueue.assigned[key[0], workload["metadata"]["name"]] = key
            if not self._waits(workload):
                continue
            if self.kueue.asks_for_devices(workload):
                self.kueue.reconcile("Workload", (key[0], workload["metadata"]["name"]))
            else:
                self.kueue.take_in(workload)
        if (line := self.kueue.lines.get(managed.cluster_queue)) is not None:
            line.join(managed.items.values())

    def _waits(self, workload: Manifest) -> bool:
        if not is_active(workload) or is_true(workload, "QuotaReserved"):
            return False
        return not any(rule(is_true(workload, "Finished")) for rule in self.kueue.behaviour.queueing.left_out)

    def _let_go(self, key: Key) -> None:
        managed = self.kueue.local_queues.pop(key, None)
        for item in managed.items if managed else ():
            assert managed is not None
            if line := self.kueue.lines.get(managed.cluster_queue):
                line.drop(item)

    def _local_queues(self, cluster_queue: str) -> list[Key]:
        found = self.kueue.store.every("LocalQueue")
        return [
            (queue["metadata"]["namespace"], queue["metadata"]["name"])
            for queue in found
            if queue["spec"].get("clusterQueue") == cluster_queue
        ]

    def _reconcile_workloads(self, local_queue: Key) -> None:
        for workload in self.kueue.store.every("Workload"):
            meta = workload["metadata"]
            if (meta["namespace"], workload["spec"].get("queueName")) == local_queue:
                self.kueue.reconcile("Workload", (meta["namespace"], meta["name"]))


def _spec(obj: Manifest | None) -> object:
    return (obj or {}).get("spec")


def _stop(obj: Manifest) -> str:
    return str(obj["spec"].get("stopPolicy") or "None")
