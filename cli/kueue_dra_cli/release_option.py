"""The option that selects a release, for each command that starts a real Kueue."""

from __future__ import annotations

from functools import partial

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import NamedChoice
from kueue_dra_clusters.releases import NEWEST, RELEASES
from kueue_dra_ref.behaviours import UnknownBehaviour, behaviour
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.releases import (
    BRANCHES,
    KUEUE,
    MINORS,
    minor_of,
    runnable,
)

_option = partial(click.option, "--kueue", "minor", type=NamedChoice(tuple(RELEASES)))
minor_option = _option(
    default=NEWEST,
    show_default=True,
    help="The release of Kueue. The first run builds it (docs/how-to/run-on-a-real-kueue.md).",
)
any_minor_option = click.option(
    "--kueue",
    "minor",
    type=NamedChoice((*MINORS, *BRANCHES)),
    default=NEWEST,
    show_default=True,
    help="The release of Kueue; with --kueue-src the release, or the state between two, whose behaviour the checkout "
    "should have.",
)
"""Also for a Kueue of the user, of a minor that is not pinned."""
recorded_minor_option = _option(
    help=f"The release of Kueue. Default: the one that the file was recorded on, or {NEWEST}."
)


def recorded_minor(release: str) -> str:
    """Give the minor of a recorded release, such as 0.14 for 0.14.0, or the newest minor if it is not pinned."""
    minor = minor_of(release)
    return minor if minor in RELEASES else NEWEST


def behaviour_of(minor: str) -> Behaviour:
    """Give the behaviour of the pinned release of a minor, or of its newest known patch.

    Raises:
        CliError: the reference has no behaviour for it.

    """
    try:
        if minor in BRANCHES:
            return behaviour(minor)
        release = runnable(minor)
        return behaviour(release.name if release else f"{KUEUE}{minor}")
    except UnknownBehaviour as fault:
        raise CliError([f"--kueue {minor}: {fault}"]) from None
