"""An extended resource that containers ask for and that a DeviceClass stands for (DRA Extended Resources).

Kueue: pkg/dra/extended_resources.go (extendedResourceRequests, ResolveExtendedResourceQuota)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.pods import ContainerRequests
from kueue_dra_ref.api.quantities import MAX_INT64, Quantity, whole
from kueue_dra_ref.api.types import PodSet
from kueue_dra_ref.target import FieldError


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendedResourceRequest:
    """One extended resource as one pod set asks for it; ``device_class`` is the one that stands for it."""

    pod_set: PodSet
    name: str
    device_class: str
    mappings: Sequence[DeviceClassMapping]

    @property
    def asking(self) -> tuple[ContainerRequests, ...]:
        """The containers that ask for some of it, initial ones first."""
        found = (
            each for each in self.pod_set.containers if self.amount(each).amount > 0
        )
        return tuple(sorted(found, key=lambda each: not each.initial))

    def amount(self, container: ContainerRequests) -> Quantity:
        """What a container asks for."""
        return container.requests.get(self.name, whole(0))

    def is_charged_by(self, kind: str) -> bool:
        """Whether the class is charged by counters, or by capacities, rather than by the device."""
        mine = (
            mapping
            for mapping in self.mappings
            if self.device_class in mapping.device_classes
        )
        return any(source.get(kind) for mapping in mine for source in mapping.sources)

    def fault(
        self, container: ContainerRequests, below: str, value: str, detail: str
    ) -> FieldError:
        """A fault at a field of one container."""
        field = f"{self.pod_set.path}.{container.path}{below}"
        return FieldError(
            field=field, type="Invalid value", value=f'"{value}"', detail=detail
        )

    def not_whole(self, container: ContainerRequests) -> FieldError | None:
        """The fault of asking for anything but a number of 64 bits, written as the integer that it is."""
        quantity = self.amount(container)
        if (
            quantity.amount.denominator == 1
            and quantity.amount <= MAX_INT64
            and self.name not in container.obscure
        ):
            return None
        below = f".resources.requests.{self.name}"
        return self.fault(
            container,
            below,
            str(quantity),
            "extended resource quantity must be an integer",
        )

    def charged_otherwise(
        self, container: ContainerRequests, configured: str, instead: str
    ) -> FieldError:
        """The fault of asking by name for a class that is charged by counters or capacities."""
        detail = (
            f"extended resource {self.name} resolves to DeviceClass {self.device_class} with {configured};"
            f" use ResourceClaimTemplates with {instead}"
        )
        return self.fault(container, "", self.name, detail)


def amounts(
    together: Sequence[ExtendedResourceRequest], *, initial: bool
) -> tuple[int, ...]:
    """What each initial, or each regular, container asks for of several resources together, in devices."""
    containers = (
        each for each in together[0].pod_set.containers if each.initial is initial
    )
    asked = (
        sum(max(wanted.amount(each).ceiling, 0) for wanted in together)
        for each in containers
    )
    return tuple(amount for amount in asked if amount)
