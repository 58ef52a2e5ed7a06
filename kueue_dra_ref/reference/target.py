"""The reference as a target: an API server and a Kueue in memory, under one behaviour, in simulated time.

No counterpart: the in-memory control plane as a target.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kueue_dra_ref.api.conversion import presented
from kueue_dra_ref.api.deepcopy import copied
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
from kueue_dra_ref.reference.manager import Manager
from kueue_dra_ref.target import (
    Audit,
    FieldError,
    Manifest,
    NotQuiescent,
    Ref,
    Rejection,
)
from kueue_dra_ref.workload.dra_resources import DRAResources
from kueue_dra_ref.workload.map_order import MapOrder

_PATIENCE = 2.0
"""Simulated seconds that a settling world is given: longer than a sweep takes."""

_AUDITED = ("Job", "Workload", "LocalQueue", "ClusterQueue")


class ReferenceTarget:
    """Kueue in memory; see `kueue_dra_ref.target.Target` for what each method promises."""

    name = "reference"

    def __init__(
        self,
        behaviour: Behaviour,
        api_server: ApiServer | None = None,
        chance: MapOrder | None = None,
    ) -> None:
        self.behaviour = behaviour
        self.api_server = api_server or ApiServer()
        self.chance = chance or MapOrder()
        self.clock = Clock()
        self.store = Store(self.clock, self._heard)
        self._manager: Manager | None = None
        self._running: Manifest | None = None
        self._writer = AdmissionChain(behaviour, self.api_server, self.store)
        self._seed_role()

    def start(self, configuration: Manifest) -> Sequence[FieldError]:
        """Load, check and run a configuration, or say everything that is wrong with it."""
        if self._manager is not None and configuration == self._running:
            return ()
        loaded = checked(self.behaviour, configuration)
        if not isinstance(loaded, tuple):
            return loaded
        found, gates = loaded
        self._running = copied(configuration)
        self._manager = None
        self.clock = Clock.at(self.clock.seconds)
        self.store.clock = self.clock
        self._writer.behaviour, self._writer.configuration = (
            self.behaviour.under(gates),
            found,
        )
        self._manager = Manager(self._writer.behaviour, found, self.store, self.clock)
        self._manager.kueue.map_order = self.chance
        return ()

    def check(self, configuration: Manifest) -> Sequence[FieldError]:
        """Load and check a configuration without running it."""
        found = checked(self.behaviour, configuration)
        return () if isinstance(found, tuple) else found

    def apply(self, manifests: Iterable[Manifest]) -> Sequence[Rejection]:
        """Store each object as an API server with Kueue's webhooks would; each Job and Workload is decided in turn."""
        refusals = []
        for manifest in manifests:
            try:
                written = self._writer.write(manifest)
            except ManifestError as fault:
                refusals.append(refusal_of(manifest, fault))
            else:
                self._take_note(written["kind"])
        return refusals

    def delete(self, refs: Iterable[Ref]) -> None:
        """Delete objects, and with a Job its Workload."""
        for ref in refs:
            for workload in self._owned(ref):
                self.store.remove(workload)
            self.store.remove(ref)
            self._writer.forget(ref)
        self._work()

    def touch(self, refs: Iterable[Ref]) -> None:
        """Have Kueue hear of the Workload of each Job, as of any change of its metadata."""
        for ref in refs:
            for workload in [ref] if ref.kind == "Workload" else self._owned(ref):
                found = self.store.find("Workload", workload.name, workload.namespace)
                if found and self._manager:
                    self._manager.on_event(
                        Event(kind="Workload", key=key_of(found), old=found, new=found)
                    )
        self._work()

    def settle(self) -> None:
        """Let simulated time pass until sweeps and early retries have happened.

        Raises:
            Restless: Kueue, or a reference without one of its rules, would go on for ever.

        """
        self._work()
        until = self.clock.seconds + _PATIENCE
        while not self._restless and self.clock.advance(until):
            self._work()
        if self._restless:
            raise NotQuiescent("; ".join(self._restless))

    def read(self, ref: Ref) -> Manifest | None:
        """One object in the version that the reference asks for."""
        found = (
            self.store.find(ref.kind, ref.name, ref.namespace)
            if ref.kind in KINDS
            else None
        )
        return None if found is None else presented(found, ref.api_version)

    def list(
        self, api_version: str, kind: str, namespace: str = ""
    ) -> Sequence[Manifest]:
        """All objects of a kind, sorted by namespace and name."""
        found = [
            obj
            for obj in self.store.every(kind)
            if namespace in ("", obj["metadata"].get("namespace", ""))
        ]
        found.sort(
            key=lambda obj: (
                obj["metadata"].get("namespace", ""),
                obj["metadata"]["name"],
            )
        )
        return [presented(obj, api_version) for obj in found]

    def audit(self, check: Audit) -> Sequence[str]:
        """Have everything checked that Kueue moves; there are no metrics."""
        return check([obj for kind in _AUDITED for obj in self.store.every(kind)], "")

    def derivation(self, namespace: str, name: str) -> DRAResources | None:
        """How the charge of a Workload came about, as far as devices are concerned."""
        return (
            self._manager.kueue.derivations.get((namespace, name))
            if self._manager
            else None
        )

    def decision(self, namespace: str, name: str) -> tuple[Step, ...]:
        """How the last decision on a Workload came about, from its claims to the verdict; empty before the first."""
        return (
            self._manager.kueue.decisions.get((namespace, name), ())
            if self._manager
            else ()
        )

    @property
    def manager(self) -> Manager | None:
        """The simulated Kueue, once it runs."""
        return self._manager

    def log(self) -> str:
        """Nothing: `decision` says how it came about."""
        return ""

    def describe(self) -> Manifest:
        """What the report says of this judge."""
        return {
            "kind": "reference",
            "behaviour": self.behaviour.name,
            "title": self.behaviour.title,
        }

    def clean(self) -> None:
        """Begin again with an empty store and, if one ran, no Kueue."""
        self._manager, self._running = None, None
        self.api_server.warnings.clear()
        self.clock = Clock()
        self.store = Store(self.clock, self._heard)
        self._writer = AdmissionChain(self.behaviour, self.api_server, self.store)
        self._seed_role()

    def stop(self) -> None:
        """Forget the simulated Kueue."""
        self._manager = None

    @property
    def _restless(self) -> Sequence[str]:
        return self._manager.restless if self._manager else ()

    def _take_note(self, kind: str) -> None:
        if kind == "ClusterRole":
            self._running = (
                None  # Kueue's caches take notice of its rights when it starts
            )
        if kind in {"Job", "Workload"}:
            self._work()

    def _owned(self, ref: Ref) -> Sequence[Ref]:
        if ref.kind != "Job":
            return ()
        return [
            Ref.of(workload)
            for workload in self.store.every("Workload")
            if workload["metadata"]["namespace"] == ref.namespace
            and any(
                o["kind"] == "Job" and o["name"] == ref.name
                for o in workload["metadata"].get("ownerReferences") or ()
            )
        ]

    def _seed_role(self) -> None:
        rules = [
            {key: list(values) for key, values in rule.items()}
            for rule in self.behaviour.role
        ]
        meta = {"name": ROLE}
        role = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": meta,
            "rules": rules,
        }
        self.store.put(role)

    def _heard(self, event: Event) -> None:
        if self._manager is not None:
            self._manager.on_event(event)

    def _work(self) -> None:
        if self._manager is not None:
            self._manager.run_until_idle()
