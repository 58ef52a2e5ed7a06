"""The phase of a behaviour that dispatches work to other clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.slots import AnyOf, First
from kueue_dra_ref.rules.multikueue.dispatching import ClusterUse, JobPair, LostCopy
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiKueueRules:
    """What a manager dispatches to its workers, and what it makes of their answers. Without rules: nothing."""

    active: First[[ClusterUse], Condition] = First()
    """Is a check active, by its clusters? Without rules: none."""
    manage: AnyOf[[frozenset[str]]] = AnyOf()
    """Is a new Job managed by MultiKueue, by the controllers of its checks? Without rules: none."""
    reject: First[[str], str] = First()
    """Why is work rejected, by what manages it? Without rules: none."""
    nominate: First[[frozenset[str]], frozenset[str]] = First()
    """Which connected clusters get a copy? Without rules: none."""
    winner: First[[Mapping[str, str]], str] = First()
    """On which cluster does work run, by the times at which copies were admitted? Without rules: none."""
    withdraw_others: AnyOf[[]] = AnyOf()
    """Are the other copies deleted then? Without rules: none."""
    won: First[[str], str] = First()
    """With which message is the check Ready, by the cluster? Without rules: none."""
    withdraw: AnyOf[[bool, bool]] = AnyOf()
    """Are all copies deleted, by whether the workload has quota and is finished? Without rules: none."""
    withdraw_deleted: AnyOf[[]] = AnyOf()
    """Are all copies of a deleted workload deleted? Without rules: none."""
    collect: AnyOf[[]] = AnyOf()
    """Are copies deleted that a manager has no Workload for? Without rules: none."""
    sync_status: AnyOf[[JobPair]] = AnyOf()
    """Does work have the status of its copy? Without rules: none."""
    retry_evicted: First[[str], str] = First()
    """With which message does the eviction of a copy set the check to Retry, by the cluster? Without rules: none."""
    retry_lost: First[[LostCopy], str] = First()
    """With which message does a copy that is not found set the check to Retry? Without rules: none."""
    differs: AnyOf[[Manifest, Manifest]] = AnyOf()
    """Is a copy deleted, by the spec of the workload and its own? Without rules: none."""
    evict_copy: First[[str], str] = First()
    """With which message is a copy deactivated, by the message of the eviction on the manager? Without rules: none."""
    forget_cluster: AnyOf[[]] = AnyOf()
    """Does an eviction clear the cluster of a workload? Without rules: none."""
    prebuilt: First[[Manifest], str] = First()
    """Which Workload does work have that another client created? Without rules: none."""
