"""The registry of releases: each text and each release of Kueue once; every other list derives from it.

A release of Kueue has the name of its patch, such as ``kueue-0.19.2``. A minor, ``kueue-0.19``, names its newest known
patch. A patch that decides nothing otherwise has no entry: it decides as the patch before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kep_2025_04 import kep_2025_04
from kueue_dra_ref.behaviours.kep_2025_07 import kep_2025_07
from kueue_dra_ref.behaviours.kep_2025_09 import kep_2025_09
from kueue_dra_ref.behaviours.kep_2026_09 import kep_2026_09
from kueue_dra_ref.behaviours.kueue_0_14 import kueue_0_14
from kueue_dra_ref.behaviours.kueue_0_15 import kueue_0_15
from kueue_dra_ref.behaviours.kueue_0_16 import kueue_0_16
from kueue_dra_ref.behaviours.kueue_0_17 import kueue_0_17
from kueue_dra_ref.behaviours.kueue_0_18 import kueue_0_18
from kueue_dra_ref.behaviours.kueue_0_18_5 import kueue_0_18_5
from kueue_dra_ref.behaviours.kueue_0_18_6 import kueue_0_18_6
from kueue_dra_ref.behaviours.kueue_0_18_7 import kueue_0_18_7
from kueue_dra_ref.behaviours.kueue_0_19 import kueue_0_19
from kueue_dra_ref.behaviours.kueue_0_19_3 import kueue_0_19_3
from kueue_dra_ref.behaviours.kueue_0_19_6 import kueue_0_19_6
from kueue_dra_ref.behaviours.kueue_0_19_7 import kueue_0_19_7
from kueue_dra_ref.behaviours.kueue_0_20 import kueue_0_20
from kueue_dra_ref.behaviours.main_2026_08_22 import main_2026_08_22

KUEUE = "kueue-"
"""How the name of a release of Kueue begins."""


def minor_of(version: str) -> str:
    """Give the minor of a version, such as 0.19 of 0.19.2 or v0.19.2-rc.1."""
    return ".".join(version.removeprefix("v").split(".")[:2])


def numbers(version: str) -> tuple[int, ...]:
    """Give a version, such as 0.19 or v0.19.2-rc.1, as numbers, as far as it has numbers."""
    written, _, _ = version.removeprefix("v").partition("-")
    return tuple(int(part) for part in written.split(".") if part.isdigit())


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredRelease:
    """A text of KEP-2941, or a release of Kueue."""

    name: str
    title: str
    behaviour: Callable[[], Behaviour]
    pinned: bool = False
    """Whether the release is built and run as the real Kueue."""
    serves: tuple[str, ...] = ()
    """The API versions of Kueue's own objects, newest first; empty for a text."""
    reads: str = ""
    """The version of resource.k8s.io that Kueue reads; empty for a text."""
    varies: str = ""
    """The release from which it differs: what holds there holds here, unless the catalogue excepts it."""
    provisional: str = ""
    """Why the behaviour was not compared with a real Kueue; empty for a text, and for a pinned release."""

    @property
    def version(self) -> str:
        """The version of Kueue, such as 0.19.2; empty for a text."""
        return self.name.removeprefix(KUEUE) if self.name.startswith(KUEUE) else ""

    @property
    def minor(self) -> str:
        """The minor of Kueue, such as 0.19; for an open text that of the release that it varies, empty for others."""
        return minor_of(self.version or self.varies.removeprefix(KUEUE))

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version as numbers, which compare like versions."""
        return numbers(self.version)


_SERVED = ("v1beta2", "v1beta1")
_NOTES = "its module could not be downloaded, so it follows its change notes, and only the reference runs it"


def _from_notes(
    version: str,
    behaviour: Callable[[], Behaviour],
    serves: tuple[str, ...] = _SERVED,
) -> RegisteredRelease:
    return RegisteredRelease(
        name=f"{KUEUE}{version}",
        title=f"Kueue {version} (provisional)",
        behaviour=behaviour,
        serves=serves,
        reads="v1",
        provisional=_NOTES,
    )


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
        name="kep-2026-09",
        title="KEP-2941, September 2026 (open text)",
        behaviour=kep_2026_09,
        serves=("v1beta2",),
        reads="v1",
        varies="kueue-0.20.0",
        provisional="it is a text that is not merged, and no release decides by it",
    ),
    RegisteredRelease(
        name="main-2026-08-22",
        title="Kueue's main branch of 2026-08-22",
        behaviour=main_2026_08_22,
        serves=("v1beta2",),
        reads="v1",
        varies="kueue-0.20.0",
        provisional="it is a state between two releases, ff69552e79, which runs with --kueue-src",
    ),
    RegisteredRelease(
        name="kueue-0.14.0",
        title="Kueue 0.14.0",
        behaviour=kueue_0_14,
        pinned=True,
        serves=("v1beta1",),
        reads="v1beta2",
    ),
    RegisteredRelease(
        name="kueue-0.15.2",
        title="Kueue 0.15.2",
        behaviour=kueue_0_15,
        pinned=True,
        serves=_SERVED,
        reads="v1",
    ),
    RegisteredRelease(
        name="kueue-0.16.2",
        title="Kueue 0.16.2",
        behaviour=kueue_0_16,
        pinned=True,
        serves=_SERVED,
        reads="v1",
    ),
    RegisteredRelease(
        name="kueue-0.17.1",
        title="Kueue 0.17.1",
        behaviour=kueue_0_17,
        pinned=True,
        serves=_SERVED,
        reads="v1",
    ),
    RegisteredRelease(
        name="kueue-0.18.3",
        title="Kueue 0.18.3",
        behaviour=kueue_0_18,
        pinned=True,
        serves=_SERVED,
        reads="v1",
    ),
    _from_notes("0.18.5", kueue_0_18_5),
    _from_notes("0.18.6", kueue_0_18_6),
    _from_notes("0.18.7", kueue_0_18_7),
    RegisteredRelease(
        name="kueue-0.19.2",
        title="Kueue 0.19.2",
        behaviour=kueue_0_19,
        pinned=True,
        serves=_SERVED,
        reads="v1",
    ),
    _from_notes("0.19.3", kueue_0_19_3),
    _from_notes("0.19.6", kueue_0_19_6),
    _from_notes("0.19.7", kueue_0_19_7),
    _from_notes("0.20.0", kueue_0_20, serves=("v1beta2",)),
)
"""The texts, then the releases of Kueue, oldest first."""

BY_NAME = {each.name: each for each in REGISTRY}
VARIATIONS = {each.name: each.varies for each in REGISTRY if each.varies}
"""The texts that are not merged and the states between releases, each with the release from which it differs."""
BRANCHES = tuple(name for name in VARIATIONS if not name.startswith("kep-"))
"""The states of Kueue between two releases, which run from a checkout."""
TEXTS = tuple(each.name for each in REGISTRY if not each.version and not each.varies)
"""The merged texts by name, oldest first."""
RELEASES = tuple(each for each in REGISTRY if each.version)
"""The releases of Kueue, oldest first, the provisional ones among them."""
MINORS = tuple(dict.fromkeys(each.minor for each in RELEASES))
"""The minors of Kueue, oldest first, the provisional ones among them."""
PINNED = tuple(each for each in REGISTRY if each.pinned)
"""The releases of Kueue that can be run, oldest first: one of each minor."""
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


def release_of(version: str) -> RegisteredRelease | None:
    """Give the release that decides as a version of Kueue does: the newest one of its minor that is not newer.

    A version without a patch, such as 0.19, is the newest known patch. A version before the first registered patch
    decides as that one. None if the minor is unknown.
    """
    wanted = numbers(version)
    of_minor = releases_of(minor_of(version))
    if not of_minor:
        return None
    if len(wanted) == 2:
        return of_minor[-1]
    until = [each for each in of_minor if each.numbers <= wanted]
    return until[-1] if until else of_minor[0]


def releases_of(minor: str) -> list[RegisteredRelease]:
    """Give the known patches of a minor, oldest first."""
    return [each for each in RELEASES if each.minor == minor]


def pinned(minor: str) -> RegisteredRelease | None:
    """Give the release of a minor that can be run; None if there is none."""
    return next((each for each in PINNED if each.minor == minor), None)


def runnable(minor: str) -> RegisteredRelease | None:
    """Give the release that a minor means for a real Kueue: the pinned one, or else the newest known patch."""
    return pinned(minor) or release_of(minor)


def resolved(name: str) -> str:
    """Give the behaviour that a name means: a text, a release, a minor or any patch; an unknown name as it is."""
    if name in BY_NAME or not _IS_RELEASE.fullmatch(name):
        return name
    found = release_of(name.removeprefix(KUEUE))
    return found.name if found else name


_IS_RELEASE = re.compile(r"kueue-\d+\.\d+(\.\d+)?")
