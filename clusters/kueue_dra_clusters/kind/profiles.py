"""Profiles: Kueue Configurations with matching settings of the driver, rolled out on one cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kueue_dra_ref.behaviours.releases import PINNED, RegisteredRelease
from kueue_dra_ref.target import Manifest

RESOURCE = "whole-gpus"
MEMORY = "gpu.memory"
CLASS = "gpu.example.com"
"""The class of the driver, and the driver's name."""
EXTENDED = "example.com/gpu"
NOWHERE = {"kueue-dra.dev/nowhere": "true"}
"""A label that no node has."""
SELECTOR = f"device.driver == '{CLASS}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One configuration of Kueue and the driver; ``driver`` are values of the driver's chart."""

    name: str
    about: str
    mappings: tuple[Mapping[str, Any], ...] = ()
    gates: Mapping[str, bool] = field(default_factory=dict)
    driver: Mapping[str, Any] = field(default_factory=dict)
    devices: int = 8
    """The number of devices that each node with a driver publishes."""

    @property
    def minors(self) -> tuple[str, ...]:
        """The pinned minors of Kueue that know the gates, and integrate devices by default; oldest first."""
        return tuple(each.minor for each in PINNED if self._is_known_to(each))

    def _is_known_to(self, release: RegisteredRelease) -> bool:
        behaviour = release.behaviour()
        known = behaviour.gates.table
        integration = known[behaviour.integration_gate]
        return integration.default and self.gates.keys() <= known.keys()

    def configuration(self) -> Manifest:
        """Give Kueue's Configuration."""
        found: Manifest = {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "health": {"healthProbeBindAddress": ":8081"},
            "metrics": {"bindAddress": ":8443", "enableClusterQueueResources": True},
            "webhook": {"port": 9443},
            "leaderElection": {
                "leaderElect": True,
                "resourceName": "c1f6bfd2.kueue.x-k8s.io",
            },
            "clientConnection": {"qps": 300, "burst": 500},
            "integrations": {"frameworks": ["batch/job"]},
        }
        if self.gates:
            found["featureGates"] = dict(self.gates)
        if self.mappings:
            mappings = [dict(each) for each in self.mappings]
            found["resources"] = {"deviceClassMappings": mappings}
        return found


def _sourced(kind: str) -> dict[str, Any]:
    """Map the driver's class to memory, as a counter or a capacity of its devices."""
    source = {
        kind: {
            "name": "memory",
            "driver": CLASS,
            "deviceSelector": {"cel": {"expression": SELECTOR}},
        }
    }
    return {"name": MEMORY, "deviceClassNames": [CLASS], "sources": [source]}


WHOLE_DEVICE = Profile(
    name="whole-device",
    about="each device counts one; mapping and gates are those that the conformance suites want",
    mappings=(
        {"name": RESOURCE, "deviceClassNames": [CLASS]},
        {
            "name": "shared-gpus",
            "deviceClassNames": [
                "ts-shard-gpus.example.com",
                "sp-shared-gpus.example.com",
            ],
        },
        {"name": "example.com/nics", "deviceClassNames": ["nic.example.com"]},
    ),
    gates={
        "KueueDRAIntegrationExtendedResource": True,
        "KueueDRAIntegrationPartitionableDevices": True,
    },
    driver={"gpuDeviceStatus": True},
)
COUNTER = Profile(
    name="counter",
    about="devices are partitions, charged by the memory that they take of a shared counter",
    mappings=(_sourced("counter"),),
    gates={"KueueDRAIntegrationPartitionableDevices": True},
    driver={"kubeletPlugin": {"gpuPartitions": 4, "numDevices": 2}},
    devices=2 * (4 + 1),  # the partitions of each device, and the device as a whole
)
CAPACITY = Profile(
    name="capacity",
    about="devices are shared, charged by the memory that each claim takes",
    mappings=(_sourced("capacity"),),
    gates={"KueueDRAIntegrationConsumableCapacity": True},
    driver={"gpuAllowMultipleAllocations": True, "kubeletPlugin": {"numDevices": 2}},
    devices=2,
)
EXTENDED_RESOURCE = Profile(
    name="extended-resource",
    about="a resource in the pod's limits requests the class, on one quota with claims",
    mappings=({"name": RESOURCE, "deviceClassNames": [CLASS]},),
    gates={"KueueDRAIntegrationExtendedResource": True},
    driver={"deviceClass": {"extendedResourceName": EXTENDED}},
)
OFF = Profile(
    name="integration-off",
    about="Kueue's device integration is off: work that asks for devices by claims is refused",
    gates={
        "KueueDRAIntegration": False,
        "KueueDRAIntegrationExtendedResource": False,
        "KueueDRAIntegrationPartitionableDevices": False,
    },
)
DRIVER_GONE = replace(
    WHOLE_DEVICE,
    name="driver-gone",
    about="broken on purpose: the driver runs nowhere and its slices are withdrawn",
    driver={"kubeletPlugin": {"nodeSelector": NOWHERE}},
    devices=0,
)
MAPPED_WRONG = replace(
    WHOLE_DEVICE,
    name="mapped-wrong",
    about="broken on purpose: the driver's class is mapped to a resource that no queue covers",
    mappings=({"name": "nobodys-gpus", "deviceClassNames": [CLASS]},),
)
PROFILES = {
    each.name: each
    for each in (
        WHOLE_DEVICE,
        COUNTER,
        CAPACITY,
        EXTENDED_RESOURCE,
        OFF,
        DRIVER_GONE,
        MAPPED_WRONG,
    )
}
"""By name."""

if __name__ == "__main__":
    print(*WHOLE_DEVICE.minors)
