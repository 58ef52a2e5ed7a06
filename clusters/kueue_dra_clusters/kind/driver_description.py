"""What a kind cluster needs to know of a driver: how it is installed, and how cases get devices from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kueue_dra_clusters.kind.components import DRIVER


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A Go program that becomes an image of its own."""

    package: str
    """The package to build, in the source of the driver."""
    path: str
    """The path of the program in the image."""
    entrypoint: bool = True
    """Whether the image starts it; if not, the chart's args begin with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What one request of a case asks for, and what Kueue charges for it."""

    amount: str
    selectors: tuple[str, ...] = ()
    capacity: Mapping[str, str] = field(default_factory=dict)
    per_node: int = 1
    """How many such requests a node serves at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileOfDriver:
    """The settings of a driver in one profile."""

    devices: int
    """The number of devices that each node publishes."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Values of the chart, in addition to those of every profile."""
    dimension: str = ""
    """The counter or the capacity that is charged."""
    asks: Mapping[str, Ask] = field(default_factory=dict)
    """Requests by what the cases call them."""
    extended_resource: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverDescription:
    """A driver that runs without hardware."""

    name: str
    """The name that its ResourceSlices have."""
    version: str
    device_class: str
    image: str
    """The image that the chart or the manifests name."""
    file: str = ""
    """The file that describes it; empty for the one that comes with this package."""
    selectors: tuple[str, ...] = ()
    """CEL expressions that every request adds to those of the class."""
    source: str = ""
    """A Go module with its version, or a folder; chart and build are inside."""
    chart: str = ""
    manifests: str = ""
    """A file or a folder of rendered manifests, in place of a chart."""
    namespace: str = "kueue-dra-driver"
    values: Mapping[str, Any] = field(default_factory=dict)
    build: Build | None = None
    archive: str = ""
    nri: bool = False
    """Whether the container runtime of the nodes has to serve NRI plugins."""
    environment: str = ""
    """A pattern of environment variables in which a container sees the names of its devices."""
    unique_attribute: str = ""
    """An attribute with another value on each device."""
    shares_claims: bool = True
    """Whether several containers of a pod may use one claim."""
    reports_devices: bool = False
    """Whether it writes the devices of a claim into the claim's status."""
    profiles: Mapping[str, ProfileOfDriver]

    @property
    def folder(self) -> Path:
        """The folder that relative paths start from."""
        return Path(self.file).parent

    def profile(self, name: str) -> ProfileOfDriver:
        """Give the settings of a profile: its own, else those of whole devices, else of the first profile."""
        first = next(iter(self.profiles.values()))
        return self.profiles.get(name) or self.profiles.get("whole-device") or first

    def document(self) -> dict[str, Any]:
        """Give it as JSON, for the processes of a run."""
        return asdict(self)


def description_from(document: Mapping[str, Any]) -> DriverDescription:
    """Read what `DriverDescription.document` gives."""
    fields = dict(document)
    build = fields.pop("build")
    profiles = fields.pop("profiles")
    fields["selectors"] = tuple(fields["selectors"])
    return DriverDescription(
        **fields,
        build=Build(**build) if build else None,
        profiles={name: _profile_from(each) for name, each in profiles.items()},
    )


def _profile_from(document: Mapping[str, Any]) -> ProfileOfDriver:
    fields = dict(document)
    asks = fields.pop("asks")
    return ProfileOfDriver(
        **fields, asks={name: _ask_from(each) for name, each in asks.items()}
    )


def _ask_from(document: Mapping[str, Any]) -> Ask:
    fields = dict(document)
    fields["selectors"] = tuple(fields["selectors"])
    return Ask(**fields)


_NAME = "gpu.example.com"
_PARTITION = f"has(device.attributes['{_NAME}'].partition)"
_FULL = f"has(device.attributes['{_NAME}'].full)"
EXAMPLE_DRIVER = DriverDescription(
    name=_NAME,
    version=DRIVER.version,
    device_class=_NAME,
    image=f"registry.k8s.io/dra-example-driver/dra-example-driver:{DRIVER.version}",
    source=f"{DRIVER.module}@{DRIVER.version}",
    chart="deployments/helm/dra-example-driver",
    namespace="dra-example-driver",
    build=Build(
        package="./cmd/dra-example-kubeletplugin",
        path="/usr/bin/dra-example-kubeletplugin",
    ),
    values={"image": {"tag": DRIVER.version}},
    environment=r"GPU_DEVICE_\d+",
    unique_attribute=f"{_NAME}/uuid",
    reports_devices=True,
    profiles={
        "whole-device": ProfileOfDriver(devices=8, values={"gpuDeviceStatus": True}),
        "counter": ProfileOfDriver(
            devices=2 * (4 + 1),  # the partitions of each device, and the whole device
            values={"kubeletPlugin": {"gpuPartitions": 4, "numDevices": 2}},
            dimension="memory",
            asks={
                "part": Ask(amount="20Gi", selectors=(_PARTITION,), per_node=8),
                "whole": Ask(amount="80Gi", selectors=(_FULL,), per_node=2),
            },
        ),
        "capacity": ProfileOfDriver(
            devices=2,
            values={
                "gpuAllowMultipleAllocations": True,
                "kubeletPlugin": {"numDevices": 2},
            },
            dimension="memory",
            asks={
                "share": Ask(
                    amount="10Gi",
                    capacity={"memory": "10Gi", "compute": "20"},
                    per_node=10,
                ),
                "lopsided": Ask(amount="10Gi", capacity={"memory": "10Gi"}, per_node=2),
                "two-capacities": Ask(
                    amount="16Gi", capacity={"memory": "16Gi", "compute": "20"}
                ),
                "least": Ask(amount="1Gi", capacity={"memory": "1Gi"}),
                "all": Ask(amount="80Gi", capacity={"memory": "80Gi"}),
                "default": Ask(amount="80Gi"),
            },
        ),
        "extended-resource": ProfileOfDriver(
            devices=8,
            values={"deviceClass": {"extendedResourceName": "example.com/gpu"}},
            extended_resource="example.com/gpu",
        ),
        "integration-off": ProfileOfDriver(devices=8),
    },
)
"""The DRA example driver, for a run that names no other."""
