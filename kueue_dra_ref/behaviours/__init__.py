"""Which rules hold where: each text and each Kueue minor as a value."""

from __future__ import annotations

from functools import cache

from kueue_dra_ref.api.suggest import nearest
from kueue_dra_ref.behaviours.behaviour import Behaviour

NAMES = (
    "kueue-0.19",
    "kueue-0.18",
    "kueue-0.17",
    "kueue-0.16",
    "kueue-0.15",
    "kueue-0.14",
    "kueue-0.20",
    "kep-2025-04",
    "kep-2025-07",
    "kep-2025-09",
)
"""The behaviours, the one that is used unless another is named first."""
PROVISIONAL = frozenset({"kueue-0.20"})
"""Those that no release has been asked about: what is announced, not what was seen."""
PROVISO = f"Provisional, from what is announced and not from a release: {', '.join(sorted(PROVISIONAL))}"


def marked(name: str) -> str:
    """A name as it is printed: a provisional one says so."""
    return f"{name} (provisional)" if name in PROVISIONAL else name


class UnknownBehaviour(ValueError):
    """No behaviour has that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"unknown behaviour {name!r}; {nearest(name, NAMES)}")


@cache
def behaviour(name: str = NAMES[0]) -> Behaviour:
    """The behaviour of a name.

    Raises:
        UnknownBehaviour: there is none.

    """
    from kueue_dra_ref.behaviours.kep_2025_04 import kep_2025_04
    from kueue_dra_ref.behaviours.kep_2025_07 import kep_2025_07
    from kueue_dra_ref.behaviours.kep_2025_09 import kep_2025_09
    from kueue_dra_ref.behaviours.kueue_0_14 import kueue_0_14
    from kueue_dra_ref.behaviours.kueue_0_15 import kueue_0_15
    from kueue_dra_ref.behaviours.kueue_0_16 import kueue_0_16
    from kueue_dra_ref.behaviours.kueue_0_17 import kueue_0_17
    from kueue_dra_ref.behaviours.kueue_0_18 import kueue_0_18
    from kueue_dra_ref.behaviours.kueue_0_19 import kueue_0_19
    from kueue_dra_ref.behaviours.kueue_0_20 import kueue_0_20

    known = {
        "kueue-0.19": kueue_0_19,
        "kueue-0.18": kueue_0_18,
        "kueue-0.17": kueue_0_17,
        "kueue-0.16": kueue_0_16,
        "kueue-0.15": kueue_0_15,
        "kueue-0.14": kueue_0_14,
        "kueue-0.20": kueue_0_20,
        "kep-2025-04": kep_2025_04,
        "kep-2025-07": kep_2025_07,
        "kep-2025-09": kep_2025_09,
    }
    if name not in known:
        raise UnknownBehaviour(name)
    return known[name]()
