"""The registry of releases: each text and each Kueue minor once, oldest first; every other list derives from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kueue_dra_ref.behaviours.behaviour import Behaviour
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

KUEUE = "kueue-"
"""How the name of a minor begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredRelease:
    """A text of KEP-2941, or a minor of Kueue."""

    name: str
    title: str
    behaviour: Callable[[], Behaviour]
    pinned: str = ""
    """The release that is built and run as the real Kueue; empty for a text, and where none can be had."""
    serves: tuple[str, ...] = ()
    """The API versions of Kueue's own objects, newest first; empty for a text."""
    reads: str = ""
    """The version of resource.k8s.io that Kueue reads; empty for a text."""
    provisional: str = ""
    """Why the behaviour was not compared with a real Kueue; empty for a text, and for a pinned release."""

    @property
    def minor(self) -> str:
        """The minor of Kueue, such as 0.19; empty for a text."""
        return self.name.removeprefix(KUEUE) if self.name.startswith(KUEUE) else ""


REGISTRY = (
    RegisteredRelease(
        name="kep-2025-04",
        title="KEP-2941, April 2025",
        behaviour=kep_2025_04,
    ),
    RegisteredRelease(
        name="kep-2025-07",
        title="KEP-2941, July 2025",
        behaviour=kep_2025_07,
    ),
    RegisteredRelease(
        name="kep-2025-09",
        title="KEP-2941, September 2025",
        behaviour=kep_2025_09,
    ),
    RegisteredRelease(
        name="kueue-0.14",
        title="Kueue 0.14",
        behaviour=kueue_0_14,
        pinned="0.14.0",
        serves=("v1beta1",),
        reads="v1beta2",
    ),
    RegisteredRelease(
        name="kueue-0.15",
        title="Kueue 0.15",
        behaviour=kueue_0_15,
        pinned="0.15.2",
        serves=("v1beta2", "v1beta1"),
        reads="v1",
    ),
    RegisteredRelease(
        name="kueue-0.16",
        title="Kueue 0.16",
        behaviour=kueue_0_16,
        pinned="0.16.2",
        serves=("v1beta2", "v1beta1"),
        reads="v1",
    ),
    RegisteredRelease(
        name="kueue-0.17",
        title="Kueue 0.17",
        behaviour=kueue_0_17,
        pinned="0.17.1",
        serves=("v1beta2", "v1beta1"),
        reads="v1",
    ),
    RegisteredRelease(
        name="kueue-0.18",
        title="Kueue 0.18",
        behaviour=kueue_0_18,
        pinned="0.18.3",
        serves=("v1beta2", "v1beta1"),
        reads="v1",
    ),
    RegisteredRelease(
        name="kueue-0.19",
        title="Kueue 0.19",
        behaviour=kueue_0_19,
        pinned="0.19.2",
        serves=("v1beta2", "v1beta1"),
        reads="v1",
    ),
    RegisteredRelease(
        name="kueue-0.20",
        title="Kueue 0.20 (provisional)",
        behaviour=kueue_0_20,
        serves=("v1beta2",),
        reads="v1",
        provisional="its module could not be downloaded, so only the reference runs it",
    ),
)
"""The texts, then the minors of Kueue."""

BY_NAME = {each.name: each for each in REGISTRY}
TEXTS = tuple(each.name for each in REGISTRY if not each.minor)
"""The texts by name, oldest first."""
MINORS = tuple(each.minor for each in REGISTRY if each.minor)
"""The minors of Kueue, oldest first, the provisional ones among them."""
PINNED = tuple(each for each in REGISTRY if each.pinned)
"""The releases of Kueue that can be run, oldest first."""
NEWEST = PINNED[-1]
"""The release that everything uses unless another one is named."""
PROVISIONAL = {each.name: each.provisional for each in REGISTRY if each.provisional}
"""The behaviours that were not compared with a real Kueue, and why."""
NAMES = (
    *(each.name for each in reversed(PINNED)),
    *PROVISIONAL,
    *TEXTS,
)
"""The behaviours as they are listed for users: the default first, then older releases, provisional ones and texts."""
