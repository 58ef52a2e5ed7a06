"""Writes to the reference through the admission chain: mutating webhooks, validation, validating webhooks.

Kueue: pkg/webhooks/webhooks.go (Setup); pkg/controller/jobs/job/job_webhook.go (JobWebhook)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK, checks_named_by
from kueue_dra_ref.api.cluster_queues import cluster_queue_of
from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.crd_validation import drop, fill
from kueue_dra_ref.api.elastic_work import ELASTIC
from kueue_dra_ref.api.job_kind import replaced, spec_of, template_of
from kueue_dra_ref.api.job_kinds import (
    JOB_KINDS,
    POD,
    SUBMITTED,
    pod_set_places,
    with_suspend,
)
from kueue_dra_ref.api.jobs import PRIORITY_LABEL, QUEUE_LABEL, queue_named_by
from kueue_dra_ref.api.metadata import finalizers_of, labels_of
from kueue_dra_ref.api.multikueue import CONTROLLER, MANAGED_BY, managed_by
from kueue_dra_ref.api.nodes import node_of
from kueue_dra_ref.api.pod_owners import POD_OWNERS, STATEFUL_SET, group_workload
from kueue_dra_ref.api.provisioning import REQUEST
from kueue_dra_ref.api.queued_pods import with_gates
from kueue_dra_ref.api.scheme import KINDS, kind_of
from kueue_dra_ref.api.status_errors import Denied, ManifestError, Panicked
from kueue_dra_ref.api.three_way_merge import merged_work
from kueue_dra_ref.api.topologies import NODE, TOPOLOGY
from kueue_dra_ref.api.train_jobs import TRAIN_JOB, runtime_of
from kueue_dra_ref.api.unstructured import child, mappings, text
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
from kueue_dra_ref.reference.owner_mutation import OwnerMutation
from kueue_dra_ref.reference.pod_mutation import PodMutation
from kueue_dra_ref.reference.restorable_store import RestorableStore
from kueue_dra_ref.reference.restored_objects import check_metadata, check_status
from kueue_dra_ref.rules.workload.workload_priority_class import WORKLOAD_CLASS
from kueue_dra_ref.target import FieldError, Manifest, Ref, Rejection

JOB_CONTROLLER = "kubernetes.io/job-controller"
"""What ``managedBy`` of a Job names that names none."""


class AdmissionChain:
    """Writes to one store; it remembers the last manifest of each Job, to merge the next one with Kueue's changes."""

    def __init__(
        self, behaviour: Behaviour, api_server: ApiServer, store: RestorableStore
    ) -> None:
        self.behaviour = behaviour
        self.api_server = api_server
        self.store = store
        self.configuration = Configuration()
        self._last_applied: dict[Ref, Manifest] = {}

    def write(self, manifest: Manifest) -> Manifest:
        """Store an object, and give it as it was decoded.

        Raises:
            ManifestError: it is rejected.

        """
        obj = self._decoded(manifest)
        for path in self.behaviour.definitions.unknown_fields(obj["kind"]):
            drop(obj, path)
        ref = Ref.of(obj)
        old = self.store.find(ref.kind, ref.name, ref.namespace)
        self._check_kind(obj)
        given = obj.get("spec")
        written = self._mutated(obj) if old is None else self._merged(obj, old)
        if ref.kind in POD_OWNERS:
            written = self._mutated_owners.of(written)
        request = self._request(written, old)
        self._validate(request)
        if old is None and ref.kind in SUBMITTED:
            self.store.clock.seconds += 1
        with_status = _with_status(written, obj, self.store.clock.now)
        self._check_status(with_status, old, written)
        self.store.put(with_status)
        if ref.kind in JOB_KINDS:
            is_gated = self.behaviour.jobs.elastic(obj)
            self._last_applied[ref] = given if is_gated and given else obj["spec"]
        return obj

    def _check_status(
        self, obj: Manifest, old: Manifest | None, without: Manifest
    ) -> None:
        """Reject a status that the definition does not allow, or a webhook denies; the rest is stored by then.

        Raises:
            ManifestError: it is rejected.
            Panicked: the webhook does not survive it.

        """
        if old is None or obj is without or obj["kind"] != "Workload":
            return
        request = self._request(obj, old)
        try:
            self._reject(obj, self.behaviour.definitions.faults(request))
            self._ask_webhook(request)
        except ManifestError:
            self.store.put(without)
            raise

    def _ask_webhook(self, request: AdmissionRequest) -> None:
        """Reject what a validating webhook denies, or panics on.

        Raises:
            Denied: it is rejected.
            Panicked: the webhook does not survive it.

        """
        webhook = f"v{request.new['kind'].lower()}.kb.io"
        rules = self.behaviour.webhooks
        if rules.panics(request):
            raise Panicked(webhook)
        if denied := list(rules.faults(request)):
            raise Denied(webhook, denied)

    def restore(self, manifest: Manifest) -> None:
        """Store an object of a running cluster with its own metadata and status; no webhook rejects it.

        Raises:
            ManifestError: it cannot be decoded, or Kueue cannot read it.

        """
        obj = self._decoded(manifest)
        check_metadata(manifest)
        has_status = "status" in manifest and obj["kind"] in _WITH_STATUS
        if has_status and not obj.get("status"):
            obj["status"] = manifest["status"]
        check_status(obj)
        self._check_kind(obj)
        self._fill_defaults(obj)
        meta = manifest["metadata"]
        obj["metadata"] |= {key: meta[key] for key in _RESTORED if meta.get(key)}
        _restore_finalizers(obj)
        self._check_restored(obj)
        self.store.restore(obj)

    def _check_restored(self, obj: Manifest) -> None:
        """Reject an object that no API server would have stored."""
        request = AdmissionRequest(new=obj)
        self._reject(obj, self.behaviour.definitions.faults(request))
        _check_readable(obj)

    def _reject(self, obj: Manifest, found: Sequence[FieldError]) -> None:
        """Reject an object for the faults that the API server rejects it for, if any."""
        rejecting = self.api_server.rejecting(obj, found)
        if rejecting:
            raise ManifestError(rejecting[0], others=rejecting[1:])

    def forget(self, ref: Ref) -> None:
        """Forget the last manifest of a deleted object."""
        self._last_applied.pop(ref, None)

    def _decoded(self, manifest: Manifest) -> Manifest:
        try:
            return self.api_server.storable(manifest, self.store)
        except WrongTypes as error:
            if manifest["kind"] in JOB_KINDS:
                raise
            request = AdmissionRequest(new=manifest)
            wrong = (error.error, *error.others)
            faults = self.behaviour.definitions.faults(request, wrong)
            raise ManifestError(faults[0], others=faults[1:]) from None

    def _request(self, written: Manifest, old: Manifest | None) -> AdmissionRequest:
        has_default = False
        if written["kind"] in JOB_KINDS and old is not None:
            namespace = written["metadata"]["namespace"]
            has_default = self._managed_jobs.has_default_queue(namespace)
        is_off = self._is_off(written)
        return AdmissionRequest(
            new=written,
            old=old,
            has_default_queue=has_default,
            decoded=written["kind"] in JOB_KINDS and not is_off,
            manages_all=self.configuration.manage_jobs_without_queue_name,
            is_off=is_off,
            queues_pods=self._queues_pods(written),
            group_workload=old and self._group_workload(old),
            elastic=self.behaviour.jobs.elastic(written),
            missing_runtime=self._missing_runtime(written),
            kubernetes=self.api_server.kubernetes,
        )

    def _labelled(self, request: AdmissionRequest) -> AdmissionRequest:
        """Give a write of work as the webhooks read it: with its queue in its label."""
        kind = request.new["kind"]
        if kind not in JOB_KINDS and kind not in POD_OWNERS:
            return request
        managed, old = self._managed_jobs, request.old
        return replace(
            request,
            new=managed.labelled(request.new),
            old=old and managed.labelled(old),
        )

    def _missing_runtime(self, obj: Manifest) -> str:
        """Name the runtime of a TrainJob that does not exist; empty for none."""
        if obj["kind"] != TRAIN_JOB.name or self._managed_jobs.is_off(obj):
            return ""
        if runtime_of(obj, self.store.find) is not None:
            return ""
        reference = spec_of(obj).get("runtimeRef") or {}
        return str(reference.get("name", ""))

    def _queues_pods(self, obj: Manifest) -> bool:
        """Whether Kueue manages work by its pods."""
        return obj["kind"] in POD_OWNERS and self._managed_jobs.claims(obj)

    def _group_workload(self, obj: Manifest) -> Manifest | None:
        """Give the Workload of a StatefulSet: by its UID, or by its name alone, as up to Kueue 0.16."""
        if obj["kind"] != STATEFUL_SET.name:
            return None
        namespace = obj["metadata"]["namespace"]
        names = group_workload(obj), group_workload(obj, by_uid=False)
        found = (self.store.find("Workload", name, namespace) for name in names)
        return next(filter(None, found), None)

    def _is_off(self, obj: Manifest) -> bool:
        """Whether it is work of a kind that Kueue does not queue."""
        is_work = obj["kind"] in JOB_KINDS or obj["kind"] in POD_OWNERS
        return is_work and self._managed_jobs.is_off(obj)

    def _check_kind(self, obj: Manifest) -> None:
        """Reject an object whose kind a behaviour does not have, and a condition without a type."""
        kind = obj["kind"]
        behaviour = self.behaviour
        if KINDS[kind].optional and kind not in behaviour.extra_kinds:
            detail = f"{behaviour.title} has no such kind"
            unknown = FieldError(
                field="kind", type="Not found", value=f'"{kind}"', detail=detail
            )
            raise ManifestError(unknown, code=404)
        for fault in behaviour.objects(obj):
            raise ManifestError(fault)
        status = child(obj, "status", dict, {})
        for condition in mappings(status, "conditions", "status"):
            text(condition, "type", "status.conditions[]")
        if kind == NODE:
            node_of(obj)

    def _validate(self, request: AdmissionRequest) -> None:
        """Validate a write; the result for a new object depends on nothing else, so it is memoized.

        Raises:
            ManifestError: it is rejected.

        """

        def check() -> None:
            self._check(request)

        if request.old is None:
            situation = (
                self.behaviour,
                request.decoded,
                request.is_off,
                request.manages_all,
                request.missing_runtime,
            )
            self.api_server.once(request.new, situation, check)
        else:
            check()

    def _check(self, request: AdmissionRequest) -> None:
        """Reject what the API server does not accept, then what a validating webhook denies.

        Raises:
            ManifestError: it is rejected.

        """
        obj = request.new
        found = [*self.api_server.metadata_faults(obj)]
        found += self.behaviour.definitions.faults(request)
        self._reject(obj, found)
        self._ask_webhook(self._labelled(request))
        _check_readable(obj)

    def _mutated(self, obj: Manifest) -> Manifest:
        """Give a new object as the mutating webhooks leave it."""
        insist_on_namespace(obj, self.store)
        kind = obj["kind"]
        self._fill_defaults(obj)
        for path in self.behaviour.webhooks.drop_fields(kind):
            drop(obj, path)
        if kind == POD.name:
            obj |= self._mutated_pods.of(obj)
        elif kind in JOB_KINDS:
            self._mutate_job(obj)
        if kind in _WITH_FINALIZER:
            meta = obj["metadata"]
            meta["finalizers"] = [*finalizers_of(obj), IN_USE]
        return obj

    def _fill_defaults(self, obj: Manifest) -> None:
        for defaults in self.behaviour.webhooks.defaults(obj["kind"]):
            for path, value in defaults.items():
                fill(obj, path, value)

    def _mutate_job(self, job: Manifest) -> None:
        """Give a Job its queue and its priority class, and suspend it if Kueue manages it."""
        managed = self._managed_jobs
        is_elastic = self.behaviour.jobs.elastic(job)
        denied = self.behaviour.webhooks.new_job(job, is_elastic)
        if found := () if managed.is_off(job) else list(denied):
            raise Denied(f"m{job['kind'].lower()}.kb.io", found)
        if missing := managed.missing_owner(job):
            raise _owner_not_found(job, missing)
        _set_label(job, QUEUE_LABEL, managed.queue(job))
        _set_label(job, PRIORITY_LABEL, self._priority_class(job))
        if managed.claims(job):
            job["spec"] = with_suspend(job, True)["spec"]
        self._set_manager(job)
        rules = self.behaviour.jobs
        if rules.elastic(job) and rules.gate_pods(job) and not managed.is_off(job):
            job["spec"] = _with_gated_templates(job)["spec"]

    def _set_manager(self, job: Manifest) -> None:
        """Have MultiKueue manage a Job whose ClusterQueue has one of its checks."""
        path = MANAGED_BY.get(job["kind"])
        if path is None or managed_by(job) not in ("", JOB_CONTROLLER):
            return
        controllers = self._check_controllers(job)
        if self.behaviour.dispatching.manage(job["kind"], controllers):
            job["spec"] = replaced(job, path, CONTROLLER)["spec"]

    def _check_controllers(self, job: Manifest) -> frozenset[str]:
        """Name the controllers of the checks of a Job's ClusterQueue."""
        find, meta = self.store.find, job["metadata"]
        local_queue = find("LocalQueue", queue_named_by(job), meta["namespace"])
        name = local_queue["spec"].get("clusterQueue", "") if local_queue else ""
        queue = find("ClusterQueue", name)
        names = checks_named_by(queue) if queue else ()
        checks = [find(ADMISSION_CHECK, each) for each in names]
        named = [each["spec"].get("controllerName", "") for each in checks if each]
        return frozenset(named)

    def _priority_class(self, job: Manifest) -> str:
        labels = labels_of(job)
        name = labels.get(PRIORITY_LABEL, "")
        has_default = self.store.find(WORKLOAD_CLASS, "default") is not None
        rules = self.behaviour.priorities.default_class
        return rules.or_else(name, name, has_default)

    @property
    def _mutated_owners(self) -> OwnerMutation:
        return OwnerMutation(
            rules=self.behaviour.pods,
            managed=self._managed_jobs,
            priority_class=self._priority_class,
        )

    @property
    def _mutated_pods(self) -> PodMutation:
        return PodMutation(
            rules=self.behaviour.pods,
            managed=self._managed_jobs,
            priority_class=self._priority_class,
            store=self.store,
        )

    @property
    def _managed_jobs(self) -> ManagedJobs:
        return ManagedJobs(self.behaviour.jobs, self.configuration, self.store)

    def _merged(self, obj: Manifest, old: Manifest) -> Manifest:
        """Give an object as an update of the stored one, with the stored status."""
        kept = dict(old["metadata"])
        kept.pop("labels", None)
        kept.pop("annotations", None)
        merged = dict(obj)
        merged["metadata"] = {**kept, **obj["metadata"]}
        merged.pop("status", None)
        if "status" in old:
            merged["status"] = old["status"]
        if obj["kind"] in JOB_KINDS:
            ref = Ref.of(obj)
            before = self._last_applied.get(ref, {})
            return merged_work(old, merged, before)
        return merged


def _with_gated_templates(job: Manifest) -> Manifest:
    """Give elastic work whose pods have the scheduling gate of elastic work."""
    for place in pod_set_places(job):
        template = with_gates(template_of(job, place), ELASTIC)
        job = replaced(job, place.path, template)
    return job


def _owner_not_found(job: Manifest, owner: str) -> Denied:
    """Give the answer to work whose owner does not exist."""
    missing = FieldError(
        field="metadata.ownerReferences",
        type="Not found",
        detail=f"{owner} not found",
    )
    return Denied(f"m{job['kind'].lower()}.kb.io", [missing])


_RESTORED = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "generation",
    "resourceVersion",
    "finalizers",
    "ownerReferences",
)
"""The metadata that an API server sets on a write, and keeps of a restored object."""
_WITH_STATUS = frozenset(
    {*SUBMITTED, "LocalQueue", "ResourceClaim", "AdmissionCheck", REQUEST, NODE}
)
_WITH_FINALIZER = frozenset(
    {"ClusterQueue", "ResourceFlavor", "AdmissionCheck", TOPOLOGY}
)
"""Kinds that Kueue protects while they are in use."""


def _restore_finalizers(obj: Manifest) -> None:
    """Give an object Kueue's finalizer where the reference removes it, and take it away where it does not."""
    meta = obj["metadata"]
    finalizers = [each for each in meta.pop("finalizers", ()) if each != IN_USE]
    if obj["kind"] in _WITH_FINALIZER:
        finalizers.append(IN_USE)
    if finalizers:
        meta["finalizers"] = finalizers


def _set_label(
    obj: Manifest,
    label: str,
    value: str,
) -> None:
    if value:
        labels = labels_of(obj)
        obj["metadata"]["labels"] = {**labels, label: value}


def refusal_of(manifest: Manifest, fault: ManifestError) -> Rejection:
    """Give the answer to an object that is rejected."""
    return Rejection(
        ref=_ref_of(manifest),
        code=fault.code,
        message=fault.message or _message(manifest, fault),
        error=fault.error,
        others=fault.others,
    )


def _ref_of(manifest: Manifest) -> Ref:
    """Name an object that may be malformed."""
    meta = manifest.get("metadata")
    if not isinstance(meta, dict):
        meta = {}
    return Ref(
        api_version=str(manifest.get("apiVersion", "")),
        kind=str(manifest.get("kind", "")),
        name=str(meta.get("name", "")),
        namespace=str(meta.get("namespace", "")),
    )


def _message(manifest: Manifest, fault: ManifestError) -> str:
    """Give the message of an API server for some faults: each once, in brackets if there are several."""
    details = str(fault)
    if fault.others:
        each = dict.fromkeys(map(str, (fault.error, *fault.others)))
        details = ", ".join(each)
        details = f"[{details}]" if len(each) > 1 else details
    if fault.code != 422:
        return details
    ref = _ref_of(manifest)
    group = _group_of(manifest)
    kind = f"{ref.kind}.{group}" if group else ref.kind
    return f'{kind} "{ref.name}" is invalid: {details}'


def _group_of(manifest: Manifest) -> str:
    try:
        return kind_of(manifest).group
    except ManifestError:
        return ""


def _check_readable(obj: Manifest) -> None:
    """Read what Kueue would read of an object, so that a malformed one is rejected when it is applied."""
    readers: dict[str, Any] = {
        "ClusterQueue": cluster_queue_of,
        "Workload": workload_of,
    }
    if obj["kind"] in readers:
        readers[obj["kind"]](obj)


def _with_status(written: Manifest, obj: Manifest, now: str) -> Manifest:
    """Merge the status of a manifest into the stored one, as a write to the status subresource would."""
    if "status" not in obj or written is obj:
        return written
    before = written.get("status") or {}
    status = _merged_status(before, obj["status"], now)
    return {**written, "status": status}


def _merged_status(old: Manifest, new: Manifest, now: str) -> Manifest:
    conditions = {}
    for status in (old, new):
        for each in status.get("conditions") or ():
            conditions[each["type"]] = each
    merged = {**old, **new}
    if "admissionChecks" in new:
        timed = [{"lastTransitionTime": now, **each} for each in new["admissionChecks"]]
        merged["admissionChecks"] = timed
    if conditions:
        merged["conditions"] = list(conditions.values())
    return merged
