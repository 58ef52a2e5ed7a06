"""The phase of a behaviour that waits for the pods of admitted workloads."""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.api.pods_ready import WaitForPodsReady
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.model.slots import AllOf, AnyOf, Each, First
from kueue_dra_ref.rules.workload.pods_ready import Deadline, PodsState, Unready
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class PodsReadyRules:
    """For how long admitted workloads wait for their pods, and what happens meanwhile and afterwards."""

    enabled: AnyOf[[WaitForPodsReady]]
    """Does Kueue wait for pods?"""
    blocking: AnyOf[[WaitForPodsReady]]
    """Does it admit no workload while pods of another one are not ready?"""
    blocked: Each[[], Condition]
    """Which condition reports that?"""
    condition: First[[PodsState], Condition]
    """Which condition reports whether the pods of a workload are ready?"""
    group_is_complete: AllOf[[int, int], bool] = AllOf()
    """Are the pods of a group all there, by their number and that which it announces? Without rules: always."""
    work_is_complete: AllOf[[Manifest], bool] = AllOf()
    """Are the pods of work all there whose status says that it runs? Without rules: always."""
    timeout: First[[WaitForPodsReady], float]
    """For how many seconds does a workload wait for its pods?"""
    recovery_timeout: First[[WaitForPodsReady], float]
    """For how many seconds does it wait if they were ready before? Without an answer: forever."""
    endless: AnyOf[[float]] = AnyOf()
    """Does it wait forever, by that number? Without rules: never."""
    start: First[[Unready, float], Deadline]
    """Until when does an admitted workload wait for its pods?"""
    recovery: First[[Unready, float], Deadline]
    """Until when does it wait if they were ready before?"""
    evict: Each[[str, str], ReasonMessage]
    """Why is it evicted then, by its name and what it waited for?"""
    deactivate: First[[WaitForPodsReady, int], ReasonMessage]
    """Why is it deactivated instead, by how often it was requeued?"""
    backoff: First[[WaitForPodsReady, int], int]
    """For how many seconds is it not tried, by how often it was evicted?"""
    order_by_eviction: AnyOf[[WaitForPodsReady, str]]
    """Is an evicted workload ordered by the time of its eviction, by the reason for it?"""
    ignore_backoff_end: AnyOf[[bool]] = AnyOf()
    """Is a workload not tried when its backoff ends, by whether it has devices? Without rules: it is tried."""
