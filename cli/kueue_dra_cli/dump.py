"""``kueue-dra dump``: everything of a cluster that decides about quota for devices, in one file."""

from __future__ import annotations

from pathlib import Path

import click

from kueue_dra_cli.cluster_source import read_cluster
from kueue_dra_cli.options import context_option, kubeconfig_option
from kueue_dra_cli.output_file import write_output
from kueue_dra_clusters.redact import redacted
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


@click.command("dump", epilog=EPILOG)
@context_option("The kubeconfig context; the current one unless given.")
@kubeconfig_option("The kubeconfig; unless given the one that kubectl uses.")
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
def command(context: str, kubeconfig: Path | None, output: str, redact: bool) -> None:
    """Read from a cluster everything that decides about quota for devices, and change nothing.

    The file has Kueue's objects and its Configuration, DeviceClasses, ResourceSlices, claims and templates, the work
    that Kueue queues, nodes, LimitRanges, RuntimeClasses, namespaces, priority classes, and the versions of Kueue and
    of the API server. Secrets are not read. Environment variables, commands, volumes, and annotations that are not
    Kueue's are left out. The permissions that it needs are in examples/rbac/dump.yaml.
    """
    _, found = read_cluster("dump", context, kubeconfig)
    documents = found.documents()
    if redact:
        documents[-1]["items"] = redacted(documents[-1]["items"])
    text = written(documents)
    write_output(text, output, is_private=True)
    for line in found.not_read:
        click.echo(f"kueue-dra dump: not read: {line}", err=True)
