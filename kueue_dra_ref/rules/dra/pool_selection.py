"""ResourceSlices that count for a source, pool by pool (Kueue 0.19).

Kueue: pkg/dra/counters.go (groupSlicesByPool, isComplete, matchDevicesWithSelectors)
"""

from __future__ import annotations

from collections import Counter

from kueue_dra_ref.model.device_checks import SourceSlices
from kueue_dra_ref.model.rule import rule


@rule("DEVICE-004")
def slices_of_driver(of: SourceSlices) -> SourceSlices:
    """Kueue counts only the ResourceSlices that the driver of the source publishes.

    Kueue: pkg/dra/counters.go (groupSlicesByPool)
    """
    kept = []
    for published in of.slices:
        if published.driver == of.source.driver:
            kept.append(published)
    return of.keep(kept)


@rule("DEVICE-005")
def newest_pool_generation(of: SourceSlices) -> SourceSlices:
    """Kueue counts only the ResourceSlices of the newest generation of a pool.

    Kueue: pkg/dra/counters.go (groupSlicesByPool)
    """
    newest: dict[str, int] = {}
    for published in of.slices:
        pool = published.pool
        generation = published.generation
        newest[pool] = max(newest.get(pool, generation), generation)
    kept = []
    for published in of.slices:
        if published.generation == newest[published.pool]:
            kept.append(published)
    return of.keep(kept)


@rule("DEVICE-006")
def skip_incomplete_pool(of: SourceSlices) -> SourceSlices:
    """Kueue skips a pool that has fewer or more ResourceSlices than its resourceSliceCount.

    Kueue: pkg/dra/counters.go (isComplete, matchDevicesWithSelectors)
    """
    sizes = Counter(published.pool for published in of.slices)
    expected: dict[str, int] = {}
    for published in of.slices:
        expected.setdefault(published.pool, published.of)
    kept = []
    for published in of.slices:
        pool = published.pool
        if sizes[pool] == expected[pool]:
            kept.append(published)
    return of.keep(kept)
