"""concurrentAdmissionPolicy in ``simulate``, ``explain``, ``audit`` and recordings."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from kueue_dra_ref.api.variants import parent_uid, variant_flavor
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.scenarios.playback import replayed
from kueue_dra_ref.scenarios.scenario import Scenario
from kueue_dra_ref.simulation.running_pods import running_jobs, settle
from kueue_dra_ref.target import Manifest
from tests.clusters_live.manifests import a_job, a_template, a_world
from tests.commands import kueue_dra
from tests.simulated import simulated
from tests.test_running_cluster import CONFIGURATION

POLICY = {"migration": {"mode": "TryPreferredFlavors"}}
ON: Manifest = {**CONFIGURATION, "featureGates": {"ConcurrentAdmission": True}}


def cluster(*cards: int, **spec: Any) -> list[Manifest]:
    """Give a cluster state whose ClusterQueue has so many cards in each of its flavors, and a policy."""
    given = a_world(gpus=1)
    names = [f"flavor-{number}" for number in range(len(cards))]
    for each in given:
        if each["kind"] == "ClusterQueue":
            covered = each["spec"]["resourceGroups"][0]["coveredResources"]
            flavors = []
            for name, count in zip(names, cards, strict=True):
                quotas = [{"name": resource, "nominalQuota": count} for resource in covered]
                flavors.append({"name": name, "resources": quotas})
            group = {"coveredResources": covered, "flavors": flavors}
            each["spec"] |= {"resourceGroups": [group], "concurrentAdmissionPolicy": POLICY, **spec}
    kept = [each for each in given if each["kind"] != "ResourceFlavor"]
    made = [
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": {}}
        for name in names
    ]
    return [*made, *kept]


def text(*objects: Manifest, configuration: Manifest = ON) -> str:
    """Give manifests as a file has them."""
    return yaml.safe_dump_all([*objects, configuration])


def quotas(found: list[Manifest]) -> list[tuple[str, str]]:
    """Give what is reserved in each flavor."""
    (queue,) = [each for each in found if each["kind"] == "ClusterQueue"]
    reserved = queue["status"]["flavorsReservation"]
    return [(each["name"], each["resources"][0]["total"]) for each in reserved]


def test_each_job_has_a_variant_for_each_flavor() -> None:
    """Two Jobs with one card each get one flavor each, and are charged once."""
    found = simulated(text(*cluster(1, 1), a_job("first"), a_job("second")))

    workloads = [each for each in found if each["kind"] == "Workload"]
    assert len(workloads) == 6
    assert [variant_flavor(each) for each in workloads if parent_uid(each)] == ["flavor-0", "flavor-1"] * 2
    assert quotas(found) == [("flavor-0", "1"), ("flavor-1", "1")]


def test_a_running_cluster_keeps_its_variants() -> None:
    """What was simulated is input again: nothing changes, and nothing is charged twice."""
    found = simulated(text(*cluster(1, 1), a_job("first"), a_job("second")))

    again = simulated(text(*found))

    assert quotas(again) == quotas(found)
    names = [[each["metadata"]["name"] for each in some if each["kind"] == "Workload"] for some in (found, again)]
    assert names[0] == names[1]


def test_running_work_migrates_once_its_pods_have_stopped() -> None:
    """Until then Kueue evicts its variant in each cycle; a simulation lets the pods stop."""
    target = ReferenceTarget(behaviour("kueue-0.19.2"))
    assert target.start(ON) == ()
    target.apply([*cluster(0, 1), a_template("gpus-1"), a_job("runs")])
    target.settle()
    job = target.store.get("Job", ("team", "runs"))
    assert job is not None
    target.store.put({**job, "status": {"active": 1}})
    running = running_jobs(target)
    target.apply([each for each in cluster(1, 1) if each["kind"] == "ClusterQueue"])

    assert settle(target, running) == ""

    assert quotas(list(target.list("kueue.x-k8s.io/v1beta2", "ClusterQueue"))) == [("flavor-0", "1"), ("flavor-1", "0")]


def test_the_audit_counts_variants_alone() -> None:
    """The admission of a parent is no usage."""
    found = simulated(text(*cluster(1, 1), a_job("first"), a_job("second")))

    result = kueue_dra("audit", "-", stdin=text(*found))

    assert result.exit_code == 0, result.stdout
    assert "0 findings" in result.stdout


def test_a_job_is_explained_by_its_variants() -> None:
    """Which is admitted, which is pending, and why one is deactivated."""
    result = kueue_dra("explain", "-f", "-", stdin=text(*cluster(1, 1), a_job("first"), a_job("second")))

    assert result.exit_code == 0, result.stderr
    assert "for flavor flavor-0 is admitted   [CONC-006]" in result.stdout
    assert "for flavor flavor-1 is deactivated   [CONC-008]" in result.stdout
    assert "for flavor flavor-0 waits   [CONC-002]" in result.stdout
    assert (
        "skipping flavor flavor-0 due to WorkloadAllowedResourceFlavorAnnotation annotation   [CONC-003]"
        in result.stdout
    )


def test_a_job_whose_claims_are_refused_is_explained_by_them() -> None:
    """Its variants only wait, and do not say why."""
    other = a_template("other", device_class="unmapped.example.com")

    result = kueue_dra("explain", "-f", "-", stdin=text(*cluster(1, 1), other, a_job("first", "other")))

    own, *_ = result.stdout.split("\n\n")
    assert "DeviceClass unmapped.example.com is not mapped" in own
    assert "variant" not in own


@pytest.mark.parametrize(
    ("spec", "settings", "note"),
    [
        pytest.param(
            {"admissionChecksStrategy": {"admissionChecks": [{"name": "check"}]}},
            {},
            "spec.admissionChecksStrategy: Not decided: admission checks of work that has variants",
            id="checks",
        ),
        pytest.param(
            {},
            {"waitForPodsReady": {"timeout": "5m"}},
            "waitForPodsReady: Not decided: pods of work that has variants",
            id="pods-ready",
        ),
    ],
)
def test_what_is_not_decided_with_variants_is_told(spec: dict[str, Any], settings: dict[str, Any], note: str) -> None:
    """The note names the field."""
    manifests = text(*cluster(1, 1, **spec), a_job("first"), configuration={**ON, **settings})

    result = kueue_dra("simulate", "-f", "-", stdin=manifests)

    assert note in result.stderr


def test_recordings_name_variants_without_their_hash() -> None:
    """The hash follows from a UID, which differs from run to run."""
    step = {"apply": [*cluster(1, 1), a_job("first")]}
    scenario = Scenario(name="variants", configuration=ON, inventory=(), steps=(step,))

    (observation,) = replayed(scenario, ReferenceTarget(behaviour("kueue-0.19.2")))

    assert set(observation["workloads"]) == {"first", "job-first-variant-flavor-0", "job-first-variant-flavor-1"}
