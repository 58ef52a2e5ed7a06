"""The phases of a behaviour that reject objects: the API server by Kueue's CRDs, then Kueue's webhooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from kueue_dra_ref.api.crd_validation import invalid
from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.api.jobs import pod_of, pod_path
from kueue_dra_ref.api.pod_owners import POD_OWNERS
from kueue_dra_ref.api.resource_groups import (
    CoveredResource,
    FlavorOfGroup,
    ResourceQuota,
    parts_of,
)
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.apiserver.containers import PodContainer, containers_of
from kueue_dra_ref.apiserver.schema_jobs import CUSTOM
from kueue_dra_ref.model.slots import AnyOf, Collect, Each, Fold
from kueue_dra_ref.target import FieldError, Manifest

_NOT_CHECKED = invalid(
    "<nil>",
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
    "null",
)
_OTHER_TYPE = "in body must be of type"
_BLOCKS_CEL = {"Too many", "Too long", "Required value", "Unsupported value"}
LimitRules: TypeAlias = Collect[[AdmissionRequest], FieldError]


@dataclass(frozen=True, slots=True, kw_only=True)
class CRDValidation:
    """Why the API server rejects an object of a kind: schema limits, and CEL rules."""

    limits: LimitRules = Collect()
    """Find fields that break the schema: too long, too many, missing, unknown values."""
    cel: Collect[[AdmissionRequest], FieldError] = Collect()
    """Find broken CEL rules (`x-kubernetes-validations`). Without rules: the kind has none that matter here."""

    def faults(
        self, write: AdmissionRequest, wrong: Sequence[FieldError] = ()
    ) -> Sequence[FieldError]:
        """Give all errors, those of types (``wrong``) first; severe schema errors keep CEL from running."""
        found = [*wrong, *self.limits(write)]
        if self.cel and any(_blocks_cel(fault) for fault in found):
            return [*found, _NOT_CHECKED]
        return found if wrong else [*found, *self.cel(write)]


def _blocks_cel(fault: FieldError) -> bool:
    return fault.type in _BLOCKS_CEL or _OTHER_TYPE in fault.detail


@dataclass(frozen=True, slots=True, kw_only=True)
class JobValidation:
    """Why the API server rejects a Job, in the order of its messages."""

    before: Collect[[AdmissionRequest], FieldError] = Collect()
    """Find errors of the Job and its pod template that are reported before those of containers."""
    container: Collect[[PodContainer], FieldError] = Collect()
    """Find errors of each container."""
    after: Collect[[AdmissionRequest], FieldError] = Collect()
    """Find errors that are reported after those of containers."""

    def faults(self, write: AdmissionRequest) -> Iterator[FieldError]:
        """Give all errors."""
        yield from self.before(write)
        for container in _containers_of(write):
            yield from self.container(container)
        yield from self.after(write)


def _containers_of(write: AdmissionRequest) -> Iterator[PodContainer]:
    pod, path = pod_of(write.new), pod_path(write.new)
    yield from containers_of(pod, path, write.kubernetes)


@dataclass(frozen=True, slots=True, kw_only=True)
class APIValidation:
    """What the API server rejects: Kueue's kinds by their CRDs, and Jobs."""

    admission_check: CRDValidation = CRDValidation()
    """AdmissionChecks"""
    cluster_queue: CRDValidation = CRDValidation()
    """ClusterQueues"""
    cohort: CRDValidation = CRDValidation()
    """Cohorts"""
    job: JobValidation = JobValidation()
    """Jobs"""
    local_queue: CRDValidation = CRDValidation()
    """LocalQueues"""
    multikueue_cluster: CRDValidation = CRDValidation()
    """MultiKueueClusters"""
    multikueue_config: CRDValidation = CRDValidation()
    """MultiKueueConfigs"""
    pod: JobValidation = JobValidation()
    """Pods, and the pod templates of Deployments and StatefulSets"""
    provisioning_request_config: CRDValidation = CRDValidation()
    """ProvisioningRequestConfigs"""
    resource_flavor: CRDValidation = CRDValidation()
    """ResourceFlavors"""
    topology: CRDValidation = CRDValidation()
    """Topologies"""
    work: CRDValidation = CRDValidation()
    """Kinds of work other than Jobs"""
    unknown_fields: Collect[[str], str] = Collect()
    """Which fields does the API server drop, since the definition of a kind lacks them? Without rules: none."""
    workload: CRDValidation = CRDValidation()
    """Workloads"""
    workload_priority_class: CRDValidation = CRDValidation()
    """WorkloadPriorityClasses"""

    def faults(
        self, write: AdmissionRequest, wrong: Sequence[FieldError] = ()
    ) -> Sequence[FieldError]:
        """Give all errors of an object, those of types (``wrong``) first."""
        if write.new["kind"] == "Job":
            return tuple(self.job.faults(write))
        if write.new["kind"] in ("Pod", "Deployment", "StatefulSet"):
            return tuple(self.pod.faults(write))
        kinds = {
            "AdmissionCheck": self.admission_check,
            "ClusterQueue": self.cluster_queue,
            "Cohort": self.cohort,
            "LocalQueue": self.local_queue,
            "MultiKueueCluster": self.multikueue_cluster,
            "MultiKueueConfig": self.multikueue_config,
            "ProvisioningRequestConfig": self.provisioning_request_config,
            "ResourceFlavor": self.resource_flavor,
            "Topology": self.topology,
            **dict.fromkeys(CUSTOM, self.work),
            "Workload": self.workload,
            "WorkloadPriorityClass": self.workload_priority_class,
        }
        return kinds.get(write.new["kind"], CRDValidation()).faults(write, wrong)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceGroupValidation:
    """Why Kueue denies resource groups of a ClusterQueue or a Cohort."""

    resource: Collect[[CoveredResource], FieldError] = Collect()
    """Find errors of each covered resource."""
    quota: Collect[[ResourceQuota], FieldError] = Collect()
    """Find errors of each quota of a flavor."""
    flavor: Collect[[FlavorOfGroup], FieldError] = Collect()
    """Find errors of each flavor. Without rules: a flavor may be in several groups."""

    def faults(self, write: AdmissionRequest) -> Iterator[FieldError]:
        """Give all errors of the groups."""
        for part in parts_of(write.new):
            match part:
                case CoveredResource():
                    yield from self.resource(part)
                case ResourceQuota():
                    yield from self.quota(part)
                case FlavorOfGroup():
                    yield from self.flavor(part)
                case _:
                    assert_never(part)


Denials = Collect[[AdmissionRequest], FieldError]
"""Rules of one webhook about the objects that it denies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRules:
    """What Kueue's own webhooks change in a new object, and why they deny an object."""

    defaults: Each[[str], Mapping[str, str]] = Each()
    """Which empty values does a new object of a kind get, by field?"""
    drop_fields: Collect[[str], str] = Collect()
    """Which fields are removed from a new object of a kind?"""
    groups: ResourceGroupValidation = ResourceGroupValidation()
    """Resource groups of ClusterQueues and Cohorts"""
    cluster_queue: Collect[[AdmissionRequest], FieldError] = Collect()
    """Find errors of a ClusterQueue."""
    cohort: Collect[[AdmissionRequest], FieldError] = Collect()
    """Find errors of a Cohort."""
    panics: AnyOf[[AdmissionRequest]] = AnyOf()
    """Does a webhook panic, which denies an object? Without rules: it does not."""
    ray_job: Collect[[AdmissionRequest], FieldError] = Collect()
    """Find errors of a RayJob before anything else. Without rules: there are none."""
    ray_job_exempt: AnyOf[[AdmissionRequest]] = AnyOf()
    """Is a RayJob validated no further? Without rules: each is."""
    ray_cluster: Collect[[AdmissionRequest], FieldError] = Collect()
    """Find errors of the cluster that Ray work makes."""
    job: Collect[[AdmissionRequest], FieldError] = Collect()
    """Find errors of a Job, or of another kind of work."""
    new_job: Collect[[Manifest, bool], FieldError] = Collect()
    """Find errors of new work, elastic or not, before it is changed. Without rules: there are none."""
    pod: Collect[[AdmissionRequest], FieldError] = Collect()
    """Find errors of a pod, after those that it has as work."""
    pod_owner: Collect[[AdmissionRequest], FieldError] = Collect()
    """Find errors of work whose pods are queued."""
    off: AnyOf[[AdmissionRequest]] = AnyOf()
    """Do the webhooks accept anything? Without rules: they do not."""
    job_exempt: AnyOf[[AdmissionRequest]] = AnyOf()
    """Is a change of work not validated? Without rules: each is."""
    resource_flavor: Collect[[AdmissionRequest], FieldError] = Collect()
    """Find errors of a ResourceFlavor."""
    workload: Collect[[AdmissionRequest], FieldError] = Collect()
    """Find errors of a Workload."""
    rephrase: Fold[str, []] = Fold()
    """How is an error worded? Without rules: as Kubernetes 1.35 and later do."""

    def faults(self, write: AdmissionRequest) -> Iterator[FieldError]:
        """Give all errors for which the webhooks deny an object."""
        for fault in self._found(write):
            yield replace(fault, detail=self.rephrase(fault.detail))

    def _found(self, write: AdmissionRequest) -> Iterator[FieldError]:
        kind = write.new["kind"]
        if self.off(write) or (kind in JOB_KINDS and self.job_exempt(write)):
            return
        if kind == "Cohort":
            yield from self.cohort(write)
        if kind in {"ClusterQueue", "Cohort"}:
            yield from self.groups.faults(write)
        if kind == "Pod":
            yield from self.job(write)
        rules = {
            "ClusterQueue": self.cluster_queue,
            **dict.fromkeys(JOB_KINDS, self._of_work),
            "Pod": self.pod,
            **dict.fromkeys(POD_OWNERS, self.pod_owner),
            "ResourceFlavor": self.resource_flavor,
            "Workload": self.workload,
        }
        yield from rules.get(kind, Collect[[AdmissionRequest], FieldError]())(write)

    def _of_work(self, write: AdmissionRequest) -> Iterator[FieldError]:
        yield from self.ray_job(write)
        is_exempt = self.ray_job_exempt(write)
        if not is_exempt:
            yield from self.ray_cluster(write)
        if write.old is not None or not is_exempt:
            yield from self.job(write)
