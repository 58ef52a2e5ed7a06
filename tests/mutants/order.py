"""Which cases look at a mutant first: those that caught others, then one of each way through the module."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tests.mutants.arguments import ANSWERS

ALIKE = 20
"""How many modules more a case runs that is not as light as another."""


def ordered(
    running: Mapping[str, int], weights: Mapping[str, int], caught: Mapping[str, int], seed: str
) -> Sequence[str]:
    """Order cases, each with the lines of the module that it runs, as the bits of a number.

    First those that caught mutants of the module. Then one of each set of lines, light ones first; then the second
    of each set, since a case that runs the same lines as an earlier one seldom notices more. Those alike are mixed.
    """
    mixed = sorted(running)
    random.Random(seed).shuffle(mixed)  # no secret
    mixed.sort(key=lambda case: (-caught.get(case, 0), weights[case] // ALIKE))
    turns = dict(zip(mixed, _turns(mixed, running), strict=True))
    return sorted(mixed, key=lambda case: (-caught.get(case, 0), turns[case]))


def _turns(cases: Sequence[str], running: Mapping[str, int]) -> Iterator[int]:
    """Count for each case the earlier ones that run the same lines."""
    seen = Counter[int]()
    for case in cases:
        yield seen[running[case]]
        seen[running[case]] += 1


def limited(cases: Sequence[str], limit: int | None) -> Sequence[str]:
    """Leave out cases beyond a limit, for which recorded answers do not count: all of them take a few seconds."""
    counted = [case for case in cases if not case.startswith(ANSWERS)]
    left_out = set(counted).difference(chosen(counted, limit))
    return [case for case in cases if case not in left_out]


def chosen(cases: Sequence[str], limit: int | None) -> Sequence[str]:
    """Give not more cases than a limit: half of them the first ones, and the others from all the rest.

    Of the rest, one of each test function comes before a second one: its other cases notice much the same.
    """
    if limit is None or len(cases) <= limit:
        return cases
    first = cases[: -(-limit // 2)]
    tests = set(map(_test_of, first))
    others: list[str] = []
    alike: list[str] = []
    for case in cases[len(first) :]:
        (alike if _test_of(case) in tests else others).append(case)
        tests.add(_test_of(case))
    wanted = limit - len(first)
    more = _spread(others, min(wanted, len(others)))
    return [*first, *more, *_spread(alike, wanted - len(more))]


def _spread(cases: Sequence[str], count: int) -> Sequence[str]:
    """Give so many of some cases, evenly."""
    return [cases[number * len(cases) // count] for number in range(count)]


def _test_of(case: str) -> str:
    test, _, _ = case.partition("[")
    return test
