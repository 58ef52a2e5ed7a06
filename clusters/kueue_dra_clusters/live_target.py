"""The target port over a real Kueue on a node-less control plane: manifests in, the same objects with status out."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus

from kueue_dra_clusters.api_client import Answer
from kueue_dra_clusters.applied_objects import AppliedObjects
from kueue_dra_clusters.apply import ApplyResult, write, write_status
from kueue_dra_clusters.cleanup import Cleanup
from kueue_dra_clusters.creation_order import CreationOrder, workloads_of
from kueue_dra_clusters.errors import lines_about
from kueue_dra_clusters.fence import PREFIX, Fence
from kueue_dra_clusters.in_flight import InFlight
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.invariant_checks import InvariantChecks
from kueue_dra_clusters.kueue_process import ROLE
from kueue_dra_clusters.ownership import Ownership
from kueue_dra_clusters.pending_retries import PendingRetries
from kueue_dra_clusters.plane import Plane
from kueue_dra_clusters.queue_status_sync import QueueStatusSync
from kueue_dra_clusters.settle import Settle
from kueue_dra_clusters.stop_policy_sync import StopPolicySync
from kueue_dra_clusters.waiting import TimedOut, WaitLimits, limits_of
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
    }
)
"""Kinds whose creation makes Kueue sweep the inadmissible workloads of other queues."""

COUNTED = frozenset({"LimitRange", "RuntimeClass"})
"""Kinds whose creation has Kueue count anew what waits."""

INERT = frozenset(
    {"Namespace", "ResourceClaimTemplate", "ResourceFlavor", "WorkloadPriorityClass"}
)
"""Kinds that decide nothing once the Jobs and queues that named them are gone."""


class LiveTarget:
    """A real Kueue as a judge; one of them serves many cases, one after another, with `clean` between them.

    With ``labels`` it works in a cluster that others use too: it labels what it makes, touches nothing else, and
    leaves namespaces to the namespace controller.  The kinds that it ``leaves`` it does not remove.
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
        limits = limits or limits_of(os.environ)
        self._custody = Ownership(labels=dict(labels or {}))
        self._objects = plane.objects(limits)
        self._mirror = InformerCache(objects=self._objects)
        self._world = AppliedObjects()
        self._cleaning = Cleanup(
            objects=self._objects,
            mirror=self._mirror,
            limits=limits,
            finalizes=not self._custody.labels,
            leaves=leaves,
        )
        self._fence = Fence(
            objects=self._objects,
            mirror=self._mirror,
            run=secrets.token_hex(4),
            labels=self._custody.labels,
            limits=limits,
            pauses=plane.pauses,
        )
        self._ahead = PendingRetries(
            mirror=self._mirror, world=self._world, limits=limits, pauses=plane.pauses
        )
        self._stops = StopPolicySync(
            objects=self._objects, world=self._world, fence=self._fence
        )
        self._settling = Settle(
            objects=self._objects,
            mirror=self._mirror,
            world=self._world,
            fence=self._fence,
            underway=InFlight(
                mirror=self._mirror,
                world=self._world,
                fence=self._fence,
                metrics=plane.kueue.metrics,
            ),
            ahead=self._ahead,
            stops=self._stops,
            is_denied=plane.kueue.is_denied,
            limits=limits,
        )
        self._counting = QueueStatusSync(
            mirror=self._mirror,
            world=self._world,
            fence=self._fence,
            limits=limits,
            sweeps=self._ahead.note_opening,
        )
        self._auditing = InvariantChecks(
            objects=self._objects,
            mirror=self._mirror,
            world=self._world,
            kueue=plane.kueue,
            limits=limits,
        )
        self._order = CreationOrder(
            objects=self._objects, mirror=self._mirror, world=self._world, limits=limits
        )
        self._configuration = ""
        self._description: Manifest = {}
        self._touches = 0

    def start(self, configuration: Manifest) -> Sequence[FieldError]:
        """Run Kueue with a Configuration unless it runs with the same one, or say why it refuses to start."""
        wanted = json.dumps(configuration, sort_keys=True, default=str)
        if wanted == self._configuration:
            return ()
        faults = self._plane.kueue.start(configuration)
        if not faults:
            self._configuration = wanted
            self._world.selector = (
                configuration.get("managedJobsNamespaceSelector") or {}
            )
            self._ahead.note_change()
            self._counting.forget()
        return faults

    def check(self, configuration: Manifest) -> Sequence[FieldError]:
        """Say why Kueue would refuse to start with a Configuration, and leave the running one alone."""
        return self._plane.kueue.check(configuration)

    def apply(self, manifests: Iterable[Manifest]) -> Sequence[Rejection]:
        """Create each object or replace its spec; give what the API server or a webhook refused."""
        self._settling.wait_for_requeue()
        answers = [
            (
                ref := Ref.of(each),
                self._permit(each) if ref == ROLE else self._apply(each),
            )
            for each in manifests
        ]
        return [
            Rejection(ref=ref, code=answer.code, message=answer.message)
            for ref, answer in answers
            if not answer.ok
        ]

    def delete(self, refs: Iterable[Ref]) -> None:
        """Delete objects and, with each Job, its Workload; return when Kueue has let go of them."""
        self._settling.wait_for_requeue()
        for ref in refs:
            self._custody.insist_on(self._objects, ref)
            if (
                ref.kind == "ResourceFlavor"
            ):  # Kueue lets one go that no ClusterQueue names of which it has heard
                self._fence.pass_queues((), ())
            self._cleaning.remove(
                [ref, *workloads_of(self._mirror, ref)], entirely=False
            )
            self._note_end(ref)
            if ref.kind == "DeviceClass":
                self._ahead.note_class()

    def touch(self, refs: Iterable[Ref]) -> None:
        """Change an annotation of each Job's Workload, so that Kueue reconciles it at once."""
        self._settling.wait_for_requeue()
        self._touches += 1
        for ref in refs:
            self._custody.insist_on(self._objects, ref)
            for workload in (
                workloads_of(self._mirror, ref) if ref.kind == "Job" else [ref]
            ):
                self._objects.patch(
                    workload,
                    {"metadata": {"annotations": {TOUCHED: str(self._touches)}}},
                )
        self._ahead.note_change()

    def settle(self) -> None:
        """Return when every decision that follows from what was applied so far has been made.

        Raises:
            TimedOut: something still moves or is missing; with what Kueue has logged of the world's namespaces.

        """
        self._settling.wait_for_requeue()
        try:
            self._come_to_rest()
        except TimedOut as trouble:
            if told := self.log():
                trouble.add_note(told)
            raise

    def _come_to_rest(self) -> None:
        self._settling.settle()
        while gone := self._cleaning.let_go():
            for ref in gone:
                self._note_end(ref)
            self._settling.settle()

    def read(self, ref: Ref) -> Manifest | None:
        """Give one object as stored, in the version asked for, or None; queues with their figures up to date."""
        if ref.kind in QUEUES:
            self._counting.settle()
        return self._objects.read(ref)

    def list(
        self, api_version: str, kind: str, namespace: str = ""
    ) -> Sequence[Manifest]:
        """Give all objects of a kind but those of the fence, sorted by namespace and name."""
        if kind in QUEUES:
            self._counting.settle()
        found = self._objects.list(api_version, kind, namespace)
        return sorted((each for each in found if not _is_fence(each)), key=_place)

    def audit(self, check: Audit) -> Sequence[str]:
        """Have the world checked as it shows itself; with figures that come late, and with metrics once it is right."""
        return self._auditing.audit(check)

    def log(self) -> str:
        """Give the last lines of Kueue's log about the world's namespaces; empty where the log cannot be had."""
        log = self._plane.kueue.log()
        return lines_about(self._world.namespaces, log) if log else ""

    def describe(self) -> Manifest:
        """Say which Kueue and which Kubernetes judge, and the versions of resource.k8s.io that are served."""
        if not self._description:
            version = self._objects.call("GET", "/version").body.get("gitVersion", "")
            served = (
                self._objects.call("GET", "/apis/resource.k8s.io").body.get("versions")
                or []
            )
            self._description = {
                "kind": self.name,
                **self._plane.kueue.describe(),
                "kubernetes": version,
                "resourceVersions": [each["version"] for each in served],
            }
        return dict(self._description)

    def clean(self) -> None:
        """Remove everything applied since the last clean-up, so that the next case finds an empty cluster."""
        for ref in self._world.refs():
            if not self._custody.holds(self._objects, ref):
                self._world.forget(ref)
        self._cleaning.clean(self._world)
        self._order.clear()
        self._settling.forget()
        self._counting.forget()

    def stop(self) -> None:
        """Remove everything that this target made; the control plane ends with whoever started it."""
        self.clean()
        self._cleaning.remove(self._fence.refs())
        self._cleaning.finish()
        self._fence.forget()
        self.close()

    def close(self) -> None:
        """End what follows the API server; the target is of no use from here on."""
        self._mirror.close()

    def _note_end(self, ref: Ref) -> None:
        """Take note that an object was deleted, or that it has gone since: what waits behind it is told so."""
        if not self._cleaning.keeps(ref):
            self._world.forget(ref)
        if ref.kind == "ClusterQueue":
            self._stops.note(ref)
        self._ahead.note_change()

    def _permit(self, role: Manifest) -> Answer:
        self._plane.kueue.permit(role["rules"])
        self._configuration = (
            ""  # Kueue's caches take notice of its rights when it starts
        )
        return Answer(code=HTTPStatus.OK, body={})

    def _apply(self, manifest: Manifest) -> Answer:
        self._order.before(manifest)
        body = {key: value for key, value in manifest.items() if key != "status"}
        before = self._world.written(Ref.of(manifest))
        if before and _stop_policy(manifest) not in ("None", _stop_policy(before)):
            self._settling.settle()  # a stop comes after what was submitted before it, not beside it
        written = write(self._objects, self._custody, body, before)
        if not written.answer.ok:
            return written.answer
        self._take_note(manifest, before, written)
        self._world.add(manifest, changed=written.changed)
        if not manifest.get("status"):
            return written.answer
        self._ahead.note_change()
        return write_status(self._objects, Ref.of(manifest), manifest["status"])

    def _take_note(
        self, manifest: Manifest, before: Manifest, written: ApplyResult
    ) -> None:
        if written.created:
            self._order.created(manifest)
            if manifest["kind"] in SWEEPING:
                self._ahead.note_opening()
        late = SWEEPING | COUNTED
        if written.changed and (
            not written.created or (manifest["kind"] in late and self._world.has_jobs)
        ):
            self._ahead.note_change()
        if written.changed and manifest["kind"] == "DeviceClass":
            self._ahead.note_class()
        if written.changed and manifest["kind"] == "ResourceClaimTemplate":
            self._ahead.note_template()
        if written.changed and _stop_policy(manifest) not in (
            "None",
            _stop_policy(before),
        ):
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
