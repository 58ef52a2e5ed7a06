"""Which published slices count for a source (Kueue 0.19), and what kept the others of its driver out.

Kueue: pkg/dra/counters.go (groupSlicesByPool, isComplete)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kueue_dra_ref.explain.step import Step, cited, named
from kueue_dra_ref.model.device_checks import SourceSlices
from kueue_dra_ref.model.resourceslices import PublishedSlice
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.sources import Source
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules

Slices = Sequence[PublishedSlice]
Pick = Rule[..., Slices | None]


def usable_slices(
    rules: SourcedRequestRules, source: Source, slices: Slices
) -> tuple[Slices, tuple[Step, ...]]:
    """Pick the slices that count, rule by rule, and say what each rule left out."""
    steps: list[Step] = []
    of = SourceSlices(source=source, slices=slices)
    for pick, made in rules.slices.steps(of):
        assert made is not None
        left = made.slices
        steps += _left_out(pick, source, slices, left)
        slices = left
    return slices, tuple(steps)


def _left_out(
    pick: Pick, source: Source, before: Slices, after: Slices
) -> Iterator[Step]:
    kept = {id(each) for each in after}
    gone = [each for each in before if id(each) not in kept]
    if gone and not any(each.driver == source.driver for each in before):
        text = f"driver {source.driver} publishes none of {named(len(gone), 'ResourceSlice')}: {pick.sentence}"
        yield Step(requirements=cited([pick]), text=text)
    own = [each for each in gone if each.driver == source.driver]
    for pool, generation in dict.fromkeys((each.pool, each.generation) for each in own):
        yield Step(
            requirements=cited([pick]),
            text=f"{_of_pool(own, pool, generation, after)}: {pick.sentence}",
        )


def _of_pool(gone: Slices, pool: str, generation: int, after: Slices) -> str:
    """A pool that was left out: its generation, how much of it is there, and which generation is there instead."""
    mine = [each for each in gone if (each.pool, each.generation) == (pool, generation)]
    there = f"{len(mine)} of {named(mine[0].of, 'slice')}"
    text = f"pool {pool} of {mine[0].driver}, generation {generation}, {there}, does not count"
    newer = next((each.generation for each in after if each.pool == pool), None)
    return text if newer is None else f"{text} beside generation {newer}"
