"""Writing to the reference as to an API server with Kueue's webhooks: an object is stored, or refused with a reason.

Kueue: pkg/webhooks/webhooks.go (Setup); pkg/controller/jobs/job/job_webhook.go (JobWebhook)
"""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.cluster_queues import cluster_queue_of
from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.crd_validation import drop, fill
from kueue_dra_ref.api.jobs import PRIORITY_LABEL, QUEUE_LABEL
from kueue_dra_ref.api.scheme import KINDS, kind_of
from kueue_dra_ref.api.status_errors import Denied, ManifestError
from kueue_dra_ref.api.three_way_merge import job_spec
from kueue_dra_ref.api.unstructured import text
from kueue_dra_ref.api.workloads import workload_of
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.controllers.finalizers import IN_USE
from kueue_dra_ref.controllers.job_management import ManagedJobs
from kueue_dra_ref.controlplane.apiserver import (
    ApiServer,
    WrongTypes,
    insist_on_namespace,
)
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.rules.workload.workload_priority_class import WORKLOAD_CLASS
from kueue_dra_ref.target import FieldError, Manifest, Ref, Rejection


class AdmissionChain:
    """Writes to one store; what was written last of each Job is remembered, to tell it from what Kueue changed."""

    def __init__(
        self, behaviour: Behaviour, api_server: ApiServer, store: Store
    ) -> None:
        self.behaviour, self.api_server, self.store = behaviour, api_server, store
        self._written: dict[Ref, Manifest] = {}
        self.configuration = Configuration()

    def write(self, manifest: Manifest) -> Manifest:
        """Store an object, and give it as it was decoded.

        Raises:
            ManifestFault: it is refused.

        """
        try:
            obj = self.api_server.storable(manifest, self.store, self.store.clock.now)
        except WrongTypes as wrong:
            faults = self.behaviour.definitions.faults(
                AdmissionRequest(new=manifest), (wrong.error, *wrong.others)
            )
            raise ManifestError(faults[0], others=faults[1:]) from None
        kind = obj["kind"]
        old = self.store.find(
            kind, obj["metadata"]["name"], obj["metadata"].get("namespace", "")
        )
        self._insist_on_kind(obj)
        written = self._made(obj) if old is None else self._changed(obj, old)
        is_changed_job = kind == "Job" and old is not None
        has_default = is_changed_job and self._managing.has_default_queue(
            written["metadata"]["namespace"]
        )
        kubernetes = self.api_server.kubernetes
        self._accept(
            AdmissionRequest(
                new=written,
                old=old,
                has_default_queue=has_default,
                kubernetes=kubernetes,
            )
        )
        if old is None and kind in {"Job", "Workload"}:
            self.store.clock.seconds += 1
        self.store.put(_with_status(written, obj))
        if kind == "Job":
            self._written[Ref.of(obj)] = obj["spec"]
        return obj

    def forget(self, ref: Ref) -> None:
        """A deleted object was never written."""
        self._written.pop(ref, None)

    def _insist_on_kind(self, obj: Manifest) -> None:
        """Refuse what is not of its kind, and a condition that does not say of what it is one."""
        kind, behaviour = obj["kind"], self.behaviour
        if KINDS[kind].optional and kind not in behaviour.extra_kinds:
            detail = f"{behaviour.title} has no such kind"
            raise ManifestError(
                FieldError(
                    field="kind", type="Not found", value=f'"{kind}"', detail=detail
                ),
                code=404,
            )
        for fault in (fault for rule in behaviour.objects for fault in rule(obj)):
            raise ManifestError(fault)
        for condition in (obj.get("status") or {}).get("conditions") or ():
            text(condition, "type", "status.conditions[]")

    def _accept(self, write: AdmissionRequest) -> None:
        """Look at what is written; at a new object once, for it follows from nothing else whether it is refused.

        Raises:
            ManifestFault: it is refused.

        """
        if write.old is None:
            self.api_server.once(
                write.new, (self.behaviour,), lambda: self._look_at(write)
            )
        else:
            self._look_at(write)

    def _look_at(self, write: AdmissionRequest) -> None:
        """Refuse what the API server does not take, then what a validating webhook denies; mutating ones were before.

        Raises:
            ManifestFault: it is refused.

        """
        found = (
            *self.api_server.metadata_faults(write.new),
            *self.behaviour.definitions.faults(write),
        )
        if wrong := self.api_server.not_to_be_taken(write.new, found):
            raise ManifestError(wrong[0], others=wrong[1:])
        if denied := list(self.behaviour.webhooks.faults(write)):
            raise Denied(f"v{write.new['kind'].lower()}.kb.io", denied)
        _readable(write.new)

    def _made(self, obj: Manifest) -> Manifest:
        """Give a new object as the mutating webhooks leave it."""
        insist_on_namespace(obj, self.store)
        for rule in self.behaviour.webhooks.defaults:
            for path, value in rule(obj["kind"]).items():
                fill(obj, path, value)
        for path in (
            path
            for rule in self.behaviour.webhooks.drop_fields
            for path in rule(obj["kind"])
        ):
            drop(obj, path)
        if obj["kind"] == "Job":
            self._queue(obj)
        if obj["kind"] in {"ClusterQueue", "ResourceFlavor"}:
            obj["metadata"]["finalizers"] = [
                *(obj["metadata"].get("finalizers") or ()),
                IN_USE,
            ]
        return obj

    def _queue(self, job: Manifest) -> None:
        """Give a Job its queue and its class, and suspend it, as Kueue's webhook does."""
        managing = self._managing
        for label, found in (
            (QUEUE_LABEL, managing.queue(job)),
            (PRIORITY_LABEL, self._priority(job)),
        ):
            if found:
                job["metadata"]["labels"] = {
                    **(job["metadata"].get("labels") or {}),
                    label: found,
                }
        if managing.claims(job):
            job["spec"]["suspend"] = True

    def _priority(self, job: Manifest) -> str:
        named = (job["metadata"].get("labels") or {}).get(PRIORITY_LABEL, "")
        has_default = self.store.find(WORKLOAD_CLASS, "default") is not None
        return next(
            (
                rule(named, has_default)
                for rule in self.behaviour.priorities.default_class
            ),
            named,
        )

    @property
    def _managing(self) -> ManagedJobs:
        return ManagedJobs(self.behaviour.jobs, self.configuration, self.store)

    def _changed(self, obj: Manifest, old: Manifest) -> Manifest:
        """Give an object as it would be once more, with the status that it has."""
        kept = {
            key: value
            for key, value in old["metadata"].items()
            if key not in {"labels", "annotations"}
        }
        merged = {key: value for key, value in obj.items() if key != "status"}
        merged["metadata"] = {**kept, **obj["metadata"]}
        if "status" in old:
            merged["status"] = old["status"]
        if obj["kind"] == "Job":
            before = self._written.get(Ref.of(obj), {})
            merged["spec"] = job_spec(old["spec"], obj.get("spec") or {}, before)
        return merged


def refusal_of(manifest: Manifest, fault: ManifestError) -> Rejection:
    """The answer to an object that is refused."""
    meta = manifest.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    kind = str(manifest.get("kind", ""))
    ref = Ref(
        api_version=str(manifest.get("apiVersion", "")),
        kind=kind,
        name=str(meta.get("name", "")),
        namespace=str(meta.get("namespace", "")),
    )
    if fault.message:
        return Rejection(
            ref=ref,
            code=fault.code,
            message=fault.message,
            error=fault.error,
            others=fault.others,
        )
    try:
        group = kind_of(manifest).group
    except ManifestError:
        group = ""
    named = (
        f'{kind}{"." + group if group else ""} "{ref.name}" is invalid: '
        if fault.code == 422
        else ""
    )
    told = (
        f"[{', '.join(map(str, (fault.error, *fault.others)))}]"
        if fault.others
        else str(fault)
    )
    return Rejection(
        ref=ref,
        code=fault.code,
        message=f"{named}{told}",
        error=fault.error,
        others=fault.others,
    )


def _readable(obj: Manifest) -> None:
    """Read what Kueue would read of an object, so that a malformed one is refused when it is applied."""
    readers: dict[str, Any] = {
        "ClusterQueue": cluster_queue_of,
        "Workload": workload_of,
    }
    if obj["kind"] in readers:
        readers[obj["kind"]](obj)


def _with_status(written: Manifest, obj: Manifest) -> Manifest:
    """Lay the status of a manifest over that of what is written, as a second write would."""
    if "status" not in obj or written is obj:
        return written
    return {
        **written,
        "status": _merged_status(written.get("status") or {}, obj["status"]),
    }


def _merged_status(old: Manifest, new: Manifest) -> Manifest:
    conditions = {
        c["type"]: c
        for c in (*(old.get("conditions") or ()), *(new.get("conditions") or ()))
    }
    return {**old, **new} | (
        {"conditions": list(conditions.values())} if conditions else {}
    )
