"""ResourceSlices that count for a source, pool by pool, and why others do not (Kueue 0.19).

Kueue: pkg/dra/counters.go (groupSlicesByPool, isComplete)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kueue_dra_ref.explain.step import Step, cited, named
from kueue_dra_ref.model.resourceslices import PublishedSlice
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.sources import Source
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules

Slices = Sequence[PublishedSlice]
SliceRule = Rule[..., Slices | None]
Pool = tuple[str, int]
"""Name and generation."""


def group_slices_by_pool(
    rules: SourcedRequestRules, source: Source, slices: Slices
) -> tuple[Slices, tuple[Step, ...]]:
    """Give the slices of complete pools of the driver in their newest generation, and steps about the others.

    Kueue: pkg/dra/counters.go (groupSlicesByPool, isComplete)
    """
    steps: list[Step] = []
    for rule, kept in rules.slices.steps(slices, source):
        if kept is None:
            break
        steps += _skipped(rule, source, slices, kept)
        slices = kept
    return slices, tuple(steps)


def _skipped(
    rule: SliceRule, source: Source, before: Slices, after: Slices
) -> Iterator[Step]:
    """Explain which slices a rule leaves out."""
    kept = {id(each) for each in after}
    skipped = [each for each in before if id(each) not in kept]
    if not skipped:
        return
    cites = cited([rule])
    driver = source.driver
    if not _of_driver(before, driver):
        slices = named(len(skipped), "ResourceSlice")
        text = f"driver {driver} publishes none of {slices}: {rule.sentence}"
        yield Step(requirements=cites, text=text)
    for pool, own in _by_pool(_of_driver(skipped, driver)).items():
        text = f"{_pool_title(pool, own)} {_instead(pool, after)}: {rule.sentence}"
        yield Step(requirements=cites, text=text)


def _of_driver(slices: Slices, driver: str) -> list[PublishedSlice]:
    return [each for each in slices if each.driver == driver]


def _by_pool(slices: Slices) -> dict[Pool, list[PublishedSlice]]:
    pools: dict[Pool, list[PublishedSlice]] = {}
    for each in slices:
        pools.setdefault((each.pool, each.generation), []).append(each)
    return pools


def _pool_title(pool: Pool, slices: Slices) -> str:
    """Name a pool with its generation and with how many of its slices there are."""
    name, generation = pool
    first = slices[0]
    published = f"{len(slices)} of {named(first.of, 'slice')}"
    return f"pool {name} of {first.driver}, generation {generation}, {published},"


def _instead(pool: Pool, counted: Slices) -> str:
    """Name the generation of a pool that counts instead, if there is one."""
    name, _ = pool
    for each in counted:
        if each.pool == name:
            return f"does not count because generation {each.generation} does"
    return "does not count"
