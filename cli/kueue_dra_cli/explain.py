"""``kueue-dra explain``: from the claims of a Job to the verdict, each step with the requirements it follows from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.inputs import report_problems, world_of
from kueue_dra_cli.options import (
    behaviour_option,
    cel_option,
    configuration_option,
    files_option,
    gates_option,
    output_option,
)
from kueue_dra_cli.printing import as_json
from kueue_dra_ref.requirements.catalogue import catalogue
from kueue_dra_ref.simulation.explanation import Explanation, explained, outcome
from kueue_dra_ref.simulation.run import SimulationResult

EPILOG = """\
\b
Examples
  kueue-dra explain -f my-manifests/
  kueue-dra explain -f queues.yaml -f job.yaml --config kueue-config.yaml my-namespace/my-job --texts

\b
Exit codes
  0  everything was taken and is explained, whatever the verdict
  2  as for simulate; or no Job or Workload has the name
"""


@click.command("explain", epilog=EPILOG)
@files_option
@click.argument("job", default="", metavar="[JOB]")
@configuration_option
@behaviour_option
@gates_option
@click.option(
    "--texts", is_flag=True, help="Print the sentences of the requirements as well."
)
@click.option(
    "--allow-missing",
    is_flag=True,
    help="Exit with 0 when an object names a queue, flavor or template that is missing.",
)
@cel_option
@output_option("text", "json")
def command(
    files: tuple[Path, ...],
    job: str,
    configuration: Path | None,
    behaviour: str,
    gates: Mapping[str, bool],
    texts: bool,
    allow_missing: bool,
    output: str,
) -> None:
    """Show step by step how the decision on each Job came about.

    The manifests are played as by simulate. For JOB (NAME or NAMESPACE/NAME of a Job or Workload), or for all of them,
    you see which class is asked for, which resource it is charged to, count times pods, what is left of the quota, and
    the verdict. In brackets stand the requirements that each step follows from: kueue-dra requirements ID.
    """
    world = world_of(files, configuration, behaviour, gates)
    played = world.play()
    found = _chosen(
        [explained(played.target, each) for each in played.workloads], job, played
    )
    if output == "json":
        as_json([_as_json(each, texts=texts) for each in found])
    else:
        click.echo(
            "\n\n".join(_as_text(each) for each in found) or "no Workload came about"
        )
        _print_texts(found if texts else ())
    raise SystemExit(report_problems(world, played, allow_missing=allow_missing))


def _chosen(
    found: Sequence[Explanation], wanted: str, played: SimulationResult
) -> Sequence[Explanation]:
    namespace, _, name = wanted.rpartition("/")
    chosen = [
        each
        for each in found
        if name in ("", each.job, each.workload)
        and (not namespace or namespace == each.namespace)
    ]
    if chosen or not wanted:
        return chosen
    if alone := [why for job, why in played.unmanaged if name == job.ref.name]:
        raise CliError([f"Job {wanted} {alone[0]}, so Kueue decides nothing on it"])
    refused = [
        str(finding.error)
        for finding in played.refused
        if finding.given.ref.name == name
    ]
    known = (
        ", ".join(f"{each.namespace}/{each.job or each.workload}" for each in found)
        or "none"
    )
    raise CliError(
        [f"{wanted}: {error}" for error in refused]
        or [f"found no Job or Workload {wanted}; there is: {known}"]
    )


def _as_text(found: Explanation) -> str:
    word, reason = outcome(found.verdict)
    queue = (
        f"ClusterQueue {found.cluster_queue}"
        if found.cluster_queue
        else f"LocalQueue {found.queue or '(none)'}"
    )
    head = f"{found.namespace}/{found.job or found.workload} → {queue}: {word}{f', {reason}' if reason else ''}"
    cites = (
        f"   [{', '.join(step.requirements)}]" if step.requirements else ""
        for step in found.steps
    )
    steps = [
        f"  {number}. {step.text}{ids}"
        for number, (step, ids) in enumerate(zip(found.steps, cites, strict=True), 1)
    ]
    return "\n".join((head, *steps))


def _print_texts(found: Iterable[Explanation]) -> None:
    cited = dict.fromkeys(
        id_ for each in found for step in each.steps for id_ in step.requirements
    )
    for id_ in cited:
        requirement = catalogue()[id_]
        click.echo(
            f"\n{id_} ({requirement.level}; {requirement.source})\n  {requirement.text}"
        )


def _as_json(found: Explanation, *, texts: bool) -> dict[str, Any]:
    word, reason = outcome(found.verdict)
    steps = [
        {"text": step.text, "requirements": list(step.requirements)}
        for step in found.steps
    ]
    cited = sorted({id_ for step in found.steps for id_ in step.requirements})
    return {
        "namespace": found.namespace,
        "workload": found.workload,
        "job": found.job or None,
        "localQueue": found.queue,
        "clusterQueue": found.cluster_queue or None,
        "verdict": word,
        "reason": reason,
        "message": found.message,
        "devices": dict(found.devices),
        "steps": steps,
    } | (
        {"requirements": {id_: catalogue()[id_].text for id_ in cited}} if texts else {}
    )
