"""Kueue 0.14: the rules of admission fair sharing."""

from __future__ import annotations

from kueue_dra_ref.behaviours.phases_admission_fair_sharing import (
    AdmissionFairSharingRules,
)
from kueue_dra_ref.model.rule import P, R, Rule, when
from kueue_dra_ref.model.slots import AnyOf, First, Order
from kueue_dra_ref.rules.queue import local_queue_usage


def _gated(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while admission fair sharing is enabled."""
    return when(each, AdmissionFairSharing=True)


SHARING = AdmissionFairSharingRules(
    sample=AnyOf(_gated(local_queue_usage.usage_is_sampled)),
    usage_based=AnyOf(_gated(local_queue_usage.usage_based_mode)),
    order=Order(local_queue_usage.lower_usage_first),
    resource_weight=First(
        local_queue_usage.configured_resource_weight,
        local_queue_usage.default_resource_weight,
    ),
    by_weight=First(
        local_queue_usage.usage_by_weight,
        local_queue_usage.unused_weight_of_zero_is_first,
    ),
    alpha=First(local_queue_usage.half_life_decay),
    reset=AnyOf(local_queue_usage.half_life_of_zero_resets),
    scaled=First(local_queue_usage.scaled_to_thousandths),
    penalize=AnyOf(local_queue_usage.each_admission_is_penalized),
    # The usage is that of the status, which has the penalties as well.
    settle_on_sample=AnyOf(local_queue_usage.sampling_settles_penalties),
    history=First(local_queue_usage.history_from_status),
)
