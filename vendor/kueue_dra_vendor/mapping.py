"""Writes a mapping and queues that fit what a driver publishes, and says why it chose each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from kueue_dra_ref.api.jobs import QUEUE_LABEL
from kueue_dra_ref.api.quantities import BadQuantity, Format, Quantity, parse
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.target import Manifest
from kueue_dra_vendor.files import VendorObject, entries, pod_specs
from kueue_dra_vendor.flavors import NodeGroup, node_groups
from kueue_dra_vendor.inventory import Inventory, InventoryDevice

CONFIGURATION = "config.kueue.x-k8s.io/v1beta2"
KUEUE = "kueue.x-k8s.io/v1beta2"
NAMESPACE, QUEUE = "demo", "main"
"""Where demos go that name no namespace or queue; the ClusterQueue has the name of the first."""
UNMATCHED = (
    "matches none of the devices that were given; a helper, or slices are missing"
)
NO_DEVICES = "no ResourceSlice with devices was given"
Declared = Mapping[str, tuple[str, str]]
"""For each class that a descriptor declares: count, counter, capacity or none, and the name of the amount."""
AMOUNTS = ("requests", "limits")
PREFERRED = "memory"
"""The counter or capacity that is charged where a device has several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedClass:
    """How one class is charged, and why."""

    device_class: VendorObject
    resource: str
    nominal: str
    """What the devices that were given add up to."""
    why: str
    source: Manifest = field(default_factory=dict)
    """Empty: by the number of devices."""


def mapped(
    inventory: Inventory, declared: Declared | None = None
) -> tuple[list[MappedClass], list[tuple[VendorObject, str]]]:
    """Choose a mapping for each class that matches devices; give the others with the reason they have none.

    What a descriptor declares, by class, decides before what the devices suggest.
    """
    chosen: list[MappedClass] = []
    left: list[tuple[VendorObject, str]] = []
    intents = declared or {}
    for each in inventory.files.classes:
        devices = inventory.matching(each)
        kind, name = intents.get(each.name, ("", ""))
        if kind == "none":
            left.append((each, "the descriptor declares it a helper"))
        elif not devices:
            why = UNMATCHED if inventory.devices else NO_DEVICES
            left.append((each, why))
        elif kind:
            chosen.append(_declared(inventory, each, devices, kind, name))
        else:
            chosen.append(_mapped(inventory, each, devices))
    return chosen, left


def _declared(
    inventory: Inventory,
    each: VendorObject,
    devices: list[InventoryDevice],
    kind: str,
    name: str,
) -> MappedClass:
    if kind == "capacity":
        found = _by_capacity(each, devices, name)
    elif kind == "counter":
        found = _by_counter(inventory, each, devices, name)
    else:
        found = _by_count(each, devices)
    return replace(found, why=f"the descriptor declares {kind} {name}".strip())


def documents(inventory: Inventory, chosen: Sequence[MappedClass]) -> list[Manifest]:
    """Give the Configuration, and a ResourceFlavor, ClusterQueue and LocalQueues that fit devices and demos."""
    groups = node_groups(inventory)
    quotas = [(each, _quota(inventory, chosen, each)) for each in groups]
    return [_configuration(chosen), *_queues(inventory, quotas)]


def queues(inventory: Inventory, devices: Mapping[str, str]) -> list[Manifest]:
    """Give namespaces, a ResourceFlavor, a ClusterQueue with quota for the devices, and LocalQueues of the demos."""
    group = node_groups(inventory)[0]
    return _queues(inventory, [(NodeGroup(name=group.name), devices)])


def _quota(
    inventory: Inventory, chosen: Sequence[MappedClass], group: NodeGroup
) -> dict[str, str]:
    """Give what the devices of some nodes add up to, by resource."""
    if not group.nodes:
        return {each.resource: each.nominal for each in chosen}
    found = {}
    for each in chosen:
        devices = inventory.matching(each.device_class)
        inside = [device for device in devices if group.has(device.node)]
        found[each.resource] = _nominal(inventory, each, inside, group)
    return found


def _nominal(
    inventory: Inventory,
    each: MappedClass,
    devices: list[InventoryDevice],
    group: NodeGroup,
) -> str:
    if not devices:
        return "0"
    for kind, source in each.source.items():
        name = source["name"]
        if kind == "counter":
            sets = _shared(inventory, source["driver"], name, group)
            return _sum(sets)
        return _by_capacity(each.device_class, devices, name).nominal
    return str(len(devices))


def _queues(
    inventory: Inventory, quotas: Sequence[tuple[NodeGroup, Mapping[str, str]]]
) -> list[Manifest]:
    places = sorted(set(_places(inventory))) or [(NAMESPACE, QUEUE)]
    ordinary = _ordinary(inventory)
    flavors = {group.name: {**devices, **ordinary} for group, devices in quotas}
    namespaces = sorted({namespace for namespace, _ in places})
    return [
        *(an_object("v1", "Namespace", namespace) for namespace in namespaces),
        *(_flavor(group) for group, _ in quotas),
        _cluster_queue(flavors),
        *(_local_queue(queue, namespace) for namespace, queue in places),
    ]


def _configuration(chosen: Sequence[MappedClass]) -> Manifest:
    mappings = [_as_mapping(each) for each in chosen]
    return {
        "apiVersion": CONFIGURATION,
        "kind": "Configuration",
        **_gates(chosen),
        "resources": {"deviceClassMappings": mappings},
    }


def _flavor(group: NodeGroup) -> Manifest:
    found = an_object(KUEUE, "ResourceFlavor", group.name)
    if not group.labels:
        return found
    return {**found, "spec": {"nodeLabels": dict(group.labels)}}


def _cluster_queue(flavors: Mapping[str, Mapping[str, str]]) -> Manifest:
    group = _group(flavors)
    return {
        **an_object(KUEUE, "ClusterQueue", NAMESPACE),
        "spec": {"namespaceSelector": {}, "resourceGroups": [group]},
    }


def _local_queue(name: str, namespace: str) -> Manifest:
    return {
        **an_object(KUEUE, "LocalQueue", name, namespace),
        "spec": {"clusterQueue": NAMESPACE},
    }


def an_object(api_version: str, kind: str, name: str, namespace: str = "") -> Manifest:
    """Give an object without a spec."""
    place = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, **place},
    }


def _places(inventory: Inventory) -> Iterator[tuple[str, str]]:
    """Give the namespaces of the demos, each with the queue that they name."""
    for document in inventory.files.work:
        metadata = part(document.manifest, "metadata")
        queue = part(metadata, "labels").get(QUEUE_LABEL)
        yield str(metadata.get("namespace") or "default"), str(queue or QUEUE)


def _ordinary(inventory: Inventory) -> dict[str, str]:
    """Give the ordinary resources that the demos request, with enough quota for all of them.

    Kueue takes a limit for the request that is missing.
    """
    totals: dict[str, Quantity] = {}
    for document in inventory.files.work:
        for _, pod in pod_specs(document.manifest):
            for container in entries(pod["containers"]):
                resources = part(container, "resources")
                requests = {**part(resources, "limits"), **part(resources, "requests")}
                for name, amount in _quantities(requests):
                    totals[name] = _plus(totals.get(name), amount)
    return {name: str(total) for name, total in totals.items()}


def _quantities(requests: Mapping[str, Any]) -> Iterator[tuple[str, Quantity]]:
    """Give the ordinary resources whose amount is a quantity."""
    for name, written in requests.items():
        if "/" in name:
            continue
        try:
            yield name, parse(written)
        except (BadQuantity, TypeError):
            continue


def _plus(one: Quantity | None, other: Quantity) -> Quantity:
    return (
        other
        if one is None
        else Quantity(amount=one.amount + other.amount, format=other.format)
    )


def _mapped(
    inventory: Inventory, each: VendorObject, devices: list[InventoryDevice]
) -> MappedClass:
    """Choose by what a class is charged; a class that demos request by name can only be charged by count."""
    name = str(each.spec.get("extendedResourceName") or "")
    source = _sourced(inventory, each, devices)
    if source and name and _is_requested(inventory, name):
        why = f"the demos request {name}, which Kueue refuses for a class with sources"
        return replace(_by_count(each, devices), why=why)
    if source and name:
        why = f"{source.why}; requests of {name} are refused (VENDOR-208)"
        return replace(source, why=why)
    return source or _by_count(each, devices)


def _sourced(
    inventory: Inventory, each: VendorObject, devices: list[InventoryDevice]
) -> MappedClass | None:
    """Charge by a capacity or a counter, where the devices have one that tells them apart."""
    capacity = _chosen(_shared_capacities(devices))
    counter = _chosen(_counters(devices))
    if capacity:
        return _by_capacity(each, devices, capacity)
    if counter and _differs(devices, counter):
        return _by_counter(inventory, each, devices, counter)
    return None


def _by_count(each: VendorObject, devices: list[InventoryDevice]) -> MappedClass:
    why = f"{len(devices)} devices{_unlike(devices)}: each counts one"
    return MappedClass(
        device_class=each,
        resource=_resource(each, "devices"),
        nominal=str(len(devices)),
        why=why,
    )


def _is_requested(inventory: Inventory, name: str) -> bool:
    """Tell whether a container of the demos names an extended resource."""
    for document in inventory.files.work:
        for _, pod in pod_specs(document.manifest):
            for container in entries(pod["containers"]):
                resources = part(container, "resources")
                if any(name in part(resources, kind) for kind in AMOUNTS):
                    return True
    return False


def _by_capacity(
    each: VendorObject, devices: list[InventoryDevice], name: str
) -> MappedClass:
    amounts = [
        parse(device.entry["capacity"][name]["value"])
        for device in devices
        if name in device.entry["capacity"]
    ]
    why = f"the devices give out shares of {name}: a request is charged its share"
    source = {"capacity": _source(name, devices[0].device.driver)}
    nominal = _sum(amounts)
    return MappedClass(
        device_class=each,
        resource=_resource(each, name),
        nominal=nominal,
        why=why,
        source=source,
    )


def _by_counter(
    inventory: Inventory, each: VendorObject, devices: list[InventoryDevice], name: str
) -> MappedClass:
    driver = devices[0].device.driver
    shared = _shared(inventory, driver, name, NodeGroup(name="all"))
    why = f"the devices consume different amounts of the counter {name}: a request is charged the largest that matches"
    source = {"counter": _source(name, driver)}
    return MappedClass(
        device_class=each,
        resource=_resource(each, name),
        nominal=_sum(shared),
        why=why,
        source=source,
    )


def _shared(
    inventory: Inventory, driver: str, name: str, group: NodeGroup
) -> list[Quantity]:
    """Give the amount of a counter in each set of the pools on some nodes."""
    found = []
    for pool in inventory.pools.values():
        if pool.key[0] != driver:
            continue
        for slice_, _, counters in pool.counter_sets:
            node = str(slice_.spec.get("nodeName") or "")
            if name in counters and group.has(node):
                found.append(parse(counters[name]["value"]))
    return found


def _source(name: str, driver: str) -> Manifest:
    return {
        "name": name,
        "driver": driver,
        "deviceSelector": {"cel": {"expression": f"device.driver == '{driver}'"}},
    }


def _counters(devices: Sequence[InventoryDevice]) -> list[str]:
    """Give the counters that every device consumes."""
    each = [{name for name, _ in device.published.counters} for device in devices]
    return sorted(set.intersection(*each)) if each else []


def _shared_capacities(devices: Sequence[InventoryDevice]) -> list[str]:
    """Give the capacities that every device gives out in shares; where some say how, only those.

    A capacity without a request policy is charged in full to each request that names no amount.
    """
    each = [set(_shares(device)) for device in devices]
    found = sorted(set.intersection(*each)) if each else []
    governed = [
        name
        for name in found
        if all(device.published.capacities[name].default for device in devices)
    ]
    return governed or found


def _shares(device: InventoryDevice) -> Iterator[str]:
    """Give the capacities with a default above 0, or none."""
    if not device.entry.get("allowMultipleAllocations"):
        return
    for name, capacity in device.published.capacities.items():
        if capacity.default is None or capacity.default.amount > 0:
            yield name


def _unlike(devices: Sequence[InventoryDevice]) -> str:
    """Say in which capacities devices differ that count one each."""
    sizes: dict[str, set[str]] = {}
    for device in devices:
        for name, capacity in part(device.entry, "capacity").items():
            sizes.setdefault(name, set()).add(str(capacity.get("value")))
    differing = sorted(name for name, values in sizes.items() if len(values) > 1)
    if not differing:
        return " of like size"
    return f" of different {', '.join(differing)}"


def _chosen(names: Sequence[str]) -> str:
    preferred = [name for name in names if name.rpartition("/")[2] == PREFERRED]
    return (preferred or list(names) or [""])[0]


def _differs(devices: Sequence[InventoryDevice], counter: str) -> bool:
    amounts = {
        amount.amount
        for device in devices
        for name, amount in device.published.counters
        if name == counter
    }
    return len(amounts) > 1


def _resource(each: VendorObject, what: str) -> str:
    """Name the resource after the class: ``gpu.example.com`` and ``memory`` give ``gpu.example.com/memory``."""
    return f"{each.name}/{what.rpartition('/')[2]}"


def _sum(amounts: Sequence[Quantity]) -> str:
    form = amounts[0].format if amounts else Format.DECIMAL
    total = sum((each.amount for each in amounts), Fraction(0))
    return str(Quantity(amount=total, format=form))


def _as_mapping(each: MappedClass) -> Manifest:
    found: dict[str, Any] = {
        "name": each.resource,
        "deviceClassNames": [each.device_class.name],
    }
    return {**found, "sources": [each.source]} if each.source else found


def _gates(chosen: Sequence[MappedClass]) -> Manifest:
    gates = {"KueueDRAIntegration": True}
    if any("counter" in each.source for each in chosen):
        gates["KueueDRAIntegrationPartitionableDevices"] = True
    if any("capacity" in each.source for each in chosen):
        gates["KueueDRAIntegrationConsumableCapacity"] = True
    if any(each.device_class.spec.get("extendedResourceName") for each in chosen):
        gates["KueueDRAIntegrationExtendedResource"] = True
    return {"featureGates": gates}


def _group(flavors: Mapping[str, Mapping[str, str]]) -> Manifest:
    """Give the resource group of some flavors, each with the same resources."""
    quotas = []
    covered: list[str] = []
    for name, resources in flavors.items():
        covered = list(resources)
        amounts = [
            {"name": resource, "nominalQuota": nominal}
            for resource, nominal in resources.items()
        ]
        quotas.append({"name": name, "resources": amounts})
    return {"coveredResources": covered, "flavors": quotas}
