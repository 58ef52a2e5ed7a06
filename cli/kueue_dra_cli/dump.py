"""``kueue-dra dump``: everything of a cluster that decides about quota for devices, in one file."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.dump import Dump, dump
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.existing_cluster import client_of, current_context
from kueue_dra_clusters.redact import redacted
from kueue_dra_clusters.waiting import TimedOut, WaitLimits
from kueue_dra_ref.api.yaml_text import written

EPILOG = """\
\b
Examples
  kueue-dra dump -o cluster.yaml                  the cluster of the current context
  kueue-dra dump --context prod -o cluster.yaml   the cluster of another one
  kueue-dra dump --redact -o report.yaml          with other names, to attach to a bug report

\b
Exit codes
  0  written; what could not be read is listed on the error stream and in the file
  2  no such context, the API server does not answer, or the file cannot be written
"""
STANDARD_OUTPUT = "-"


@click.command("dump", epilog=EPILOG)
@click.option(
    "--context",
    default="",
    metavar="NAME",
    help="The kubeconfig context; the current one unless given.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="Where to write; - is the standard output.",
)
@click.option(
    "--redact",
    is_flag=True,
    help="Rename namespaces, objects and images, the same way everywhere. "
    "Names of DeviceClasses, ResourceSlices, resources and drivers stay, and so do labels.",
)
def command(context: str, output: str, redact: bool) -> None:
    """Read from a cluster everything that decides about quota for devices, and change nothing.

    The file has Kueue's objects and its Configuration, DeviceClasses, ResourceSlices, claims and templates, the work
    that Kueue queues, nodes, LimitRanges, RuntimeClasses, namespaces, priority classes, and the versions of Kueue and
    of the API server. Secrets are not read. Environment variables, commands, volumes, and annotations that are not
    Kueue's are left out. The permissions that it needs are in examples/rbac/dump.yaml.
    """
    found = read_cluster(context or _current(), "kueue-dra dump")
    documents = found.documents()
    if redact:
        documents[-1]["items"] = redacted(documents[-1]["items"])
    text = written(documents)
    if output == STANDARD_OUTPUT:
        click.echo(text, nl=False)
    else:
        _write(Path(output), text)
    for line in found.not_read:
        click.echo(f"kueue-dra dump: not read: {line}", err=True)


def _current() -> str:
    try:
        return current_context()
    except ClusterError as trouble:
        raise CliError([f"kueue-dra dump: {trouble}"]) from None


def read_cluster(context: str, caller: str) -> Dump:
    """Read the cluster of a context, with progress on a terminal.

    Raises:
        CliError: there is no such context, or its API server does not answer.

    """

    def progress(kind: str) -> None:
        if sys.stderr.isatty():
            click.echo(f"{caller}: reading {kind}", err=True)

    try:
        client = APIClient(api=client_of(context), limits=WaitLimits(ready=5.0))
        return dump(client, progress)
    except (ClusterError, TimedOut) as trouble:
        raise CliError([f"{caller}: context {context}: {trouble}"]) from None


def _write(output: Path, text: str) -> None:
    """Write a file that takes its place only when it is whole."""
    handle, name = tempfile.mkstemp(
        prefix=".kueue-dra-dump-", dir=output.resolve().parent
    )
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(output)
    finally:
        Path(name).unlink(missing_ok=True)
