"""Mapping: which feature gates a Configuration may set, and which must go together (Kueue 0.19, feature gates)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.config_documents import a_document
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.rejections import ACCEPTED, refused

pytestmark = owns_kueue

INTEGRATION = "KueueDRAIntegration"
EXTENDED = "KueueDRAIntegrationExtendedResource"
PARTITIONABLE = "KueueDRAIntegrationPartitionableDevices"
CAPACITY = "KueueDRAIntegrationConsumableCapacity"
ONE_GATE = refused("featureGates: Invalid value")
TWO_GATES = refused("featureGates: Invalid value", "featureGates: Invalid value")


@covers("GATE-007")
@pytest.mark.parametrize(
    ("gates", "verdict"),
    [
        pytest.param({INTEGRATION: False}, TWO_GATES, id="both-stay-on"),
        pytest.param({INTEGRATION: False, EXTENDED: False}, ONE_GATE, id="partitionable-devices-stays-on"),
        pytest.param({INTEGRATION: False, PARTITIONABLE: False}, ONE_GATE, id="extended-resources-stays-on"),
        pytest.param(
            {INTEGRATION: False, EXTENDED: False, PARTITIONABLE: False, CAPACITY: True},
            ONE_GATE,
            id="consumable-capacity-turned-on",
        ),
    ],
)
def test_integration_does_not_go_off_alone(lab: Lab, gates: dict[str, bool], verdict: object) -> None:
    """A gate that needs device integration may not be on without it, by default neither."""
    assert lab.check(a_document(gates=gates)) == verdict


@covers("GATE-008")
@pytest.mark.parametrize(
    "gates",
    [
        pytest.param({INTEGRATION: False, EXTENDED: False, PARTITIONABLE: False}, id="all-off"),
        pytest.param({EXTENDED: False, PARTITIONABLE: False}, id="dependants-off"),
        pytest.param({"AllBeta": False}, id="every-beta-gate-off"),
        pytest.param({INTEGRATION: True, CAPACITY: True}, id="all-on", marks=covers("SOURCE-005")),
    ],
)
def test_integration_goes_off_with_what_needs_it(lab: Lab, gates: dict[str, bool]) -> None:
    """Device integration and the gates that need it may be switched together."""
    assert lab.check(a_document(gates=gates)) == ACCEPTED


@covers("GATE-009")
@pytest.mark.parametrize(
    ("gates", "verdict"),
    [
        pytest.param({"DRAExtendedResources": True}, ONE_GATE, id="older-name"),
        pytest.param({"DRAExtendedResources": False}, ONE_GATE, id="older-name-off"),
        pytest.param({"NoSuchGate": True, "NoSuchGateEither": True}, ONE_GATE, id="first-one-only"),
        pytest.param({"DynamicResourceAllocation": True}, ACCEPTED, id="gate-of-kubernetes"),
    ],
)
def test_unknown_gates_are_refused(lab: Lab, gates: dict[str, bool], verdict: object) -> None:
    """A gate that neither Kueue nor its Kubernetes libraries know is refused."""
    assert lab.check(a_document(gates=gates)) == verdict


@covers("GATE-012")
@pytest.mark.parametrize(
    ("gate", "on", "verdict"),
    [
        pytest.param("DynamicResourceAllocation", True, ACCEPTED, id="device-allocation-on"),
        pytest.param("DynamicResourceAllocation", False, ONE_GATE, id="device-allocation-off"),
        pytest.param("DRAAdminAccess", True, ACCEPTED, id="gate-of-kubernetes-on"),
        pytest.param("DRAAdminAccess", False, ONE_GATE, id="gate-of-kubernetes-off"),
        pytest.param("ManagedJobsNamespaceSelectorAlwaysRespected", True, ACCEPTED, id="gate-of-kueue-on"),
        pytest.param("ManagedJobsNamespaceSelectorAlwaysRespected", False, ONE_GATE, id="gate-of-kueue-off"),
    ],
)
def test_locked_gates_keep_their_value(lab: Lab, gate: str, on: bool, verdict: object) -> None:
    """A gate that is locked may be set to the value that it has, and to no other."""
    assert lab.check(a_document(gates={gate: on})) == verdict


@pytest.mark.parametrize(
    ("gates", "verdict"),
    [
        pytest.param({"NoSuchGate": True}, ONE_GATE, id="unknown", marks=covers("GATE-015")),
        pytest.param({"DRAExtendedResources": False}, ACCEPTED, id="older-name", marks=covers("GATE-015")),
        pytest.param({"DRAExtendedResources": True}, ONE_GATE, id="older-name-on", marks=covers("GATE-016")),
        pytest.param({"DynamicResourceAllocation": False}, ACCEPTED, id="oldest-name", marks=covers("GATE-016")),
        pytest.param({"DynamicResourceAllocation": True}, ONE_GATE, id="oldest-name-on", marks=covers("GATE-016")),
        pytest.param({INTEGRATION: False}, ACCEPTED, id="off-alone", marks=covers("GATE-017")),
        pytest.param({INTEGRATION: False, EXTENDED: True}, ONE_GATE, id="extended-on", marks=covers("GATE-017")),
        pytest.param({INTEGRATION: False, PARTITIONABLE: True}, ONE_GATE, id="parts-on", marks=covers("GATE-017")),
    ],
)
def test_older_names_are_locked_off(lab: Lab, gates: dict[str, bool], verdict: object) -> None:
    """While the gates have two names each, the older one cannot be switched on."""
    assert lab.check(a_document(gates=gates)) == verdict


@covers("GATE-013")
@pytest.mark.parametrize(
    ("needed", "verdict"), [pytest.param(True, ACCEPTED, id="on"), pytest.param(False, ONE_GATE, id="off")]
)
def test_gates_of_kubernetes_have_what_they_need(lab: Lab, needed: bool, verdict: object) -> None:
    """A gate of Kubernetes may not be on while a gate that it depends on is off."""
    gates = {"DRAWorkloadResourceClaims": True, "GenericWorkload": needed}

    assert lab.check(a_document(gates=gates)) == verdict


@covers("GATE-014")
@pytest.mark.parametrize(
    ("topology", "verdict"), [pytest.param(True, ACCEPTED, id="on"), pytest.param(False, ONE_GATE, id="off")]
)
def test_topology_profiles_need_topology(lab: Lab, topology: bool, verdict: object) -> None:
    """A topology profile may not be on while topology aware scheduling is off."""
    gates = {"AllBeta": False, "TASProfileMixed": True, "TopologyAwareScheduling": topology}

    assert lab.check(a_document(gates=gates)) == verdict


@covers("GATE-025")
@pytest.mark.parametrize(
    ("gates", "verdict"),
    [
        pytest.param({INTEGRATION: False}, ONE_GATE, id="integration-alone"),
        pytest.param({INTEGRATION: False, EXTENDED: False}, ONE_GATE, id="partitionable-devices-stays-on"),
        pytest.param({INTEGRATION: False, EXTENDED: False, PARTITIONABLE: False}, ACCEPTED, id="nothing-stays-on"),
        pytest.param({"TopologyAwareScheduling": False}, ONE_GATE, id="topology-alone"),
        pytest.param({"FlavorFungibility": False}, ONE_GATE, id="fungibility-alone"),
    ],
)
def test_the_registry_checks_what_gates_need(lab: Lab, gates: dict[str, bool], verdict: object) -> None:
    """One error, whatever number of gates lacks something."""
    assert lab.check(a_document(gates=gates)) == verdict
