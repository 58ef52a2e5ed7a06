"""Options of ``kueue-dra run`` that select the API server of the cases: minor of Kubernetes and feature gates."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click
from click.core import ParameterSource

from kueue_dra_cli.kubernetes_gates import unusable
from kueue_dra_cli.options import NamedChoice, feature_gates_option
from kueue_dra_clusters.binaries import (
    API_SERVERS,
    ASSETS_VARIABLE,
    api_server_minor,
)
from kueue_dra_clusters.kubernetes_gates import GATES_VARIABLE, MINOR_VARIABLE
from kueue_dra_ref.apiserver import CONTROL_PLANE, MINORS

minor_option = click.option(
    "--kubernetes",
    type=NamedChoice(tuple(MINORS)),
    default=CONTROL_PLANE.name,
    show_default=True,
    help="The minor of the API server. The reference has all, and runs cases about one minor there in every run; "
    f"a control plane is built for {' or '.join(API_SERVERS)}.",
)
gates_option = feature_gates_option(
    "--kubernetes-feature-gates",
    "kubernetes_gates",
    text="Feature gates of the API server, of the reference or of the control plane.",
)


def choose_api_server(run: click.Context) -> None:
    """Set for this run, and its workers, what the options select.

    Raises:
        UsageError: the target has no such API server, or it has no such gates.

    """
    given = run.params
    named = run.get_parameter_source("kubernetes") is ParameterSource.COMMANDLINE
    gates = given["kubernetes_gates"]
    if not named and not gates:
        return
    if wrong := _unusable(run, named=named):
        raise click.UsageError(wrong)
    values = ",".join(f"{name}={str(on).lower()}" for name, on in gates.items())
    chosen = {MINOR_VARIABLE: given["kubernetes"], GATES_VARIABLE: values}
    run.with_resource(_set(chosen))


def _unusable(run: click.Context, *, named: bool) -> str | None:
    given = run.params
    if given["context"] or given["on_cluster"]:
        return "--kubernetes and --kubernetes-feature-gates: a run never changes the API server of your cluster"
    is_live = given["target"] == "kueue"
    if is_live and named and (wrong := _not_built(given["kubernetes"])):
        return wrong
    minor = api_server_minor() if is_live and not named else given["kubernetes"]
    kubernetes = MINORS.get(minor)
    wrong = unusable(kubernetes, given["kubernetes_gates"]) if kubernetes else None
    return f"--kubernetes-feature-gates: {wrong}" if wrong else None


def _not_built(minor: str) -> str | None:
    """Say why no control plane of a minor is built; None if one is."""
    if os.environ.get(ASSETS_VARIABLE):
        return f"--kubernetes: {ASSETS_VARIABLE} names the API server of a control plane; leave one of them out"
    if minor not in API_SERVERS:
        pinned = " or ".join(API_SERVERS)
        return f"--kubernetes: found {minor}; expected {pinned} with --target kueue, or {ASSETS_VARIABLE} without it"
    return None


@contextmanager
def _set(chosen: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in chosen}
    os.environ.update(chosen)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
