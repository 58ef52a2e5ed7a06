"""The phase of a behaviour that handles pods, alone and in groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kueue_dra_ref.model.job_ownership import JobOwnership
from kueue_dra_ref.model.pod_group import PodGroup
from kueue_dra_ref.model.slots import AnyOf, Each, First
from kueue_dra_ref.rules.jobframework.pod_owners import PodMarks
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class PodRules:
    """Which pods Kueue holds back, and what passes between pods and their Workload."""

    unmanaged: AnyOf[[JobOwnership]] = AnyOf()
    """Does Kueue leave a pod alone, by its namespace?"""
    gate: AnyOf[[bool]] = AnyOf()
    """Is a pod gated, by whether its Workload is admitted?"""
    ungate: AnyOf[[bool]] = AnyOf()
    """Does a pod start, by whether its Workload is admitted?"""
    group_name: First[[Manifest], str] = First()
    """Which group does a pod belong to? Without an answer it is alone."""
    role: First[[Manifest], str] = First()
    """Which role does a pod have in its group? Without rules: all pods have one role."""
    pod_sets: First[[PodGroup], list[Manifest]] = First()
    """Which pod sets does the Workload of a pod have that is alone?"""
    group_pod_sets: First[[PodGroup, list[str]], list[Manifest]] = First()
    """Which pod sets does the Workload of a group have, by the role of each pod?"""
    index: First[[Manifest], str] = First()
    """Which index does a gated pod get in its group? Without rules: it keeps its own, if it has one."""
    topology: First[[Manifest, str], Manifest] = First()
    """Which topology does a pod request, or a template of pods, that a label numbers? Without rules: none."""
    incomplete: AnyOf[[PodGroup]] = AnyOf()
    """Does a group get no Workload yet?"""
    finished: First[[PodGroup], tuple[str, str]] = First()
    """With which reason and message do pods finish their Workload?"""
    reclaimable: First[[PodGroup, list[str]], list[Manifest]] = First()
    """How many pods of each role no longer need quota? Without rules: all need it."""
    unmatched: AnyOf[[PodGroup]] = AnyOf()
    """Does a Workload take the pods of its group as they are? Without rules: they are matched with its pod sets."""
    stuck: AnyOf[[PodGroup]] = AnyOf()
    """Does Kueue fail to compare the pods of a group with their Workload? Without rules: it compares them."""
    foreign: AnyOf[[Manifest]] = AnyOf()
    """Does a Workload with the name of a group not belong to it? Without rules: the group takes it."""
    excess: Each[[int, int], int] = Each()
    """How many pods of a role are deleted, by their number and that of the pod set? Without rules: none."""
    absent: First[[int, int, bool], int] = First()
    """How many pods does a pod set wait for, by their number, that of the pod set, and fast admission?"""
    delete_running: AnyOf[[bool]] = AnyOf()
    """Is a pod deleted that runs without admission, by whether it is gated or has ended?"""
    delete_with_workload: AnyOf[[bool]] = AnyOf()
    """Are pods deleted, by whether a user deleted their Workload?"""
    outlive: AnyOf[[]] = AnyOf()
    """Is the Workload of a pod that is gone tried again before it is gone itself? Without rules: both go at once."""
    marks: First[[Manifest], PodMarks] = First()
    """What does Kueue write on the pods of work that is queued through its pods?"""
    pod_marks: Each[[Manifest, Manifest], PodMarks] = Each()
    """What does Kueue write on a pod of such work, by the work and the pod?"""
    go_along: AnyOf[[Manifest, Manifest]] = AnyOf()
    """Does a pod of such work, by the work and the pod, get the queue that the work names now? Without rules: it keeps
    the one that it was marked with."""
    workloads: First[[Manifest], Mapping[str, list[Manifest]]] = First()
    """Which Workloads does such work have, by name, with which pod sets? Without an answer, its pods have them."""
    finalize_pods_of_parent: AnyOf[[]] = AnyOf()
    """Do the pods of such work get Kueue's finalizer? Without rules: they do not."""
    let_go: AnyOf[[Manifest]] = AnyOf()
    """Does a pod of such work lose the finalizer whatever its group does? Without rules: its group decides."""
    label_with_uid: AnyOf[[]] = AnyOf()
    """Does the Workload of such work have a label with the UID of the work? Without rules: it has none."""
    hold: First[[Manifest, bool], tuple[str, str]] = First()
    """With which reason and message is its Workload on hold, by whether it has quota, or is on hold already?
    Without rules: it never is."""
    disown: AnyOf[[Manifest]] = AnyOf()
    """Does such work own its Workload no longer? Without rules: it owns it as long as it exists."""
    delete_of_gone_group: AnyOf[[]] = AnyOf()
    """Is the Workload of a group deleted that a LeaderWorkerSet has no more? Without rules: its pods keep it."""
    keep_queue: AnyOf[[PodGroup]] = AnyOf()
    """Does a Workload that waits keep its queue when its pods name another? Without rules: it follows them."""
    withheld: AnyOf[[Manifest]] = AnyOf()
    """Is a workload not queued, although it is pending? Without rules: it may be admitted without pods."""
