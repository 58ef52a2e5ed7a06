"""Which release of Kueue decides about a running cluster: the one that its Deployment runs, unless one is named."""

from __future__ import annotations

import click
from click.core import ParameterSource

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.releases import KUEUE, release_of
from kueue_dra_ref.simulation.running_cluster import RunningCluster

_RELEASE = "note: Kueue's Deployment runs {version}, so {behaviour} decides"
_UNKNOWN_RELEASE = (
    "note: Kueue's Deployment runs {version}, which is not known; {behaviour} decides"
)


def release_in(cluster: RunningCluster | None, behaviour: Behaviour) -> Behaviour:
    """Give the behaviour of the release that runs in a cluster; the given one if --behaviour names it."""
    if cluster is None or not cluster.kueue or _is_named():
        return behaviour
    version = cluster.kueue
    release = release_of(version)
    if release is None:
        unknown = _UNKNOWN_RELEASE.format(version=version, behaviour=behaviour.name)
        click.echo(unknown, err=True)
        return behaviour
    if f"{KUEUE}{version}" != behaviour.name:
        note = _RELEASE.format(version=version, behaviour=release.name)
        click.echo(note, err=True)
    return release.behaviour()


def _is_named() -> bool:
    source = click.get_current_context().get_parameter_source("behaviour")
    return source is not ParameterSource.DEFAULT
