"""Read a running cluster for a command: the options that name it, and what a dump of it has."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.decorators import FC

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import context_option, kubeconfig_option
from kueue_dra_ref.api.documents import ManifestDocument, parse
from kueue_dra_ref.api.yaml_text import written

if TYPE_CHECKING:
    from kueue_dra_clusters.dump import Dump

_context_option = context_option(
    "Read the cluster of this kubeconfig context, as dump does, and go on from there."
)
_kubeconfig_option = kubeconfig_option(
    "The kubeconfig of the cluster; without --context its current context."
)


def cluster_options(command: FC) -> FC:
    """Add the options that name a running cluster."""
    return _context_option(_kubeconfig_option(command))


def cluster_documents(
    context: str, kubeconfig: Path | None
) -> tuple[ManifestDocument, ...]:
    """Read the running cluster that the options name; nothing if they name none.

    Raises:
        CliError: there is no such context, or the API server does not answer.

    """
    if not context and kubeconfig is None:
        return ()
    _, _, command = click.get_current_context().command_path.partition(" ")
    name, found = read_cluster(command, context, kubeconfig)
    for line in found.not_read:
        click.echo(f"kueue-dra {command}: not read: {line}", err=True)
    return parse(written(found.documents()), f"context {name}")


def read_cluster(
    command: str, context: str, kubeconfig: Path | None
) -> tuple[str, Dump]:
    """Dump the cluster of a context, the current one unless it is named; give the context too.

    Raises:
        CliError: there is no such context, or the API server does not answer.

    """
    # The client of Kubernetes takes long to import, and most commands read no cluster.
    from kueue_dra_clusters.api_client import APIClient
    from kueue_dra_clusters.dump import dump
    from kueue_dra_clusters.errors import ClusterError
    from kueue_dra_clusters.existing_cluster import client_of, current_context
    from kueue_dra_clusters.waiting import TimedOut, WaitLimits

    prefix = f"kueue-dra {command}"
    try:
        name = context or current_context(kubeconfig)
        api = client_of(name, kubeconfig)
    except ClusterError as trouble:
        raise CliError([f"{prefix}: {trouble}"]) from None
    try:
        client = APIClient(api=api, limits=WaitLimits(ready=5.0))
        return name, dump(client, partial(_progress, prefix))
    except (ClusterError, TimedOut) as trouble:
        raise CliError([f"{prefix}: context {name}: {trouble}"]) from None


def _progress(prefix: str, kind: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"{prefix}: reading {kind}", err=True)
