"""Kueue 0.18.7, 0.19.3 and 0.20 (provisional): names and feature gates of a Configuration."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.config_documents import a_document, a_mapping
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_fixtures.sources import a_capacity, a_configuration_of

pytestmark = owns_kueue

SOURCE = "resources.deviceClassMappings[0].sources[0]"
LISTS = "KueueDRAIntegrationPrioritizedList"
INTEGRATION_OFF = {
    "KueueDRAIntegration": False,
    "KueueDRAIntegrationExtendedResource": False,
    "KueueDRAIntegrationPartitionableDevices": False,
}
ONE_GATE = refused("featureGates: Invalid value")


@covers("MAP-021")
@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        pytest.param("pods", refused("resources.deviceClassMappings[0].name: Invalid value"), id="pods"),
        pytest.param("pod", ACCEPTED, id="shorter"),
        pytest.param("example.com/pods", ACCEPTED, id="with-a-domain"),
    ],
)
def test_a_mapping_is_not_called_pods(lab: Lab, name: str, verdict: RejectedFields) -> None:
    """Kueue counts pods itself."""
    assert lab.check(a_document(a_mapping(name, "gpu.example.com"))) == verdict


@covers("SOURCE-017")
@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        pytest.param("a/b", ACCEPTED, id="one"),
        pytest.param("a/b/c", refused(f"{SOURCE}.capacity.name: Invalid value"), id="two"),
    ],
)
def test_a_capacity_has_one_slash_at_most(lab: Lab, name: str, verdict: RejectedFields) -> None:
    """A domain and an identifier, and nothing more."""
    assert lab.check(a_configuration_of(lab.behaviour, a_capacity(name))) == verdict


@covers("GATE-024")
@pytest.mark.parametrize(
    ("gates", "verdict"),
    [
        pytest.param({LISTS: True}, ACCEPTED, id="lists"),
        pytest.param({**INTEGRATION_OFF, LISTS: True}, ONE_GATE, id="lists-without-integration"),
        pytest.param(
            {"KueueDRADeviceFeasibility": True, "TASNodeFeasibilityForAllLevels": False},
            ONE_GATE,
            id="feasibility-without-levels",
        ),
        pytest.param({"KueueDRADeviceFeasibility": True}, ACCEPTED, id="feasibility"),
        pytest.param({"KueueDRAIntegrationDeviceTaints": True}, ONE_GATE, id="taints-without-feasibility"),
        pytest.param(
            {"KueueDRAIntegrationDeviceTaints": True, "KueueDRADeviceFeasibility": True}, ACCEPTED, id="taints"
        ),
        pytest.param({"AdmissionFairSharing": False}, ONE_GATE, id="fair-sharing-without-its-anchor"),
        pytest.param(
            {"AdmissionFairSharing": False, "AdmissionFairSharingAnchorAtQuotaReservation": False},
            ACCEPTED,
            id="no-fair-sharing-and-no-anchor",
        ),
    ],
)
def test_new_gates_need_others(lab: Lab, gates: dict[str, bool], verdict: RejectedFields) -> None:
    """Each needs what it builds upon."""
    assert lab.check(a_document(gates=gates)) == verdict
