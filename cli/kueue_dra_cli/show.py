"""``kueue-dra show``: draw a cluster: its cohort tree, its quotas, and what each workload waits for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from kueue_dra_cli.cluster_source import cluster_documents, cluster_options
from kueue_dra_cli.explain import with_notes
from kueue_dra_cli.inputs import Simulation, api_server, simulation_of
from kueue_dra_cli.notes import report_problems
from kueue_dra_cli.options import (
    allow_missing_option,
    behaviour_option,
    cel_option,
    configuration_option,
    files_option,
    from_scratch_option,
    gates_option,
    kubernetes_options,
    output_option,
)
from kueue_dra_cli.output_file import output_file_option, write_output
from kueue_dra_cli.page_head import page_head
from kueue_dra_ref.simulation.cluster_state import explanations
from kueue_dra_ref.simulation.cluster_tree import ClusterTree, cluster_tree
from kueue_dra_ref.simulation.not_considered import InputNotes
from kueue_dra_ref.simulation.run import SimulationResult

EPILOG = """\
\b
Examples
  kueue-dra show cluster.yaml > cluster.html
  kueue-dra show cluster.yaml new-job.yaml --output-file cluster.html
  kueue-dra show --context prod --output-file prod.html
  kueue-dra show my-manifests/ --config kueue-config.yaml -o mermaid

\b
Exit codes
  0  every object was accepted and is shown, whatever its verdict
  2  as for simulate, or the file cannot be written
"""
LEFT_OUT = "note: the diagram leaves out {what}, because mermaid draws at most {characters} characters"
TOO_LARGE = "note: mermaid does not draw this diagram unless maxTextSize and maxEdges are raised; use -o html"


@click.command("show", epilog=EPILOG)
@click.argument(
    "paths",
    nargs=-1,
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="[FILE|DIR]...",
)
@files_option
@cluster_options
@from_scratch_option
@configuration_option
@behaviour_option
@gates_option
@allow_missing_option
@kubernetes_options
@cel_option
@output_option("html", "mermaid")
@output_file_option
def command(
    paths: tuple[Path, ...],
    files: tuple[Path, ...],
    context: str,
    kubeconfig: Path | None,
    from_scratch: bool,
    configuration: Path | None,
    behaviour: str,
    gates: Mapping[str, bool],
    allow_missing: bool,
    kubernetes: str,
    kubernetes_gates: Mapping[str, bool],
    only_served: bool,
    output: str,
    output_file: str,
) -> None:
    """Draw the cohort tree of a cluster, its quotas, and what each workload waits for.

    FILE is a dump of a running cluster, or manifests; input and options are those of simulate. The page (html) is one
    file that needs no network. It has the nominal, used, borrowed and lent quota of each ClusterQueue and Cohort, and
    each workload with its verdict, reason and message; a click shows the steps that explain prints. It can be filtered,
    sorted and printed. The diagram (mermaid) is for a README or an issue: a large one leaves out what mermaid would not
    draw, and says so. Nothing is sent to a cluster.
    """
    read = (*paths, *files)
    simulation = simulation_of(
        read,
        configuration,
        behaviour,
        gates,
        from_scratch=from_scratch,
        cluster_dump=cluster_documents(context, kubeconfig),
    )
    server = api_server(simulation, kubernetes, kubernetes_gates, only_served)
    result = simulation.run(server, allow_missing=allow_missing)
    notes = simulation.notes(result)
    found = [with_notes(each, notes) for each in explanations(result)]
    tree = cluster_tree(result, found)
    text = (
        _mermaid(tree)
        if output == "mermaid"
        else _page(simulation, result, notes, read, tree)
    )
    write_output(text, output_file)
    code = report_problems(simulation, result, notes, allow_missing=allow_missing)
    raise SystemExit(code)


def _page(
    simulation: Simulation,
    result: SimulationResult,
    notes: InputNotes,
    files: tuple[Path, ...],
    tree: ClusterTree,
) -> str:
    from kueue_dra_reports.cluster_page.render import cluster_page

    return cluster_page(tree, page_head(simulation, result, notes, files))


def _mermaid(tree: ClusterTree) -> str:
    """Draw the diagram, and say what it leaves out."""
    from kueue_dra_reports.cluster_page.mermaid import (
        MOST_CHARACTERS,
        cluster_diagram,
    )

    diagram = cluster_diagram(tree)
    if diagram.left_out:
        note = LEFT_OUT.format(what=diagram.left_out, characters=MOST_CHARACTERS)
        click.echo(note, err=True)
    if not diagram.fits:
        click.echo(TOO_LARGE, err=True)
    return diagram.text
