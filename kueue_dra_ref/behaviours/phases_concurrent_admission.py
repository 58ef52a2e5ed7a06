"""The phase of a behaviour in which a Workload is admitted with one of its variants."""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.model.slots import AnyOf, Collect, Each, First
from kueue_dra_ref.rules.workload.concurrent_admission import Sibling
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcurrentAdmissionRules:
    """What becomes of a Workload that has a variant for each flavor of its ClusterQueue."""

    enabled: AnyOf[[Manifest]] = AnyOf()
    """Do the Workloads of a ClusterQueue have variants? Without rules: none do."""
    variants: Collect[[Manifest], str] = Collect()
    """For which flavors of the ClusterQueue are there variants? Without rules: none."""
    keep: AnyOf[[int, int]] = AnyOf()
    """Are no variants created, by their number and that of flavors? Without rules: those that are missing are."""
    unnamed: AnyOf[[str]] = AnyOf()
    """Does a Workload of this name get no variants? Without rules: any may."""
    allow_flavor: First[[Manifest, str], str] = First()
    """What is reported of a flavor that a Workload may not get? Without rules: it may get any."""
    not_queued: AnyOf[[]] = AnyOf()
    """Is a parent kept out of the queues? Without rules: it is queued."""
    not_charged: AnyOf[[]] = AnyOf()
    """Does the admission of a parent take no quota? Without rules: it takes quota."""
    not_checked: AnyOf[[]] = AnyOf()
    """Does a parent get no admission checks? Without rules: it gets them."""
    admitted: Each[[str], Condition] = Each()
    """Which condition does a parent get with the variant of this name? Without rules: none."""
    give_up: AnyOf[[Sibling]] = AnyOf()
    """Is a variant deactivated, as another one is admitted? Without rules: it stays active."""
    deactivate_all: AnyOf[[bool]] = AnyOf()
    """Are all variants deactivated, by whether their parent is active? Without rules: they are not."""
    activate_all: AnyOf[[bool]] = AnyOf()
    """Are all variants of an active parent activated, by whether one of them is admitted?
    Without rules: they are not."""
    activate: AnyOf[[Sibling]] = AnyOf()
    """Is a variant activated, although another one is admitted? Without rules: it is not."""
    migrate: First[[str], ReasonMessage] = First()
    """Why is the admitted variant evicted for a preferred one, which has this UID? Without rules: it is not."""
    evict_with_variant: First[[], ReasonMessage] = First()
    """Why is a parent evicted whose variant is evicted? Without rules: it is not."""
    evict_without_variant: First[[], ReasonMessage] = First()
    """Why is a parent evicted that has no admitted variant any more? Without rules: it is not."""
    copy_pods_ready: AnyOf[[]] = AnyOf()
    """Does the admitted variant have the condition PodsReady of its parent? Without rules: it does not."""
    not_awaited: AnyOf[[bool]] = AnyOf()
    """Does Kueue not wait for the pods of a Workload, by whether it is a variant? Without rules: it waits."""
    finish: Each[[Manifest], ReasonMessage] = Each()
    """How do variants finish with their parent, which has this condition? Without rules: they do not."""
    delete: AnyOf[[bool]] = AnyOf()
    """Is a variant deleted, by whether the ClusterQueue has its flavor? Without rules: none is."""
    gate: Each[[], str] = Each()
    """Which preemption gates does a variant have? Without rules: none."""
    gated: First[[bool], str] = First()
    """What is reported of a Workload that needs preemption, by whether it has a closed gate? Without rules: nothing."""
    open_gate: First[[float | None], float] = First()
    """In how many seconds is the gate of a blocked variant opened, by those since another one was?
    Without rules: it stays closed."""
