"""ResourceSlices that count for a source, pool by pool (Kueue 0.19).

Kueue: pkg/dra/counters.go (groupSlicesByPool, isComplete, matchDevicesWithSelectors)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kueue_dra_ref.model.resourceslices import PublishedSlice
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.model.sources import Source

Slices = Sequence[PublishedSlice]


@rule("DEVICE-004")
def slices_of_driver(slices: Slices, source: Source) -> Slices:
    """Kueue counts only the ResourceSlices that the driver of the source publishes.

    Kueue: pkg/dra/counters.go (groupSlicesByPool)
    """
    return [published for published in slices if published.driver == source.driver]


@rule("DEVICE-005")
def newest_pool_generation(slices: Slices, source: Source) -> Slices:
    """Kueue counts only the ResourceSlices of the newest generation of a pool.

    Kueue: pkg/dra/counters.go (groupSlicesByPool)
    """
    del source
    newest: dict[str, int] = {}
    for published in slices:
        generation = newest.get(published.pool, published.generation)
        newest[published.pool] = max(generation, published.generation)
    return [each for each in slices if each.generation == newest[each.pool]]


@rule("DEVICE-006")
def skip_incomplete_pool(slices: Slices, source: Source) -> Slices:
    """Kueue skips a pool that has fewer or more ResourceSlices than its resourceSliceCount.

    Kueue: pkg/dra/counters.go (isComplete, matchDevicesWithSelectors)
    """
    del source
    sizes = Counter(published.pool for published in slices)
    expected: dict[str, int] = {}
    for published in slices:
        expected.setdefault(published.pool, published.of)
    return [each for each in slices if sizes[each.pool] == expected[each.pool]]
