"""Extended resources from Kueue 0.19.6 on: sidecars are added, overhead and outputs stay charged (provisional).

No counterpart: in the change notes of Kueue 0.19.6, in no pinned release.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from kueue_dra_ref.model.extended_resources import ContainerDevices
from kueue_dra_ref.model.rule import rule


@rule("EXT-011", "EXT-012", "EXT-045")
def sidecars_are_added(containers: Sequence[ContainerDevices]) -> int:
    """Kueue adds the devices of sidecars to those of the regular containers, and of each init container after them.

    No counterpart: in the change notes of Kueue 0.19.6, in no pinned release.
    """
    running = 0
    initial = []
    for each in containers:
        if each.stays:
            running += each.count
        elif each.initial:
            initial.append(running + each.count)
    regular = sum(each.count for each in containers if not each.initial)
    return max([*initial, running + regular])


@rule("EXT-046")
def overhead_and_outputs_stay(requested: Fraction, total: Fraction) -> Fraction:
    """Kueue still charges what overhead and transformations add to what containers request under the name.

    No counterpart: in the change notes of Kueue 0.19.6, in no pinned release.
    """
    return total - requested
