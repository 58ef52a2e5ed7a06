"""``kueue-dra explain``: explain a decision from the claims to the verdict, with the requirements of each step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.inputs import api_server, simulation_of
from kueue_dra_cli.notes import report_problems, work_lines
from kueue_dra_cli.options import (
    allow_missing_option,
    behaviour_option,
    cel_option,
    configuration_option,
    files_option,
    from_scratch_option,
    gates_option,
    kubernetes_options,
    namespace_option,
    output_option,
)
from kueue_dra_cli.printing import as_json
from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.requirements.catalogue import catalogue
from kueue_dra_ref.simulation.cluster_state import explanations
from kueue_dra_ref.simulation.explanation import Explanation, outcome
from kueue_dra_ref.simulation.not_considered import InputNotes
from kueue_dra_ref.simulation.run import SimulationResult

_KINDS = {
    **{each.name.lower(): each.name for each in JOB_KINDS.values()},
    **{each.plural: each.name for each in JOB_KINDS.values()},
    "workload": "Workload",
    "workloads": "Workload",
    "wl": "Workload",
}
"""The kinds before a name, as kubectl takes them."""
EPILOG = """\
\b
Examples
  kueue-dra explain -f my-manifests/
  kueue-dra explain -f dump.yaml -n my-namespace job/my-job
  kueue-dra explain -f queues.yaml -f job.yaml --config kueue-config.yaml my-namespace/my-job --texts

\b
Exit codes
  0  every object was accepted and is explained, whatever its verdict
  2  as for simulate, or no Job or Workload has the name
"""


@click.command("explain", epilog=EPILOG)
@files_option
@click.argument("job", default="", metavar="[JOB]")
@namespace_option
@from_scratch_option
@configuration_option
@behaviour_option
@gates_option
@click.option(
    "--texts", is_flag=True, help="Print the sentence of each requirement too."
)
@allow_missing_option
@kubernetes_options
@cel_option
@output_option("text", "json")
def command(
    files: tuple[Path, ...],
    job: str,
    namespace: str,
    from_scratch: bool,
    configuration: Path | None,
    behaviour: str,
    gates: Mapping[str, bool],
    texts: bool,
    allow_missing: bool,
    kubernetes: str,
    kubernetes_gates: Mapping[str, bool],
    only_served: bool,
    output: str,
) -> None:
    """Explain the decision on each Job, step by step.

    Input and options are those of simulate. JOB is a Job or Workload as kubectl shows it: NAME, NAMESPACE/NAME,
    job/NAME or workload/NAME; the default is all. The steps show the requested device class, the resource that Kueue
    charges, the count times pods, the quota that is left, and the verdict. In a dump of a running cluster they also
    show which workloads hold the quota, and where the cluster decided otherwise. Each step ends with the IDs of its
    requirements: see kueue-dra requirements ID.
    """
    simulation = simulation_of(
        files, configuration, behaviour, gates, from_scratch=from_scratch
    )
    server = api_server(simulation, kubernetes, kubernetes_gates, only_served)
    result = simulation.run(server, allow_missing=allow_missing)
    every = explanations(result)
    wanted = _named(job, namespace)
    found = [each for each in every if wanted.is_name_of(each)]
    notes = simulation.notes(result)
    if job and not found:
        raise CliError(_not_found(every, wanted, result, notes))
    found = [_with_notes(each, notes) for each in found]
    if output == "json":
        as_json([_as_json(each, texts=texts) for each in found])
    else:
        _print(found, texts=texts)
    code = report_problems(simulation, result, notes, allow_missing=allow_missing)
    raise SystemExit(code)


def _with_notes(found: Explanation, notes: InputNotes) -> Explanation:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """The Job or Workload that the command line names; empty fields match any."""

    kind: str
    namespace: str
    name: str

    def is_name_of(self, found: Explanation) -> bool:
        """Whether this names an explanation's Job or Workload."""
        if self.namespace not in ("", found.namespace):
            return False
        if not self.name:
            return True
        by_kind = {found.kind: [found.job], "Workload": [found.workload]}
        return self.name in by_kind.get(self.kind, [found.job, found.workload])

    @property
    def shown(self) -> str:
        """The name for messages."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def _named(written: str, namespace: str) -> _Wanted:
    """Read a name as kubectl shows it: NAME, NAMESPACE/NAME, job/NAME or workload/NAME."""
    first, slash, name = written.rpartition("/")
    kind = _KINDS.get(first.lower().partition(".")[0], "") if slash else ""
    if slash and not kind:
        namespace = first
    return _Wanted(kind=kind, namespace=namespace, name=name)


def _reasons(wanted: _Wanted, result: SimulationResult) -> list[str]:
    """Say why Kueue manages no Job of a name, or why the API server rejects it; empty for an unknown name."""
    for job, why in result.unmanaged:
        if wanted.name == job.ref.name:
            return [f"{job.ref.kind} {wanted.shown} {why}, so Kueue does not manage it"]
    rejected = [each for each in result.refused if each.given.ref.name == wanted.name]
    return [f"{wanted.shown}: {finding.error}" for finding in rejected]


def _not_found(
    every: Sequence[Explanation],
    wanted: _Wanted,
    result: SimulationResult,
    notes: InputNotes,
) -> list[str]:
    """Give the reason why there is no decision on a Job or Workload."""
    work = [each for each in notes.work if each.name == wanted.name]
    if work:
        return list(work_lines(result, work))
    reasons = _reasons(wanted, result)
    if reasons:
        return reasons
    known = [f"{each.namespace}/{each.job or each.workload}" for each in every]
    return [
        f"found no Job or Workload {wanted.shown}; known: {', '.join(known) or 'none'}"
    ]


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
        "devices": {name: _amount(text) for name, text in found.devices.items()},
        "steps": steps,
    } | (
        {"requirements": {id_: catalogue()[id_].text for id_ in cited}} if texts else {}
    )
