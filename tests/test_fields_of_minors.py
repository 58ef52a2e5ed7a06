"""Each field of resource.k8s.io came with a minor of Kubernetes, as its types say: k8s.io/api/resource, types.go."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_ref.apiserver import MINORS, AcceptedRequest, RejectedRequest, RequestContext, admitted
from tests.apiserver import row

FLAT = ("v1beta1",)
NESTED = ("v1", "v1beta2")
ALL = (*NESTED, *FLAT)


def of_request(field: str) -> dict[str, Any]:
    """A request with a value of a wrong type."""
    return {"template": {"requests": [{"name": "r", field: 5}]}}


def of_device(**fields: Any) -> dict[str, Any]:
    """A slice of one device, in every version."""
    return {"slice": {"devices": [{"name": "d", "basic": fields, **fields}]}}


def of_attribute(kind: str) -> dict[str, Any]:
    """A device with an attribute of a wrong type."""
    return of_device(attributes={"a": {kind: 5}})


@pytest.mark.parametrize(
    ("entry", "minor", "versions"),
    [
        pytest.param(of_request("exactly"), 33, NESTED, id="exactly"),
        pytest.param(of_request("firstAvailable"), 33, ALL, id="first-available"),
        pytest.param({"template": {"requests": [{"exactly": {"tolerations": 5}}]}}, 33, NESTED, id="tolerations"),
        pytest.param({"template": {"requests": [{"exactly": {"capacity": 5}}]}}, 34, NESTED, id="capacity"),
        pytest.param({"template": {"requests": [{"exactly": {"derivedAttributes": 5}}]}}, 37, NESTED, id="derived"),
        pytest.param(of_request("tolerations"), 33, FLAT, id="flat-tolerations"),
        pytest.param(of_request("capacity"), 34, FLAT, id="flat-capacity"),
        pytest.param(of_request("derivedAttributes"), 37, FLAT, id="flat-derived"),
        pytest.param(
            {"template": {"requests": [{"firstAvailable": [{"capacity": 5}]}]}}, 34, ALL, id="alternative-capacity"
        ),
        pytest.param(
            {"template": {"requests": [{"firstAvailable": [{"derivedAttributes": 5}]}]}},
            37,
            ALL,
            id="alternative-derived",
        ),
        pytest.param({"template": {"constraints": [{"distinctAttribute": 5}]}}, 34, ALL, id="distinct-attribute"),
        pytest.param({"class": {"extendedResourceName": 5}}, 34, ALL, id="extended-resource"),
        *(pytest.param(of_attribute(f"{kind}s"), 36, ALL, id=kind) for kind in ("int", "bool", "string", "version")),
        pytest.param(of_device(capacity={"c": {"value": "1", "requestPolicy": 5}}), 34, ALL, id="request-policy"),
        pytest.param(of_device(consumesCounters=5), 33, ALL, id="consumes-counters"),
        pytest.param(
            of_device(consumesCounters=[{"counterSet": "s", "compatibilityGroups": 5}]),
            37,
            ALL,
            id="compatibility-groups",
        ),
        pytest.param(of_device(nodeName=5), 33, ALL, id="node-of-a-device"),
        pytest.param(of_device(nodeSelector=5), 33, ALL, id="selector-of-a-device"),
        pytest.param(of_device(allNodes=5), 33, ALL, id="device-of-all-nodes"),
        pytest.param(of_device(taints=5), 33, ALL, id="taints"),
        pytest.param(of_device(bindsToNode=5), 34, ALL, id="binds-to-node"),
        pytest.param(of_device(bindingConditions=5), 34, ALL, id="binding-conditions"),
        pytest.param(of_device(bindingFailureConditions=5), 34, ALL, id="binding-failure-conditions"),
        pytest.param(of_device(allowMultipleAllocations=5), 34, ALL, id="allow-multiple-allocations"),
        pytest.param(of_device(nodeAllocatableResourceMappings=5), 36, ALL, id="node-allocatable-mappings"),
        pytest.param(of_device(nodeAllocatableResources=5), 37, ALL, id="node-allocatable-resources"),
        pytest.param({"slice": {"perDeviceNodeSelection": 5}}, 33, ALL, id="per-device-node-selection"),
        pytest.param({"slice": {"sharedCounters": 5}}, 33, ALL, id="shared-counters"),
        pytest.param({"slice": {"partitionTypeAttribute": 5}}, 37, ALL, id="partition-type"),
        pytest.param({"slice": {"skipNodeOperations": 5}}, 37, ALL, id="skip-node-operations"),
    ],
)
def test_a_field_is_decoded_from_its_minor_on(entry: dict[str, Any], minor: int, versions: tuple[str, ...]) -> None:
    """An API server that does not know a field reads over it, whatever its type."""
    for version in versions:
        assert [is_decoded(entry, version, each) for each in (minor - 1, minor)] == [False, True], version


@pytest.mark.parametrize(
    ("entry", "minor"),
    [
        pytest.param(of_device(nodeAllocatableResourceMappings=5), 36, id="node-allocatable-mappings"),
        pytest.param({"claim": {}, "more": {"controller": 5}}, 31, id="controller"),
        pytest.param({"class": {"suitableNodes": 5}}, 31, id="suitable-nodes"),
    ],
)
def test_a_field_is_decoded_up_to_its_last_minor(entry: dict[str, Any], minor: int) -> None:
    """Kubernetes took some fields of the alpha back."""
    for version in ALL:
        assert [is_decoded(entry, version, each) for each in (minor, minor + 1)] == [True, False], version


@pytest.mark.parametrize(
    ("gate", "came", "on"),
    [
        ("DRAAdminAccess", 32, 34),
        ("DRAResourceClaimDeviceStatus", 32, 33),
        ("DRAPrioritizedList", 33, 34),
        ("DRAPartitionableDevices", 33, 36),
        ("DRADeviceTaints", 33, 36),
        ("DRAConsumableCapacity", 34, 36),
        ("DRAExtendedResource", 34, 36),
        ("DRADeviceBindingConditions", 34, 36),
        ("DRAListTypeAttributes", 36, 38),
        ("DRANodeAllocatableResources", 36, 38),
        ("DRAPartitionableDevicesType", 37, 38),
        ("DRAOptionalNodeOperations", 37, 38),
        ("DRADerivedAttributes", 37, 38),
        ("DRADeviceCompatibilityGroups", 37, 38),
    ],
)
def test_a_gate_comes_off_and_is_on_later(gate: str, came: int, on: int) -> None:
    """As pkg/features/kube_features.go of 1.36 has it, and the types of 1.37."""
    for minor in range(31, 38):
        expected = None if minor < came else minor >= on
        assert MINORS[f"1.{minor}"].gates.get(gate) == expected, minor


@pytest.mark.parametrize(
    ("minor", "most"),
    [
        pytest.param("1.33", 4, id="in-1.33"),
        pytest.param("1.34", 4, id="in-1.34"),
        pytest.param("1.35", 16, id="in-1.35"),
    ],
)
def test_a_device_has_so_many_taints(minor: str, most: int) -> None:
    """DeviceTaintsMaxLength grew."""
    taints = [{"key": f"k{index}", "effect": "NoSchedule"} for index in range(most + 1)]
    under = RequestContext(kubernetes=MINORS[minor].with_gates(DRADeviceTaints=True), namespace_labels={})
    asked = [row({"case": "", "version": "v1beta1", **of_device(taints=each)}) for each in (taints[1:], taints)]

    taken, refused = (admitted(each.manifest, None, under) for each in asked)

    assert isinstance(taken, AcceptedRequest)
    assert isinstance(refused, RejectedRequest)
    assert refused.message.endswith(f"Too many: {most + 1}: must have at most {most} items")


def is_decoded(entry: dict[str, Any], version: str, minor: int) -> bool:
    """Whether an API server looks at the type of a field."""
    manifest = row({"case": "", "version": version, **entry}).manifest
    manifest["spec"] |= entry.get("more", {})
    under = RequestContext(kubernetes=MINORS[f"1.{minor}"], namespace_labels={})
    found = admitted(manifest, None, under)
    return isinstance(found, RejectedRequest) and found.code == 400
