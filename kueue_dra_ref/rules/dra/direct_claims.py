"""ResourceClaims that a workload names directly (April and July 2025, Workloads, step 2).

No counterpart: the texts of KEP-2941 only, no release decides it.
"""

from __future__ import annotations

from kueue_dra_ref.api.types import Claim, PodSet, Workload
from kueue_dra_ref.model.lister import DeviceRequestContext, Lister
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest


@rule("DET-002", "DIRECT-001")
def direct_claim_makes_a_dra_workload(workload: Workload) -> bool:
    """A workload is a DRA workload when a pod set names a ResourceClaim.

    No counterpart: KEP-2941 of July 2025 only.
    """
    return any(claim.claim for claim in workload.claims)


@rule("COUNT-007", "COUNT-008", "COUNT-009", "COUNT-010", "DIRECT-004")
def claims_of_pod_of_either_kind(pod_set: PodSet) -> tuple[Claim, ...]:
    """Kueue charges each claim under resourceClaims of a pod, from a template or direct, used or not.

    No counterpart: KEP-2941 of July 2025 only.
    """
    return pod_set.claims


@rule("DIRECT-001", "DIRECT-002", "DIRECT-003")
def claim_from_workload_namespace(
    lister: Lister, namespace: str, name: str
) -> Manifest | None:
    """Kueue reads the ResourceClaim from the namespace of the workload.

    No counterpart: the texts of KEP-2941 only, no release decides it.
    """
    found = lister.claim(namespace, name)
    return (
        None if found is None else {**found, "spec": {"spec": found.get("spec") or {}}}
    )


@rule("DIRECT-005", "DIRECT-006")
def claim_must_exist(context: DeviceRequestContext) -> FieldError | None:
    """Kueue retries a workload whose ResourceClaim does not exist.

    No counterpart: the texts of KEP-2941 only, no release decides it.
    """
    name = context.claim.claim
    if context.template is not None or not name:
        return None
    return FieldError(
        field=context.pod_set.claim_path(context.claim),
        type="Internal error",
        detail=f"failed to get claim spec for ResourceClaim {name} in podset {context.pod_set.name}: "
        f'ResourceClaim.resource.k8s.io "{name}" not found',
    )


@rule("DIRECT-007")
def existing_claim_is_charged_once(claim: Claim) -> str:
    """Kueue charges a workload once for a ResourceClaim, however many of its pods name it.

    No counterpart: the texts of KEP-2941 only, no release decides it.
    """
    return claim.claim
