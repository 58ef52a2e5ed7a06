"""Requests of containers for an extended resource that a DeviceClass provides (DRA Extended Resources).

Kueue: pkg/dra/extended_resources.go (extendedResourceRequests, ResolveExtendedResourceQuota)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.pods import ContainerRequests
from kueue_dra_ref.api.quantities import MAX_INT64, Quantity, whole
from kueue_dra_ref.api.types import PodSet
from kueue_dra_ref.target import FieldError


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendedResourceRequest:
    """One extended resource that the containers of a pod set request; ``device_class`` provides it."""

    pod_set: PodSet
    name: str
    device_class: str
    mappings: Sequence[DeviceClassMapping]

    @property
    def asking(self) -> tuple[ContainerRequests, ...]:
        """The containers that request any of it, init containers first."""
        return tuple(
            each for each in self.pod_set.containers if self.amount(each).amount > 0
        )

    def amount(self, container: ContainerRequests) -> Quantity:
        """Give the amount that a container requests."""
        return container.requests.get(self.name, whole(0))

    def is_charged_by(self, kind: str) -> bool:
        """Whether the DeviceClass charges a kind of source, ``counter`` or ``capacity``, instead of devices."""
        for mapping in self.mappings:
            if self.device_class not in mapping.device_classes:
                continue
            if any(source.get(kind) for source in mapping.sources):
                return True
        return False

    def fault(
        self,
        container: ContainerRequests,
        below: str,
        value: str,
        detail: str,
    ) -> FieldError:
        """Give an error at a field of one container."""
        return FieldError(
            field=f"{self.pod_set.path}.{container.path}{below}",
            type="Invalid value",
            value=f'"{value}"',
            detail=detail,
        )

    def not_whole(self, container: ContainerRequests) -> FieldError | None:
        """Give the error of an amount that is no 64-bit integer, or is not written as one."""
        quantity = self.amount(container)
        is_integer = quantity.amount.denominator == 1
        is_small_enough = quantity.amount <= MAX_INT64
        if is_integer and is_small_enough and self.name not in container.obscure:
            return None
        return self.fault(
            container,
            below=f".resources.requests.{self.name}",
            value=str(quantity),
            detail="extended resource quantity must be an integer",
        )

    def charged_otherwise(
        self,
        container: ContainerRequests,
        configured: str,
        instead: str,
    ) -> FieldError:
        """Give the error of a request for a DeviceClass that charges counters or capacities."""
        detail = (
            f"extended resource {self.name} resolves to DeviceClass {self.device_class} with {configured};"
            f" use ResourceClaimTemplates with {instead}"
        )
        return self.fault(
            container,
            below="",
            value=self.name,
            detail=detail,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerDevices:
    """The devices that one container requests."""

    count: int
    initial: bool
    stays: bool
    """Whether it is an init container that runs next to the regular ones (a sidecar)."""


def devices_of_containers(
    requests: Sequence[ExtendedResourceRequest],
    is_dropped: Callable[[int], bool],
) -> tuple[ContainerDevices, ...]:
    """Count the devices that each container requests of several resources, init containers first."""
    found: list[ContainerDevices] = []
    for container in requests[0].pod_set.containers:
        devices = [each.amount(container).ceiling for each in requests]
        found.append(
            ContainerDevices(
                count=sum(each for each in devices if not is_dropped(each)),
                initial=container.initial,
                stays=container.stays,
            )
        )
    return tuple(found)
