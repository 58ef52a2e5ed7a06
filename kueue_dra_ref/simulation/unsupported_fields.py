"""Fields of manifests for which Kueue decides more than the reference does, and fields that Kueue does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK
from kueue_dra_ref.api.crd_validation import places
from kueue_dra_ref.api.job_kind import template_at, template_of
from kueue_dra_ref.api.job_kinds import (
    JOB_KINDS,
    POD,
    SUBMITTED,
    WRAPPER,
    pod_set_places,
)
from kueue_dra_ref.api.multikueue import CONTROLLER
from kueue_dra_ref.api.pod_owners import POD_OWNERS, template_paths
from kueue_dra_ref.api.provisioning import CONTROLLER as PROVISIONING
from kueue_dra_ref.api.scheme import KINDS, KUEUE, version_of
from kueue_dra_ref.api.spark_application import ROLES, SPARK_APPLICATION, role_of
from kueue_dra_ref.api.topologies import PLACED_BY
from kueue_dra_ref.api.variants import GATE
from kueue_dra_ref.apiserver.schema_jobs import CUSTOM
from kueue_dra_ref.apiserver.schema_kueue import schema
from kueue_dra_ref.apiserver.structural_schema import unknown_fields
from kueue_dra_ref.behaviours.behaviour import Behaviour, gates_read_by
from kueue_dra_ref.features.kube_features import STAGES, effective
from kueue_dra_ref.features.not_read import Reason, purpose, purposes
from kueue_dra_ref.simulation.later_changes import changed_configuration
from kueue_dra_ref.simulation.placement import AFTER_CHECKS
from kueue_dra_ref.target import FieldError, Manifest

_CHECKS, _WORKERS, _NODES, _TOPOLOGY, _ANCHOR = (
    "what the controller of an admission check decides",
    "what the workers of MultiKueue decide",
    "what the cluster autoscaler answers to ProvisioningRequests",
    "topology-aware scheduling",
    "usage from the reservation of quota on, and not from admission on",
)
_GATES_OF_KINDS = frozenset(kind.gate for kind in JOB_KINDS.values())
_GATES_OF_WORKERS = frozenset(
    {
        "MultiKueue",
        "MultiKueueBatchJobWithManagedBy",
        "MultiKueueRedoAdmissionOnEvictionInWorker",
        "MultiKueueWaitForWorkloadAdmitted",
    }
)
"""Gates that have an effect on the reference only if it has workers."""
_OF_RUNTIME = (
    "spec.podSpecOverrides",
    "spec.podTemplateOverrides",
    "spec.runtimePatches",
)
_LOST_NODES = "nodes that have failed"
_CHECKED_VARIANTS = "admission checks of work that has variants"
_AUTOSCALING = "autoscaling of the RayCluster that belongs to other work"
_REQUEST = "spec.podSets[].topologyRequest"
_IN_PARTS = (
    f"{_REQUEST}.podSetSliceRequiredTopology",
    f"{_REQUEST}.podSetSliceSize",
    f"{_REQUEST}.podsetSliceRequiredTopologyConstraints",
    f"{_REQUEST}.podSetGroupName",
)
_PLACES = (
    f"{_REQUEST}.required",
    f"{_REQUEST}.preferred",
    f"{_REQUEST}.unconstrained",
    *_IN_PARTS,
)
"""What a topology request says of nodes; Kueue writes the labels that number the pods into each."""
_OF_WORKLOADS: Mapping[str, str] = {
    "spec.preemptionGates": "preemption gates",
    "status.admission.podSetAssignments[].delayedTopologyRequest": AFTER_CHECKS,
    "status.unhealthyNodes": _LOST_NODES,
}
NOT_DECIDED: Mapping[str, Mapping[str, str]] = {
    ADMISSION_CHECK: {"spec.controllerName": _CHECKS},
    "ResourceFlavor": {"spec.topologyName": _TOPOLOGY},
    "RayJob": {"spec.rayClusterSpec.enableInTreeAutoscaling": _AUTOSCALING},
    "RayService": {"spec.rayClusterConfig.enableInTreeAutoscaling": _AUTOSCALING},
    "TrainJob": dict.fromkeys(_OF_RUNTIME, "changes of the runtime by a TrainJob"),
    "Workload": {
        **dict.fromkeys(_PLACES, _TOPOLOGY),
        **_OF_WORKLOADS,
    },
}
"""By kind, the fields of Kueue 0.14 to 0.19 that the reference ignores, and what they are for."""
_GROUPED = "placement of pods in groups"
PLACED: Mapping[str, Mapping[str, str]] = {
    **NOT_DECIDED,
    "ResourceFlavor": {"spec.topologyName": "pods on its nodes that have no Workload"},
    "Workload": {
        **dict.fromkeys(_IN_PARTS, _GROUPED),
        **_OF_WORKLOADS,
    },
}
"""The same fields where pods are placed on nodes."""
_PLACED_VARIANTS = "placement of the pods of work that has variants"
TOGETHER = (
    (
        "spec.admissionChecksStrategy",
        "spec.concurrentAdmissionPolicy",
        _CHECKED_VARIANTS,
    ),
    (
        "spec.admissionChecksStrategy",
        "Nodes, and checks of MultiKueue or ProvisioningRequests",
        AFTER_CHECKS,
    ),
    ("spec.concurrentAdmissionPolicy", "Nodes", _PLACED_VARIANTS),
)
"""Fields of ClusterQueues that are not decided together with another field, or with Nodes."""
MARKS: Mapping[str, str] = {
    "prebuilt-workload-name": "Workloads that another client creates",
    "priority-boost": "priority boosts",
}
"""Labels and annotations of Jobs and Workloads, without the domain of Kueue."""
IN_GROUPS: Mapping[str, str] = dict.fromkeys(
    (
        "podset-group-name",
        "podset-slice-required-topology",
        "podset-slice-required-topology-constraints",
        "podset-slice-size",
    ),
    _GROUPED,
)
"""Annotations of pods where they are placed on nodes; without Nodes, those by which they are placed are added."""
SETTINGS: Mapping[tuple[str, ...], str] = {
    ("integrations", "externalFrameworks"): "work that belongs to that of other kinds",
    ("integrations", "labelKeysToCopy"): "labels of Workloads",
    ("integrations", "podOptions"): "which pods are queued, by namespace and labels",
    ("multiKueue", "clusterProfile"): "workers that a ClusterProfile describes",
    (
        "multiKueue",
        "incrementalDispatcherConfig",
    ): "the dispatchers of MultiKueue",
    ("multiKueue", "dispatcherName"): "the dispatchers of MultiKueue",
    ("multiKueue", "externalFrameworks"): "other kinds of work that are dispatched",
    (
        "waitForPodsReady",
        "blockAdmission",
    ): "pods that get ready later than in the input",
}
"""Fields of the Configuration."""
_ANCHOR_GATE = "AdmissionFairSharingAnchorAtQuotaReservation"
"""A gate of 0.20, by which usage counts from the reservation of quota on."""
_DOMAIN = f"{KUEUE}/"


def not_decided(manifest: Manifest, *, placed: bool = False) -> Iterator[FieldError]:
    """Give each field of an object for which Kueue decides more than the reference does.

    ``placed`` says that pods are placed on nodes, as the input has some.
    """
    yield from _fields_not_decided(manifest, placed)
    if manifest["kind"] == "ClusterQueue":
        yield from _beside_variants(manifest, placed)
    if manifest["kind"] in SUBMITTED:
        yield from _labels_and_annotations(manifest, placed)


def _fields_not_decided(manifest: Manifest, placed: bool) -> Iterator[FieldError]:
    fields = (PLACED if placed else NOT_DECIDED).get(manifest["kind"], {})
    for path, subject in fields.items():
        for field, found in places(manifest, path):
            if found == CONTROLLER:
                yield _ignored(field, _WORKERS)
            elif found == PROVISIONING:
                yield _ignored(field, _NODES)
            elif not _is_of_kueue(found):
                yield _ignored(field, subject)


def _beside_variants(queue: Manifest, placed: bool) -> Iterator[FieldError]:
    """Name what is not decided of a ClusterQueue only if its Workloads have variants."""
    policy = "spec.concurrentAdmissionPolicy"
    for field, _ in places(queue, policy):
        if places(queue, "spec.admissionChecksStrategy"):
            yield _ignored("spec.admissionChecksStrategy", _CHECKED_VARIANTS)
        if placed:
            yield _ignored(field, _PLACED_VARIANTS)


def _is_of_kueue(written: Any) -> bool:
    """Whether the patches of a TrainJob are those that Kueue writes itself, or the gates those of a variant."""
    if written == [{"name": GATE}]:
        return True
    patches = written
    if not isinstance(patches, list) or not patches:
        return False
    managers = {each.get("manager") for each in patches if isinstance(each, dict)}
    return managers == {"kueue.x-k8s.io/manager"}


def settings_not_decided(
    configuration: Manifest, behaviour: Behaviour
) -> Iterator[FieldError]:
    """Give each field of a Configuration for which Kueue decides more than the reference does, or otherwise."""
    for path, subject in SETTINGS.items():
        if _value_at(configuration, path):
            yield _ignored(".".join(path), subject)
    yield from changed_configuration(configuration, behaviour)
    yield from _anchored(configuration, behaviour)
    yield from _awaited_variants(configuration, behaviour)
    integrations = configuration.get("integrations") or {}
    frameworks = integrations.get("frameworks") or ()
    gates = configuration.get("featureGates") or {}
    yield from _frameworks_without_gate(behaviour, frameworks, gates)
    yield from _frameworks_without_pods(behaviour, frameworks)
    yield from _gates_not_decided(behaviour, gates)


def _anchored(configuration: Manifest, behaviour: Behaviour) -> Iterator[FieldError]:
    """Name the settings by which usage counts from the reservation of quota on."""
    gates = effective(behaviour.gates, configuration.get("featureGates") or {})
    is_on = isinstance(gates, Mapping) and gates.get(_ANCHOR_GATE, False)
    if is_on and configuration.get("admissionFairSharing"):
        yield _ignored("admissionFairSharing", _ANCHOR)


def _awaited_variants(
    configuration: Manifest, behaviour: Behaviour
) -> Iterator[FieldError]:
    """Name the settings by which Kueue waits for the pods of work that may have variants."""
    gates = effective(behaviour.gates, configuration.get("featureGates") or {})
    is_on = isinstance(gates, Mapping) and gates.get("ConcurrentAdmission", False)
    if is_on and configuration.get("waitForPodsReady"):
        yield _ignored("waitForPodsReady", "pods of work that has variants")


def _frameworks_without_gate(
    behaviour: Behaviour, frameworks: Sequence[str], gates: Mapping[str, bool]
) -> Iterator[FieldError]:
    """Name the frameworks with which Kueue does not start, as a gate that they need is off."""
    state = effective(behaviour.gates, gates)
    if not isinstance(state, Mapping):
        return
    for kind in JOB_KINDS.values():
        if kind.framework in frameworks and state.get(kind.gate) is False:
            yield FieldError(
                field="integrations.frameworks",
                type="Not started",
                detail=f"Kueue does not start with {kind.framework} while the gate {kind.gate} is off",
            )


def _frameworks_without_pods(
    behaviour: Behaviour, frameworks: Sequence[str]
) -> Iterator[FieldError]:
    """Name the frameworks with which Kueue 0.14 does not start, as that of pods is off."""
    if behaviour.version.startswith("0.14.") and POD.framework not in frameworks:
        for kind in POD_OWNERS.values():
            if kind.framework in frameworks:
                yield FieldError(
                    field="integrations.frameworks",
                    type="Not started",
                    detail=f"Kueue 0.14 does not start with {kind.framework} without {POD.framework}",
                )


def _value_at(configuration: Manifest, path: Sequence[str]) -> Any:
    found: Any = configuration
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _gates_not_decided(
    behaviour: Behaviour, gates: Mapping[str, bool]
) -> Iterator[FieldError]:
    """Name each gate that is switched from its default and decides more, also with a whole stage."""
    for name, is_on in gates.items():
        if name in STAGES:
            switched = dict.fromkeys(_of_stage(behaviour, name, gates), is_on)
            if left := _left(behaviour, switched):
                yield _ignored(f"featureGates.{name}", f"what {', '.join(left)} decide")
    for name in _left(behaviour, gates):
        subject = _WORKERS if name in _GATES_OF_WORKERS else purpose(name)
        yield _ignored(f"featureGates.{name}", subject)


def _of_stage(
    behaviour: Behaviour, every: str, gates: Mapping[str, bool]
) -> Iterator[str]:
    """Give the gates of a stage that are not set by name."""
    for gate in behaviour.gates.table.values():
        if gate.stage is STAGES[every] and gate.name not in gates:
            yield gate.name


def _left(behaviour: Behaviour, gates: Mapping[str, bool]) -> Sequence[str]:
    return [
        name
        for name, is_on in gates.items()
        if _changes_unread_gate(behaviour, name, is_on)
    ]


def _changes_unread_gate(behaviour: Behaviour, name: str, is_on: Any) -> bool:
    """Whether a gate of Kueue is switched from its default without any effect on the reference."""
    gate = behaviour.gates.table.get(name)
    if gate is None or is_on is gate.default or not gate.of_kueue:
        return False
    if name in _GATES_OF_WORKERS:
        return True
    return name not in purposes()[Reason.NOTHING] and name not in read_by(behaviour)


def read_by(behaviour: Behaviour) -> frozenset[str]:
    """Give the gates that a rule or a kind of work depends on."""
    return _GATES_OF_KINDS.union(gates_read_by(behaviour))


def unknown(manifest: Manifest) -> Sequence[str]:
    """Give each field of an object of Kueue that its version does not have and that an API server drops."""
    kind = manifest["kind"]
    if KINDS[kind].group != KUEUE and kind not in CUSTOM:
        return ()
    return unknown_fields(manifest, schema(kind, version_of(manifest)))


def _labels_and_annotations(manifest: Manifest, placed: bool) -> Iterator[FieldError]:
    yield from _marks("metadata", manifest["metadata"])
    for path, meta in _templates(manifest):
        if manifest["kind"] in POD_OWNERS:
            yield from _marks(path, meta)
        yield from _annotations_of_pods(path, meta, placed)
    if manifest["kind"] == WRAPPER.name:
        yield from _claims_without_charge(manifest)
    if manifest["kind"] == SPARK_APPLICATION.name:
        yield from _claims_of_spark(manifest)


def _marks(path: str, meta: Manifest) -> Iterator[FieldError]:
    for holder in ("labels", "annotations"):
        for name in _of_kueue(meta.get(holder)):
            if name in MARKS:
                yield _ignored(f"{path}.{holder}[{_DOMAIN}{name}]", MARKS[name])


def _annotations_of_pods(
    path: str, meta: Manifest, placed: bool
) -> Iterator[FieldError]:
    annotations = meta.get("annotations") or {}
    if placed and len(PLACED_BY & annotations.keys()) > 1:
        yield _ignored(f"{path}.annotations", "several topologies of the same pods")
    for name in _of_kueue(annotations):
        is_placed_by = f"{_DOMAIN}{name}" in PLACED_BY
        if name in IN_GROUPS or (is_placed_by and not placed):
            subject = _GROUPED if placed else _TOPOLOGY
            yield _ignored(f"{path}.annotations[{_DOMAIN}{name}]", subject)


def _templates(work: Manifest) -> Iterator[tuple[str, Manifest]]:
    """Give labels and annotations of each pod template of work, and where they are."""
    if work["kind"] in POD_OWNERS:
        for path in template_paths(work):
            head = template_at(work, path).get("metadata") or {}
            yield ".".join((*map(str, path), "metadata")), head
    elif work["kind"] in JOB_KINDS:
        for place in pod_set_places(work):
            head = template_of(work, place).get("metadata") or {}
            yield f"{place.pod_path.removesuffix('spec')}metadata", head


def _claims_without_charge(wrapper: Manifest) -> Iterator[FieldError]:
    """Name the claims that Kueue does not read, so that their devices take no quota."""
    for place in pod_set_places(wrapper):
        spec = template_of(wrapper, place).get("spec") or {}
        if spec.get("resourceClaims"):
            yield FieldError(
                field=f"{place.pod_path}.resourceClaims",
                type="Not charged",
                detail="Kueue reads the pods of an AppWrapper without their claims",
            )


def _claims_of_spark(application: Manifest) -> Iterator[FieldError]:
    """Name the claims of a SparkApplication, which has them in templates of which Kueue reads no spec."""
    for role in ROLES:
        template = role_of(application, role).get("template") or {}
        spec = template.get("spec") or {}
        if spec.get("resourceClaims"):
            yield FieldError(
                field=f"spec.{role}.template.spec.resourceClaims",
                type="Not charged",
                detail="Kueue builds the pods of a SparkApplication without the spec of its templates",
            )


def _of_kueue(keys: Any) -> Iterator[str]:
    for key in keys or ():
        if key.startswith(_DOMAIN):
            yield key.removeprefix(_DOMAIN)


def _ignored(field: str, subject: str) -> FieldError:
    detail = f"{subject}: ignored by the simulation"
    return FieldError(
        field=field,
        type="Not decided",
        detail=detail,
    )
