"""The reference as a target: an API server and a Kueue in memory, with one behaviour, in simulated time.

No counterpart: the in-memory control plane as a target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf

from kueue_dra_ref.api.configuration import NAMESPACE
from kueue_dra_ref.api.conversion import presented
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.job_kinds import JOB_KINDS, POD, SUBMITTED
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.pod_owners import POD_OWNERS
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.api.status_errors import ManifestError
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.controlplane.apiserver import ApiServer
from kueue_dra_ref.controlplane.clock import Clock
from kueue_dra_ref.controlplane.rbac import ROLE
from kueue_dra_ref.controlplane.store import Event, Store, key_of
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.reference.admission_chain import AdmissionChain, refusal_of
from kueue_dra_ref.reference.configuration_check import checked
from kueue_dra_ref.reference.fleet import Fleet
from kueue_dra_ref.reference.manager import Manager
from kueue_dra_ref.reference.restorable_store import RestorableStore
from kueue_dra_ref.target import (
    WORKERS,
    Audit,
    FieldError,
    Manifest,
    NotQuiescent,
    Ref,
    Rejection,
    Worker,
)
from kueue_dra_ref.workload.dra_resources import DRAResources
from kueue_dra_ref.workload.map_order import MapOrder

_PATIENCE = 2.0
"""Simulated seconds that settling takes: longer than a batch of requeues is delayed."""
_ENDS = 20
"""How many timeouts and backoffs in a row, each within that time, are waited for."""

_AUDITED = (*JOB_KINDS, "Workload", "LocalQueue", "ClusterQueue")


class ReferenceTarget:
    """Kueue in memory; `kueue_dra_ref.target.Target` describes what each method does."""

    name = "reference"

    def __init__(
        self,
        behaviour: Behaviour,
        api_server: ApiServer | None = None,
        map_order: MapOrder | None = None,
    ) -> None:
        self.behaviour = behaviour
        self.api_server = api_server or ApiServer()
        self.map_order = map_order or MapOrder(orders=behaviour.random_map_order)
        self.clock = Clock()
        restorable = RestorableStore(self.clock, self._on_event)
        self.store: Store = restorable
        self._manager: Manager | None = None
        self._running: Manifest | None = None
        self._continues = False
        """Whether Kueue goes on from the objects of a running cluster."""
        self._fleet: Fleet | None = None
        self._notify: Callable[[Event], None] | None = None
        """Sends changes to the manager of this cluster."""
        self._writer = AdmissionChain(behaviour, self.api_server, restorable)
        self._create_role()

    def start(self, configuration: Manifest) -> Sequence[FieldError]:
        """Load, validate and run a configuration, or report all its faults."""
        if self._manager is not None and configuration == self._running:
            return ()
        loaded = checked(self.behaviour, configuration)
        if not isinstance(loaded, tuple):
            return loaded
        found, gates = loaded
        behaviour = self.behaviour.under(gates)
        self._running = copied(configuration)
        self._manager = None
        self.clock = Clock.at(self.clock.seconds)
        self.store.clock = self.clock
        self._writer.behaviour = behaviour
        self._writer.configuration = found
        dial = self._fleet.dial if self._fleet and self._leads else None
        self._manager = Manager(
            behaviour, found, self.store, self.clock, dial, continues=self._continues
        )
        self._manager.kueue.map_order = self.map_order
        return ()

    def check(self, configuration: Manifest) -> Sequence[FieldError]:
        """Load and validate a configuration without running it."""
        found = checked(self.behaviour, configuration)
        return () if isinstance(found, tuple) else found

    def apply(self, manifests: Iterable[Manifest]) -> Sequence[Rejection]:
        """Write each object through the admission chain; Kueue decides on each Job and Workload in turn."""
        rejections = []
        for manifest in manifests:
            try:
                written = self._writer.write(manifest)
            except ManifestError as fault:
                rejections.append(refusal_of(manifest, fault))
            else:
                self._after_write(written["kind"])
        return rejections

    def workers(self) -> Sequence[Worker]:
        """Give two empty clusters that a manager reaches by their kubeconfigs; Kueue starts again with them."""
        names = [f"memory://worker{number + 1}" for number in range(WORKERS)]
        members = {name: self._worker() for name in names}
        fleet = Fleet(manager=self, workers={**members})
        for member in (self, *members.values()):
            member._fleet = fleet
        self._running = None
        self._create_namespace(NAMESPACE)
        return [Worker(target=members[name], kubeconfig=name) for name in names]

    def wait(self, arrived: Callable[[], bool]) -> None:
        """Settle: the clusters do not change after that."""
        self.settle()

    def _worker(self) -> ReferenceTarget:
        return ReferenceTarget(self.behaviour, self.api_server, self.map_order)

    def _create_namespace(self, name: str) -> None:
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name},
        }
        self.store.put(namespace)

    @property
    def _leads(self) -> bool:
        """Whether this is the manager of other clusters."""
        return self._fleet is not None and self._fleet.manager is self

    def create(self, manifest: Manifest) -> bool:
        """Create an object for a manager; False if the API server or a webhook rejects it."""
        try:
            self._writer.write(manifest)
        except ManifestError:
            return False
        return True

    def withdraw(self, ref: Ref) -> None:
        """Delete an object for a manager."""
        self.store.remove(ref)
        self._writer.forget(ref)

    def watch(self, notify: Callable[[Event], None]) -> None:
        """Send each change to a manager."""
        self._notify = notify

    def restore(
        self, manifests: Iterable[Manifest], seconds: float
    ) -> Sequence[Rejection]:
        """Store the objects of a running cluster, the oldest first, and continue at a time; call it before `start`."""
        self.clock.seconds = seconds
        self._continues = True
        rejections = []
        for manifest in sorted(manifests, key=_age):
            try:
                self._writer.restore(manifest)
            except ManifestError as fault:
                rejections.append(refusal_of(manifest, fault))
        return rejections

    def delete(self, refs: Iterable[Ref]) -> None:
        """Delete objects, and with a Job its Workload; that of a pod goes when the last of its pods is gone."""
        for ref in refs:
            for workload in self._owned(ref) if ref.kind != POD.name else ():
                self.store.remove(workload)
            self.store.remove(ref)
            self._writer.forget(ref)
        self.work()

    def touch(self, refs: Iterable[Ref]) -> None:
        """Send Kueue an update event for the Workload of each Job, as for any change of its metadata."""
        for ref in refs:
            for workload in [ref] if ref.kind == "Workload" else self._owned(ref):
                found = self.store.find("Workload", workload.name, workload.namespace)
                if found:
                    key = key_of(found)
                    event = Event(kind="Workload", key=key, old=found, new=found)
                    self._on_event(event)
        self.work()

    def settle(self) -> None:
        """Let simulated time pass until requeues and early retries have happened.

        Raises:
            NotQuiescent: Kueue, or a reference without one of its rules, never settles.

        """
        if self._fleet is not None:
            self._fleet.settle()
        else:
            self._settle()
        if restless := (self._fleet or self).restless:
            raise NotQuiescent("; ".join(restless))

    def _settle(self) -> None:
        self.work()
        self._advance(self.clock.seconds + _PATIENCE)
        for _ in range(_ENDS):
            end = self._next_end
            if end > self.clock.seconds + _PATIENCE:
                break
            self._advance(end)
        self._end_round()

    def _end_round(self) -> None:
        """Let a preemptor win that others have been faster than: sooner or later it is the only head left."""
        manager = self._manager
        if manager is None or not manager.goes_round:
            return
        manager.tries_all_heads = True
        self._advance(self.clock.seconds + _PATIENCE)
        manager.tries_all_heads = False

    def _advance(self, until: float) -> None:
        while not self.restless and self.clock.advance(until):
            self.work()

    @property
    def _next_end(self) -> float:
        return self._manager.kueue.next_end() if self._manager else inf

    def read(self, ref: Ref) -> Manifest | None:
        """Give one object in the API version of the Ref."""
        if ref.kind not in KINDS:
            return None
        found = self.store.find(ref.kind, ref.name, ref.namespace)
        return None if found is None else presented(found, ref.api_version)

    def list(
        self, api_version: str, kind: str, namespace: str = ""
    ) -> Sequence[Manifest]:
        """List all objects of a kind, sorted by namespace and name."""
        found = []
        for obj in self.store.every(kind):
            if namespace in ("", obj["metadata"].get("namespace", "")):
                found.append(obj)
        found.sort(key=_namespaced_name)
        return [presented(obj, api_version) for obj in found]

    def audit(self, check: Audit) -> Sequence[str]:
        """Check everything that Kueue changes; there are no metrics."""
        return check([obj for kind in _AUDITED for obj in self.store.every(kind)], "")

    def derivation(self, namespace: str, name: str) -> DRAResources | None:
        """Give what the devices of a Workload charge, with the steps that led to it."""
        if self._manager is None:
            return None
        return self._manager.kueue.derivations.get((namespace, name))

    def decision(self, namespace: str, name: str) -> tuple[Step, ...]:
        """Give the steps of the last decision on a Workload; empty before the first."""
        if self._manager is None:
            return ()
        return self._manager.kueue.decisions.get((namespace, name), ())

    @property
    def manager(self) -> Manager | None:
        """The simulated Kueue, once it runs."""
        return self._manager

    def log(self) -> str:
        """Give no log: `decision` explains what happened."""
        return ""

    def describe(self) -> Manifest:
        """Give the ``target`` block of the report."""
        return {
            "kind": "reference",
            "behaviour": self.behaviour.name,
            "title": self.behaviour.title,
        }

    def clean(self) -> None:
        """Begin again with an empty store and, if one ran, no Kueue."""
        self._manager = None
        self._running = None
        self._fleet = None
        self.api_server.warnings.clear()
        self.clock = Clock()
        restorable = RestorableStore(self.clock, self._on_event)
        self.store = restorable
        self._writer = AdmissionChain(self.behaviour, self.api_server, restorable)
        self._create_role()

    def stop(self) -> None:
        """Discard the simulated Kueue."""
        self._manager = None

    @property
    def restless(self) -> Sequence[str]:
        """What changes without end."""
        return self._manager.restless if self._manager else ()

    def _after_write(self, kind: str) -> None:
        if kind == "ClusterRole":
            self._running = None  # Kueue reads its permissions when it starts
        if kind in SUBMITTED:
            self.work()

    def _owned(self, ref: Ref) -> Sequence[Ref]:
        """Name the Workloads that a Job owns."""
        if ref.kind not in JOB_KINDS and ref.kind not in POD_OWNERS:
            return ()
        owned = []
        for workload in self.store.every("Workload"):
            namespace = workload["metadata"]["namespace"]
            if namespace == ref.namespace and _is_owned_by(workload, ref):
                owned.append(Ref.of(workload))
        return owned

    def _create_role(self) -> None:
        rules = []
        for rule in self.behaviour.role:
            rules.append({key: [*values] for key, values in rule.items()})
        role = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": ROLE},
            "rules": rules,
        }
        self.store.put(role)

    def _on_event(self, event: Event) -> None:
        if self._manager is not None:
            self._manager.on_event(event)
        if self._notify is not None:
            self._notify(event)

    def work(self) -> None:
        """Reconcile and schedule until nothing changes at this moment."""
        if self._manager is not None:
            self._manager.run_until_idle()


def _age(manifest: Manifest) -> tuple[bool, str, str]:
    """Order objects by creation, and Namespaces before what is in them."""
    meta = manifest["metadata"]
    is_in_namespace = manifest["kind"] != "Namespace"
    created = meta.get("creationTimestamp") or "9999"
    uid = meta.get("uid") or ""
    return is_in_namespace, str(created), str(uid)


def _namespaced_name(obj: Manifest) -> tuple[str, str]:
    meta = obj["metadata"]
    return meta.get("namespace", ""), meta["name"]


def _is_owned_by(obj: Manifest, job: Ref) -> bool:
    owners = owners_of(obj)
    return any(each["kind"] == job.kind and each["name"] == job.name for each in owners)
