"""The target port for a real Kueue on a control plane without nodes: applies manifests, reads objects with status."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus

from kueue_dra_clusters.api_client import Answer
from kueue_dra_clusters.applied_objects import AppliedObjects
from kueue_dra_clusters.apply import ApplyResult, write, write_status
from kueue_dra_clusters.cleanup import Cleanup
from kueue_dra_clusters.creation_order import (
    CreationOrder,
    dependents_of,
    with_variants,
    workloads_of,
)
from kueue_dra_clusters.errors import lines_about
from kueue_dra_clusters.fence import PREFIX, Fence
from kueue_dra_clusters.group_stateful_sets import controlled
from kueue_dra_clusters.in_flight import InFlight
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.invariant_checks import InvariantChecks
from kueue_dra_clusters.kueue_process import ROLE
from kueue_dra_clusters.ownership import Ownership
from kueue_dra_clusters.pending_retries import PendingRetries
from kueue_dra_clusters.plane import Plane
from kueue_dra_clusters.pods_wait import PodsWait
from kueue_dra_clusters.queue_status_sync import QueueStatusSync
from kueue_dra_clusters.releases import unread_by
from kueue_dra_clusters.settle import Settle
from kueue_dra_clusters.stop_policy_sync import StopPolicySync
from kueue_dra_clusters.waiting import NotYet, TimedOut, WaitLimits, limits_of
from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK
from kueue_dra_ref.api.job_kinds import JOB_KINDS, POD
from kueue_dra_ref.api.metadata import finalizers_of
from kueue_dra_ref.api.pod_owners import POD_OWNERS
from kueue_dra_ref.api.topologies import NODE, TOPOLOGY
from kueue_dra_ref.target import Audit, FieldError, Manifest, Ref, Rejection

TOUCHED = "kueue-dra.dev/touched"
QUEUES = frozenset({"ClusterQueue", "LocalQueue"})
SWEEPING = frozenset(
    {
        "ClusterQueue",
        "Cohort",
        "ResourceFlavor",
        "ResourceSlice",
        "AdmissionCheck",
        "Topology",
        "Node",
    }
)
"""Kinds whose creation makes Kueue requeue the inadmissible workloads of other queues."""

COUNTED = frozenset({"LimitRange", "RuntimeClass"})
"""Kinds whose creation makes Kueue compute the requests of pending workloads again."""

INERT = frozenset(
    {
        "Namespace",
        "ResourceClaimTemplate",
        "ResourceFlavor",
        "Topology",
        "WorkloadPriorityClass",
    }
)
"""Kinds that have no effect once the Jobs and queues that name them are gone."""


class LiveTarget:
    """A real Kueue as a target; it serves many cases, one after another, with `clean` between them.

    With ``labels`` it works in a shared cluster: it labels the objects that it creates, changes no others, and leaves
    namespaces to the namespace controller.  It does not delete objects of the kinds in ``leaves``.
    """

    name = "kueue"

    def __init__(
        self,
        plane: Plane,
        *,
        limits: WaitLimits | None = None,
        labels: Mapping[str, str] | None = None,
        leaves: frozenset[str] = frozenset(),
    ) -> None:
        self._plane = plane
        self._limits = limits or limits_of(os.environ)
        self._ownership = Ownership(labels=dict(labels or {}))
        self._objects = plane.objects(self._limits)
        self._informers = InformerCache(objects=self._objects)
        self._applied = AppliedObjects()
        self._cleaning = self._cleanup(leaves)
        self._fence = self._new_fence()
        self._pods_wait = PodsWait()
        self._retries = PendingRetries(
            informers=self._informers,
            applied=self._applied,
            limits=self._limits,
            pauses=plane.pauses,
        )
        self._stops = StopPolicySync(
            objects=self._objects, applied=self._applied, fence=self._fence
        )
        self._settling = self._settle()
        self._counting = self._queue_status_sync()
        self._auditing = self._invariant_checks()
        self._order = self._creation_order()
        self._configuration = ""
        self._description: Manifest = {}
        self._touches = 0

    def _cleanup(self, leaves: frozenset[str]) -> Cleanup:
        return Cleanup(
            objects=self._objects,
            informers=self._informers,
            limits=self._limits,
            finalizes=not self._ownership.labels,
            leaves=leaves,
        )

    def _new_fence(self) -> Fence:
        return Fence(
            objects=self._objects,
            informers=self._informers,
            run=secrets.token_hex(4),
            labels=self._ownership.labels,
            limits=self._limits,
            pauses=self._plane.pauses,
        )

    def _settle(self) -> Settle:
        kueue = self._plane.kueue
        in_flight = InFlight(
            informers=self._informers,
            applied=self._applied,
            fence=self._fence,
            metrics=kueue.metrics,
        )
        return Settle(
            objects=self._objects,
            informers=self._informers,
            applied=self._applied,
            fence=self._fence,
            in_flight=in_flight,
            retries=self._retries,
            stops=self._stops,
            is_denied=kueue.is_denied,
            collect_orphans=self._cleaning.collect_orphans,
            pods_wait=self._pods_wait,
            limits=self._limits,
        )

    def _queue_status_sync(self) -> QueueStatusSync:
        return QueueStatusSync(
            informers=self._informers,
            applied=self._applied,
            fence=self._fence,
            limits=self._limits,
            sweeps=self._retries.note_opening,
        )

    def _invariant_checks(self) -> InvariantChecks:
        return InvariantChecks(
            objects=self._objects,
            informers=self._informers,
            applied=self._applied,
            kueue=self._plane.kueue,
            limits=self._limits,
        )

    def _creation_order(self) -> CreationOrder:
        return CreationOrder(
            objects=self._objects,
            informers=self._informers,
            applied=self._applied,
            limits=self._limits,
        )

    def start(self, configuration: Manifest) -> Sequence[FieldError]:
        """Run Kueue with a Configuration unless it runs with the same one; give the errors if it does not start."""
        wanted = json.dumps(configuration, sort_keys=True, default=str)
        if wanted == self._configuration:
            return ()
        faults = self._plane.kueue.start(configuration)
        if not faults:
            self._configuration = wanted
            selector = configuration.get("managedJobsNamespaceSelector") or {}
            self._applied.selector = selector
            unnamed_too = configuration.get("manageJobsWithoutQueueName")
            self._applied.manages_all = bool(unnamed_too)
            integrations = configuration.get("integrations") or {}
            frameworks = integrations.get("frameworks") or ()
            running = self._plane.kueue.describe()["kueue"]
            self._applied.frameworks = frozenset(frameworks)
            self._applied.unread = unread_by(running)
            self._pods_wait.configure(configuration)
            self._settling.retention.configure(configuration)
            self._retries.note_change()
            self._counting.forget()
        return faults

    def check(self, configuration: Manifest) -> Sequence[FieldError]:
        """Give the errors with which Kueue would not start with a Configuration; the running one continues."""
        return self._plane.kueue.check(configuration)

    def apply(self, manifests: Iterable[Manifest]) -> Sequence[Rejection]:
        """Create each object or replace its spec; give the rejections of the API server or a webhook."""
        self._settling.wait_for_requeue()
        rejections = []
        for manifest in manifests:
            ref = Ref.of(manifest)
            apply = self._permit if ref == ROLE else self._apply
            answer = apply(controlled(self._objects, manifest))
            if not answer.ok:
                rejection = Rejection(ref=ref, code=answer.code, message=answer.message)
                rejections.append(rejection)
        return rejections

    def delete(self, refs: Iterable[Ref]) -> None:
        """Delete objects and, with each Job, its Workload; wait until Kueue has removed its finalizers."""
        self._settling.wait_for_requeue()
        for ref in refs:
            self._ownership.insist_on(self._objects, ref)
            if ref.kind in ("ResourceFlavor", ADMISSION_CHECK):
                # Kueue releases one that no ClusterQueue of its informer names.
                self._fence.pass_queues((), ())
            if ref.kind == TOPOLOGY:
                self._await_finalizer(ref)
            dependents = self._dependents(ref)
            self._cleaning.remove([ref, *dependents], entirely=False)
            for each in dependents:
                if each.kind == POD.name:
                    self._record_deletion(each)
            self._record_deletion(ref)
            if ref.kind == "DeviceClass":
                self._retries.note_class()

    def _await_finalizer(self, ref: Ref) -> None:
        """Give Kueue time to add its finalizer to an object that was just created; with its gate off, it adds none."""

        def observed() -> None:
            found = self._informers.read(ref)
            if found is not None and not finalizers_of(found):
                raise NotYet(f"{ref.kind} {ref.name} has no finalizer")

        with suppress(TimedOut):
            self._informers.eventually(
                observed, within=self._limits.report, what="a finalizer"
            )

    def _dependents(self, ref: Ref) -> Sequence[Ref]:
        """Name what is deleted with an object; where controllers run, they delete the pods of what makes pods."""
        if ref.kind in POD_OWNERS and not self._cleaning.finalizes:
            return ()
        return dependents_of(self._informers, ref)

    def touch(self, refs: Iterable[Ref]) -> None:
        """Change an annotation of each Job's Workload and of its variants, so that Kueue reconciles them at once."""
        self._settling.wait_for_requeue()
        self._touches += 1
        for ref in refs:
            self._ownership.insist_on(self._objects, ref)
            is_work = ref.kind in JOB_KINDS or ref.kind in POD_OWNERS
            own = workloads_of(self._informers, ref) if is_work else [ref]
            for workload in with_variants(self._informers, own, ref.namespace):
                self._objects.patch(
                    workload,
                    {"metadata": {"annotations": {TOUCHED: str(self._touches)}}},
                )
        self._retries.note_change()

    def settle(self) -> None:
        """Wait until Kueue has made and written every decision that follows from what was applied so far.

        Raises:
            TimedOut: something still changes or is missing; with Kueue's log about the namespaces of the case.

        """
        self._settling.wait_for_requeue()
        try:
            self._settle_all()
        except TimedOut as trouble:
            if log := self.log():
                trouble.add_note(log)
            raise

    def _settle_all(self) -> None:
        self._settling.settle()
        while gone := self._cleaning.released():
            for ref in gone:
                self._record_deletion(ref)
            self._settling.settle()

    def read(self, ref: Ref) -> Manifest | None:
        """Give one object as stored, in the requested version, or None; queues with up-to-date status."""
        if ref.kind in QUEUES:
            self._counting.settle()
        return self._objects.read(ref)

    def list(
        self, api_version: str, kind: str, namespace: str = ""
    ) -> Sequence[Manifest]:
        """Give all objects of a kind except those of the fence, sorted by namespace and name."""
        if kind in QUEUES:
            self._counting.settle()
        found = self._objects.list(api_version, kind, namespace)
        return sorted((each for each in found if not _is_fence(each)), key=_place)

    def audit(self, check: Audit) -> Sequence[str]:
        """Check the objects as stored, then after late status updates, and last with metrics."""
        return self._auditing.audit(check)

    def log(self) -> str:
        """Give the last lines of Kueue's log about the namespaces of the case; empty without a log."""
        log = self._plane.kueue.log()
        return lines_about(self._applied.namespaces, log) if log else ""

    def describe(self) -> Manifest:
        """Give the versions of Kueue and Kubernetes, and the served versions of resource.k8s.io."""
        if not self._description:
            version = self._objects.call("GET", "/version").body.get("gitVersion", "")
            group = self._objects.call("GET", "/apis/resource.k8s.io").body
            served = group.get("versions") or []
            self._description = {
                "kind": self.name,
                **self._plane.kueue.describe(),
                "kubernetes": version,
                "resourceVersions": [each["version"] for each in served],
            }
        return dict(self._description)

    def clean(self) -> None:
        """Delete everything applied since the last clean-up, so that the next case finds an empty cluster."""
        for ref in self._applied.refs():
            if not self._ownership.holds(self._objects, ref):
                self._applied.forget(ref)
        self._cleaning.clean(self._applied)
        self._order.clear()
        self._settling.forget()
        self._counting.forget()

    def stop(self) -> None:
        """Delete everything that this target created; it does not stop the control plane."""
        self.clean()
        self._cleaning.remove(self._fence.refs())
        self._cleaning.finish()
        self._fence.forget()
        self.close()

    def close(self) -> None:
        """Stop the informers; the target cannot be used afterwards."""
        self._informers.close()

    def _record_deletion(self, ref: Ref) -> None:
        """Record that an object was deleted, or that it is gone since."""
        if not self._cleaning.keeps(ref):
            self._applied.forget(ref)
        if ref.kind == "ClusterQueue":
            self._stops.note(ref)
        self._retries.note_change()

    def _permit(self, role: Manifest) -> Answer:
        self._plane.kueue.permit(role["rules"])
        self._configuration = ""  # Kueue observes its permissions when it starts
        return Answer(code=HTTPStatus.OK, body={})

    def _apply(self, manifest: Manifest) -> Answer:
        if manifest["kind"] in JOB_KINDS:
            self._cleaning.collect_orphans()
        self._order.before(manifest)
        body = {key: value for key, value in manifest.items() if key != "status"}
        before = self._applied.written(Ref.of(manifest))
        if before and _stop_policy(manifest) not in ("None", _stop_policy(before)):
            self._settling.settle()  # earlier work is decided before the stop, not at the same time
        written = write(self._objects, self._ownership, body, before)
        if not written.answer.ok:
            return written.answer
        self._record(manifest, before, written)
        self._applied.add(manifest, changed=written.changed)
        if manifest["kind"] == NODE and written.created:
            # The API server gives a new Node a taint, which the node lifecycle controller would remove.
            write(self._objects, self._ownership, body, body)
        if not manifest.get("status"):
            return written.answer
        return self._write_status(manifest)

    def _write_status(self, manifest: Manifest) -> Answer:
        """Write the status of an object as its controller would."""
        if manifest["kind"] == NODE:
            self._retries.note_node()
        else:
            self._retries.note_change()
        return write_status(self._objects, Ref.of(manifest), manifest["status"])

    def _record(
        self, manifest: Manifest, before: Manifest, written: ApplyResult
    ) -> None:
        """Record what Kueue will do after a write."""
        if written.created:
            self._order.created(manifest)
            if manifest["kind"] in SWEEPING:
                self._retries.note_opening()
        if written.changed:
            self._record_change(manifest, before, written)

    def _record_change(
        self, manifest: Manifest, before: Manifest, written: ApplyResult
    ) -> None:
        kind = manifest["kind"]
        is_late = kind in SWEEPING | COUNTED and self._applied.has_jobs
        if not written.created or is_late:
            self._retries.note_change()
        if kind == "DeviceClass":
            self._retries.note_class()
        if kind == "ResourceClaimTemplate":
            self._retries.note_template()
        if _stop_policy(manifest) not in ("None", _stop_policy(before)):
            self._stops.note(Ref.of(manifest))


def _stop_policy(manifest: Manifest) -> str:
    return str((manifest.get("spec") or {}).get("stopPolicy") or "None")


def _is_fence(manifest: Manifest) -> bool:
    meta = manifest["metadata"]
    return bool(
        meta["name"].startswith(PREFIX) or meta.get("namespace", "").startswith(PREFIX)
    )


def _place(manifest: Manifest) -> tuple[str, str]:
    return manifest["metadata"].get("namespace", ""), manifest["metadata"]["name"]
