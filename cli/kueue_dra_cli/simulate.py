"""``kueue-dra simulate``: print the given manifests with the status that Kueue would write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from kueue_dra_cli.options import files_option, output_option
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_cli.simulation_options import SimulationOptions, simulation_options
from kueue_dra_ref.api.documents import written
from kueue_dra_ref.simulation.cluster_state import explanations
from kueue_dra_ref.simulation.explanation import Explanation, outcome
from kueue_dra_ref.simulation.not_considered import InputNotes
from kueue_dra_ref.simulation.run import SimulationResult

EPILOG = """\
\b
Examples
  kueue-dra simulate -f queues.yaml -f job.yaml --config kueue-config.yaml
  kueue-dra simulate -f my-manifests/ -o table
  kueue-dra simulate -f my-manifests/ --kubernetes 1.35 --kubernetes-feature-gates DRAExtendedResource=true
  kueue-dra simulate -f job.yaml --behaviour kep-2025-09 --feature-gates DynamicResourceAllocation=true

\b
Exit codes
  0  every object was accepted, whatever its verdict
  2  the Configuration or an object was rejected, a file cannot be read, or an object names a missing one
     (prints the objects anyway, unless the Configuration was rejected; --allow-missing accepts missing objects)
"""
HEADERS = ("namespace", "name", "queue", "verdict", "reason", "devices")
WIDTHS = (None, None, None, None, 60, None)


@click.command("simulate", epilog=EPILOG)
@files_option
@click.argument(
    "more", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE|DIR]..."
)
@simulation_options
@output_option("yaml", "json", "table")
def command(
    files: tuple[Path, ...],
    more: tuple[Path, ...],
    options: SimulationOptions,
    output: str,
) -> None:
    """Apply manifests to the reference and print the objects with their status.

    The manifests are those for kubectl: namespaces, ResourceFlavors, ClusterQueues, LocalQueues, DeviceClasses,
    ResourceSlices, ResourceClaimTemplates, Jobs and Workloads, in any served version. The reference rejects what an API
    server would reject, with the same message. It submits Jobs and Workloads in their order in the input, after all
    other objects. It merges a second manifest of an object into the first one field by field, as server-side apply
    does, and replaces lists. A dump of a running cluster is where the simulation begins: Workloads hold the quota that
    their status says, and new Jobs come after them; --from-scratch ignores the status. --context reads a cluster and
    changes nothing in it: cluster and time are simulated. Kinds that take no quota are left out. A note names each
    feature that the simulation ignores, such as admission checks, and work of other kinds, such as DaemonSets, with
    what it would request.
    """
    simulated = options.simulated(options.read((*files, *more)))
    _print(simulated.result, simulated.notes, output)
    raise SystemExit(simulated.report_problems())


def _print(result: SimulationResult, notes: InputNotes, output: str) -> None:
    match output:
        case "yaml":
            for each in result.objects:
                click.echo(written([each]), nl=False)
        case "json":
            as_json({"apiVersion": "v1", "kind": "List", "items": list(result.objects)})
        case _:
            _print_table(explanations(result), notes)


def _print_table(found: Sequence[Explanation], notes: InputNotes) -> None:
    """Print a row for each Workload; a last column only if something is not considered."""
    rows = [_row(each) for each in found]
    about = ["; ".join(notes.about(each)) for each in found]
    if not any(about):
        as_table(HEADERS, rows, WIDTHS)
        return
    wider = [(*row, note) for row, note in zip(rows, about, strict=True)]
    as_table((*HEADERS, "not considered"), wider, (*WIDTHS, 40))


def _row(found: Explanation) -> tuple[str, ...]:
    word, reason = outcome(found.verdict)
    devices = ", ".join(
        f"{resource} {count}" for resource, count in found.devices.items()
    )
    if word in {"pending", "inadmissible"}:
        reason = found.message or reason
    return (
        found.namespace,
        found.job or found.workload,
        found.queue,
        word,
        reason,
        devices,
    )
