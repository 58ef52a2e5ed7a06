"""MultiKueue's clusters: which of them a manager is connected to, and which checks are active by that.

Kueue: pkg/controller/admissionchecks/multikueue/multikueuecluster.go (clustersReconciler, remoteClient);
    pkg/controller/admissionchecks/multikueue/admissioncheck.go (ACReconciler)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK
from kueue_dra_ref.api.conditions import is_true, set_condition
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.job_kind import status_of
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.multikueue import (
    CLUSTER,
    CONFIG,
    SECRET,
    clusters_of,
    config_of,
    is_from_manager,
    is_multikueue,
    kubeconfig_in,
    secret_of,
)
from kueue_dra_ref.controllers.workload_conditions import apply_condition
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, Store, key_of
from kueue_dra_ref.model.dispatching import ClusterUse
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.target import Manifest, Ref

EVENTS_BATCH_PERIOD = 1.0
"""Seconds between a change on a worker and the reconcile of the manager's Workload."""


class Remote(Protocol):
    """The API server of a worker, as a manager sees it."""

    store: Store

    def create(self, manifest: Manifest) -> bool:
        """Create an object; False if the API server rejects it."""

    def withdraw(self, ref: Ref) -> None:
        """Delete an object."""

    def watch(self, notify: Callable[[Event], None]) -> None:
        """Send each change to a manager, in the place of the one before."""


Dial = Callable[[str], Remote | None]
"""Gives the API server of a kubeconfig; None if there is none."""


@dataclass(slots=True, kw_only=True)
class Connection:
    """A cluster of a manager; ``remote`` is None while it is lost, since a time in seconds."""

    kubeconfig: str = ""
    remote: Remote | None = None
    lost_since: float = 0.0


@dataclass(slots=True, kw_only=True)
class MultiKueueClusters:
    """Connects a manager to the clusters that its objects name; ``changed`` gets the keys of changed copies."""

    kueue: Kueue
    dial: Dial
    changed: Callable[[Key], None] = lambda _: None
    connections: dict[str, Connection] = field(default_factory=dict)

    def start(self, interval: float) -> None:
        """Look for copies without a Workload on the manager, from now on in an interval of seconds; 0 for never."""
        if interval > 0:
            self.kueue.later(interval, partial(self._collect, interval))

    def _collect(self, interval: float) -> None:
        if self.kueue.behaviour.dispatching.collect():
            for connection in self.connections.values():
                if connection.remote is not None:
                    self._collect_on(connection.remote)
        self.start(interval)

    def _collect_on(self, remote: Remote) -> None:
        for copy in self._copies_on(remote):
            if self.kueue.store.get("Workload", key_of(copy)) is None:
                withdraw(remote, copy)

    def on_cluster(self, event: Event) -> None:
        """Reconcile a cluster, and the checks that depend on it."""
        self.kueue.reconcile(CLUSTER, event.key)
        self._reconcile_checks()

    def on_secret(self, event: Event) -> None:
        """Reconcile the clusters whose kubeconfig may have changed."""
        for cluster in self.kueue.store.every(CLUSTER):
            if secret_of(cluster) == event.key[1]:
                self.kueue.reconcile(CLUSTER, ("", cluster["metadata"]["name"]))

    def on_config(self, event: Event) -> None:
        """Reconcile the checks of a configuration."""
        assert event.kind == CONFIG
        self._reconcile_checks()

    def on_check(self, event: Event) -> None:
        """Reconcile a check."""
        self.kueue.reconcile(CONFIG, event.key)

    def _reconcile_checks(self) -> None:
        for check in self.kueue.store.every(ADMISSION_CHECK):
            self.kueue.reconcile(CONFIG, ("", check["metadata"]["name"]))

    def reconcile(self, kind: str, key: Key) -> None:
        """Bring a cluster in line with its Secret, or a check in line with its clusters."""
        if kind == CLUSTER:
            self._connect(key[1])
        else:
            self._activate(key[1])

    def connected(self, check: Manifest) -> Mapping[str, Remote]:
        """Give the API server of each connected cluster of a check."""
        found = {}
        for name in self.named_by(check):
            connection = self.connections.get(name)
            if connection is not None and connection.remote is not None:
                found[name] = connection.remote
        return found

    def named_by(self, check: Manifest) -> list[str]:
        """Name the clusters of a check."""
        config = self.kueue.store.find(CONFIG, config_of(check))
        return [*clusters_of(config)] if config else []

    def lost_for(self, name: str) -> float:
        """Give the seconds since a cluster was lost; 0 for one that was never known."""
        now = self.kueue.clock.seconds
        connection = self.connections.get(name) or Connection(lost_since=now)
        return now - connection.lost_since

    def _connect(self, name: str) -> None:
        cluster = self.kueue.store.find(CLUSTER, name)
        if cluster is None:
            self.connections.pop(name, None)
            return
        connection = self.connections.setdefault(
            name, Connection(lost_since=self.kueue.clock.seconds)
        )
        secret = self._secret(cluster)
        if secret is None:
            self._disconnect(cluster, connection)
            return
        kubeconfig = kubeconfig_in(secret)
        if connection.remote is not None and connection.kubeconfig == kubeconfig:
            return
        remote = self.dial(kubeconfig)
        if remote is None:
            self._lose(cluster, connection, "ClientConnectionFailed", "no connection")
            return
        connection.remote, connection.kubeconfig = remote, kubeconfig
        remote.watch(self._on_change)
        self._write(cluster, True, "Active", "Connected")
        for copy in self._copies_on(remote):
            self._later(key_of(copy))

    def _disconnect(self, cluster: Manifest, connection: Connection) -> None:
        """Lose a cluster whose Secret is not there."""
        reason = self.kueue.behaviour.dispatching.disconnect()
        assert reason is not None
        missing = f'Secret "{secret_of(cluster)}" not found'
        message = f"load client config failed: {missing}"
        self._lose(cluster, connection, reason, message)

    def _secret(self, cluster: Manifest) -> Manifest | None:
        namespace = self.kueue.configuration.namespace
        return self.kueue.store.find(SECRET, secret_of(cluster), namespace)

    def _lose(
        self, cluster: Manifest, connection: Connection, reason: str, message: str
    ) -> None:
        if connection.remote is not None:
            connection.remote = None
            connection.lost_since = self.kueue.clock.seconds
        self._write(cluster, False, reason, message)

    def _write(
        self, cluster: Manifest, active: bool, reason: str, message: str
    ) -> None:
        working = _working(cluster)
        now = self.kueue.clock.now
        set_condition(working, "Active", active, reason, message, now)
        self.kueue.store.put(working)

    def _activate(self, name: str) -> None:
        """Write whether a check of MultiKueue is active, by its clusters."""
        store = self.kueue.store
        check = store.find(ADMISSION_CHECK, name)
        if check is None or not is_multikueue(check):
            return
        missing, inactive = [], []
        clusters = self.named_by(check)
        for each in clusters:
            cluster = store.find(CLUSTER, each)
            if cluster is None:
                missing.append(each)
            elif not is_true(cluster, "Active"):
                inactive.append(each)
        use = ClusterUse(clusters=clusters, missing=missing, inactive=inactive)
        active = self.kueue.behaviour.dispatching.active(use)
        working = _working(check)
        if active:
            apply_condition(working, active, self.kueue.clock.now)
            store.put(working)

    def _on_change(self, event: Event) -> None:
        """Reconcile the Workload of a copy that has changed on a worker, with the next batch."""
        obj = event.obj
        if not is_from_manager(obj):
            return
        if event.kind == "Workload":
            self._later(event.key)
        else:
            self._later_of_work(obj)

    def _later_of_work(self, job: Manifest) -> None:
        name = self.kueue.behaviour.dispatching.prebuilt.or_else("", job)
        self._later((job["metadata"]["namespace"], name))

    def _later(self, key: Key) -> None:
        self.kueue.later(EVENTS_BATCH_PERIOD, lambda: self.changed(key))

    def _copies_on(self, remote: Remote) -> Iterator[Manifest]:
        return filter(is_from_manager, remote.store.every("Workload"))


def withdraw(remote: Remote, copy: Manifest) -> None:
    """Delete the copy of a Workload on a worker, and the work that owns it there."""
    namespace = copy["metadata"]["namespace"]
    for owner in owners_of(copy):
        named = {**owner, "namespace": namespace}
        remote.withdraw(Ref.of(named))
    remote.withdraw(Ref.of(copy))


def _working(obj: Manifest) -> Manifest:
    return {**obj, "status": copied(status_of(obj))}
