"""DRA workloads, and claims that Kueue rejects at once (Workload Processing Flow, steps 1 and 3).

Kueue: pkg/workload/workload.go (HasDRA, HasResourceClaimTemplates, HasResourceClaim);
    pkg/controller/core/workload_controller.go (Reconcile)
"""

from __future__ import annotations

from kueue_dra_ref.api.types import Workload
from kueue_dra_ref.model.lister import Lister
from kueue_dra_ref.model.pending_reason import InadmissibleReason
from kueue_dra_ref.model.rule import rule


@rule("DET-001", "DET-004", "DET-005", "CLAIM-004")
def claim_template_makes_a_dra_workload(workload: Workload) -> bool:
    """A workload is a DRA workload when a pod set names a ResourceClaimTemplate, used or not.

    Kueue: pkg/workload/workload.go (HasDRA, HasResourceClaimTemplates);
        pkg/dra/extended_resources.go (NeedsDRAReconcile)
    """
    return any(claim.template for claim in workload.claims)


@rule("GATE-004")
def claims_need_gate(
    workload: Workload,
) -> InadmissibleReason | None:
    """Kueue rejects a workload with claims while the gate KueueDRAIntegration is off.

    Kueue: pkg/controller/core/workload_controller.go (Reconcile); pkg/dra/extended_resources.go (NeedsDRAReconcile)
    """
    if not workload.claims:
        return None
    return InadmissibleReason(
        message="Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled"
    )


@rule("CLAIM-001", "CLAIM-002", "CLAIM-003", "CLAIM-022", "DET-002", "STATUS-030")
def direct_claims_are_refused(workload: Workload) -> InadmissibleReason | None:
    """Kueue rejects a workload that names a ResourceClaim directly, before it reads any template.

    Kueue: pkg/controller/core/workload_controller.go (Reconcile); pkg/workload/workload.go (HasResourceClaim)
    """
    if not any(claim.claim for claim in workload.claims):
        return None
    return InadmissibleReason(
        message="KueueDRAIntegration feature does not support use of resource claims",
        requeued="DRA resource claims not supported",
    )


@rule("CLAIM-001", "CLAIM-002", "CLAIM-003", "CLAIM-022", "DET-002", "STATUS-030")
def direct_claims_are_refused_0_17(
    workload: Workload,
) -> InadmissibleReason | None:
    """Kueue rejects a workload that names a ResourceClaim directly, with the older gate name in the message.

    Kueue 0.17: pkg/controller/core/workload_controller.go (Reconcile); pkg/workload/workload.go (HasResourceClaim)
    """
    if not any(claim.claim for claim in workload.claims):
        return None
    return InadmissibleReason(
        message="DynamicResourceAllocation feature does not support use of resource claims",
        requeued="DRA resource claims not supported",
    )


@rule("KIND-018")
def target_cluster_queue_must_exist(
    lister: Lister, workload: Workload
) -> InadmissibleReason | None:
    """Kueue decides nothing about a DRA workload whose ClusterQueue does not exist.

    No counterpart: KEP-2941 of April 2025 only.
    """
    if lister.target(workload) is not None:
        return None
    return InadmissibleReason(
        message="the ClusterQueue that would map the device classes does not exist",
        silent=True,
    )


@rule("RBAC-004")
def templates_need_rbac(
    lister: Lister, workload: Workload
) -> InadmissibleReason | None:
    """Kueue decides nothing about a workload with templates while its role does not allow reading them.

    Kueue: pkg/dra/claims.go (getClaimSpec)
    """
    if lister.may_read("resourceclaimtemplates") or not any(
        claim.template for claim in workload.claims
    ):
        return None
    return InadmissibleReason(
        message="Kueue's role does not allow reading resourceclaimtemplates.resource.k8s.io",
        silent=True,
    )
