"""``kueue-dra manifests``: the manifests of a run in pods, to apply with other tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click
import yaml

from kueue_dra_cli.on_cluster import check_image, on_cluster_options, pod_run
from kueue_dra_cli.options import output_option
from kueue_dra_clusters.sonobuoy import plugin
from kueue_dra_ref.target import Manifest

if TYPE_CHECKING:
    from kueue_dra_clusters.indexed_job import PodRun

EPILOG = """\
\b
Examples
  kueue-dra manifests --on-cluster 4 --image REGISTRY/kueue-dra:0.2.0-kueue -- --target kueue
  kueue-dra manifests --on-cluster 4 --image REGISTRY/kueue-dra:0.2.0-kueue --queue ci -- --target kueue --core
  kueue-dra manifests --on-cluster 2 --image REGISTRY/kueue-dra:0.2.0 -o json -- quota status
  kueue-dra manifests --on-cluster 4 --image REGISTRY/kueue-dra:0.2.0-kueue --differential -- --budget 1h
  kueue-dra manifests --sonobuoy --image REGISTRY/kueue-dra:0.2.0-kueue -- --target kueue --core > plugin.yaml

\b
Exit codes
  0  the manifests were printed
  2  an option of this command or of kueue-dra run is wrong
"""
SONOBUOY = ("python3", "-m", "kueue_dra_cli.sonobuoy_worker")
"""What the pod of the plugin runs."""


@click.command("manifests", epilog=EPILOG)
@on_cluster_options
@click.option(
    "--sonobuoy",
    is_flag=True,
    help="Print the definition of a Sonobuoy plugin instead, which runs all cases in one pod.",
)
@click.option(
    "--differential",
    is_flag=True,
    help="Run generated scenarios: the arguments are those of kueue-dra differential.",
)
@output_option("yaml", "json")
@click.argument("arguments", nargs=-1, metavar="[-- ARGUMENTS OF RUN]")
@click.pass_context
def command(
    manifests: click.Context,
    /,
    on_cluster: int | None,
    sonobuoy: bool,
    differential: bool,
    output: str,
    arguments: tuple[str, ...],
    **pods: object,
) -> None:
    """Print the manifests that run the suites in pods of a cluster, one part of the cases in each.

    They are a namespace with an Indexed Job, and with --queue a LocalQueue. The pods need no permission. Each prints
    its report into its log; kueue-dra report merge joins the logs. kueue-dra run --on-cluster does all of this.

    With --differential each pod runs a part of the generated scenarios of one seed (kueue-dra differential).
    """
    if bool(on_cluster) == sonobuoy:
        raise click.UsageError(
            "expected --on-cluster N, the number of pods, or --sonobuoy"
        )
    for name in ("queue", "differential"):
        if sonobuoy and manifests.params[name]:
            raise click.UsageError(f"--{name} and --sonobuoy exclude each other")
    of_pods = {**pods, "on_cluster": on_cluster or 1}
    wanted = (_of_scenarios if differential else _of_cases)(arguments, of_pods)
    if not sonobuoy:
        _print(wanted.manifests(), output)
        return
    if wanted.files:
        raise click.UsageError("--expected-failures and --sonobuoy exclude each other")
    _print([plugin(wanted.image, SONOBUOY, wanted.arguments, wanted.requests)], output)


def _of_cases(arguments: Sequence[str], pods: Mapping[str, object]) -> PodRun:
    from kueue_dra_cli.run import command as run

    given = run.make_context("kueue-dra run", list(arguments))
    given.params |= pods
    return pod_run(given)


def _of_scenarios(arguments: Sequence[str], pods: Mapping[str, object]) -> PodRun:
    from kueue_dra_cli.differential import chosen_seed
    from kueue_dra_cli.differential import command as differential
    from kueue_dra_cli.differential_on_cluster import pod_run as pods_of_scenarios

    given = differential.make_context("kueue-dra differential", list(arguments))
    given.params |= pods
    check_image(given.params)
    given.params["seed"] = chosen_seed(given.params["seed"])
    return pods_of_scenarios(given)


def _print(found: Sequence[Manifest], output: str) -> None:
    if output == "yaml":
        click.echo(yaml.safe_dump_all(found, sort_keys=False).rstrip("\n"))
        return
    listed = {"apiVersion": "v1", "kind": "List", "items": list(found)}
    click.echo(json.dumps(found[0] if len(found) == 1 else listed, indent=2))
