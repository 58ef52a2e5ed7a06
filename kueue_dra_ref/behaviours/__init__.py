"""Which rules are in force where: each text and each release of Kueue as a value."""

from __future__ import annotations

from functools import cache

from kueue_dra_ref.api.suggest import nearest
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.releases import BY_NAME, NAMES, PROVISIONAL, resolved

PROVISO = f"Provisional, because no real Kueue of it could be run: {', '.join(sorted(PROVISIONAL))}"

__all__ = [
    "NAMES",
    "PROVISIONAL",
    "PROVISO",
    "UnknownBehaviour",
    "behaviour",
    "marked",
]


def marked(name: str) -> str:
    """Give a name as it is printed: a provisional behaviour is marked."""
    return f"{name} (provisional)" if name in PROVISIONAL else name


class UnknownBehaviour(ValueError):
    """No behaviour has that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"unknown behaviour {name!r}; {nearest(name, NAMES)}")


@cache
def behaviour(name: str = NAMES[0]) -> Behaviour:
    """Give the behaviour of a name: a text, a release such as kueue-0.19.2, or a minor for its newest known patch.

    Raises:
        UnknownBehaviour: there is none.

    """
    found = BY_NAME.get(resolved(name))
    if found is None:
        raise UnknownBehaviour(name)
    return found.behaviour()
