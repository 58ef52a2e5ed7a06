"""Kueue 0.19.7, provisional: what it changes in Kueue 0.19.6, by its change notes; it could not be run.

Preemption frees the pods that a ClusterQueue counts.

It searches victims for the resource pods as for any other one. Kueue 0.19.7 charges as 0.19.6 does: selectors are
evaluated on published devices, counters and extended resources are charged by default, and capacities with a gate
that is off by default. Phases: preemption.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_19_6 import kueue_0_19_6
from kueue_dra_ref.behaviours.phases_scheduling import PreemptionRules
from kueue_dra_ref.rules.preemption import preemption_policies


def kueue_0_19_7() -> Behaviour:
    """Kueue 0.19.7 as a value."""
    earlier = kueue_0_19_6()
    return replace(
        earlier,
        name="kueue-0.19.7",
        title="Kueue 0.19.7 (provisional)",
        preempting=_preempting(earlier.preempting),
    )


def _preempting(earlier: PreemptionRules) -> PreemptionRules:
    return replace(
        earlier,
        # Victims are searched for the implicit resource "pods", too.
        skip_search=earlier.skip_search.drop(
            preemption_policies.pods_resource_is_ignored
        ),
    )
