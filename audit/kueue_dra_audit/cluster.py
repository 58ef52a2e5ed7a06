"""The cluster of an audit: its objects as they are, and a Kueue of the reference that has just started over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_audit.finding import Notes
from kueue_dra_ref.api.conditions import condition, is_true
from kueue_dra_ref.api.elastic_work import by_owner
from kueue_dra_ref.api.job_kinds import SUBMITTED
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.api.status_errors import ManifestError, required
from kueue_dra_ref.api.unstructured import child, mappings, part, quantity, text
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cache.snapshot import ReservedWorkload
from kueue_dra_ref.controlplane.apiserver import ApiServer
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.reference.admission_chain import refusal_of
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.inputs import DEFAULT_NAMESPACE, SimulationInputs
from kueue_dra_ref.simulation.placement import placing
from kueue_dra_ref.simulation.run import (
    a_namespace,
    map_order_of,
    unknown_namespaces,
)
from kueue_dra_ref.simulation.running_cluster import HEAD
from kueue_dra_ref.target import FieldError, Manifest, Rejection

JOBS = "batch/job"
_OVER = frozenset({"Succeeded", "Failed"})
_WORK = frozenset({"Pod", *SUBMITTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpedCluster:
    """What is known of a cluster: its release, its Configuration, and its objects as they were read."""

    behaviour: Behaviour
    configuration: Manifest
    given: Sequence[SimulationInputs]
    others: Sequence[Manifest] = ()
    """The objects of kinds that the reference does not read, and the head of a dump."""
    seconds: float = 0.0
    """The newest time in the objects."""
    has_configuration: bool = True
    """Whether the Configuration was read; without it, nothing that depends on the mapping can be checked."""


class ConfigurationRejected(Exception):
    """Kueue does not start with the Configuration."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(map(str, errors)))


@dataclass(slots=True, kw_only=True)
class AuditedCluster:
    """The objects of a cluster, and the reference's Kueue over the same objects."""

    dumped: DumpedCluster
    target: ReferenceTarget
    kueue: Kueue
    rejected: Sequence[Rejection]
    """The objects that no API server would have stored."""
    unreadable: Sequence[Rejection]
    """The Workloads whose status Kueue cannot read."""
    objects: Mapping[str, Sequence[Manifest]]
    """The stored objects by kind, with the status that the cluster gives them."""
    notes: Notes = field(default_factory=Notes)

    def of(self, kind: str) -> Sequence[Manifest]:
        """Give the objects of a kind that the reference reads."""
        return self.objects.get(kind, ())

    def others(self, kind: str) -> Iterator[Manifest]:
        """Give the objects of a kind that the reference does not read."""
        for each in self.dumped.others:
            is_readable = kind == HEAD or isinstance(each.get("metadata"), dict)
            if each.get("kind") == kind and is_readable:
                yield each

    @property
    def workloads_by_owner(self) -> Mapping[str, Manifest]:
        """The Workloads by the UIDs of the objects that own them."""
        return by_owner(self.of("Workload"))

    @property
    def holders(self) -> Iterator[Manifest]:
        """The Workloads that hold quota."""
        for each in self.of("Workload"):
            if is_true(each, "QuotaReserved") and not is_true(each, "Finished"):
                yield each

    def manages(self, framework: str) -> bool:
        """Whether Kueue manages a kind of work, by its name in the Configuration."""
        if not self.dumped.has_configuration:
            return framework == JOBS
        return framework in self.kueue.configuration.frameworks

    def objection(self, job: Manifest) -> str:
        """Say why Kueue creates no Workload for a Job; empty if it does."""
        manager = self.target.manager
        return manager.jobs.managing.objection(job) if manager else ""

    @property
    def charges_devices(self) -> bool:
        """Whether the integration gate is on."""
        return bool(self.kueue.behaviour.processing.is_dra_workload)

    @property
    def mapped(self) -> set[str]:
        """The resources that the Configuration maps DeviceClasses to."""
        return {each.name for each in self.kueue.configuration.mappings}

    def reserved(self) -> Mapping[Key, ReservedWorkload]:
        """Give what each Workload holds, by namespace and name."""
        found = {}
        for name in self.kueue.informers.names("ClusterQueue"):
            for each in self.kueue.usage.reservations(name):
                found[each.key] = each
        return found

    def was_read(self, kind: str) -> bool:
        """Whether the objects of a kind are there: some are, or the dump says that it has read them."""
        return any(self.of(kind)) or self.is_complete(kind)

    def is_complete(self, kind: str) -> bool:
        """Whether a dump says that it has read every object of a kind; other input may have some of them only."""
        lost = (f"{kind}:", f"{KINDS[kind].group}:")
        heads = [part(head, "spec") for head in self.others(HEAD)]
        lines = [str(line) for head in heads for line in head.get("notRead") or ()]
        return bool(heads) and not any(line.startswith(lost) for line in lines)


def audited(dumped: DumpedCluster, api_server: ApiServer) -> AuditedCluster:
    """Start the reference over the objects of a cluster; nothing has been decided yet.

    Raises:
        ConfigurationRejected: Kueue does not start with the Configuration.

    """
    order = map_order_of(dumped.behaviour, dumped.given)
    manifests = (each.manifest for each in dumped.given)
    behaviour = placing(dumped.behaviour, manifests)
    target = ReferenceTarget(behaviour, api_server, order)
    names = unknown_namespaces(dumped.given)
    target.apply(map(a_namespace, [DEFAULT_NAMESPACE, *names]))
    restored = [each.manifest for each in dumped.given if _is_restored(each)]
    rejected = [*target.restore(restored, dumped.seconds), *_unreadable(dumped.given)]
    errors = target.start(dumped.configuration)
    if errors or target.manager is None:
        raise ConfigurationRejected(errors)
    unreadable = [each for each in rejected if _is_status(each)]
    return AuditedCluster(
        dumped=dumped,
        target=target,
        kueue=target.manager.kueue,
        rejected=[each for each in rejected if not _is_status(each)],
        unreadable=unreadable,
        objects=_objects(target, dumped.given),
    )


def _is_restored(given: SimulationInputs) -> bool:
    """Whether an object is one of the cluster: work without UID and status is new work."""
    return given.restored or given.ref.kind not in _WORK


def _unreadable(given: Iterable[SimulationInputs]) -> Iterator[Rejection]:
    """Give the errors in the status of queues; their figures are not checked."""
    for each in given:
        if each.ref.kind in ("ClusterQueue", "LocalQueue"):
            try:
                _check_figures(part(each.manifest, "status"))
            except ManifestError as fault:
                yield refusal_of(each.manifest, fault)


def _check_figures(status: Manifest) -> None:
    """Check the types of figures.

    Raises:
        ManifestError: a field is of another type.

    """
    for counter in ("pendingWorkloads", "reservingWorkloads", "admittedWorkloads"):
        child(status, counter, int, 0, "status")
    mappings(status, "conditions", "status")
    for key in ("flavorsReservation", "flavorsUsage", "flavorUsage"):
        for flavor in mappings(status, key, "status"):
            text(flavor, "name", f"status.{key}[]")
            if not flavor.get("resources"):
                raise required(f"status.{key}[].resources")
            for resource in mappings(flavor, "resources", f"status.{key}[]"):
                path = f"status.{key}[].resources[]"
                text(resource, "name", path)
                quantity(resource.get("total", "0"), f"{path}.total")


def _is_status(rejection: Rejection) -> bool:
    error = rejection.error
    if rejection.ref.kind != "Workload" or error is None:
        return False
    return error.field.startswith("status.")


def _objects(
    target: ReferenceTarget, given: Iterable[SimulationInputs]
) -> dict[str, list[Manifest]]:
    """Give the stored objects by kind; those of queues have no status in the store, so it comes from the input."""
    written = {each.ref: each.manifest for each in given}
    by_place = {
        (ref.kind, ref.namespace, ref.name): obj for ref, obj in written.items()
    }
    found: dict[str, list[Manifest]] = {}
    for kind in KINDS:
        found[kind] = []
        for obj in target.store.every(kind):
            place = (kind, *key_of(obj))
            found[kind].append(_with_status(obj, by_place.get(place)))
    return found


def _with_status(stored: Manifest, written: Manifest | None) -> Manifest:
    status = part(written or {}, "status")
    if stored["kind"] not in ("ClusterQueue", "LocalQueue", "Workload"):
        return stored
    if stored["kind"] != "Workload" and not _has_figures(status):
        status = {}
    if "flavorUsage" in status:
        # The name of the field in v1beta1.
        status = {**status, "flavorsUsage": status["flavorUsage"]}
    return {**stored, "status": status}


def _has_figures(status: Manifest) -> bool:
    try:
        _check_figures(status)
    except ManifestError:
        return False
    return True


def key_of(obj: Manifest) -> Key:
    """Give namespace and name."""
    meta = obj["metadata"]
    return meta.get("namespace", ""), meta["name"]


def title(obj: Manifest) -> str:
    """Name an object: kind, namespace and name."""
    namespace, name = key_of(obj)
    return f"{obj['kind']} {namespace}/{name}" if namespace else f"{obj['kind']} {name}"


def is_ending(pod: Manifest) -> bool:
    """Whether a pod has ended, or is being deleted."""
    phase = str(part(pod, "status").get("phase"))
    return phase in _OVER or bool(pod["metadata"].get("deletionTimestamp"))


def explain(workload: Manifest) -> str:
    """Give the command that explains a Workload; FILE is the dump."""
    namespace, name = key_of(workload)
    return f"kueue-dra explain -f FILE -n {namespace} workload/{name}"


def shown(obj: Manifest) -> str:
    """Give the command that prints an object."""
    namespace, name = key_of(obj)
    where = f" -n {namespace}" if namespace else ""
    return f"kubectl get {obj['kind'].lower()} {name}{where} -o yaml"


def reserved_at(workload: Manifest) -> str:
    """Give the time of a quota reservation; empty if the cluster does not say."""
    found = condition(workload, "QuotaReserved") or {}
    return str(found.get("lastTransitionTime", ""))


def assignments(workload: Manifest) -> list[dict[str, Any]]:
    """Give the pod sets of an admission as the cluster has them."""
    admission = part(part(workload, "status"), "admission")
    found = admission.get("podSetAssignments") or ()
    return [each for each in found if isinstance(each, dict)]
