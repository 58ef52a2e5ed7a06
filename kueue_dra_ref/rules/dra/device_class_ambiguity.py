"""Flavors for a device class that several mappings list (July 2025, Device Class Mapping Ambiguity).

No counterpart: KEP-2941 of July 2025 only.
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.api.types import ClusterQueue, FlavorChoice, PodSet
from kueue_dra_ref.model.rule import rule


@rule("CRD-011", "CRD-012", "CRD-013", "CRD-014", "CRD-015", "CRD-016")
def flavors_for_class_in_listed_order(
    queue: ClusterQueue, resources: Sequence[str]
) -> Sequence[FlavorChoice]:
    """Kueue tries each flavor in the listed order with every resource to which a mapping maps the class.

    No counterpart: KEP-2941 of July 2025 only.
    """
    flavors = (flavor for group in queue.groups for flavor in group.flavors)
    return [
        FlavorChoice(flavor=f.name, resource=name)
        for f in flavors
        for name in f.nominal
        if name in resources
    ]


@rule("CRD-014")
def skip_flavors_not_tried_for_class(pod_set: PodSet, flavor: str) -> bool:
    """Kueue considers only the flavor that it tries for the device classes of a pod set.

    No counterpart: KEP-2941 of July 2025 only.
    """
    return flavor not in pod_set.passed_over
