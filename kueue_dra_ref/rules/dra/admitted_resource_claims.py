"""ResourceClaims that admitted workloads use (July 2025, Workloads, step 4.1: ``admittedResourceClaims``).

No counterpart: KEP-2941 of July 2025 only.
"""

from __future__ import annotations

from kueue_dra_ref.model.lister import DeviceRequestContext
from kueue_dra_ref.model.rule import rule


@rule("REUSE-001", "REUSE-002", "REUSE-007")
def claims_in_use_are_not_charged_again(context: DeviceRequestContext) -> bool:
    """Kueue does not charge an allocated ResourceClaim that an admitted workload of the ClusterQueue uses.

    The text does not define when a key leaves the map: here it stays while a workload of the ClusterQueue that names
    the claim has a quota reservation.

    No counterpart: KEP-2941 of July 2025 only.
    """
    claim = context.claim.claim
    template = context.template or {}
    status = template.get("status") or {}
    if not claim or "allocation" not in status:
        return False
    queue = context.lister.target(context.workload)
    namespace = context.workload.namespace
    return queue is not None and context.lister.is_in_use(queue.name, namespace, claim)
