"""The parts of a behaviour that refuse what is written: the API server by Kueue's definitions, then Kueue itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from kueue_dra_ref.api.crd_validation import invalid
from kueue_dra_ref.api.jobs import POD_PATH, pod_of
from kueue_dra_ref.api.resource_groups import (
    CoveredResource,
    FlavorOfGroup,
    ResourceQuota,
    parts_of,
)
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.apiserver.containers import PodContainer, containers_of
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.slots import Collect, Each, Fold
from kueue_dra_ref.target import FieldError

Checks = tuple[Rule[[AdmissionRequest], Iterable[FieldError]], ...]
"""Rules in the order in which their faults are told."""

_NOT_LOOKED_AT = invalid(
    "<nil>",
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
    "null",
)
_OTHER_TYPE = "in body must be of type"
_GRAVE = {"Too many", "Too long", "Required value", "Unsupported value"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CRDValidation:
    """What the API server refuses of a kind by its definition: limits of fields, and rules in CEL."""

    limits: Collect[[AdmissionRequest], FieldError] = Collect()
    cel: Collect[[AdmissionRequest], FieldError] = Collect()

    def faults(
        self, write: AdmissionRequest, wrong: Sequence[FieldError] = ()
    ) -> Sequence[FieldError]:
        """Everything that is wrong, types first; where something is too much, missing or unknown, CEL is not asked."""
        found = [*wrong, *(fault for rule in self.limits for fault in rule(write))]
        if self.cel and any(
            fault.type in _GRAVE or _OTHER_TYPE in fault.detail for fault in found
        ):
            return [*found, _NOT_LOOKED_AT]
        return [
            *found,
            *(fault for rule in self.cel if not wrong for fault in rule(write)),
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobValidation:
    """What the API server refuses of a Job, in the order in which it tells it."""

    before: Collect[[AdmissionRequest], FieldError] = Collect()
    container: Collect[[PodContainer], FieldError] = Collect()
    """What is refused of each container of its pods."""
    after: Collect[[AdmissionRequest], FieldError] = Collect()

    def faults(self, write: AdmissionRequest) -> Iterator[FieldError]:
        """Everything that is wrong."""
        yield from (fault for rule in self.before for fault in rule(write))
        for container in containers_of(pod_of(write.new), POD_PATH, write.kubernetes):
            yield from (fault for rule in self.container for fault in rule(container))
        yield from (fault for rule in self.after for fault in rule(write))


@dataclass(frozen=True, slots=True, kw_only=True)
class APIValidation:
    """Kueue's definitions of its kinds, and Kubernetes' of Jobs, as far as anything is refused by them."""

    cluster_queue: CRDValidation = CRDValidation()
    cohort: CRDValidation = CRDValidation()
    job: JobValidation = JobValidation()
    local_queue: CRDValidation = CRDValidation()
    resource_flavor: CRDValidation = CRDValidation()
    workload: CRDValidation = CRDValidation()
    workload_priority_class: CRDValidation = CRDValidation()

    def faults(
        self, write: AdmissionRequest, wrong: Sequence[FieldError] = ()
    ) -> Sequence[FieldError]:
        """Everything that is wrong with an object by the definition of its kind, beside what has the wrong type."""
        if write.new["kind"] == "Job":
            return tuple(self.job.faults(write))
        kinds = {
            "ClusterQueue": self.cluster_queue,
            "Cohort": self.cohort,
            "LocalQueue": self.local_queue,
            "ResourceFlavor": self.resource_flavor,
            "Workload": self.workload,
            "WorkloadPriorityClass": self.workload_priority_class,
        }
        return kinds.get(write.new["kind"], CRDValidation()).faults(write, wrong)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceGroupValidation:
    """What Kueue denies of resource groups, part by part."""

    resource: Collect[[CoveredResource], FieldError] = Collect()
    quota: Collect[[ResourceQuota], FieldError] = Collect()
    flavor: Collect[[FlavorOfGroup], FieldError] = Collect()

    def faults(self, write: AdmissionRequest) -> Iterator[FieldError]:
        """Everything that is wrong with the groups of a ClusterQueue or a Cohort."""
        for part in parts_of(write.new):
            match part:
                case CoveredResource():
                    yield from (fault for rule in self.resource for fault in rule(part))
                case ResourceQuota():
                    yield from (fault for rule in self.quota for fault in rule(part))
                case FlavorOfGroup():
                    yield from (fault for rule in self.flavor for fault in rule(part))
                case _:
                    assert_never(part)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRules:
    """What Kueue's own webhooks change of a new object, and deny of any, by the kind that is written."""

    defaults: Each[[str], Mapping[str, str]] = Each()
    """What stands, in a new object of a kind, where something is not said."""
    drop_fields: Collect[[str], str] = Collect()
    """What is taken away from a new object of a kind."""
    groups: ResourceGroupValidation = ResourceGroupValidation()
    cluster_queue: Collect[[AdmissionRequest], FieldError] = Collect()
    cohort: Collect[[AdmissionRequest], FieldError] = Collect()
    job: Collect[[AdmissionRequest], FieldError] = Collect()
    resource_flavor: Collect[[AdmissionRequest], FieldError] = Collect()
    workload: Collect[[AdmissionRequest], FieldError] = Collect()
    rephrase: Fold[str, []] = Fold()
    """How its details are worded otherwise."""

    def faults(self, write: AdmissionRequest) -> Iterator[FieldError]:
        """Everything for which an object is denied."""
        for fault in self._found(write):
            detail = fault.detail
            for rule in self.rephrase:
                detail = rule(detail)
            yield replace(fault, detail=detail)

    def _found(self, write: AdmissionRequest) -> Iterator[FieldError]:
        kind = write.new["kind"]
        before: Mapping[str, Checks] = {
            "Cohort": self.cohort,
            "Job": self.job,
            "ResourceFlavor": self.resource_flavor,
            "Workload": self.workload,
        }
        yield from (fault for rule in before.get(kind, ()) for fault in rule(write))
        if kind in {"ClusterQueue", "Cohort"}:
            yield from self.groups.faults(write)
        if kind == "ClusterQueue":
            yield from (fault for rule in self.cluster_queue for fault in rule(write))
