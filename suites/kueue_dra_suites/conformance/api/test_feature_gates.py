"""The resource.k8s.io API: fields behind feature gates, on the minors of Kubernetes that have them off or on."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import GPU, Template, a_request, a_template
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, on_kubernetes
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_fixtures.resources import DRIVER, a_class, a_slice, some_counters, some_devices
from kueue_dra_ref.api.job_kind import Path, part_at, replaced
from kueue_dra_ref.target import Manifest, Ref

DROPPED, KEPT = False, True
CONSUMED = {"counterSet": "s", "counters": some_counters("a")}


def _has(lab: Lab, written: Manifest, at: Path, field: str) -> bool:
    """Whether an object has a field at a path once it is stored."""
    lab.apply(written)
    return field in part_at(lab.read(Ref.of(written)), at)


def _row(minor: str, *gates: str, kept: bool, at: Path = ("devices", 0), **field: Any) -> Any:
    """A row: a field at a path of the spec of a slice is dropped, or kept, on a minor with gates."""
    (name,) = field
    state = "kept" if kept else "dropped"
    marks = on_kubernetes(minor, *gates)
    return pytest.param(at, name, field[name], kept, id=f"{name}-{state}-in-{minor}", marks=marks)


def _rows(off: str, on: tuple[str, ...], at: Path = ("devices", 0), **field: Any) -> tuple[Any, Any]:
    """Two rows for a field: on a minor that has its feature off, and on one that has it on, or with its gate."""
    return _row(off, kept=DROPPED, at=at, **field), _row(*on, kept=KEPT, at=at, **field)


@covers("API-053")
@pytest.mark.parametrize(
    ("at", "field", "value", "kept"),
    [
        *_rows("1.35", ("1.36",), taints=[{"key": "a", "effect": "NoSchedule"}]),
        *_rows("1.35", ("1.36",), consumesCounters=[CONSUMED]),
        *_rows("1.35", ("1.36",), allowMultipleAllocations=True),
        *_rows("1.35", ("1.36",), bindsToNode=True),
        *_rows(
            "1.36",
            ("1.36", "DRANodeAllocatableResources"),
            nodeAllocatableResourceMappings={"cpu": {"allocationMultiplier": "2"}},
        ),
        *_rows("1.37", ("1.37", "DRAOptionalNodeOperations"), (), skipNodeOperations=["*"]),
        *_rows(
            "1.37",
            ("1.37", "DRADeviceCompatibilityGroups"),
            ("devices", 1, "consumesCounters", 0),
            compatibilityGroups=["a"],
        ),
    ],
)
def test_a_field_of_a_slice_is_dropped_while_its_gate_is_off(
    lab: Lab, at: Path, field: str, value: Any, kept: bool
) -> None:
    """The API server takes the slice either way."""
    devices: list[Manifest] = [{"name": "d0"}, {"name": "d1", "consumesCounters": [CONSUMED]}]
    written = replaced(a_slice(lab.name("slice"), devices), ("spec", *at, field), value)

    assert _has(lab, written, ("spec", *at), field) is kept


def _asking(version: str, body: Manifest) -> Template:
    """A claim with one request."""
    return Template(spec={"devices": {"requests": [{"name": "r0", **body}]}}, api_version=f"resource.k8s.io/{version}")


FIRST = {"firstAvailable": [{"name": "a", "deviceClassName": GPU}]}
ADMIN = {"exactly": {"deviceClassName": GPU, "adminAccess": True}}
REQUEST = "spec.spec.devices.requests[0]"


@covers("API-053")
@pytest.mark.parametrize(
    ("claim", "answer"),
    [
        pytest.param(
            _asking("v1beta1", FIRST),
            refused(f"{REQUEST}.deviceClassName: Required value"),
            id="alternatives-in-1.32",
            marks=on_kubernetes("1.32"),
        ),
        pytest.param(
            _asking("v1beta2", FIRST),
            refused(f"{REQUEST}: Required value"),
            id="alternatives-in-1.33",
            marks=on_kubernetes("1.33"),
        ),
        pytest.param(_asking("v1", FIRST), ACCEPTED, id="alternatives-in-1.34", marks=on_kubernetes("1.34")),
        pytest.param(_asking("v1beta2", ADMIN), ACCEPTED, id="admin-access-in-1.33", marks=on_kubernetes("1.33")),
        pytest.param(
            _asking("v1", ADMIN),
            refused("spec.devices.requests[0].adminAccess: Forbidden"),
            id="admin-access-in-1.34",
            marks=on_kubernetes("1.34"),
        ),
    ],
)
def test_a_field_of_a_request_is_looked_at_once_its_gate_is_on(
    lab: Lab, claim: Template, answer: RejectedFields
) -> None:
    """What is refused with the gate on is dropped with the gate off, and so is what a request needs."""
    assert lab.offer(claim.manifest(lab.name("template"), lab.namespace())) == answer


NUMA = f"{DRIVER}/numa"
DERIVED = [{"name": NUMA, "expression": 'device.attributes["lab.example.com"].node'}]


@covers("API-053")
@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(DROPPED, id="off-in-1.37", marks=on_kubernetes("1.37")),
        pytest.param(KEPT, id="on-in-1.37", marks=on_kubernetes("1.37", "DRADerivedAttributes")),
    ],
)
def test_derived_attributes_are_dropped_while_their_gate_is_off(lab: Lab, kept: bool) -> None:
    """The constraint that names one stays."""
    request = a_request(GPU)
    request["exactly"]["derivedAttributes"] = DERIVED
    constraint = {"requests": ["r0"], "matchAttribute": NUMA}
    claim = a_template(request, constraints=[constraint])
    written = claim.manifest(lab.name("template"), lab.namespace())

    at = ("spec", "spec", "devices", "requests", 0, "exactly")
    assert _has(lab, written, at, "derivedAttributes") is kept


TYPED = {"partitionTypeAttribute": f"{DRIVER}/model", "devices": some_devices(1)}
ZONED = {"devices": [{"name": "d0", "attributes": {"zones": {"strings": ["a", "b"]}}}]}


@covers("API-053")
@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        pytest.param(
            ZONED,
            refused("spec.devices[0].attributes[zones]: Invalid value"),
            id="lists-off-in-1.36",
            marks=on_kubernetes("1.36", "DRAListTypeAttributes=false"),
        ),
        pytest.param(ZONED, ACCEPTED, id="lists-on-in-1.36", marks=on_kubernetes("1.36", "DRAListTypeAttributes")),
        pytest.param(TYPED, ACCEPTED, id="type-of-partitions-off-in-1.37", marks=on_kubernetes("1.37")),
        pytest.param(
            TYPED,
            refused("spec.partitionTypeAttribute: Invalid value"),
            id="type-of-partitions-on-in-1.37",
            marks=on_kubernetes("1.37", "DRAPartitionableDevicesType"),
        ),
    ],
)
def test_a_field_of_a_slice_is_looked_at_once_its_gate_is_on(lab: Lab, spec: Manifest, answer: RejectedFields) -> None:
    """An attribute whose list was dropped has no value."""
    assert lab.offer(a_slice(lab.name("slice"), **spec)) == answer


@covers("API-053")
@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(DROPPED, id="in-1.35", marks=on_kubernetes("1.35")),
        pytest.param(KEPT, id="in-1.36", marks=on_kubernetes("1.36")),
    ],
)
def test_the_extended_resource_of_a_class_is_dropped_while_its_gate_is_off(lab: Lab, kept: bool) -> None:
    """It is on from Kubernetes 1.36 on."""
    written = a_class(lab.name("class"), extendedResourceName="example.com/gpu")

    assert _has(lab, written, ("spec",), "extendedResourceName") is kept
