"""Options that several commands share, with one meaning everywhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from click.decorators import FC

from kueue_dra_ref.api.suggest import nearest
from kueue_dra_ref.apiserver import MINORS
from kueue_dra_ref.behaviours import NAMES, PROVISIONAL, PROVISO
from kueue_dra_ref.behaviours.releases import resolved

FEWEST_WORKERS, WORKERS_PER_CORE = 16, 8
"""A case often waits for a real Kueue, so several processes for a core help; hundreds exhaust the memory."""


class NamedChoice(click.Choice[str]):
    """A choice of names that suggests the nearest one for an unknown name."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Accept a known name, or suggest the nearest one."""
        if value not in self.choices:
            self.fail(
                f"{value!r} is not known; {nearest(str(value), self.choices)}",
                param,
                ctx,
            )
        return str(value)


class TargetBehaviourChoice(NamedChoice):
    """The name of a text or a release, whose minor means a release that the target decides on."""

    def __init__(self) -> None:
        super().__init__(NAMES)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Accept a known name, and leave it as it is written."""
        super().convert(resolved(str(value)), param, ctx)
        return str(value)


class BehaviourChoice(TargetBehaviourChoice):
    """The name of a text or a release; a minor names its newest known patch."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Give the name of the behaviour, and note on standard error if another release decides the same."""
        value = super().convert(value, param, ctx)
        name = resolved(value)
        noted = ctx.meta.setdefault(__name__, set()) if ctx else set()
        if name != value and value not in noted:
            noted.add(value)  # click converts a value more than once
            click.echo(f"kueue-dra: {value} decides as {name}", err=True)
        return name


def _noted(_: click.Context, __: click.Parameter, name: str) -> str:
    """Note on standard error that a behaviour is provisional."""
    if name in PROVISIONAL:
        click.echo(
            f"kueue-dra: {name} is provisional: it follows announcements, no release was checked",
            err=True,
        )
    return name


behaviour_option = click.option(
    "--behaviour",
    type=BehaviourChoice(),
    default=NAMES[0],
    show_default=True,
    callback=_noted,
    help=f"The KEP text or Kueue release that decides. {PROVISO}.",
)
target_behaviour_option = click.option(
    "--behaviour",
    type=TargetBehaviourChoice(),
    default=NAMES[0],
    show_default=True,
    help=f"The KEP text or Kueue release. {PROVISO}.",
)
"""Like `behaviour_option`, for commands whose report marks a provisional behaviour."""


def filename_option(text: str) -> Callable[[FC], FC]:
    """Make the option that takes manifests, as kubectl does."""
    return click.option(
        "-f",
        "--filename",
        "files",
        type=click.Path(path_type=Path, allow_dash=True),
        multiple=True,
        metavar="FILE|DIR",
        help=text,
    )


def context_option(text: str) -> Callable[[FC], FC]:
    """Make the option that names a running cluster."""
    return click.option("--context", default="", metavar="NAME", help=text)


def kubeconfig_option(text: str) -> Callable[[FC], FC]:
    """Make the option that names the kubeconfig of a running cluster."""
    path = click.Path(path_type=Path)
    return click.option("--kubeconfig", type=path, metavar="FILE", help=text)


files_option = filename_option(
    "Manifests, YAML or JSON: a file, a directory with everything below it, or - for standard input. Repeatable."
)
paths_argument = click.argument(
    "paths",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE|DIR...",
)
configuration_option = click.option(
    "--config",
    "configuration",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Kueue's Configuration, or a file that holds it. Default: the one among the manifests.",
)


def _read_gates(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> Mapping[str, bool]:
    """Read the gates of an option that may be repeated."""
    return dict(
        _gate(pair) for value in values for pair in value.split(",") if pair.strip()
    )


def _gate(pair: str) -> tuple[str, bool]:
    name, _, switch = pair.strip().partition("=")
    if not name or switch.lower() not in {"true", "false"}:
        raise click.BadParameter(
            f"found {pair.strip()!r}; expected NAME=true or NAME=false"
        )
    return name, switch.lower() == "true"


def feature_gates_option(
    *names: str, text: str, metavar: str = "A=true,B=false"
) -> Callable[[FC], FC]:
    """Make an option that takes feature gates, several at once or one after another."""
    return click.option(
        *names, multiple=True, callback=_read_gates, metavar=metavar, help=text
    )


gates_option = feature_gates_option(
    "--feature-gates",
    "gates",
    text="Feature gates, on top of those in the Configuration.",
)
gate_option = feature_gates_option(
    "--gate",
    "gates",
    metavar="A=true",
    text="A feature gate, on or off; may be repeated. Other gates have their defaults.",
)
expression_option = click.option(
    "-k",
    "expression",
    default="",
    metavar="EXPR",
    help="Run only cases whose names match, as for pytest.",
)
kubernetes_option = click.option(
    "--kubernetes",
    type=NamedChoice(tuple(MINORS)),
    default="1.36",
    show_default=True,
    help="The minor of the API server that receives the objects; its feature gates have their defaults.",
)
kubernetes_gates_option = feature_gates_option(
    "--kubernetes-feature-gates",
    "kubernetes_gates",
    text="Feature gates of that API server, such as DRAExtendedResource=true.",
)
only_served_option = click.option(
    "--only-served",
    is_flag=True,
    help="Reject versions of resource.k8s.io that this Kubernetes does not serve, instead of warning about them.",
)


def kubernetes_options(command: FC) -> FC:
    """Add the options that select the API server."""
    options = (kubernetes_option, kubernetes_gates_option, only_served_option)
    for option in reversed(options):
        command = option(command)
    return command


def _cel(context: click.Context, _: click.Parameter, engine: str) -> None:
    """Use Kubernetes' own CEL engine for this command."""
    if engine == "kubernetes":
        from kueue_dra_clusters.kubernetes_cel import kubernetes_answers

        context.with_resource(kubernetes_answers())


cel_option = click.option(
    "--cel",
    type=click.Choice(("own", "kubernetes")),
    default="own",
    show_default=True,
    callback=_cel,
    expose_value=False,
    help="The CEL engine for selectors: the built-in one, or Kubernetes' own (built once with Go), which decides all.",
)


allow_missing_option = click.option(
    "--allow-missing",
    is_flag=True,
    help="Create missing namespaces, and exit with 0 even if an object names a missing queue, flavor or template.",
)
from_scratch_option = click.option(
    "--from-scratch",
    is_flag=True,
    help="Ignore the status in a dump of a cluster, and apply its objects as manifests.",
)
namespace_option = click.option(
    "-n",
    "--namespace",
    default="",
    metavar="NAMESPACE",
    help="The namespace of the name; all unless given.",
)


def target_option(*kinds: str, text: str) -> Callable[[FC], FC]:
    """Make the option that selects the target; the first kind is the default."""
    return click.option(
        "--target",
        type=click.Choice(kinds),
        default=kinds[0],
        show_default=True,
        help=text,
    )


def output_option(*forms: str) -> Callable[[FC], FC]:
    """Make the option for the output format; the first format is the default."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        help="The output format.",
    )


def workers_option(act: str) -> Callable[[FC], FC]:
    """Make the option for the number of processes that share the cases."""
    text = f"{act} in N processes at once, or auto."
    return click.option(
        "-n", "workers", default="", metavar="N", callback=_workers, help=text
    )


def _workers(_: click.Context, __: click.Parameter, value: str) -> str:
    if value in ("", "auto"):
        return value
    most = max(FEWEST_WORKERS, WORKERS_PER_CORE * (os.cpu_count() or 1))
    if not (value.isascii() and value.isdigit()):
        expected = "a number of processes, or auto"
    elif len(value) > len(str(most)) or int(value) > most:
        expected = (
            f"at most {most} on this machine, {WORKERS_PER_CORE} for each core, or auto"
        )
    else:
        return value
    raise click.BadParameter(f"found {value!r}; expected {expected}")
