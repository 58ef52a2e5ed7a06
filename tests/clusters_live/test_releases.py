"""Every pinned release of Kueue installs, decides about devices and refuses a wrong mapping (Kueue 0.14 to 0.19)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kueue_dra_clusters.binaries import binaries
from kueue_dra_clusters.conditions import condition_of
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.releases import RELEASES
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.target import Manifest, Ref
from tests.clusters_live.manifests import CONFIGURATION, KUEUE, a_job, a_world

pytestmark = [pytest.mark.live, pytest.mark.releases]

OLD_GATE = {"DynamicResourceAllocation": True}
GATES = {"0.14": OLD_GATE, "0.15": OLD_GATE, "0.16": OLD_GATE, "0.17": OLD_GATE}
"""The settings that a release needs to count devices, in addition to its defaults."""


@pytest.fixture(scope="module", params=RELEASES)
def minor(request: pytest.FixtureRequest) -> str:
    """Go through the releases."""
    return str(request.param)


@pytest.fixture(scope="module")
def one_target(minor: str) -> Iterator[LiveTarget]:
    """Have one control plane for each release."""
    with ControlPlane(binaries(minor)) as plane:
        yield LiveTarget(plane)


@pytest.fixture
def target(one_target: LiveTarget, minor: str) -> Iterator[LiveTarget]:
    """Have a running Kueue and an empty cluster."""
    assert one_target.start(CONFIGURATION | {"featureGates": GATES.get(minor, {})}) == ()
    yield one_target
    one_target.clean()


def the_workloads(target: LiveTarget) -> dict[str, Manifest]:
    """Give the Workloads by the name of their Job."""
    found = target.list(KUEUE, "Workload", "team")
    return {each["metadata"]["ownerReferences"][0]["name"]: each for each in found}


def test_it_is_the_release_asked_for(target: LiveTarget, minor: str) -> None:
    """The binary says its version itself."""
    assert str(target.describe()["kueue"]).startswith(f"v{minor}.")


def test_what_fits_is_admitted_and_what_does_not_waits(target: LiveTarget) -> None:
    """Kueue charges devices to the mapped resource, and reports missing quota."""
    assert target.apply([*a_world(gpus=2), a_job("fits", "gpus-2"), a_job("waits", "gpus-1")]) == []
    target.settle()

    found = the_workloads(target)
    assignment = found["fits"]["status"]["admission"]["podSetAssignments"][0]
    assert assignment["resourceUsage"] == {"cpu": "1", "whole-gpus": "2"}
    reserved = condition_of(found["waits"], "QuotaReserved")
    assert (reserved["status"], reserved["reason"]) == ("False", "Pending")
    assert "insufficient unused quota for whole-gpus" in reserved["message"]


def test_the_next_one_gets_in_after_a_release(target: LiveTarget) -> None:
    """When a charged workload ends, the pending one is admitted before settling ends."""
    target.apply([*a_world(gpus=1), a_job("first"), a_job("second")])
    target.settle()
    assert {name for name, found in the_workloads(target).items() if is_true(found, "Admitted")} == {"first"}

    target.delete([Ref(api_version="batch/v1", kind="Job", name="first", namespace="team")])
    target.settle()
    assert {name for name, found in the_workloads(target).items() if is_true(found, "Admitted")} == {"second"}


def test_queues_count_what_they_hold(target: LiveTarget) -> None:
    """The status of a queue is up to date when it is read."""
    target.apply([*a_world(gpus=2), a_job("a"), a_job("b", "gpus-2")])
    target.settle()

    queue = target.read(Ref(api_version=KUEUE, kind="ClusterQueue", name="team"))
    local = target.read(Ref(api_version=KUEUE, kind="LocalQueue", name="main", namespace="team"))
    assert queue is not None
    assert local is not None
    assert {k: queue["status"][k] for k in ("reservingWorkloads", "pendingWorkloads")} == {
        "reservingWorkloads": 1,
        "pendingWorkloads": 1,
    }
    used = {each["name"]: each["total"] for each in local["status"]["flavorsUsage"][0]["resources"]}
    assert used == {"cpu": "1", "whole-gpus": "1"}


def test_a_wrong_mapping_is_refused_at_its_field(target: LiveTarget) -> None:
    """A mapping without classes makes Kueue exit."""
    wrong = {"resources": {"deviceClassMappings": [{"name": "whole-gpus", "deviceClassNames": []}]}}

    assert [fault.field for fault in target.check(wrong)] == ["resources.deviceClassMappings[0].deviceClassNames"]


def test_a_gate_that_nobody_knows_is_refused(target: LiveTarget) -> None:
    """The refusal is read from the log of every release."""
    (fault,) = target.check({"featureGates": {"NoSuchGate": True}})

    assert "NoSuchGate" in f"{fault.value} {fault.detail}"
