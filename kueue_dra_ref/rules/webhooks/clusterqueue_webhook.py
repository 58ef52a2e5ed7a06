"""Kueue's webhooks for ClusterQueues and Cohorts (Kueue 0.19, clusterqueue_webhook.go).

Kueue: pkg/webhooks/clusterqueue_webhook.go (validateResourceGroups, validateFlavorQuotas, validateLimit);
    pkg/webhooks/cohort_webhook.go (validateCohort)
"""

from __future__ import annotations

from collections.abc import Mapping

from kueue_dra_ref.api.cluster_queues import flavors_named_by
from kueue_dra_ref.api.crd_validation import Faults, invalid, places
from kueue_dra_ref.api.metav1_validation import key_faults, selector_faults
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.quantities import Quantity, parse
from kueue_dra_ref.api.resource_groups import (
    CoveredResource,
    FlavorOfGroup,
    ResourceQuota,
)
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError

_GROUPS = "spec.resourceGroups"
_NEGATIVE = "must be greater than or equal to 0"
_EMPTY: Mapping[str, Mapping[str, str]] = {
    "ClusterQueue": {
        f"{_GROUPS}[].flavors[].name": "",
        f"{_GROUPS}[].flavors[].resources[].nominalQuota": "0",
        "spec.namespaceSelector.matchExpressions[].key": "",
        "spec.namespaceSelector.matchExpressions[].operator": "",
    },
    "ResourceFlavor": {"spec.nodeTaints[].key": "", "spec.nodeTaints[].effect": ""},
}
_ON_FLAVORS = "spec.admissionChecksStrategy.admissionChecks[].onFlavors[]"
_LEAST_WEIGHT = parse("1n").amount


@rule("OBJECT-009")
def default_empty(kind: str) -> Mapping[str, str]:
    """The webhook gives a new ClusterQueue a nominalQuota of zero and empty names where they are missing.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (setupWebhookForClusterQueue, Default)
    """
    return _EMPTY.get(kind, {})


@rule("OBJECT-037", "OBJECT-044")
def covered_resource_is_a_label_key(resource: CoveredResource) -> Faults:
    """The webhook denies a covered resource whose name is not a label key.

    Kueue: pkg/webhooks/common.go (validateResourceName)
    """
    return key_faults(resource.path, resource.name)


@rule("QUEUE-026", "OBJECT-038")
def resource_is_covered_once(resource: CoveredResource) -> Faults:
    """The webhook denies a resource that two resource groups, or one group twice, cover.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateResourceGroups)
    """
    if resource.name in resource.before:
        yield FieldError(
            field=resource.path, type="Duplicate value", value=printed(resource.name)
        )


@rule("QUEUE-027", "OBJECT-038")
def flavor_is_in_one_group(flavor: FlavorOfGroup) -> Faults:
    """The webhook denies a flavor in two resource groups.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateResourceGroups)
    """
    if flavor.name in flavor.before:
        yield FieldError(
            field=flavor.path, type="Duplicate value", value=printed(flavor.name)
        )


@rule("OBJECT-039")
def quotas_follow_covered_resources(place: ResourceQuota) -> Faults:
    """The webhook denies a flavor whose quotas are not in the order of coveredResources.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateFlavorQuotas)
    """
    name = place.quota.get("name", "")
    if name != place.covered:
        yield invalid(
            f"{place.path}.name",
            "must match the name in coveredResources",
            printed(name),
        )


@rule("OBJECT-040")
def nominal_quota_is_not_negative(place: ResourceQuota) -> Faults:
    """The webhook denies a negative nominalQuota.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateFlavorQuotas, validateResourceQuantity)
    """
    return _negative(place, "nominalQuota")


@rule("OBJECT-042")
def borrowing_limit_needs_cohort(place: ResourceQuota) -> Faults:
    """The webhook denies a borrowingLimit in a Cohort without a parent.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateLimit)
    """
    return _alone(place, "borrowingLimit")


@rule("OBJECT-041")
def borrowing_limit_is_not_negative(place: ResourceQuota) -> Faults:
    """The webhook denies a negative borrowingLimit.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateFlavorQuotas, validateResourceQuantity)
    """
    return _negative(place, "borrowingLimit")


@rule("OBJECT-041")
def lending_limit_is_not_negative(place: ResourceQuota) -> Faults:
    """The webhook denies a negative lendingLimit.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateFlavorQuotas, validateResourceQuantity)
    """
    return _negative(place, "lendingLimit")


@rule("OBJECT-042")
def lending_limit_needs_cohort(place: ResourceQuota) -> Faults:
    """The webhook denies a lendingLimit without a cohort or a parent to lend to.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateLimit)
    """
    return _alone(place, "lendingLimit")


@rule("OBJECT-043")
def lending_limit_is_at_most_nominal_quota(place: ResourceQuota) -> Faults:
    """The webhook denies a ClusterQueue with a lendingLimit above its nominalQuota.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateLendingLimit)
    """
    lent = _amount(place, "lendingLimit")
    if (
        lent
        and not place.of_cohort
        and lent.amount > parse(place.quota["nominalQuota"]).amount
    ):
        detail = "must be less than or equal to the nominalQuota"
        yield invalid(f"{place.path}.lendingLimit", detail, printed(str(lent)))


@rule("OBJECT-045")
def namespace_selector_is_valid(write: AdmissionRequest) -> Faults:
    """The webhook denies a ClusterQueue whose namespaceSelector is not a valid label selector.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateClusterQueueSpec)
    """
    return selector_faults(
        "spec.namespaceSelector", write.new["spec"].get("namespaceSelector") or {}
    )


@rule("OBJECT-046")
def weight_is_zero_or_representable(write: AdmissionRequest) -> Faults:
    """The webhook denies a fairSharing weight that is negative or rounds to zero.

    Kueue: pkg/webhooks/common.go (validateFairSharing)
    """
    for _, weight in places(write.new, "spec.fairSharing.weight"):
        quantity = parse(weight)
        if quantity.amount < 0:
            yield invalid("spec.fairSharing", _NEGATIVE, printed(str(quantity)))
        elif 0 < quantity.amount <= _LEAST_WEIGHT:
            yield invalid(
                "spec.fairSharing",
                "When not 0, weight must be > 10e-9",
                printed(str(quantity)),
            )


@rule("OBJECT-047")
def at_most_256_flavors(write: AdmissionRequest) -> Faults:
    """The webhook denies a ClusterQueue with more than 256 flavors in all resource groups together.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateTotalFlavors)
    """
    return _too_many(write, f"{_GROUPS}[].flavors[]", "flavors")


@rule("OBJECT-047")
def at_most_256_resources(write: AdmissionRequest) -> Faults:
    """The webhook denies a ClusterQueue that covers more than 256 resources in all resource groups together.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateTotalCoveredResources)
    """
    return _too_many(write, f"{_GROUPS}[].coveredResources[]", "covered resources")


@rule("OBJECT-048")
def at_most_512_quotas_in_a_group(write: AdmissionRequest) -> Faults:
    """The webhook denies a ClusterQueue with more than 512 quotas in one resource group.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateFlavorResourceCombinations)
    """
    for path, group in places(write.new, f"{_GROUPS}[]"):
        if (found := len(places(group, "flavors[].resources[]"))) > 512:
            detail = f"number of flavor-resource combinations in a resourceGroup must be ≤ 512, got {found}"
            yield invalid(path, detail, str(found))


@rule("CHECK-016")
def checked_flavors_are_of_cluster_queue(write: AdmissionRequest) -> Faults:
    """The webhook denies a ClusterQueue with a check on a flavor that none of its resource groups has.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateAdmissionCheckOnFlavors)
    """
    flavors = sorted(flavors_named_by(write.new))
    supported = ", ".join(map(printed, flavors))
    for place, name in places(write.new, _ON_FLAVORS):
        if name not in flavors:
            yield FieldError(
                field=place,
                type="Unsupported value",
                value=printed(name),
                detail=f"supported values: {supported}",
            )


def _too_many(write: AdmissionRequest, path: str, what: str) -> Faults:
    if (found := len(places(write.new, path))) > 256:
        detail = f"total number of {what} across all resourceGroups must be ≤ 256, got {found}"
        yield invalid(_GROUPS, detail, str(found))


def _amount(place: ResourceQuota, key: str) -> Quantity | None:
    return parse(place.quota[key]) if key in place.quota else None


def _negative(place: ResourceQuota, key: str) -> Faults:
    if (amount := _amount(place, key)) and amount.amount < 0:
        yield invalid(f"{place.path}.{key}", _NEGATIVE, printed(str(amount)))


def _alone(place: ResourceQuota, key: str) -> Faults:
    if (amount := _amount(place, key)) and not place.joined:
        detail = (
            f"must be nil when {'parent' if place.of_cohort else 'cohort'} is empty"
        )
        yield invalid(f"{place.path}.{key}", detail, printed(str(amount)))
