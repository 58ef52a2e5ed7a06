"""Profiles: Kueue Configurations with matching settings of the driver, rolled out on one cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kueue_dra_clusters.kind.driver_description import (
    EXAMPLE_DRIVER,
    DriverDescription,
    ProfileOfDriver,
)
from kueue_dra_ref.behaviours.releases import PINNED, RegisteredRelease
from kueue_dra_ref.target import Manifest

RESOURCE = "whole-gpus"
MEMORY = "gpu.memory"
"""The resource that is charged by amount, whatever the driver calls its counter or capacity."""
CLASS = "gpu.example.com"
"""The class that cases and the conformance suites ask for; a case gets the described class in its place."""
EXTENDED = "example.com/gpu"
"""The extended resource that cases ask for; a case gets the one of the described class in its place."""
FRAMEWORKS = (
    "batch/job",
    "pod",
    "deployment",
    "statefulset",
    "jobset.x-k8s.io/jobset",
)
"""The kinds of work that Kueue queues; JobSets as soon as their controller is installed."""
NOWHERE = {"kueue-dra.dev/nowhere": "true"}
"""A label that no node has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One configuration of Kueue, and what the driver has to publish for it."""

    name: str
    about: str
    resource: str = ""
    """The resource to which the class is mapped; empty without a mapping."""
    source: str = ""
    """What is charged: counter or capacity; empty if each device counts one."""
    classes: tuple[str, ...] = ()
    """Further classes of the same resource, after the driver's."""
    more: tuple[Mapping[str, Any], ...] = ()
    """Further mappings."""
    gates: Mapping[str, bool] = field(default_factory=dict)
    absent: bool = False
    """Whether the driver runs on no node."""

    @property
    def minors(self) -> tuple[str, ...]:
        """The pinned minors of Kueue that know the gates, and integrate devices by default; oldest first."""
        return tuple(each.minor for each in PINNED if self._is_known_to(each))

    def _is_known_to(self, release: RegisteredRelease) -> bool:
        behaviour = release.behaviour()
        known = behaviour.gates.table
        integration = known[behaviour.integration_gate]
        return integration.default and self.gates.keys() <= known.keys()

    def configuration(self, driver: DriverDescription = EXAMPLE_DRIVER) -> Manifest:
        """Give Kueue's Configuration for a driver."""
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
            "integrations": {"frameworks": list(FRAMEWORKS)},
        }
        if self.gates:
            found["featureGates"] = dict(self.gates)
        if self.resource:
            mappings = [self._mapping(driver), *map(dict, self.more)]
            found["resources"] = {"deviceClassMappings": mappings}
        return found

    def settings(self, driver: DriverDescription) -> ProfileOfDriver:
        """Give the driver's settings; one that is absent publishes no device."""
        found = driver.profile(self.name)
        return replace(found, devices=0) if self.absent else found

    def values(self, driver: DriverDescription) -> Mapping[str, Any]:
        """Give the values of the driver's chart."""
        return _merged(driver.values, driver.profile(self.name).values)

    def offered(self, driver: DriverDescription) -> bool:
        """Whether the description of a driver allows this profile.

        A profile whose only difference is Kueue's Configuration needs no settings of its own.
        """
        if self.name in driver.profiles or not self.resource:
            return True
        needs_own = self.source or self.name == "extended-resource"
        return not needs_own and "whole-device" in driver.profiles

    def _mapping(self, driver: DriverDescription) -> Manifest:
        if not self.source:
            names = dict.fromkeys((driver.device_class, *self.classes))
            return {"name": self.resource, "deviceClassNames": list(names)}
        source = {
            self.source: {
                "name": driver.profile(self.name).dimension,
                "driver": driver.name,
                "deviceSelector": {
                    "cel": {"expression": f"device.driver == '{driver.name}'"}
                },
            }
        }
        return {
            "name": self.resource,
            "deviceClassNames": [driver.device_class],
            "sources": [source],
        }


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Merge values as helm does: key by key, the other wins."""
    found = dict(one)
    for key, value in other.items():
        before = found.get(key)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        found[key] = _merged(before, value) if both else value  # type: ignore[arg-type] # both are mappings
    return found


WHOLE_DEVICE = Profile(
    name="whole-device",
    about="each device counts one; mapping and gates are those that the conformance suites want",
    resource=RESOURCE,
    classes=(CLASS,),
    more=(
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
)
COUNTER = Profile(
    name="counter",
    about="devices are partitions, charged by the memory that they take of a shared counter",
    resource=MEMORY,
    source="counter",
    gates={"KueueDRAIntegrationPartitionableDevices": True},
)
CAPACITY = Profile(
    name="capacity",
    about="devices are shared, charged by the memory that each claim takes",
    resource=MEMORY,
    source="capacity",
    gates={"KueueDRAIntegrationConsumableCapacity": True},
)
EXTENDED_RESOURCE = Profile(
    name="extended-resource",
    about="a resource in the pod's limits requests the class, on one quota with claims",
    resource=RESOURCE,
    gates={"KueueDRAIntegrationExtendedResource": True},
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
    absent=True,
)
MAPPED_WRONG = replace(
    WHOLE_DEVICE,
    name="mapped-wrong",
    about="broken on purpose: the driver's class is mapped to a resource that no queue covers",
    resource="nobodys-gpus",
    classes=(),
    more=(),
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
