"""``kueue-dra simulate``: manifests in, the same objects out with the status that Kueue would write."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from kueue_dra_cli.inputs import report_problems, world_of
from kueue_dra_cli.options import (
    behaviour_option,
    cel_option,
    configuration_option,
    files_option,
    gates_option,
    kubernetes_option,
    output_option,
)
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_ref.api.documents import written
from kueue_dra_ref.apiserver import MINORS
from kueue_dra_ref.controlplane.apiserver import ApiServer
from kueue_dra_ref.simulation.explanation import Explanation, explained, outcome
from kueue_dra_ref.simulation.run import SimulationResult

EPILOG = """\
\b
Examples
  kueue-dra simulate -f queues.yaml -f job.yaml --config kueue-config.yaml
  kueue-dra simulate -f my-manifests/ -o table
  kueue-dra simulate -f job.yaml --behaviour kep-2025-09 --feature-gates DynamicResourceAllocation=true

\b
Exit codes
  0  everything was taken; the verdicts are in the output, whatever they are
  2  the Configuration or an object was refused, a file cannot be read, or an object names what does not exist
     (the world is printed all the same, but for a refused Configuration; --allow-missing forgives the last)
"""
HEADERS = ("namespace", "name", "queue", "verdict", "reason", "devices")
WIDTHS = (None, None, None, None, 60, None)


@click.command("simulate", epilog=EPILOG)
@files_option
@click.argument(
    "more", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE|DIR]..."
)
@configuration_option
@behaviour_option
@gates_option
@click.option(
    "--allow-missing",
    is_flag=True,
    help="Exit with 0 when an object names a queue, flavor or template that is not there.",
)
@kubernetes_option
@click.option(
    "--only-served",
    is_flag=True,
    help="Refuse versions of resource.k8s.io that this Kubernetes does not serve, instead of warning of them.",
)
@cel_option
@output_option("yaml", "json", "table")
def command(
    files: tuple[Path, ...],
    more: tuple[Path, ...],
    configuration: Path | None,
    behaviour: str,
    gates: Mapping[str, bool],
    allow_missing: bool,
    kubernetes: str,
    only_served: bool,
    output: str,
) -> None:
    """Play manifests on the reference and print the objects with their status.

    The manifests are what you would give to kubectl: namespaces, ResourceFlavors, ClusterQueues, LocalQueues,
    DeviceClasses, ResourceSlices, ResourceClaimTemplates, Jobs and Workloads, in any version that was ever served; what
    an API server would refuse is refused in its words. Jobs and Workloads are submitted in the order in which they are
    given, everything else before them. An object that is given again is merged into the earlier one field by field, as
    server-side apply does; lists are replaced. Status in the input is ignored. Nothing is sent anywhere: time and
    cluster are simulated. What Kueue would decide beyond the reference, such as admission checks, is told as a note.
    """
    world = world_of((*files, *more), configuration, behaviour, gates)
    played = world.play(
        ApiServer(kubernetes=MINORS[kubernetes], only_served=only_served, sketches=True)
    )
    _print(played, output)
    raise SystemExit(report_problems(world, played, allow_missing=allow_missing))


def _print(played: SimulationResult, output: str) -> None:
    match output:
        case "yaml":
            click.echo(written(played.objects), nl=False)
        case "json":
            as_json({"apiVersion": "v1", "kind": "List", "items": list(played.objects)})
        case _:
            as_table(
                HEADERS,
                [_row(explained(played.target, each)) for each in played.workloads],
                WIDTHS,
            )


def _row(found: Explanation) -> tuple[str, ...]:
    word, reason = outcome(found.verdict)
    devices = ", ".join(
        f"{resource} {count}" for resource, count in found.devices.items()
    )
    told = (
        found.message if word in {"waits", "inadmissible"} and found.message else reason
    )
    return (
        found.namespace,
        found.job or found.workload,
        found.queue,
        word,
        told,
        devices,
    )
