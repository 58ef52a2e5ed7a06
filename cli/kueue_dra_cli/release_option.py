"""The option that names a release, for every command that brings up a real Kueue."""

from __future__ import annotations

from functools import partial

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import NamedChoice
from kueue_dra_clusters.releases import NEWEST, RELEASES
from kueue_dra_ref.behaviours import UnknownBehaviour, behaviour
from kueue_dra_ref.behaviours.behaviour import Behaviour

_option = partial(click.option, "--kueue", "minor", type=NamedChoice(tuple(RELEASES)))
minor_option = _option(
    default=NEWEST,
    show_default=True,
    help="Release of Kueue. The first run builds it (docs/how-to/run-on-a-real-kueue.md).",
)
recorded_minor_option = _option(
    help=f"Which release of Kueue; the one that the file was recorded on unless given, else {NEWEST}."
)


def recorded_minor(release: str) -> str:
    """Give the minor of the release that was recorded, such as 0.14 of 0.14.0, or the newest if that cannot be had."""
    minor = ".".join(release.split(".")[:2])
    return minor if minor in RELEASES else NEWEST


def behaviour_of(minor: str) -> Behaviour:
    """Give the behaviour that a release is judged as.

    Raises:
        Trouble: the reference knows none of that name.

    """
    try:
        return behaviour(f"kueue-{minor}")
    except UnknownBehaviour as fault:
        raise CliError([f"--kueue {minor}: {fault}"]) from None
