"""``kueue-dra differential --on-cluster N``: an Indexed Job runs the parts of a seed, which are joined here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from kueue_dra_cli.differential_parts import Files, files_of_log, join_parts
from kueue_dra_cli.errors import CliError
from kueue_dra_cli.on_cluster import a_pod_run, collected, lacking

if TYPE_CHECKING:
    from kueue_dra_clusters.indexed_job import PodRun
    from kueue_dra_clusters.pod_results import PodResults

WORKER = ("python3", "-m", "kueue_dra_cli.differential_worker")
"""What each pod runs."""
PASSED_ON = {
    "minor": "--kueue",
    "budget": "--budget",
    "most": "--worlds",
    "seed": "--seed",
    "together": "--together",
    "kueues": "-n",
    "wanted": "--with",
}
AFTER_THE_BUDGET = 3600
"""Seconds that a pod may go on after its budget: the last batches, and their parts if a Kueue exits."""


def pod_run(differential: click.Context) -> PodRun:
    """Give what runs in the cluster, from the options of ``kueue-dra differential``.

    Raises:
        click.UsageError: an option does not go together with pods.

    """
    from kueue_dra_clusters.indexed_job import DEADLINE

    given = differential.params
    _check(differential)
    words = []
    for name, option in PASSED_ON.items():
        for value in _values(given[name]):
            words += [option, _written(name, value)]
    needed = int(given["budget"]) + AFTER_THE_BUDGET
    return a_pod_run(given, WORKER, words, deadline=max(DEADLINE, needed))


def _values(given: Any) -> tuple[Any, ...]:
    """Give the values of an option: several if it may be repeated, none without it."""
    if isinstance(given, tuple):
        return given
    return () if given is None else (given,)


def _written(name: str, value: Any) -> str:
    return f"{value:g}s" if name == "budget" else str(value)


def _check(differential: click.Context) -> None:
    """Reject options that the pods cannot have."""
    source = differential.get_parameter_source("kueue_src")
    if source is ParameterSource.COMMANDLINE:
        raise click.UsageError(
            "--kueue-src and --on-cluster exclude each other: the pods have the Kueue of the image"
        )
    for name, option in (("shard", "--shard"), ("kept", "--keep")):
        if differential.params[name]:
            raise click.UsageError(f"{option} and --on-cluster exclude each other")


def run_in_pods(differential: click.Context) -> int:
    """Run the Job, join what its pods found, and give the exit code."""
    given = differential.params
    pods = collected(pod_run(differential), given, "kueue-dra differential")
    code, faults = joined(pods, given["report_dir"], given["log"])
    for line in faults:
        click.echo(f"kueue-dra: {line}", err=True)
    return code


def joined(
    pods: PodResults, folder: Path, log: Path | None = None
) -> tuple[int, list[str]]:
    """Join what the pods found; give the exit code, and why a part has no result.

    Raises:
        CliError: no part has a result.

    """
    faults = lacking(pods)
    parts: dict[str, Files] = {}
    for index, text in sorted(pods.logs.items()):
        name = f"part {index + 1} of {pods.run.pods}"
        try:
            parts[name] = files_of_log(text, name)
        except CliError as fault:
            faults += fault.lines
    if not parts:
        raise CliError(faults)
    return join_parts(parts, folder, log), faults
