"""The phase of a behaviour that dispatches work to other clusters."""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.dispatching import (
    ClusterUse,
    CopyTimes,
    JobPair,
    LostCopy,
)
from kueue_dra_ref.model.slots import AnyOf, First
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiKueueRules:
    """What a manager dispatches to its workers, and what it makes of their answers. Without rules: nothing."""

    active: First[[ClusterUse], Condition] = First()
    """Is a check active, by its clusters? Without rules: none."""
    disconnect: First[[], str] = First()
    """For which reason is a cluster inactive whose kubeconfig is not there? Without rules: it keeps its condition."""
    manage: AnyOf[[str, frozenset[str]]] = AnyOf()
    """Is new work managed by MultiKueue, by its kind and the controllers of its checks? Without rules: none."""
    reject: First[[str, str], str] = First()
    """Why is work rejected, by its kind and what manages it? Without rules: none."""
    rejected: First[[str], str] = First()
    """With which words does the message of a rejection end, by the state before? Without rules: with none."""
    idle: AnyOf[[int]] = AnyOf()
    """Does a workload keep its state, by the number of connected clusters? Without rules: it does not."""
    wait: AnyOf[[bool]] = AnyOf()
    """Does a workload wait for its copies, by whether its other checks are Ready? Without rules: it does not."""
    follow_config: AnyOf[[]] = AnyOf()
    """Are workloads reconciled when the clusters of a check change? Without rules: they are not."""
    nominate: First[[frozenset[str]], frozenset[str]] = First()
    """Which connected clusters get a copy? Without rules: none."""
    winner: First[[CopyTimes], str] = First()
    """On which cluster does work run, by the times at which copies were admitted? Without rules: none."""
    withdraw_others: AnyOf[[]] = AnyOf()
    """Are the other copies deleted then? Without rules: none."""
    won: First[[str], str] = First()
    """With which message is the check Ready, by the cluster? Without rules: none."""
    pend: AnyOf[[str]] = AnyOf()
    """Is the check Pending instead, by the kind of the work? Without rules: it is Ready."""
    hold: AnyOf[[str]] = AnyOf()
    """Does admitted work stay suspended on the manager, by its kind? Without rules: none does."""
    withdraw: AnyOf[[bool, bool]] = AnyOf()
    """Are all copies deleted, by whether the workload has quota and is finished? Without rules: none."""
    withdraw_deleted: AnyOf[[]] = AnyOf()
    """Are all copies of a deleted workload deleted? Without rules: none."""
    collect: AnyOf[[]] = AnyOf()
    """Are copies deleted that a manager has no Workload for? Without rules: none."""
    sync_status: AnyOf[[JobPair]] = AnyOf()
    """Does work have the status of its copy? Without rules: none."""
    foreign: AnyOf[[Manifest]] = AnyOf()
    """Is work on a worker no copy? Without rules: all is one."""
    withdraw_work: AnyOf[[]] = AnyOf()
    """Is work deleted whose Workload is gone from the worker? Without rules: it stays."""
    follow_evicted: AnyOf[[bool, str]] = AnyOf()
    """Is an evicted copy followed, by whether the workload is evicted and why the copy is? Without rules: none is."""
    retry_evicted: First[[str], str] = First()
    """With which message does the eviction of a copy set the check to Retry, by the cluster? Without rules: none."""
    retry_ended: First[[str, str], str] = First()
    """With which message does the end of a copy set the check to Retry, by its reason and the cluster? Without rules:
    the workload ends with its copy."""
    retry_lost: First[[LostCopy], str] = First()
    """With which message does a copy that is not found set the check to Retry? Without rules: none."""
    prioritize: AnyOf[[]] = AnyOf()
    """Do copies get the priority of the workload when it changes? Without rules: they differ from then on."""
    differs: AnyOf[[Manifest, Manifest]] = AnyOf()
    """Is a copy deleted, by the spec of the workload and its own? Without rules: none."""
    evict_copy: First[[str], str] = First()
    """With which message is a copy deactivated, by the message of the eviction on the manager? Without rules: none."""
    forget_cluster: AnyOf[[]] = AnyOf()
    """Does an eviction clear the cluster of a workload? Without rules: none."""
    prebuilt: First[[Manifest], str] = First()
    """Which Workload does work have that another client created? Without rules: none."""
