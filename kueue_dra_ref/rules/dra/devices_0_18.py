"""Devices in Kueue 0.18: first counter set, any mapped class, errors of extended resources by container.

Kueue 0.18: pkg/dra/counters.go (computeCounterCharges);
    pkg/dra/extended_resources.go (resolveContainerExtendedResources)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kueue_dra_ref.api.pods import ContainerRequests
from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.model.device_checks import DeviceClassSelection
from kueue_dra_ref.model.extended_resources import ExtendedResourceRequest
from kueue_dra_ref.model.resourceslices import PublishedDevice
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.model.sources import Source, SourceCharge
from kueue_dra_ref.target import FieldError, Manifest


@rule("COUNTER-001", "COUNTER-009")
def first_counter_set_is_charged(
    source: Source, device: PublishedDevice
) -> Sequence[Quantity]:
    """A device charges the amount that it consumes of the counter in its first counter set.

    Kueue 0.18: pkg/dra/counters.go (computeCounterCharges)
    """
    return [amount for name, amount in device.counters if name == source.name][:1]


@rule("DEVICE-010", "DEVICE-020")
def missing_class_at_request_path(
    charge: SourceCharge,
) -> FieldError | None:
    """Kueue retries a missing DeviceClass with sources, at the request path with the first request appended.

    Kueue 0.18: pkg/dra/claims.go (resolveAndCompileDeviceClass); pkg/dra/counters.go (GetCounterResourcesForWorkload)
    """
    if charge.class_exists:
        return None
    name = charge.request.device_class
    detail = f'failed to get DeviceClass {name}: DeviceClass.resource.k8s.io "{name}" not found'
    fault = charge.fault("Internal error", detail)
    return replace(fault, field=f"{fault.field}.devices.requests[0]")


@rule("DEVICE-023", "DEVICE-025")
def class_selector_error_at_request_path(
    charge: SourceCharge,
) -> FieldError | None:
    """Kueue rejects a class with sources that does not compile, with the first request appended to the path.

    Kueue 0.18: pkg/dra/claims.go (resolveAndCompileDeviceClass); pkg/dra/counters.go (GetCounterResourcesForWorkload)
    """
    return charge.uncompiled(below=".devices.requests[0]")


@rule("EXT-037")
def mapped_device_class_wins(selection: DeviceClassSelection) -> DeviceClassSelection:
    """Of several classes with one extendedResourceName, Kueue chooses one that is mapped, whatever its age.

    Kueue 0.18: pkg/dra/extended_resources.go (resolveContainerExtendedResources)
    """
    mapped: set[str] = set()
    for mapping in selection.mappings:
        mapped.update(mapping.device_classes)

    def order(device_class: Manifest) -> tuple[bool, str]:
        name = device_class["metadata"]["name"]
        return name not in mapped, name

    return selection.keep(sorted(selection.classes, key=order)[:1])


@rule("EXT-017", "EXT-040")
def each_container_requests_whole_devices(
    request: ExtendedResourceRequest, container: ContainerRequests
) -> FieldError | None:
    """Kueue rejects each container that requests a fraction of a device, before it checks for counters.

    Kueue 0.18: pkg/dra/extended_resources.go (resolveContainerExtendedResources)
    """
    return request.not_whole(container)


@rule("EXT-015", "EXT-038", "EXT-040")
def each_container_rejects_counters(
    request: ExtendedResourceRequest, container: ContainerRequests
) -> FieldError | None:
    """Kueue rejects each container that requests an extended resource of a class with counters.

    Kueue 0.18: pkg/dra/extended_resources.go (resolveContainerExtendedResources)
    """
    if not request.is_charged_by("counter"):
        return None
    return request.charged_otherwise(
        container, "counters configured", "CEL selectors for counter-based quota"
    )
