"""``kueue-dra cluster`` and ``kueue-dra images``: create a kind cluster, and list the images that it needs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from functools import partial

import click

from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.kind import charts
from kueue_dra_clusters.kind.cluster import existing
from kueue_dra_clusters.kind.cluster_records import records
from kueue_dra_clusters.kind.create import create, delete, remove_orphans
from kueue_dra_clusters.kind.driver_install import profile_manifests
from kueue_dra_clusters.kind.image_source import Released, supply
from kueue_dra_clusters.kind.packages import prepare
from kueue_dra_clusters.kind.profiles import PROFILES
from kueue_dra_clusters.kind.provider import engine
from kueue_dra_clusters.kind.rollout import Rollout
from kueue_dra_clusters.releases import NEWEST, release
from kueue_dra_clusters.waiting import TimedOut

NAME = "kueue-dra-dev"
IMAGES_EPILOG = """\
\b
Examples
  kueue-dra images                                  what --images released pulls
  kueue-dra images --registry registry.corp/mirror  the same images in a mirror
  kueue-dra images | xargs -n1 docker pull          fetch them for an air-gapped site
"""
CLUSTER_EPILOG = """\
\b
Examples
  kueue-dra cluster up                        a kind cluster with Kueue and the DRA example driver
  kueue-dra cluster up --profile counter      the same cluster, with another profile
  pytest suites/kueue_dra_suites/e2e --cluster-name kueue-dra-dev   run the suite on it
  kueue-dra cluster down                      delete it
"""


_kueue_option = click.option(
    "--kueue",
    default=NEWEST,
    show_default=True,
    metavar="MINOR",
    help="The minor of Kueue.",
)


@click.command("images", epilog=IMAGES_EPILOG)
@click.option(
    "--registry",
    default="",
    metavar="HOST/PATH",
    help="Name the images as they are in this registry.",
)
@_kueue_option
@click.option(
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    help="One image per line, or JSON by part.",
)
def images(registry: str, kueue: str, output: str) -> None:
    """List every image that a kind cluster needs."""
    with _reported_errors():
        found = Released(release=release(kueue), registry=registry).images()
        rendered = sorted(
            {
                ref
                for profile in PROFILES.values()
                for ref in charts.images_of(
                    profile_manifests(release(kueue), found, profile)
                )
            }
        )
    parts = {
        "node": [found.node],
        "job": [found.job],
        "charts": [*rendered, found.job_set],
    }
    click.echo(
        json.dumps(parts, indent=2)
        if output == "json"
        else "\n".join(ref for some in parts.values() for ref in some)
    )


@click.group("cluster", epilog=CLUSTER_EPILOG)
def group() -> None:
    """Create a kind cluster with a real Kueue, and delete it."""


@group.command("up")
@click.option(
    "--name", default=NAME, show_default=True, help="The name of the cluster."
)
@click.option(
    "--images",
    type=click.Choice(["source", "released"]),
    default="source",
    show_default=True,
    help="Build the images from source, or pull released ones.",
)
@click.option(
    "--nodes",
    type=click.IntRange(1, 9),
    default=1,
    show_default=True,
    help="The number of nodes; all but one are workers.",
)
@_kueue_option
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="whole-device",
    show_default=True,
)
def up(name: str, images: str, nodes: int, kueue: str, profile: str) -> None:
    """Create the cluster if it does not exist, and roll out a profile."""
    with _reported_errors():
        if images == "source":
            prepare()
        remove_orphans()
        found = existing(name) or create(
            partial(supply, images, release(kueue)),
            release(kueue),
            nodes=nodes,
            name=name,
            kept=True,
        )
        with Rollout(cluster=found).under(PROFILES[profile]):
            click.echo(f"export KUBECONFIG={found.kubeconfig}")


@group.command("down")
@click.option("--name", default="", help="The name of the cluster; the default is all.")
def down(name: str) -> None:
    """Delete clusters that are kept or left over, and restore the settings of this machine."""
    with _reported_errors():
        used = engine()
        known = list(records())
        found = [each for each in known if name in ("", each.name)]
        if name and not found:
            raise ClusterError(
                f"found no cluster {name}; known: {', '.join(e.name for e in known) or 'none'}"
            )
        for record in found:
            delete(record, used)
        click.echo(f"deleted: {', '.join(each.name for each in found) or 'none'}")


@group.command("list")
def listed() -> None:
    """List the clusters that kueue-dra created on this machine."""
    for record in records():
        state = (
            "kept"
            if record.kept
            else "left by a run that was killed"
            if record.orphaned
            else "in use by a run"
        )
        click.echo(f"{record.name}  {state}  {record.folder / 'kubeconfig'}")


@contextlib.contextmanager
def _reported_errors() -> Iterator[None]:
    """Report an error of a cluster, and exit with 2."""
    try:
        yield
    except (ClusterError, TimedOut) as trouble:
        click.echo(f"kueue-dra: {trouble}", err=True)
        raise SystemExit(2) from None
