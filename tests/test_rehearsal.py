"""Which cases an existing cluster can serve, as its rehearsal on the reference finds out; no cluster is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kueue_dra_clusters.installation import ClusterFacts
from kueue_dra_fixtures import role_target
from kueue_dra_fixtures.rehearsal import OTHERWISE, Rehearsal, rehearse
from kueue_dra_fixtures.role_target import RunSite
from kueue_dra_fixtures.roles import inferred, rows_of
from kueue_dra_fixtures.targets import TargetUnavailable
from kueue_dra_ref.target import Manifest
from kueue_dra_suites.wiring import HOME, pytest_options
from tests.test_roles import CAPACITY, COUNTER, NVIDIA, a_row, mapped

FITS = "quota/test_fits::"
UP_TO = f"{FITS}test_devices_are_admitted_up_to_the_quota[fits-exactly]"
EVERYTHING = mapped(
    a_row("gpus", "gpu.corp"), a_row("shared", "a.corp", "b.corp"), a_row("corp.example/nics", "nic.corp")
)


def a_site(configuration: Manifest, **gates: bool) -> RunSite:
    """Give a cluster with Kueue 0.19 and a Configuration."""
    facts = ClusterFacts(
        version="0.19.2",
        configuration=configuration,
        gates_by_flag=gates,
        resource_versions=("resource.k8s.io/v1",),
    )
    names = [name for row in rows_of(configuration) for name in row["deviceClassNames"]]
    return RunSite(behaviour_name="kueue-0.19.2", facts=facts, roles=inferred(configuration), classes=frozenset(names))


def rehearsed(site: RunSite, *files: str, classes: Sequence[Manifest] = ()) -> Rehearsal:
    """Rehearse the cases of some files or folders."""
    paths = [str(HOME / each) for each in files]
    return rehearse([*pytest_options(), *paths], site, "1.36", classes)


@pytest.fixture(scope="module")
def on_nvidia() -> Rehearsal:
    """Have two suites rehearsed for a cluster with one class that counts, and one that charges a counter."""
    return rehearsed(a_site(NVIDIA), "quota/test_fits.py", "claims", "extended/test_classes.py")


def test_a_mapping_of_one_class_serves_the_cases_of_one(on_nvidia: Rehearsal) -> None:
    """With the roles that each of them needs."""
    assert UP_TO in on_nvidia.rows
    assert on_nvidia.roles[UP_TO] == ("single",)
    unmapped = "claims/test_unmapped_classes::test_an_unmapped_class_is_refused_by_name"
    assert any(row.startswith(unmapped) for row in on_nvidia.rows)
    not_covered = f"{FITS}test_a_resource_that_the_queue_does_not_cover_keeps_a_workload_out"
    assert not_covered in on_nvidia.rows


def test_what_does_not_run_has_a_reason(on_nvidia: Rehearsal) -> None:
    """Devices, classes and Configurations that are not the run's, and roles that nothing fills."""
    reasons = on_nvidia.reasons
    assert reasons[f"{FITS}test_published_devices_do_not_raise_the_quota"] == role_target.PUBLISHES
    assert role_target.CHANGES_CLASS in reasons.values()
    assert "it needs two classes mapped to one resource, and the cluster's mapping has none" in reasons.values()
    assert any(reason.startswith("it needs another Configuration: featureGates") for reason in reasons.values())
    assert not [reason for reason in reasons.values() if "rehearsal on the reference failed" in reason]
    assert set(on_nvidia.rows).isdisjoint(reasons)


def test_the_core_that_cannot_be_checked_is_named() -> None:
    """Each requirement whose cases the cluster cannot serve, and no other."""
    found = rehearsed(a_site(mapped(a_row("memory", "mig.corp", sources=COUNTER))), "quota/test_fits.py")

    assert "QUOTA-001" in found.untested_core()
    assert "QUOTA-001" not in rehearsed(a_site(NVIDIA), "quota/test_fits.py").untested_core()


def test_a_full_mapping_serves_what_needs_no_slices_and_no_other_configuration() -> None:
    """Under other names; nothing is lost to the translation."""
    usual = mapped(
        a_row("whole-gpus", "gpu.example.com"),
        a_row("shared-gpus", "ts-shard-gpus.example.com", "sp-shared-gpus.example.com"),
        a_row("example.com/nics", "nic.example.com"),
    )
    files = ("quota/test_fits.py", "quota/test_counts.py", "quota/test_sharing.py", "claims")
    same, other = rehearsed(a_site(usual), *files), rehearsed(a_site(EVERYTHING), *files)

    lost = set(same.rows) - set(other.rows)
    assert {other.reasons[row] for row in lost} <= {OTHERWISE}
    assert len(lost) <= len(same.rows) // 50


def test_a_cluster_that_decides_otherwise_is_not_blamed() -> None:
    """Its own transformation charges cpu as credits: a case about cpu alone does not apply there."""
    transformed = dict(NVIDIA)
    rule = {"input": "cpu", "strategy": "Replace", "outputs": {"example.com/credits": "1"}}
    transformed["resources"] = {**NVIDIA["resources"], "transformations": [rule]}
    found = rehearsed(a_site(transformed), "quota/test_detection.py", "quota/test_fits.py")

    waits = "quota/test_detection::test_a_workload_without_claims_waits_for_ordinary_resources"
    assert found.reasons[waits] == OTHERWISE
    assert UP_TO in found.rows


def test_a_setting_that_the_cluster_has_serves_the_cases_that_need_it() -> None:
    """Fair sharing with the strategies of the case; other strategies are another Configuration."""
    strategies = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
    fair = {**NVIDIA, "fairSharing": {"preemptionStrategies": strategies}}
    file = "scheduling/test_fair_sharing.py"

    without, found = rehearsed(a_site(NVIDIA), file), rehearsed(a_site(fair), file)

    assert without.rows == []
    assert len(found.rows) >= 8
    assert set(found.rows).isdisjoint(found.reasons)
    other = [reason for reason in found.reasons.values() if reason.startswith("it needs another Configuration: ")]
    assert other
    assert all("fairSharing: must be" in reason for reason in other)


def test_a_configuration_with_which_kueue_does_not_start_is_an_answer() -> None:
    """The reference says why, before any case runs."""
    twice = mapped(a_row("a", "gpu.corp"), a_row("b", "gpu.corp"))

    with pytest.raises(TargetUnavailable, match=r"does not start with this Configuration: .*already mapped"):
        rehearsed(a_site(twice), "quota/test_fits.py")


BOTH = mapped(
    a_row("gpus", "gpu.corp"),
    a_row("partitions", "mig.corp", sources=COUNTER),
    a_row("shares", "share.corp", sources=CAPACITY),
)
CLASSES = [
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": {}}
    for name in ("gpu.corp", "mig.corp", "share.corp")
]


def test_counters_and_capacities_serve_what_holds_whatever_devices_are_published() -> None:
    """Other cases about them have the reason: devices are the drivers' own."""
    gates = dict.fromkeys(("KueueDRAIntegrationPartitionableDevices", "KueueDRAIntegrationConsumableCapacity"), True)
    found = rehearsed(a_site(BOTH, **gates), "devices", classes=CLASSES)

    served = [row for row in found.rows if row.startswith("devices/test_any_devices::")]
    assert len(served) == 12
    assert {found.roles[row] for row in served} == {
        ("counter",),
        ("capacity",),
        ("single", "counter"),
        ("single", "capacity"),
    }
    counted = "devices/test_newer_kubernetes::"  # cases about classes that charge by count
    assert not [row for row in found.rows if row.startswith("devices/") and row not in served and counted not in row]
    for source in ("counter", "capacity"):
        assert role_target.NEEDS_DEVICES.format(source=source) in found.reasons.values()
    missing = found.reasons["devices/test_sourced_devices::test_a_missing_class_is_told_at_its_field[the-request]"]
    assert missing == role_target.EXPECTS_DEVICES.format(source="counter")


def test_a_class_of_a_role_has_to_exist() -> None:
    """A run creates none of the names that the Configuration maps."""
    site = replace(a_site(NVIDIA), classes=frozenset({"gpu.nvidia.com"}))
    found = rehearsed(site, "devices/test_any_devices.py")

    assert found.rows == []
    assert role_target.NO_CLASS.format(name="mig.nvidia.com", role="counter") in found.reasons.values()
