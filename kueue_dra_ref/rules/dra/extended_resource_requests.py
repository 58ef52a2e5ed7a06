"""DRA extended resources: Kueue charges requests for the extendedResourceName of a DeviceClass as devices.

Kueue: pkg/dra/extended_resources.go (ResolveExtendedResourceQuota, resolveQuotaKey, selectedDeviceClass)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kueue_dra_ref.api.quantities import MAX_INT64, whole
from kueue_dra_ref.api.types import PodSet, Workload
from kueue_dra_ref.model.device_checks import DeviceClassSelection
from kueue_dra_ref.model.extended_resources import (
    ContainerDevices,
    ExtendedResourceRequest,
)
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest


@rule("EXT-001", "EXT-002")
def names_with_a_domain_are_extended(name: str) -> bool:
    """A resource name with a domain is extended, except for names of Kubernetes and huge pages.

    Kueue: pkg/util/resource/resource.go (IsExtendedResourceName)
    """
    return "/" in name and not name.startswith(("kubernetes.io/", "hugepages-"))


@rule("EXT-001", "EXT-003")
def extended_resources_are_detected(workload: Workload) -> Iterator[str]:
    """A workload is a DRA workload when a container requests an extended resource of a DeviceClass.

    Kueue: pkg/dra/extended_resources.go (NeedsDRAReconcile)
    """
    for pod_set in workload.pod_sets:
        for container in pod_set.containers:
            for name, amount in container.requests.items():
                if amount.amount:
                    yield name


@rule("EXT-004", "EXT-005")
def requests_and_limits_are_charged(pod_set: PodSet) -> Iterator[str]:
    """Kueue charges each extended resource of which a container requests, or defaults from its limit, some.

    Kueue: pkg/dra/extended_resources.go (extendedResourceRequests);
        pkg/workload/resources.go (UseLimitsAsMissingRequestsInPod)
    """
    for container in pod_set.containers:
        for name, amount in container.requests.items():
            if amount.amount > 0:
                yield name


@rule("EXT-006")
def newest_device_class_wins(selection: DeviceClassSelection) -> DeviceClassSelection:
    """Of several classes with one extendedResourceName, Kueue chooses the one that was created last.

    Kueue: pkg/dra/extended_resources.go (selectedDeviceClass)
    """
    newest = max(map(_created, selection.classes), default="")
    kept = [each for each in selection.classes if _created(each) == newest]
    return selection.keep(kept)


@rule("EXT-007")
def name_breaks_tie(selection: DeviceClassSelection) -> DeviceClassSelection:
    """Of several classes created in the same second, Kueue chooses the first by name.

    Kueue: pkg/dra/extended_resources.go (selectedDeviceClass)
    """
    return selection.keep(sorted(selection.classes, key=_name)[:1])


@rule("EXT-008", "EXT-009", "EXT-010")
def mapped_resource_or_own_name(
    request: ExtendedResourceRequest,
) -> str:
    """Kueue charges an extended resource to the resource of its class, or under its own name.

    Kueue: pkg/dra/extended_resources.go (resolveQuotaKey)
    """
    found = (
        mapping.name
        for mapping in request.mappings
        if request.device_class in mapping.device_classes
    )
    return next(found, request.name)


@rule("EXT-011", "EXT-012", "EXT-013")
def max_of_init_and_containers(containers: Sequence[ContainerDevices]) -> int:
    """Kueue charges the larger of the sum of regular containers and the largest init container.

    Kueue: pkg/dra/extended_resources.go (ResolveExtendedResourceQuota)
    """
    initial = [each.count for each in containers if each.initial]
    regular = [each.count for each in containers if not each.initial]
    return max([*initial, sum(regular)])


@rule("EXT-044")
def extended_resources_sum_per_name(request: ExtendedResourceRequest) -> str:
    """Kueue compares init containers with regular containers separately for each name of a resource.

    Kueue: pkg/dra/extended_resources.go (ResolveExtendedResourceQuota)
    """
    return request.name


@rule("EXT-048")
def requests_below_zero_are_dropped(devices: int) -> bool:
    """Kueue does not count what a container requests below zero, as a default of a LimitRange may be.

    Kueue: pkg/dra/extended_resources.go (extendedResourceRequests)
    """
    return devices < 0


@rule("EXT-014")
def resolved_name_is_not_charged_natively(name: str) -> bool:
    """Kueue does not charge a name as an ordinary resource when it charges it as devices.

    Kueue: pkg/workload/workload.go (totalRequestsFromPodSets)
    """
    return bool(name)


@rule("EXT-015", "EXT-039")
def classes_with_counters_are_refused(
    request: ExtendedResourceRequest,
) -> Iterator[FieldError]:
    """Kueue rejects a request for an extended resource of a class with counters.

    Kueue: pkg/dra/extended_resources.go (resolveQuotaKey)
    """
    if request.is_charged_by("counter"):
        first, *_ = request.asking
        yield request.charged_otherwise(
            first,
            "counters configured",
            "CEL selectors for counter-based quota",
        )


@rule("EXT-016")
def classes_with_capacities_are_refused(
    request: ExtendedResourceRequest,
) -> Iterator[FieldError]:
    """Kueue rejects a request for an extended resource of a class with capacities.

    Kueue: pkg/dra/extended_resources.go (resolveQuotaKey)
    """
    if request.is_charged_by("capacity"):
        first, *_ = request.asking
        yield request.charged_otherwise(
            first,
            "capacity sources configured",
            "capacity.requests for capacity-based quota",
        )


@rule("EXT-017", "EXT-041")
def devices_are_whole(request: ExtendedResourceRequest) -> Iterator[FieldError]:
    """Kueue rejects every container that does not request a whole number of devices.

    Kueue: pkg/dra/extended_resources.go (ResolveExtendedResourceQuota)
    """
    for container in request.asking:
        fault = request.not_whole(container)
        if fault:
            yield fault


@rule("EXT-018")
def sum_of_containers_has_64_bits(
    request: ExtendedResourceRequest,
) -> Iterator[FieldError]:
    """Kueue rejects a pod whose containers together request more devices than 64 bits can hold.

    Kueue: pkg/dra/extended_resources.go (ResolveExtendedResourceQuota)
    """
    regular = [each for each in request.asking if not each.initial]
    total = sum(request.amount(each).ceiling for each in regular)
    if total > MAX_INT64:
        written = request.amount(regular[0]).format
        below = f".resources.requests.{request.name}"
        detail = "total extended resource quantity overflows int64"
        first, *_ = request.asking
        yield request.fault(first, below, str(whole(total, written)), detail)


@rule("EXT-019", "EXT-020", "EXT-021", "EXT-022")
def device_class_change_requeues(
    old: Manifest | None, new: Manifest | None
) -> Iterator[str]:
    """Kueue retries pending workloads when a class with their extended resource changes.

    Kueue: pkg/controller/core/workload_controller.go (deviceClassHandler, reconcileWorkloads)
    """
    for name in dict.fromkeys(_extended_resource_name(each) for each in (old, new)):
        if name:
            yield name


def _extended_resource_name(device_class: Manifest | None) -> str:
    return str(
        ((device_class or {}).get("spec") or {}).get("extendedResourceName") or ""
    )


def _name(device_class: Manifest) -> str:
    return str(device_class["metadata"]["name"])


def _created(device_class: Manifest) -> str:
    return str(device_class["metadata"]["creationTimestamp"])
