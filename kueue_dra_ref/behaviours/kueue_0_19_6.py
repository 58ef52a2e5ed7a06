"""Kueue 0.19.6, provisional: what it changes in Kueue 0.19.3, by its change notes; it could not be run.

Under the name of an extended resource, pod overhead and transformation outputs stay charged, and sidecars count.

Of an extended resource it charges the devices of sidecars in addition to those of the other containers. What the pod
overhead or the output of a transformation adds under the name of an extended resource stays an ordinary request.
Everything else is as in 0.19.2: selectors are evaluated on published devices, counters are charged by default, and
capacities with a gate that is off by default. Phases: charges, extended-resources, status.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_19_3 import kueue_0_19_3
from kueue_dra_ref.behaviours.phases_dra import ExtendedResources
from kueue_dra_ref.behaviours.phases_status import StatusRules
from kueue_dra_ref.model.slots import First
from kueue_dra_ref.rules.dra import (
    dra_resources_unresolved,
    extended_resource_requests,
    extended_resources_0_19_6,
)


def kueue_0_19_6() -> Behaviour:
    """Kueue 0.19.6 as a value."""
    earlier = kueue_0_19_3()
    return replace(
        earlier,
        name="kueue-0.19.6",
        title="Kueue 0.19.6 (provisional)",
        extended=_extended(earlier.extended),
        reporting=_reporting(earlier.reporting),
    )


def _extended(earlier: ExtendedResources) -> ExtendedResources:
    return replace(
        earlier,
        # Sidecars run next to the other containers, so their devices are added.
        in_pod=earlier.in_pod.swap(
            extended_resource_requests.max_of_init_and_containers,
            extended_resources_0_19_6.sidecars_are_added,
        ),
        # Only what containers request under the name is replaced by devices.
        kept_natively=First(extended_resources_0_19_6.overhead_and_outputs_stay),
    )


def _reporting(earlier: StatusRules) -> StatusRules:
    return replace(
        earlier,
        # Once the devices can be charged, a condition reports that too.
        dra_resolved=First(dra_resources_unresolved.dra_resources_resolved_condition),
    )
