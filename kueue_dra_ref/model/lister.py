"""What rules may look at besides the workload: templates, classes and devices of the cluster.

Kubernetes: sigs.k8s.io/controller-runtime/pkg/client/interfaces.go (Reader)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.devices import DeviceRequest, expressions_of
from kueue_dra_ref.api.names import quoted
from kueue_dra_ref.api.types import Claim, ClusterQueue, PodSet, Workload
from kueue_dra_ref.cel import CompileError, Device, EvaluationError, Undecided, compiled
from kueue_dra_ref.model.limitranges import NamespaceLimits
from kueue_dra_ref.model.resourceslices import PublishedSlice
from kueue_dra_ref.target import FieldError, Manifest

Trial = bool | EvaluationError | Undecided
"""What trying one device gives."""


class Lister(Protocol):
    """The cluster as a rule sees it: stored objects, read-only."""

    def template(self, namespace: str, name: str) -> Manifest | None:
        """A ResourceClaimTemplate."""

    def claim(self, namespace: str, name: str) -> Manifest | None:
        """A ResourceClaim."""

    def surroundings(self, namespace: str) -> NamespaceLimits:
        """What bears on the pods of a namespace."""

    def may_read(self, resource: str) -> bool:
        """Whether Kueue has the right to read a resource of resource.k8s.io."""

    def device_class(self, name: str) -> Manifest | None:
        """A DeviceClass."""

    def classes_for(self, extended_resource: str) -> Sequence[Manifest]:
        """The DeviceClasses that stand for an extended resource."""

    def slices(self) -> Sequence[PublishedSlice]:
        """Every ResourceSlice, by name."""

    def devices(self) -> Sequence[Device]:
        """Every device of every ResourceSlice, slices by name."""

    def configured(self) -> Sequence[DeviceClassMapping]:
        """The device class mappings of Kueue's Configuration."""

    def dra_config(self, namespace: str, name: str) -> Manifest | None:
        """A DynamicResourceAllocationConfig."""

    def target(self, workload: Workload) -> ClusterQueue | None:
        """The ClusterQueue behind the LocalQueue that a workload names."""

    def is_in_use(self, cluster_queue: str, namespace: str, claim: str) -> bool:
        """Whether a workload that holds quota of a ClusterQueue names a ResourceClaim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequestContext:
    """One claim of one pod set, with the template that it names, or with one request of that template.

    A ResourceClaim that is named directly is read as the template that would have made it.
    """

    world: Lister
    workload: Workload
    pod_set: PodSet
    claim: Claim
    template: Manifest | None = None
    request: DeviceRequest | None = None

    def fault(
        self, type_: str, below: str, detail: str, value: str | None = None
    ) -> FieldError:
        """A fault of the request, at its field of the Workload, worded as Kueue words them."""
        index = self.request.index if self.request else 0
        return FieldError(
            field=f"{self.pod_set.claim_path(self.claim)}.devices.requests[{index}]{below}",
            type=type_,
            value=value,
            detail=f"{self.claim.source}: {detail}",
        )


def class_selectors(world: Lister, device_class: str) -> tuple[str, ...] | None:
    """The selectors of a DeviceClass; none for an empty name, None when the class does not exist."""
    found = world.device_class(device_class) if device_class else {}
    return None if found is None else expressions_of(found.get("spec") or {}, "spec")


def uncompiled(world: Lister, device_class: str) -> FieldError | None:
    """The first selector of a DeviceClass that does not compile, as a fault whose field is below the request."""
    for index, expression in enumerate(class_selectors(world, device_class) or ()):
        found = compiled(expression)
        if isinstance(found, CompileError):
            detail = (
                f"DeviceClass {device_class} has invalid CEL selector: {found.detail}"
            )
            field = f"[{index}].cel.expression"
            return FieldError(
                field=field,
                type="Invalid value",
                value=quoted(expression),
                detail=detail,
            )
    return None


def all_hold(expressions: tuple[str, ...], device: Device) -> Trial:
    """Whether every selector holds for a device; the first that does not decides."""
    for expression in expressions:
        selector = compiled(expression)
        if isinstance(selector, CompileError):
            return EvaluationError(detail=selector.detail)
        outcome = (
            selector if isinstance(selector, Undecided) else selector.matches(device)
        )
        if outcome is not True:
            return outcome
    return True
