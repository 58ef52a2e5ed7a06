"""The cluster state that rules read in addition to the workload: claim templates, classes and devices.

Kubernetes: sigs.k8s.io/controller-runtime/pkg/client/interfaces.go (Reader)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kueue_dra_ref.api.configuration import DeviceClassMapping, Transformation
from kueue_dra_ref.api.devices import DeviceRequest, expressions_of
from kueue_dra_ref.api.names import quoted
from kueue_dra_ref.api.types import Claim, ClusterQueue, PodSet, Workload
from kueue_dra_ref.cel import CompileError, Device, EvaluationError, Undecided, compiled
from kueue_dra_ref.model.limitranges import NamespaceLimits
from kueue_dra_ref.model.resourceslices import PublishedSlice
from kueue_dra_ref.target import FieldError, Manifest

Key = tuple[str, str]
"""Namespace and name of an object; the namespace is empty for cluster scope."""
Trial = bool | EvaluationError | Undecided
"""Whether selectors match a device, or why that cannot be evaluated."""


class Lister(Protocol):
    """Reads stored objects of the cluster for rules."""

    def template(self, namespace: str, name: str) -> Manifest | None:
        """Get a ResourceClaimTemplate."""

    def claim(self, namespace: str, name: str) -> Manifest | None:
        """Get a ResourceClaim."""

    def namespace_limits(self, namespace: str) -> NamespaceLimits:
        """Get the limits on the pods of a namespace."""

    def may_read(self, resource: str) -> bool:
        """Whether Kueue's role allows it to read a resource of resource.k8s.io."""

    def device_class(self, name: str) -> Manifest | None:
        """Get a DeviceClass."""

    def classes_for(self, extended_resource: str) -> Sequence[Manifest]:
        """List the DeviceClasses that provide an extended resource."""

    def slices(self) -> Sequence[PublishedSlice]:
        """List the ResourceSlices, ordered by name."""

    def devices(self) -> Sequence[Device]:
        """List the devices of all ResourceSlices, ordered by the name of the slice."""

    def configured(self) -> Sequence[DeviceClassMapping]:
        """Get the device class mappings of Kueue's Configuration."""

    def transformations(self) -> Sequence[Transformation]:
        """Get the resource transformations of Kueue's Configuration."""

    def dra_config(self, namespace: str, name: str) -> Manifest | None:
        """Get a DynamicResourceAllocationConfig."""

    def target(self, workload: Workload) -> ClusterQueue | None:
        """Get the ClusterQueue of the LocalQueue that a workload names."""

    def is_in_use(
        self,
        cluster_queue: str,
        namespace: str,
        claim: str,
    ) -> bool:
        """Whether a workload with a quota reservation in a ClusterQueue uses a ResourceClaim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequestContext:
    """One claim of a pod set, the template that it names and, where one is checked, a request of that template.

    A ResourceClaim that a pod names directly is read as a template with the same spec.
    """

    lister: Lister
    workload: Workload
    pod_set: PodSet
    claim: Claim
    template: Manifest | None = None
    request: DeviceRequest | None = None

    @property
    def checked(self) -> DeviceRequest:
        """The request; for rules that are only asked about one."""
        assert self.request is not None
        return self.request

    @property
    def claim_title(self) -> str:
        """The pod set and the claim, for `explain`."""
        return (
            f"pod set {self.pod_set.name}, claim {self.claim.name or self.claim.index}"
        )

    @property
    def title(self) -> str:
        """The pod set, the claim and the request, for `explain`."""
        return f"{self.claim_title}, request {self.checked.name}"

    @property
    def request_path(self) -> str:
        """The field of the request in the Workload; of the first one if none is checked."""
        index = self.request.index if self.request else 0
        return f"{self.pod_set.claim_path(self.claim)}.devices.requests[{index}]"

    def fault(
        self,
        type_: str,
        below: str,
        detail: str,
        value: str | None = None,
    ) -> FieldError:
        """Give an error of the request, at its field of the Workload, with the message that Kueue reports."""
        return FieldError(
            field=f"{self.request_path}{below}",
            type=type_,
            value=value,
            detail=f"{self.claim.source}: {detail}",
        )


def class_selectors(lister: Lister, device_class: str) -> tuple[str, ...] | None:
    """Give the selectors of a DeviceClass, or None if the class does not exist."""
    found = lister.device_class(device_class)
    if found is None:
        return None
    return expressions_of(found.get("spec") or {}, "spec")


def uncompiled(lister: Lister, device_class: str) -> FieldError | None:
    """Give the error of the first selector of a DeviceClass that does not compile; its field is below the request."""
    expressions = class_selectors(lister, device_class) or ()
    for index, expression in enumerate(expressions):
        found = compiled(expression)
        if isinstance(found, CompileError):
            return FieldError(
                field=f"[{index}].cel.expression",
                type="Invalid value",
                value=quoted(expression),
                detail=f"DeviceClass {device_class} has invalid CEL selector: {found.detail}",
            )
    return None


def all_hold(expressions: tuple[str, ...], device: Device) -> Trial:
    """Whether every selector matches a device; the first that does not decides."""
    for expression in expressions:
        outcome = _matches(expression, device)
        if outcome is not True:
            return outcome
    return True


def _matches(expression: str, device: Device) -> Trial:
    match compiled(expression):
        case CompileError(detail=detail):
            return EvaluationError(detail=detail)
        case Undecided() as undecided:
            return undecided
        case selector:
            return selector.matches(device)
