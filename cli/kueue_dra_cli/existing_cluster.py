"""The options of ``kueue-dra run`` about a cluster that exists already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click
from click.core import ParameterSource
from click.decorators import FC

from kueue_dra_cli.options import context_option, kubeconfig_option

OPTIONS = {
    "kubeconfig": "--kubeconfig FILE",
    "roles": "--roles FILE",
    "kueue_namespace": "--kueue-namespace",
    "kueue_deployment": "--kueue-deployment",
    "kueue_configmap": "--kueue-configmap",
    "preflight": "--preflight",
}
"""Parameters that only make sense with --context."""


def existing_cluster_options(command: FC) -> FC:
    """Add the options that name a cluster, its Kueue, its roles, and the preflight."""
    options = (
        context_option(
            "With --target kueue: use the cluster of this kubeconfig context, as it is configured."
        ),
        kubeconfig_option("The kubeconfig of --context. Default: as kubectl finds it."),
        click.option(
            "--preflight",
            is_flag=True,
            help="With --context: print what the run would do, and check the permissions; change nothing.",
        ),
        click.option(
            "--roles",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="With --context: a YAML file with the classes and resources that the cases use.",
        ),
        _name_option("namespace"),
        _name_option("deployment"),
        _name_option("configmap"),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _name_option(what: str) -> Callable[[FC], FC]:
    return click.option(
        f"--kueue-{what}",
        default="",
        metavar="NAME",
        help=f"With --context: the {what} of Kueue, if it is not found.",
    )


def check_cluster_options(run: click.Context) -> None:
    """Reject options that need --context."""
    given = [text for name, text in OPTIONS.items() if run.params[name]]
    if given and not run.params["context"]:
        raise click.UsageError(f"{given[0]} needs --target kueue --context NAME")


def named_behaviour(run: click.Context, behaviour: str) -> str:
    """Give the behaviour; an empty one on a cluster whose release decides, unless the user names one."""
    is_default = run.get_parameter_source("behaviour") is ParameterSource.DEFAULT
    return "" if run.params["context"] and is_default else behaviour


def preflight_of(run: click.Context, arguments: Sequence[str]) -> int:
    """Print what a run would do; give the exit code."""
    # The client of Kubernetes takes long to import, and most runs use no cluster.
    from kueue_dra_cli.preflight import preflight
    from kueue_dra_clusters.installation import InstallationNames
    from kueue_dra_fixtures.gating import Asked

    given = run.params
    names = InstallationNames(
        namespace=given["kueue_namespace"],
        deployment=given["kueue_deployment"],
        config_map=given["kueue_configmap"],
    )
    asked = Asked(
        context=given["context"],
        kubeconfig=given["kubeconfig"],
        roles=given["roles"],
        behaviour=named_behaviour(run, given["behaviour"]),
        names=names,
    )
    return preflight(asked, arguments)
