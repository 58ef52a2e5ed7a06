"""``kueue-dra show``: draw a cluster: its cohort tree, its quotas, and what each workload waits for."""

from __future__ import annotations

from pathlib import Path

import click

from kueue_dra_cli.explain import with_notes
from kueue_dra_cli.options import files_option, output_option
from kueue_dra_cli.output_file import output_file_option, write_output
from kueue_dra_cli.page_head import page_head
from kueue_dra_cli.simulation_options import (
    Simulated,
    SimulationOptions,
    simulation_options,
)
from kueue_dra_ref.simulation.cluster_state import explanations
from kueue_dra_ref.simulation.cluster_tree import ClusterTree, cluster_tree

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
@simulation_options
@output_option("html", "mermaid")
@output_file_option
def command(
    paths: tuple[Path, ...],
    files: tuple[Path, ...],
    options: SimulationOptions,
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
    simulated = options.simulated(options.read(read))
    result = simulated.result
    found = [with_notes(each, simulated.notes) for each in explanations(result)]
    tree = cluster_tree(result, found)
    text = _mermaid(tree) if output == "mermaid" else _page(simulated, read, tree)
    write_output(text, output_file)
    raise SystemExit(simulated.report_problems())


def _page(simulated: Simulated, files: tuple[Path, ...], tree: ClusterTree) -> str:
    from kueue_dra_reports.cluster_page.render import cluster_page

    head = page_head(simulated.simulation, simulated.result, simulated.notes, files)
    return cluster_page(tree, head)


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
