"""Kueue 0.14 (0.14.0), the oldest release here: every rule of it; later releases state what they change.

Devices of claim templates are charged by count, and requests that cannot be counted are not rejected.

Kueue 0.14 charges the number of devices of each claim template while the gate DynamicResourceAllocation is on; the gate
is off by default. It accepts requests with selectors, firstAvailable, adminAccess and allocation mode All, evaluates no
selector and charges a request with mode All nothing. It reads no ResourceSlices, counters, capacities or extended
resources: a mapping with sources has an unknown field, and the extended resource of a DeviceClass stays an ordinary
resource. Phases: preprocessing, charges.

The rules are in `kueue_0_14_validation`, `_dra`, `_scheduling` and `_status`.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_14_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_14_dra import (
    ADJUSTING,
    CHARGING,
    MAPPING,
    PROCESSING,
)
from kueue_dra_ref.behaviours.kueue_0_14_multikueue import DISPATCHING
from kueue_dra_ref.behaviours.kueue_0_14_pods import PODS
from kueue_dra_ref.behaviours.kueue_0_14_provisioning import PROVISIONING
from kueue_dra_ref.behaviours.kueue_0_14_scheduling import (
    ASSIGNING,
    COHORTS,
    CYCLE,
    FAIR_SHARING,
    PREEMPTING,
    QUEUEING,
)
from kueue_dra_ref.behaviours.kueue_0_14_status import (
    CHECKING,
    JOBS,
    LIMITING,
    PRIORITIES,
    REPORTING,
    RETAINING,
    WAITING,
)
from kueue_dra_ref.behaviours.kueue_0_14_topology import TOPOLOGY
from kueue_dra_ref.behaviours.kueue_0_14_usage import SHARING
from kueue_dra_ref.behaviours.kueue_0_14_validation import DEFINITIONS, WEBHOOKS
from kueue_dra_ref.behaviours.phases_dra import MappingSource
from kueue_dra_ref.behaviours.roles import reads
from kueue_dra_ref.features.kube_features import kueue_0_14_gates


def kueue_0_14() -> Behaviour:
    """Kueue 0.14 as a value."""
    return replace(
        _scheduling(),
        sharing=SHARING,
        provisioning=PROVISIONING,
        dispatching=DISPATCHING,
        limiting=LIMITING,
        retaining=RETAINING,
        random_map_order=True,
        overwrites_unread_status=False,
        batches_requeues=False,
        adjusting=ADJUSTING,
        topology=TOPOLOGY,
        definitions=DEFINITIONS,
        webhooks=WEBHOOKS,
    )


def _scheduling() -> Behaviour:
    """Name the release, and give it the phases that every behaviour has."""
    return Behaviour(
        name="kueue-0.14.0",
        title="Kueue 0.14.0",
        kueue="0.14",
        versions=KUEUE_0_14_VERSIONS,
        gates=kueue_0_14_gates(),
        integration_gate="DynamicResourceAllocation",
        role=reads("resourceclaims", "resourceclaimtemplates"),
        mapping_source=MappingSource.IN_THE_CONFIGURATION,
        mapping=MAPPING,
        processing=PROCESSING,
        charging=CHARGING,
        queueing=QUEUEING,
        assigning=ASSIGNING,
        cohorts=COHORTS,
        cycle=CYCLE,
        preempting=PREEMPTING,
        fair_sharing=FAIR_SHARING,
        checking=CHECKING,
        waiting=WAITING,
        reporting=REPORTING,
        jobs=JOBS,
        pods=PODS,
        priorities=PRIORITIES,
    )
