"""The option that names a release, for every command that brings up a real Kueue."""

from __future__ import annotations

import click

from clusters.releases import NEWEST, RELEASES
from kueue_dra_ref.behaviours import UnknownBehaviour, behaviour
from kueue_dra_ref.behaviours.behaviour import Behaviour
from reports.cli.faults import Trouble
from reports.cli.options import Named

minor_option = click.option(
    "--kueue",
    "minor",
    type=Named(tuple(RELEASES)),
    default=NEWEST,
    show_default=True,
    help="Which release of Kueue; it is built once, see docs/live.md.",
)


def behaviour_of(minor: str) -> Behaviour:
    """Give the behaviour that a release is judged as.

    Raises:
        Trouble: the reference knows none of that name.

    """
    try:
        return behaviour(f"kueue-{minor}")
    except UnknownBehaviour as fault:
        raise Trouble([f"--kueue {minor}: {fault}"]) from None
