"""A search for a symbol of Kueue leads to the module that decides the same here, among the first three files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HITS = 3
DOORS = {
    "dominantResourceShare": "model/dominant_resource_share",
    "roundToValidRange": "dra/device_charge rules/dra/consumable_capacity",
    "borrowWithinCohort maxPriorityThreshold": "rules/preemption/preemption_policies",
    "stickyWorkload": "cache/cluster_queue rules/queue/pending_workloads",
    "handleInadmissibleHash": "cache/cluster_queue rules/queue/pending_workloads",
    "findFlavorForPodSets": "scheduler/flavorassigner/resource_group",
    "GetResourceRequestsForResourceClaimTemplates": "dra/preprocess",
    "isComplete": "dra/pools rules/dra/pool_selection",
    "ResolveExtendedResourceQuota": "dra/extended_resources",
    "fillBackWorkloads": "scheduler/preemption/classical rules/preemption/preemption_policies",
    "EquivalentToWorkload": "rules/jobframework/job_reconciliation controllers/job",
    "ValidateAdmissibility": "controllers/queue_readiness workload/resources",
    "fairPreemptions": "scheduler/preemption/fairsharing",
    "runFirstFsStrategy": "scheduler/preemption/fairsharing",
    "runSecondFsStrategy": "scheduler/preemption/fairsharing",
    "classicalPreemptions": "scheduler/preemption/classical",
    "CandidatesOrdering": "rules/preemption/preemption_policies scheduler/preemption/classical",
    "SatisfiesPreemptionPolicy": "rules/preemption/preemption_policies",
    "FindHeightOfLowestSubtreeThatFits": "model/resource_node scheduler/preemption/oracle",
    "SimulatePreemption": "scheduler/preemption/oracle",
    "runTournament": "scheduler/fair_sharing_iterator",
    "CompareDRS": "model/resource_node rules/preemption/fair_sharing",
    "TargetClusterQueueOrdering": "scheduler/preemption/fairsharing",
    "fitsResourceQuota": "scheduler/flavorassigner/flavor rules/flavorassigner/fits_resource_quota",
    "checkFlavorForPodSets": "scheduler/flavorassigner/flavor",
    "isPreferred": "rules/flavorassigner/flavor_fungibility scheduler/flavorassigner/resource_group",
    "shouldTryNextFlavor": "rules/flavorassigner/flavor_fungibility scheduler/flavorassigner/resource_group",
    "mostSevereReason": "rules/workload/unadmitted_workloads scheduler/flavorassigner/no_fit_reason",
    "PodSetReducer": "scheduler/nominate",
    "RequeueIfNotPresent": "cache/cluster_queue rules/queue/pending_workloads",
    "potentialAvailable": "model/resource_node",
    "reserveCapacityForUnreclaimablePreempt": "rules/scheduler/scheduling_cycle scheduler/cycle",
    "countDevicesPerClass": "dra/preprocess rules/dra/claim_templates",
    "validateCELSelectorsAgainstDevices": "dra/selectors",
    "matchDevicesForSource": "dra/device_match",
    "chargeForDevice": "dra/device_charge rules/dra/consumable_capacity",
    "safeChargeValue": "rules/dra/sourced_requests dra/counters_and_capacity",
    "GetCounterResourcesForWorkload": "dra/counters_and_capacity",
    "DetermineCapacityResourcesForWorkload": "dra/counters_and_capacity",
    "selectedDeviceClass": "rules/dra/extended_resource_requests dra/extended_resources",
    "applyResourceTransformations": "rules/workload/resource_transformations",
    "handlePodOverhead": "rules/workload/adjust_resources",
    "ValidateLimitRange": "workload/resources rules/workload/adjust_resources",
    "validateDeviceClassMappings": "rules/config/device_class_mappings",
    "UnsetQuotaReservationWithCondition": "rules/workload/workload_status controllers/workload_conditions",
    "getQueueBlocker": "rules/queue/admissibility controllers/queue_readiness",
    "WorkloadShouldBeSuspended": "controllers/job_management rules/jobframework/managed_jobs",
    "IsWithinNominalInResources": "rules/preemption/preemption_policies",
}
"""Searches of an engineer who knows Kueue (words on one line), and the modules of the reference that decide."""


@pytest.mark.parametrize("searched", DOORS)
def test_a_search_finds_the_deciding_module_first(searched: str) -> None:
    """In the order in which `git grep` lists files: whatever sorts before the reference names no symbols of Kueue."""
    found = _files_with(searched)
    wanted = {f"kueue_dra_ref/{module}.py" for module in DOORS[searched].split()}

    assert wanted & set(found[:HITS]), f"git grep {searched}: {', '.join(found[:10])}"


@pytest.mark.parametrize("searched", DOORS)
def test_a_door_is_a_file(searched: str) -> None:
    """A module that moved would otherwise hide behind another one."""
    assert [module for module in DOORS[searched].split() if not (ROOT / f"kueue_dra_ref/{module}.py").is_file()] == []


def _files_with(searched: str) -> list[str]:
    """List the files of the repository with a line that has each of the words, this one excepted."""
    first, *others = searched.split()
    pattern = ["-e", first]
    for word in others:
        pattern += ["--and", "-e", word]
    this = Path(__file__).relative_to(ROOT).as_posix()
    command = ["git", "grep", "-l", "--untracked", "--word-regexp", "--fixed-strings", *pattern, "--", f":!{this}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
