"""KEP-2941 as of September 2025 (Configuration API): what differs from Kueue 0.19, and why, heading by heading."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config import KEP_2025_09_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_19 import CHARGING, OBSERVABILITY, kueue_0_19
from kueue_dra_ref.features.kube_features import KEP_2025_09_GATES
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.rules.config.device_class_mappings import KEP_2025_09_MAPPING
from kueue_dra_ref.rules.dra import charges, dra_workloads
from kueue_dra_ref.rules.dra.device_matching import DeviceMatchingRules

GATE = "DynamicResourceAllocation"


def kep_2025_09() -> Behaviour:
    """The September 2025 text as a value.

    Where the text is silent on queues, conditions and messages, Kueue 0.19's stand in; the catalogue says which
    sentences the text itself carries.
    """
    kueue = kueue_0_19().settled(
        **{OBSERVABILITY: False}, WorkloadPriorityClassDefaulting=False
    )
    processing = replace(
        kueue.processing,
        # Design Details: a gate of its own; with it off Kueue goes on as before (Workload Processing Flow, step 2).
        detected=(
            when(dra_workloads.claim_template_makes_a_dra_workload, **{GATE: True}),
        ),
        refused=(when(dra_workloads.direct_claims_are_refused, **{GATE: True}),),
        # Risks and Mitigations: lists, administrative access and mode All are counted, not refused.
        request=(),
        # Using a CEL expression (Alternatives): quota does not look at which devices a selector matches.
        matching=DeviceMatchingRules(),
    )
    charging = replace(
        CHARGING,
        request=(
            charges.admin_access_is_not_charged,
            charges.every_subrequest_is_charged,
            charges.allocation_mode_all_is_charged_worst_case,
            charges.the_count_is_charged,
        ),
    )
    return replace(
        kueue,
        name="kep-2025-09",
        title="KEP-2941, September 2025",
        kueue="",
        versions=KEP_2025_09_VERSIONS,
        gates=KEP_2025_09_GATES,
        integration=GATE,
        dependants=(),
        # RBAC Requirements: claims and templates only.
        role=tuple(
            rule
            for rule in kueue.role
            if rule["resources"][0] in {"resourceclaims", "resourceclaimtemplates"}
        ),
        mapping=replace(KEP_2025_09_MAPPING, after=kueue.mapping.after[:2]),
        processing=processing,
        charging=charging,
        # Nothing is said of who is tried again after it was refused; Kueue passes some over.
        queueing=replace(kueue.queueing, skip_in_requeue=()),
        # Nothing is said of pod sets that need no flavor; Kueue stumbles over them.
        assigning=replace(kueue.assigning, stop_at_empty_pod_set=()),
    )
