"""The phase of a behaviour that handles admission checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.slots import AnyOf, Each, First
from kueue_dra_ref.rules.workload.admission_checks import CheckScope, States
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionCheckRules:
    """Which admission checks a workload needs, and what their states do to it."""

    required: First[[CheckScope], frozenset[str]]
    """Which checks does the status of a workload list?"""
    block_admission: AnyOf[[States]]
    """Is a workload with quota not admitted yet, by the states of its checks?"""
    unsatisfied: Each[[], Condition] = Each()
    """Which condition reports that? Without rules: none does."""
    unreserved: First[[States], tuple[str, str]] = First()
    """With which reason and message is a workload without quota not admitted, by its checks? Without rules: with those
    of any other."""
    delay: First[[Manifest], int] = First()
    """For how many seconds does a check delay the workload? Without rules: not at all."""
    retry: First[[States], str]
    """With which message do the checks evict a workload?"""
    reject: First[[States], str]
    """With which message do the checks deactivate a workload?"""
    order_by_eviction: AnyOf[[str]] = AnyOf()
    """Is an evicted workload ordered by the time of its eviction, by the reason for it?"""
    restore: AnyOf[[]] = AnyOf()
    """Does the scheduler list the checks again that a workload had when it was queued? Without rules: it lists none."""
    block_nomination: First[[States], str]
    """With which message does the scheduler not try a workload, by its checks?"""
    reset: First[[Manifest], Manifest]
    """To what does an eviction set the state of a check?"""
    keep: Each[[Manifest], Mapping[str, Any]] = Each()
    """What does a check that is reset have of its state before? Without rules: nothing."""
    pod_set_updates: First[[States], Sequence[tuple[str, Manifest]]]
    """What do checks add to the pods of work that starts, by check?"""
