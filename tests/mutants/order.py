"""Which cases look at a mutant first: those that caught others, then one of each way through the module."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

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


def chosen(cases: Sequence[str], limit: int | None) -> Sequence[str]:
    """Give not more cases than a limit: half of them the first ones, and the others from all the rest."""
    if limit is None or len(cases) <= limit:
        return cases
    first = -(-limit // 2)
    rest = cases[first:]
    others = limit - first
    spread = (rest[number * len(rest) // others] for number in range(others))
    return [*cases[:first], *spread]
