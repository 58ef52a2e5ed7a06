"""A simulation on the reference: first other objects, then Kueue starts, then Jobs and Workloads in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK
from kueue_dra_ref.api.job_kind import template_of
from kueue_dra_ref.api.job_kinds import (
    JOB_KINDS,
    POD,
    SUBMITTED,
    owner_of,
    pod_set_places,
)
from kueue_dra_ref.api.pod_owners import POD_OWNERS, made_pods, template_paths
from kueue_dra_ref.api.queued_pods import is_gated
from kueue_dra_ref.api.scheme import KINDS, KUEUE
from kueue_dra_ref.api.train_jobs import resolved
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.api.workloads import workload_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.controlplane.apiserver import ApiServer
from kueue_dra_ref.model.pod_group import PodGroup
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.inputs import DEFAULT_NAMESPACE, SimulationInputs
from kueue_dra_ref.simulation.later_changes import later_changes
from kueue_dra_ref.simulation.missing_references import MissingReference, missing
from kueue_dra_ref.simulation.placement import (
    after_checks,
    checks_single_nodes,
    has_nodes,
    placing,
    room_of_nodes,
)
from kueue_dra_ref.simulation.running_pods import running_jobs, settle
from kueue_dra_ref.simulation.unsupported_fields import not_decided, unknown
from kueue_dra_ref.target import FieldError, Manifest, Ref, Rejection
from kueue_dra_ref.workload.map_order import MapOrder

_DEVICES = "resource.k8s.io"
MANY = 1_000
"""From this number of objects on, the command reports what it is doing."""

Doing = Callable[[str], None]
"""Reports what is done now."""


def _silent(text: str) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputError:
    """An error of one object: the API server rejects it, or it references an object that does not exist."""

    given: SimulationInputs
    error: FieldError
    reference: MissingReference | None = None
    """What the object references, if that does not exist."""

    @property
    def place(self) -> tuple[str, int]:
        """The file and line of the field."""
        return self.given.place(self.error.field)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult:
    """The cluster state after all decisions."""

    target: ReferenceTarget
    given: tuple[SimulationInputs, ...]
    refused: tuple[InputError, ...]
    missing: tuple[InputError, ...]
    restless: str = ""
    """Workloads whose conditions alternate without end; empty if the cluster settled."""
    places: bool = False
    """Whether pods are placed on nodes, where their flavors have a topology."""

    @property
    def accepted(self) -> tuple[SimulationInputs, ...]:
        """The objects that the API server accepted."""
        refused = {finding.given.ref for finding in self.refused}
        return tuple(each for each in self.given if each.ref not in refused)

    @property
    def workloads(self) -> Sequence[Manifest]:
        """Every Workload, in the version that the user writes Kueue's objects in."""
        versions = {each.ref.api_version for each in self.given}
        of_kueue = {each for each in versions if each.startswith(f"{KUEUE}/")}
        version = f"{KUEUE}/v1beta2"
        if of_kueue == {f"{KUEUE}/v1beta1"}:
            version = f"{KUEUE}/v1beta1"
        return self.target.list(version, "Workload")

    @property
    def restored(self) -> tuple[SimulationInputs, ...]:
        """The objects of a running cluster."""
        return tuple(each for each in self.given if each.restored)

    @property
    def stored(self) -> dict[tuple[str, str], Manifest]:
        """The Workloads of a running cluster as they were given, by namespace and name."""
        stored = {}
        for each in self.accepted:
            if each.restored and each.ref.kind == "Workload":
                stored[each.ref.namespace, each.ref.name] = each.manifest
        return stored

    @property
    def missing_of_cluster(self) -> tuple[InputError, ...]:
        """References of a running cluster's objects to objects that were not given."""
        return tuple(each for each in self.missing if each.given.restored)

    @property
    def missing_of_new(self) -> tuple[InputError, ...]:
        """References of new objects to objects that do not exist."""
        return tuple(each for each in self.missing if not each.given.restored)

    @property
    def objects(self) -> Iterator[Manifest]:
        """The accepted objects, each in the version that it was written in, then the Workloads that Kueue created."""
        given_workloads: set[tuple[str, str]] = set()
        for each in self.accepted:
            if each.ref.kind == "Workload":
                given_workloads.add((each.ref.namespace, each.ref.name))
            found = self.target.read(each.ref)
            if found is not None:
                yield found
        for workload in self.workloads:
            meta = workload["metadata"]
            if (meta["namespace"], meta["name"]) not in given_workloads:
                yield workload

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings of the API server: unknown fields, and versions that it will stop serving."""
        return self.target.api_server.warnings

    @property
    def not_decided(self) -> Iterator[InputError]:
        """Fields for which Kueue decides more than the reference does."""
        for each in self.accepted:
            for error in not_decided(each.manifest, placed=self.places):
                yield InputError(given=each, error=error)
        for each, error in later_changes(self.given, self.target.behaviour):
            yield InputError(given=each, error=error)
        for each in self.accepted if self.places else ():
            for error in self._not_placed(each.manifest):
                yield InputError(given=each, error=error)

    def _not_placed(self, manifest: Manifest) -> Iterator[FieldError]:
        """Give what is not decided of the nodes on which pods are placed."""
        find = self.target.store.find
        yield from after_checks(manifest, find)
        if checks_single_nodes(self.target.behaviour):
            yield from room_of_nodes(manifest, find)

    @property
    def unknown(self) -> Iterator[tuple[SimulationInputs, str]]:
        """Fields of Kueue's objects that their version does not have."""
        for each in self.accepted:
            for field in unknown(each.manifest):
                if not (each.restored and field.startswith("status.")):
                    yield each, field

    @property
    def ask_for_devices(self) -> bool:
        """Whether any Workload has claims."""
        workloads = self.target.store.every("Workload")
        return any(workload_of(each).claims for each in workloads)

    @property
    def has_devices(self) -> bool:
        """Whether the input has anything of resource.k8s.io, or a pod asks for devices."""
        if any(KINDS[each.ref.kind].group == _DEVICES for each in self.known):
            return True
        return self.ask_for_devices

    @property
    def known(self) -> Iterator[SimulationInputs]:
        """The objects of kinds that the API server knows."""
        return (each for each in self.given if each.ref.kind in KINDS)

    @property
    def lacks_slices(self) -> bool:
        """Whether claims are matched against devices, and no device is published."""
        store = self.target.store
        if any(store.every("ResourceSlice")) or not self.ask_for_devices:
            return False
        manager = self.target.manager
        mappings = manager.kueue.configuration.mappings if manager else ()
        if any(each.sources for each in mappings):
            return True
        claims = (*store.every("ResourceClaimTemplate"), *store.every("ResourceClaim"))
        return any(_has_selectors(each.get("spec")) for each in claims)

    @property
    def circles(self) -> dict[tuple[str, ...], list[str]]:
        """The ClusterQueues below each circle of cohorts."""
        found: dict[tuple[str, ...], list[str]] = {}
        if self.target.manager:
            hierarchy = self.target.manager.kueue.hierarchy
            for queue, circle in sorted(hierarchy.circles.items()):
                found.setdefault(circle, []).append(queue)
        return found

    @property
    def uncharged(self) -> bool:
        """Whether Kueue ignores claims because the DRA integration is off."""
        kueue = self.target.manager.kueue if self.target.manager else None
        if kueue is None or kueue.behaviour.processing.is_dra_workload:
            return False
        for each in self.target.store.every("Workload"):
            if kueue.informers.workload(each).claims and not kueue.asks_for_devices(
                each
            ):
                return True
        return False

    @property
    def owned(self) -> tuple[SimulationInputs, ...]:
        """Workloads of Jobs that were given too; Kueue creates those itself."""
        return tuple(_owned(self.given))

    @property
    def unmanaged(self) -> Iterator[tuple[SimulationInputs, str]]:
        """Jobs that Kueue does not manage, each with the reason."""
        manager = self.target.manager
        if manager is None:
            return
        for each in self.accepted:
            if each.ref.kind not in JOB_KINDS and each.ref.kind not in POD_OWNERS:
                continue
            job = self.target.store.find(
                each.ref.kind, each.ref.name, each.ref.namespace
            )
            if job is None:
                continue
            reason = manager.jobs.managing.objection(job) or _lacks_pods(
                resolved(job, self.target.store.find)
            )
            if reason:
                yield each, reason


def incomplete_groups(result: SimulationResult) -> Iterator[str]:
    """Say of each group of pods without a Workload how many of its pods there are."""
    store = result.target.store
    rules = result.target.behaviour.pods
    groups: dict[tuple[str, str], list[Manifest]] = {}
    for pod in store.every(POD.name):
        name = rules.group_name.or_else("", pod)
        if name and is_gated(pod):
            key = (pod["metadata"]["namespace"], name)
            groups.setdefault(key, []).append(pod)
    for (namespace, name), pods in groups.items():
        if store.find("Workload", name, namespace) is None:
            group = PodGroup(pods=pods, name=name)
            yield f"{namespace}/{name} has {len(pods)} of {group.total} pods"


def simulate(
    behaviour: Behaviour,
    configuration: Manifest,
    given: Sequence[SimulationInputs],
    api_server: ApiServer | None = None,
    seconds: float = 0.0,
    namespaces: Iterable[str] = (),
    doing: Doing = _silent,
) -> SimulationResult | Sequence[FieldError]:
    """Run a simulation; the errors of the Configuration if Kueue does not start with it.

    Objects of a running cluster are there, with their status, when Kueue starts; ``seconds`` is when that is.
    ``namespaces`` are created first. ``doing`` reports what is done now, if that takes long.
    """
    order = map_order_of(behaviour, given)
    manifests = [each.manifest for each in given]
    target = ReferenceTarget(placing(behaviour, manifests), api_server, order)
    target.apply(map(a_namespace, (DEFAULT_NAMESPACE, *namespaces)))
    if len(given) >= MANY:
        doing(f"storing {len(given):,} objects")
    refused = _apply_existing(target, given, seconds)
    running = running_jobs(target)
    errors = target.start(configuration)
    if errors:
        return errors
    refused += _apply_submitted(target, given, doing)
    waiting = sum(1 for _ in target.store.every("Workload"))
    if waiting >= MANY:
        doing(f"deciding about {waiting:,} Workloads")
    result = SimulationResult(
        target=target,
        given=tuple(given),
        refused=tuple(refused),
        missing=(),
        restless=settle(target, running),
        places=has_nodes(manifests),
    )
    return replace(result, missing=tuple(_missing(result)))


def map_order_of(behaviour: Behaviour, given: Iterable[SimulationInputs]) -> MapOrder:
    """Give the orders of Go's map iterations that the messages of a running cluster show."""
    seen = {}
    for each in given:
        if each.restored and each.ref.kind == "Workload":
            name = f"{each.ref.namespace}/{each.ref.name}"
            seen[name] = _message_of(each.manifest)
    return MapOrder(orders=behaviour.random_map_order, seen=seen)


def _message_of(workload: Manifest) -> str:
    """Give the message of the QuotaReserved condition of a Workload that may be malformed."""
    conditions = part(workload, "status").get("conditions")
    for each in conditions if isinstance(conditions, list) else ():
        if isinstance(each, dict) and each.get("type") == "QuotaReserved":
            return str(each.get("message", ""))
    return ""


def _apply_existing(
    target: ReferenceTarget, given: Sequence[SimulationInputs], seconds: float
) -> list[InputError]:
    """Restore the objects of a running cluster, and apply the others that exist before Kueue starts."""
    restored = []
    existing = []
    for each in given:
        if each.restored:
            restored.append(each)
        elif each.ref.kind not in SUBMITTED:
            existing.append(each)
    existing.sort(key=_namespaces_first)
    refused = _restore(target, restored, seconds)
    refused += _apply(target, existing)
    return refused


def _apply_submitted(
    target: ReferenceTarget, given: Sequence[SimulationInputs], doing: Doing
) -> list[InputError]:
    """Apply the Jobs and Workloads that a running Kueue decides on, in order."""
    owned = {each.ref for each in _owned(given)}
    submitted = []
    for each in given:
        if each.restored or each.ref in owned:
            continue
        if each.ref.kind in SUBMITTED:
            submitted.append(each)
    refused = []
    for done, each in enumerate(submitted):
        if done and done % MANY == 0:
            doing(f"decided about {done:,} of {len(submitted):,} Jobs and Workloads")
        refused += _apply(target, [each])
    return refused


def _lacks_pods(job: Manifest) -> str:
    """Say that Kueue cannot make a Workload of the pods of a Job; empty if it can."""
    if job["kind"] in POD_OWNERS:
        return ""
    places = pod_set_places(job)
    if not places:
        return "has no pods that Kueue reads"
    for place in places:
        spec = template_of(job, place).get("spec") or {}
        if not spec.get("containers"):
            return f"has no containers in {place.pod_path}"
    return ""


def _owned(given: Sequence[SimulationInputs]) -> Iterator[SimulationInputs]:
    jobs: set[tuple[str, str, str]] = set()
    for each in given:
        if each.ref.kind in JOB_KINDS:
            jobs.add((each.ref.namespace, each.ref.kind, each.ref.name))
    for each in given:
        if each.ref.kind != "Workload" or each.restored:
            continue
        owner = owner_of(each.manifest)
        if owner and (each.ref.namespace, *owner) in jobs:
            yield each


def _namespaces_first(each: SimulationInputs) -> bool:
    return each.ref.kind != "Namespace"


def _restore(
    target: ReferenceTarget, given: Sequence[SimulationInputs], seconds: float
) -> list[InputError]:
    """Restore the objects of a running cluster, and the namespaces that they are in."""
    if not given:
        return []
    by_ref = {each.ref: each for each in given}
    names = unknown_namespaces(given)
    target.apply(map(a_namespace, names))
    manifests = [each.manifest for each in given]
    found: list[InputError] = []
    for rejection in target.restore(manifests, seconds):
        each = by_ref[rejection.ref]
        found += _errors(each, rejection)
    return found


def unknown_namespaces(given: Sequence[SimulationInputs]) -> list[str]:
    """Name the namespaces that objects are in, and that are not among the objects."""
    known = {each.ref.name for each in given if each.ref.kind == "Namespace"}
    used = {each.ref.namespace for each in given}
    return sorted(used - known - {"", DEFAULT_NAMESPACE})


def a_namespace(name: str) -> Manifest:
    """Give the manifest of a Namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _apply(
    target: ReferenceTarget, given: Iterable[SimulationInputs]
) -> list[InputError]:
    found: list[InputError] = []
    for each in given:
        rejections = target.apply([_with_active_check(each.manifest)])
        for rejection in rejections:
            found += _errors(each, rejection)
        if each.ref.kind in POD_OWNERS and not rejections:
            found += _roll_out(target, each)
    return found


def _with_active_check(manifest: Manifest) -> Manifest:
    """Give an AdmissionCheck without status the one that its controller writes if it runs."""
    if manifest.get("kind") != ADMISSION_CHECK or manifest.get("status"):
        return manifest
    active = {"type": "Active", "status": "True", "reason": "Active", "message": ""}
    return {**manifest, "status": {"conditions": [active]}}


def _roll_out(target: ReferenceTarget, given: SimulationInputs) -> Iterator[InputError]:
    """Create the pods of an object as its controller does; what is wrong with them is wrong with the object."""
    ref = given.ref
    stored = target.store.find(ref.kind, ref.name, ref.namespace)
    if stored is None:
        return
    for rejection in target.apply(made_pods(stored))[:1]:
        for each in _errors(given, rejection):
            path = ".".join(map(str, template_paths(stored)[-1]))
            error = replace(each.error, field=f"{path}.{each.error.field}")
            yield replace(each, error=error)


def _errors(given: SimulationInputs, rejection: Rejection) -> Iterator[InputError]:
    first = rejected_field(given.ref, rejection)
    for error in (first, *rejection.others):
        yield InputError(given=given, error=error)


def rejected_field(ref: Ref, rejection: Rejection) -> FieldError:
    """Give the error of the field for which an object is rejected, or one without a field."""
    error = rejection.error
    if error is None:
        return FieldError(
            field="",
            type="Refused",
            detail=rejection.message,
        )
    if error.field == "metadata.namespace" and error.type == "Not found":
        detail = f"expected a Namespace {ref.namespace}, and there is none"
        return replace(error, detail=detail)
    return error


def _missing(result: SimulationResult) -> Iterator[InputError]:
    store = result.target.store
    for each in result.accepted:
        stored = store.find(each.ref.kind, each.ref.name, each.ref.namespace)
        if stored is None:
            continue
        for reference in missing(stored, store):
            yield InputError(given=each, error=reference.error, reference=reference)


def _has_selectors(value: Any) -> bool:
    if isinstance(value, list):
        return any(_has_selectors(each) for each in value)
    if not isinstance(value, dict):
        return False
    if value.get("selectors"):
        return True
    return any(_has_selectors(each) for each in value.values())
