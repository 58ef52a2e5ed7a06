"""CRD validation of ClusterQueues and Cohorts by the API server (clusterqueue_types.go).

Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ClusterQueueSpec, ResourceGroup, FlavorFungibility)
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.crd_validation import (
    Faults,
    at_least,
    at_most,
    invalid,
    missing,
    no_object_names,
    other_words,
    places,
    repeated,
)
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule

_CHECKS = "spec.admissionChecksStrategy.admissionChecks"
_GROUP = "spec.resourceGroups[]"
_FLAVOR = f"{_GROUP}.flavors[]"
_RESOURCE = f"{_FLAVOR}.resources[]"
_SEARCH = {
    "spec.flavorFungibility.whenCanBorrow": "Borrow",
    "spec.flavorFungibility.whenCanPreempt": "Preempt",
}
"""The policies of a flavor search, and what a search that may stop was called before 0.15."""


@rule("OBJECT-003")
def at_most_16_resource_groups(write: AdmissionRequest) -> Faults:
    """The API server rejects a ClusterQueue or Cohort with more than 16 resourceGroups.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ClusterQueueSpec);
        apis/kueue/v1beta2/cohort_types.go (CohortSpec)
    """
    return at_most(write.new, "spec.resourceGroups", 16)


@rule("OBJECT-004")
def group_covers_1_to_64_resources(write: AdmissionRequest) -> Faults:
    """The API server rejects a resource group that covers no resource or more than 64.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ResourceGroup)
    """
    yield from at_least(write.new, f"{_GROUP}.coveredResources", 1)
    yield from at_most(write.new, f"{_GROUP}.coveredResources", 64)


@rule("OBJECT-005")
def group_has_1_to_64_flavors(write: AdmissionRequest) -> Faults:
    """The API server rejects a resource group with no flavor or more than 64.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ResourceGroup)
    """
    yield from at_least(write.new, f"{_GROUP}.flavors", 1)
    yield from at_most(write.new, f"{_GROUP}.flavors", 64)


@rule("OBJECT-006")
def flavor_has_1_to_64_quotas(write: AdmissionRequest) -> Faults:
    """The API server rejects a flavor of a resource group with no quota or more than 64.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (FlavorQuotas)
    """
    yield from at_least(write.new, f"{_FLAVOR}.resources", 1)
    yield from at_most(write.new, f"{_FLAVOR}.resources", 64)


@rule("OBJECT-066")
def strategy_names_1_to_64_checks(write: AdmissionRequest) -> Faults:
    """The API server rejects an admissionChecksStrategy with no check or more than 64, or with 65 flavors of one.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (AdmissionChecksStrategy, AdmissionCheckStrategyRule)
    """
    yield from at_least(write.new, _CHECKS, 1)
    yield from at_most(write.new, _CHECKS, 64)
    yield from at_most(write.new, f"{_CHECKS}[].onFlavors", 64)


@rule("OBJECT-007")
def group_fields_are_required(write: AdmissionRequest) -> Faults:
    """The API server rejects a resource group that lacks coveredResources, flavors or a name of one.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ResourceGroup, FlavorQuotas, ResourceQuota)
    """
    yield from missing(write.new, _GROUP, "coveredResources", "flavors")
    yield from missing(write.new, _FLAVOR, "name", "resources")
    yield from missing(write.new, _RESOURCE, "name")


@rule("OBJECT-008")
def nominal_quota_is_required(write: AdmissionRequest) -> Faults:
    """The API server rejects a quota without a nominalQuota.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ResourceQuota)
    """
    return missing(write.new, _RESOURCE, "nominalQuota")


@rule("OBJECT-010")
def flavor_name_is_valid(write: AdmissionRequest) -> Faults:
    """The API server rejects a resource group with a flavor whose name is not a valid ResourceFlavor name.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ResourceFlavorReference)
    """
    return no_object_names(write.new, f"{_FLAVOR}.name")


@rule("OBJECT-011")
def parent_name_is_valid(write: AdmissionRequest) -> Faults:
    """The API server rejects a Cohort whose parent is not a valid Cohort name.

    Kueue: apis/kueue/v1beta2/cohort_types.go (CohortSpec); apis/kueue/v1beta2/clusterqueue_types.go (CohortReference)
    """
    return no_object_names(write.new, "spec.parentName")


@rule("OBJECT-012")
def cohort_name_is_valid(write: AdmissionRequest) -> Faults:
    """The API server rejects a ClusterQueue whose cohortName is not a valid Cohort name.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ClusterQueueSpec, CohortReference)
    """
    return no_object_names(write.new, "spec.cohortName")


@rule("OBJECT-013")
def cohort_field_is_valid(
    write: AdmissionRequest,
) -> Faults:
    """The API server rejects a ClusterQueue whose field cohort is not a valid Cohort name.

    Kueue 0.14: apis/kueue/v1beta1/clusterqueue_types.go (ClusterQueueSpec, CohortReference)
    """
    return no_object_names(write.new, "spec.cohortName", "spec.cohort")


@rule("OBJECT-015")
def flavors_of_group_are_unique(write: AdmissionRequest) -> Faults:
    """The API server rejects a resource group that lists a flavor twice.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ResourceGroup)
    """
    return repeated(write.new, f"{_GROUP}.flavors", "name")


@rule("OBJECT-016")
def quotas_of_flavor_are_unique(write: AdmissionRequest) -> Faults:
    """The API server rejects a flavor with two quotas for one resource.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (FlavorQuotas)
    """
    return repeated(write.new, f"{_FLAVOR}.resources", "name")


@rule("OBJECT-051")
def admission_mode_is_required(write: AdmissionRequest) -> Faults:
    """The API server rejects an admissionScope without an admissionMode.

    Kueue: apis/kueue/v1beta2/fairsharing_types.go (AdmissionScope)
    """
    return missing(write.new, "spec.admissionScope", "admissionMode")


@rule("OBJECT-052")
def admission_mode_is_known(write: AdmissionRequest) -> Faults:
    """The API server rejects an admissionScope with an unknown admissionMode.

    Kueue: apis/kueue/v1beta2/fairsharing_types.go (AdmissionScope, AdmissionMode)
    """
    modes = ("UsageBasedAdmissionFairSharing", "NoAdmissionFairSharing")
    return other_words(write.new, "spec.admissionScope.admissionMode", modes)


@rule("OBJECT-045")
def selector_expression_is_complete(write: AdmissionRequest) -> Faults:
    """The API server rejects a namespaceSelector expression without a key or an operator.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ClusterQueueSpec)
    """
    return missing(
        write.new, "spec.namespaceSelector.matchExpressions[]", "key", "operator"
    )


@rule("OBJECT-017")
def queueing_strategy_is_known(write: AdmissionRequest) -> Faults:
    """The API server rejects a queueingStrategy other than StrictFIFO and BestEffortFIFO.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ClusterQueueSpec, QueueingStrategy)
    """
    return other_words(
        write.new, "spec.queueingStrategy", ("StrictFIFO", "BestEffortFIFO")
    )


@rule("CONC-020")
def migration_mode_is_known(write: AdmissionRequest) -> Faults:
    """The API server rejects a concurrentAdmissionPolicy without one of the two modes of migration.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ConcurrentAdmissionMigration, ConcurrentAdmissionMigrationMode)
    """
    policy = "spec.concurrentAdmissionPolicy"
    modes = ("TryPreferredFlavors", "RetainFirstAdmission")
    yield from missing(write.new, policy, "migration")
    yield from missing(write.new, f"{policy}.migration", "mode")
    yield from other_words(write.new, f"{policy}.migration.mode", modes)


@rule("OBJECT-019")
def preemption_policies_are_known(write: AdmissionRequest) -> Faults:
    """The API server rejects a ClusterQueue with an unknown preemption policy.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ClusterQueuePreemption, PreemptionPolicy,
        BorrowWithinCohortPolicy)
    """
    path = "spec.preemption"
    within = ("Never", "LowerPriority", "LowerOrNewerEqualPriority")
    yield from other_words(write.new, f"{path}.withinClusterQueue", within)
    yield from other_words(
        write.new, f"{path}.reclaimWithinCohort", ("Never", "LowerPriority", "Any")
    )
    yield from other_words(
        write.new, f"{path}.borrowWithinCohort.policy", ("Never", "LowerPriority")
    )


@rule("OBJECT-020")
def fungibility_policies_are_known(write: AdmissionRequest) -> Faults:
    """The API server rejects an unknown whenCanBorrow or whenCanPreempt.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (FlavorFungibility, FlavorFungibilityPolicy)
    """
    for path in _SEARCH:
        yield from other_words(write.new, path, ("MayStopSearch", "TryNextFlavor"))


@rule("OBJECT-020")
def fungibility_policies_are_known_0_14(
    write: AdmissionRequest,
) -> Faults:
    """The API server rejects an unknown whenCanBorrow or whenCanPreempt, and names Borrow and Preempt.

    Kueue 0.14: apis/kueue/v1beta1/clusterqueue_types.go (FlavorFungibility, FlavorFungibilityPolicy)
    """
    for path, word in _SEARCH.items():
        for fault in other_words(write.new, path, ("MayStopSearch", "TryNextFlavor")):
            yield replace(fault, detail=fault.detail.replace("MayStopSearch", word))


@rule("OBJECT-021")
def fungibility_preference_is_known(write: AdmissionRequest) -> Faults:
    """The API server rejects a flavorFungibility with an unknown preference.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (FlavorFungibility, FlavorFungibilityPreference)
    """
    detail = ("BorrowingOverPreemption", "PreemptionOverBorrowing")
    return other_words(write.new, "spec.flavorFungibility.preference", detail)


@rule("OBJECT-022")
def borrowing_limit_needs_cohort_name(write: AdmissionRequest) -> Faults:
    """The API server rejects a borrowingLimit in a ClusterQueue without a cohort.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ClusterQueueSpec)
    """
    if "cohortName" not in write.new["spec"] and places(
        write.new, f"{_RESOURCE}.borrowingLimit"
    ):
        yield invalid("spec", "borrowingLimit must be nil when cohort is empty")


@rule("OBJECT-023")
def borrow_within_cohort_needs_reclaim(
    write: AdmissionRequest,
) -> Faults:
    """The API server rejects a borrowWithinCohort policy together with reclaimWithinCohort Never.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ClusterQueuePreemption)
    """
    preemption = write.new["spec"]["preemption"]
    if (
        preemption["reclaimWithinCohort"] == "Never"
        and preemption["borrowWithinCohort"]["policy"] != "Never"
    ):
        yield invalid(
            "spec.preemption",
            "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
        )


@rule("OBJECT-024")
def fungibility_preference_needs_try_next_flavor(write: AdmissionRequest) -> Faults:
    """The API server rejects a preference of flavorFungibility unless both policies are TryNextFlavor.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (FlavorFungibility)
    """
    searching = write.new["spec"]["flavorFungibility"]
    tried = {searching["whenCanBorrow"], searching["whenCanPreempt"]}
    if "preference" in searching and tried != {"TryNextFlavor"}:
        detail = "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor"
        yield invalid("spec.flavorFungibility", detail)


@rule("OBJECT-025")
def flavor_has_quota_of_each_covered_resource(write: AdmissionRequest) -> Faults:
    """The API server rejects a flavor without exactly one quota for each covered resource of its group.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ResourceGroup)
    """
    for path, group in places(write.new, _GROUP):
        if any(
            len(flavor["resources"]) != len(group["coveredResources"])
            for flavor in group["flavors"]
        ):
            yield invalid(
                path,
                "flavors must have the same number of resources as the coveredResources",
            )
