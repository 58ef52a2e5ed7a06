"""The phase of a behaviour that orders pending workloads by the usage of their LocalQueues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.model.slots import AnyOf, First, Order
from kueue_dra_ref.rules.queue.local_queue_usage import (
    Billionths,
    Consumed,
    History,
    PenaltyHolder,
    StatusChange,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionFairSharingRules:
    """What a LocalQueue has used over time, where the Configuration has admissionFairSharing, and what that decides."""

    sample: AnyOf[[]] = AnyOf()
    """Does Kueue keep the usage of LocalQueues? Without rules: it does not."""
    usage_based: AnyOf[[ClusterQueue]] = AnyOf()
    """Does a ClusterQueue order workloads by usage? Without rules: none does."""
    order: Order[[float]] = Order()
    """In which order are the pending workloads of several LocalQueues tried, by their usage?"""
    resource_weight: First[[Mapping[str, float], str], float] = First()
    """With which weight does a resource count? Without rules: it does not count."""
    by_weight: First[[float, float], float] = First()
    """What is the usage of a LocalQueue with a weight? Without rules: what it has used."""
    alpha: First[[float, float], float] = First()
    """Which part of the usage is that of the time since the last sample, by seconds and half-life? Otherwise: none."""
    reset: AnyOf[[float]] = AnyOf()
    """Does a sample forget all usage, by the half-life? Without rules: none does."""
    scaled: First[[Billionths, float], Billionths] = First()
    """How is an amount rounded that is multiplied? Without rules: it is not multiplied."""
    penalize: AnyOf[[ClusterQueue]] = AnyOf()
    """Does a quota reservation add an entry penalty? Without rules: none does."""
    settle: AnyOf[[StatusChange]] = AnyOf()
    """Does a change of a workload settle its penalty? Without rules: no change does."""
    settle_on_sample: AnyOf[[bool]] = AnyOf()
    """Does a sample settle the penalties, by whether any waits? Without rules: workloads settle them."""
    once_per_workload: AnyOf[[]] = AnyOf()
    """Does a workload have one penalty at most? Without rules: each reservation adds one."""
    drop: AnyOf[[PenaltyHolder]] = AnyOf()
    """Does a change of a workload drop its penalty? Without rules: none does."""
    history: First[[History], Consumed] = First()
    """From which usage does a LocalQueue start?"""
