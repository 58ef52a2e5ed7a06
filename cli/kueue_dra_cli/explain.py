"""``kueue-dra explain``: explain a decision from the claims to the verdict, with the requirements of each step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.notes import work_lines
from kueue_dra_cli.options import files_option, namespace_option, output_option
from kueue_dra_cli.pending_json import state_as_json
from kueue_dra_cli.printing import as_json
from kueue_dra_cli.progress import doing
from kueue_dra_cli.simulation_options import SimulationOptions, simulation_options
from kueue_dra_cli.workload_names import (
    WorkName,
    not_found,
    the_only,
    work_name,
    work_of,
)
from kueue_dra_ref.controlplane.store import key_of
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.reference.checkpoint import Checkpoint
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.requirements.catalogue import catalogue
from kueue_dra_ref.simulation.cluster_state import (
    as_in_cluster,
    difference,
    explanations,
    holder_steps,
)
from kueue_dra_ref.simulation.explanation import Explanation, outcome
from kueue_dra_ref.simulation.not_considered import InputNotes
from kueue_dra_ref.simulation.pending_state import PendingState, pending_state
from kueue_dra_ref.simulation.run import SimulationResult
from kueue_dra_ref.simulation.trials import Again

EPILOG = """\
\b
Examples
  kueue-dra explain -f my-manifests/
  kueue-dra explain -f dump.yaml -n my-namespace job/my-job
  kueue-dra explain --context prod my-namespace/my-job
  kueue-dra explain -f queues.yaml -f job.yaml --config kueue-config.yaml my-namespace/my-job --texts

\b
Exit codes
  0  every object was accepted and is explained, whatever its verdict
  2  as for simulate, or no Job or Workload has the name, or several have
"""


@click.command("explain", epilog=EPILOG)
@files_option
@click.argument("job", default="", metavar="[JOB]")
@namespace_option
@simulation_options
@click.option(
    "--texts", is_flag=True, help="Print the sentence of each requirement too."
)
@output_option("text", "json")
def command(
    files: tuple[Path, ...],
    job: str,
    namespace: str,
    options: SimulationOptions,
    texts: bool,
    output: str,
) -> None:
    """Explain the decision on each Job, step by step.

    Input and options are those of simulate. JOB is a Job, a Workload or a pod of a Job as kubectl shows it: NAME,
    NAMESPACE/NAME, job/NAME, workload/NAME or pod/NAME; the default is all. The steps show the requested device class,
    the resource that Kueue charges, the count times pods, the quota that is left, and the verdict. For a pending
    workload that is named they also show its place in the queue, which workloads hold the quota, and what would admit
    it: which quota to raise and by how much, or which workloads have to end. Each change was tried on the reference. In
    a dump of a running cluster the steps also show where the cluster decided otherwise. Each step ends with the IDs of
    its requirements: see kueue-dra requirements ID.
    """
    simulated = options.simulated(options.read(files))
    result = simulated.result
    found = _found(result, simulated.notes, work_name(job, namespace))
    if output == "json":
        differs = _differences(result)
        as_json([_as_json(*each, differs, texts=texts) for each in found])
    else:
        _print([explanation for explanation, _ in found], texts=texts)
    raise SystemExit(simulated.report_problems())


def _found(
    result: SimulationResult,
    notes: InputNotes,
    wanted: WorkName,
) -> list[tuple[Explanation, PendingState | None]]:
    """Explain the work that the command line names, with its state if it is pending; all work without a name."""
    every = explanations(result)
    stored = result.stored
    if wanted.name:
        (selected,) = _selected(every, wanted, result, notes)
        found, state = _with_state(result, selected)
        return [(with_notes(as_in_cluster(stored, found), notes), state)]
    inside = [each for each in every if wanted.namespace in ("", each.namespace)]
    return [(with_notes(as_in_cluster(stored, each), notes), None) for each in inside]


def with_notes(found: Explanation, notes: InputNotes) -> Explanation:
    """Add a last step that names what is not considered."""
    about = notes.about(found)
    if not about:
        return found
    step = Step(requirements=(), text=f"not considered: {'; '.join(about)}")
    return replace(found, steps=(*found.steps, step))


def _print(found: Sequence[Explanation], *, texts: bool) -> None:
    explanations = [_as_text(each) for each in found]
    click.echo("\n\n".join(explanations) or "no Workload was created")
    if texts:
        _print_texts(found)


def _selected(
    every: Sequence[Explanation],
    wanted: WorkName,
    result: SimulationResult,
    notes: InputNotes,
) -> list[Explanation]:
    """Give the explanation of the work that the command line names.

    Raises:
        CliError: none has the name, or several have.

    """
    work = work_of(result)
    if not wanted.matches(work):
        known = _no_decision(wanted, result, notes)
        raise CliError(known or [not_found(wanted, work)])
    key = the_only(wanted, work).key
    return [each for each in every if (each.namespace, each.workload) == key]


def _no_decision(
    wanted: WorkName, result: SimulationResult, notes: InputNotes
) -> list[str]:
    """Give the reason why there is no decision on work that was given; empty if none was."""
    work = [each for each in notes.work if each.name == wanted.name]
    if work:
        return list(work_lines(result, work))
    for job, why in result.unmanaged:
        if wanted.name == job.ref.name:
            return [f"{job.ref.kind} {wanted.shown} {why}, so Kueue does not manage it"]
    rejected = [each for each in result.refused if each.given.ref.name == wanted.name]
    return [f"{wanted.shown}: {finding.error}" for finding in rejected]


def _with_state(
    result: SimulationResult, found: Explanation
) -> tuple[Explanation, PendingState | None]:
    """Add to an explanation of a pending workload its place in the queue and what would admit it."""
    state = pending_state(result, _trial_targets(result), found)
    if state is None:
        return found, None
    steps = [*found.steps]
    if not result.restored:
        steps += holder_steps(state.kueue, found)
    return replace(found, steps=(*steps, *state.steps)), state


def _trial_targets(result: SimulationResult) -> Again:
    """Give what copies the decided cluster for each trial; a terminal shows the number of the trial."""
    checkpoints: list[Checkpoint] = []
    numbers = count(1)

    def again() -> ReferenceTarget:
        doing(f"trial {next(numbers)}")
        if not checkpoints:
            checkpoints.append(Checkpoint(result.target))
        return checkpoints[0].copy()

    return again


def _differences(result: SimulationResult) -> dict[Key, dict[str, str]]:
    """Give what the cluster decided otherwise, with both sides, by Workload."""
    found = {}
    stored = result.stored
    for each in result.workloads:
        key = key_of(each)
        sides = difference(stored.get(key), each)
        if sides:
            cluster, reference = sides
            found[key] = {"cluster": cluster, "reference": reference}
    return found


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


def _amount(text: str) -> int | str:
    """Give an amount without a unit as a number."""
    return int(text) if text.isdecimal() else text


def _as_json(
    found: Explanation,
    state: PendingState | None,
    differs: Mapping[Key, dict[str, str]],
    *,
    texts: bool,
) -> dict[str, Any]:
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
        "devices": {name: _amount(text) for name, text in found.devices.items()},
        "steps": steps,
        "clusterDiffers": differs.get((found.namespace, found.workload)),
        **(state_as_json(state) if state else {}),
    } | (
        {"requirements": {id_: catalogue()[id_].text for id_ in cited}} if texts else {}
    )
