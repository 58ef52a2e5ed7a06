"""ResourceSlices that count for a source, pool by pool, and why others do not (Kueue 0.19).

Kueue: pkg/dra/counters.go (groupSlicesByPool, isComplete)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kueue_dra_ref.explain.step import Step, named
from kueue_dra_ref.model.device_checks import SourceSlices
from kueue_dra_ref.model.resourceslices import PublishedSlice
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.sources import Source
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules

Pool = list[PublishedSlice]
Slices = Sequence[PublishedSlice]
SliceRule = Rule[..., Slices | None]


def group_slices_by_pool(
    rules: SourcedRequestRules,
    source: Source,
    slices: Slices,
) -> tuple[Slices, list[Step]]:
    """Give the slices of complete pools of the driver in their newest generation, and steps about the others.

    Kueue: pkg/dra/counters.go (groupSlicesByPool, isComplete)
    """
    steps: list[Step] = []
    of = SourceSlices(source=source, slices=slices)
    for rule, made in rules.slices.steps(of):
        assert made is not None
        steps += _explain_skipped(rule, source, slices, made.slices)
        slices = made.slices
    return slices, steps


def _explain_skipped(
    rule: SliceRule,
    source: Source,
    before: Slices,
    kept: Slices,
) -> Iterator[Step]:
    """Explain which slices a rule skips: all of other drivers, or some pools of the driver."""
    if len(kept) == len(before):
        return
    driver = source.driver
    own = [each for each in before if each.driver == driver]
    if not own:
        skipped = len(before) - len(kept)
        slices = named(skipped, "ResourceSlice")
        text = f"driver {driver} publishes none of {slices}"
        text += f": {rule.sentence}"
        yield Step.by(text, rule)
    for pool in _skipped_pools(own, kept):
        text = _explain_pool(pool, kept)
        text += f": {rule.sentence}"
        yield Step.by(text, rule)


def _skipped_pools(before: Slices, kept: Slices) -> Iterator[Slices]:
    """Give the skipped slices of each generation of each pool."""
    kept_ids = {id(each) for each in kept}
    pools: dict[object, Pool] = {}
    for each in before:
        if id(each) in kept_ids:
            continue
        generation = (each.pool, each.generation)
        pool = pools.setdefault(generation, [])
        pool.append(each)
    yield from pools.values()


def _explain_pool(skipped: Slices, kept: Slices) -> str:
    """Describe a pool that is skipped, and the generation of it that counts instead, if there is one."""
    first = skipped[0]
    name = first.pool
    published = len(skipped)
    expected = named(first.of, "slice")
    text = f"pool {name} of {first.driver}"
    text += f", generation {first.generation}"
    text += f", {published} of {expected}"
    text += ", does not count"
    for each in kept:
        if each.pool == name:
            text += f" because generation {each.generation} does"
            break
    return text
