"""The option for a checkout of Kueue, for each command that starts a real Kueue."""

from __future__ import annotations

import os
from pathlib import Path

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_clusters.errors import MissingTool
from kueue_dra_clusters.own_build import SOURCE_VARIABLE, checkout

SOURCE = "kueue_src"
"""The name of the parameter, which no command takes as an argument; its context has the value under this name."""


def _take(context: click.Context, _: click.Parameter, folder: Path | None) -> None:
    """Name the checkout for this process and its children, and keep it for the command that repeats a run."""
    if folder is None:
        return
    context.meta[SOURCE] = str(folder)
    try:
        found = checkout(str(folder))
    except MissingTool as trouble:
        raise CliError([str(trouble)]) from None
    os.environ[SOURCE_VARIABLE] = str(found.folder)


source_option = click.option(
    "--kueue-src",
    type=click.Path(path_type=Path),
    metavar="DIR",
    callback=_take,
    expose_value=False,
    help="Build the checkout of Kueue in DIR and run that, instead of a pinned release.",
)
