"""Options that several commands share, with one meaning everywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from click.decorators import FC

from kueue_dra_ref.api.suggest import nearest
from kueue_dra_ref.apiserver import MINORS
from kueue_dra_ref.behaviours import NAMES, PROVISIONAL, PROVISO


class NamedChoice(click.Choice[str]):
    """One of the names that are known; another is answered with the nearest."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Take a name, or say which one may have been meant."""
        if value not in self.choices:
            self.fail(
                f"{value!r} is not known; {nearest(str(value), self.choices)}",
                param,
                ctx,
            )
        return str(value)


def _noted(_: click.Context, __: click.Parameter, name: str) -> str:
    """Say on standard error of a provisional behaviour that it is one."""
    if name in PROVISIONAL:
        click.echo(
            f"kueue-dra: {name} is provisional: what is announced, not what a release was seen to do",
            err=True,
        )
    return name


behaviour_option = click.option(
    "--behaviour",
    type=NamedChoice(NAMES),
    default=NAMES[0],
    show_default=True,
    callback=_noted,
    help=f"Which text or release decides. {PROVISO}.",
)
judged_option = click.option(
    "--behaviour",
    type=NamedChoice(NAMES),
    default=NAMES[0],
    show_default=True,
    help=f"The text or release. {PROVISO}.",
)
"""As `behaviour_option`, for what judges by it: the report marks there what is provisional."""
files_option = click.option(
    "-f",
    "--filename",
    "files",
    type=click.Path(path_type=Path, allow_dash=True),
    multiple=True,
    metavar="FILE|DIR",
    help="Manifests, YAML or JSON; a directory stands for its files by name; may be repeated; - is the standard input.",
)
configuration_option = click.option(
    "--config",
    "configuration",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Kueue's Configuration, or a ConfigMap that holds it; without this one among the manifests is used.",
)


def _gates(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> Mapping[str, bool]:
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


gates_option = click.option(
    "--feature-gates",
    "gates",
    multiple=True,
    callback=_gates,
    metavar="A=true,B=false",
    help="Feature gates, on top of those in the Configuration.",
)


gate_option = click.option(
    "--gate",
    "gates",
    multiple=True,
    callback=_gates,
    metavar="A=true",
    help="A feature gate, on or off; may be repeated. Other gates have their defaults.",
)
kubernetes_option = click.option(
    "--kubernetes",
    type=NamedChoice(tuple(MINORS)),
    default="1.36",
    show_default=True,
    help="Whose API server takes the objects of resource.k8s.io; its feature gates are as they are by default.",
)


def _cel(context: click.Context, _: click.Parameter, engine: str) -> None:
    """Put Kubernetes' own engine in the place of ours for this command."""
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
    help="Who evaluates selectors: the engine inside, or Kubernetes' own (built once with Go): then none is undecided.",
)


def target_option(*kinds: str, whose: str) -> Callable[[FC], FC]:
    """Who judges, the first kind unless another is named."""
    return click.option(
        "--target",
        type=click.Choice(kinds),
        default=kinds[0],
        show_default=True,
        help=whose,
    )


def output_option(*forms: str) -> Callable[[FC], FC]:
    """The form of the output, the first unless another is named."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        help="The form of the output.",
    )


def workers_option(act: str) -> Callable[[FC], FC]:
    """How many processes share the cases."""
    said = f"{act} in N processes at once, or auto."
    return click.option(
        "-n", "workers", default="", metavar="N", callback=_workers, help=said
    )


def _workers(_: click.Context, __: click.Parameter, value: str) -> str:
    if value in ("", "auto") or (value.isascii() and value.isdigit()):
        return value
    raise click.BadParameter(
        f"found {value!r}; expected a number of processes, or auto"
    )
