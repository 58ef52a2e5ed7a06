"""Why the reference decided as it did about a workload that a real Kueue decided otherwise: its steps, with IDs."""

from __future__ import annotations

from itertools import islice

from kueue_dra_differential.oracle import Comparison
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.replay import replaying
from kueue_dra_ref.scenarios.playback import KUEUE
from kueue_dra_ref.simulation.explanation import explained, job_of
from kueue_dra_ref.target import Manifest


def explanation(outcome: Comparison, behaviour: Behaviour) -> list[str]:
    """Explain the workload that a difference is about, as of the step that differs; nothing for one about a queue."""
    about, _, rest = (
        outcome.difference.path.partition(".") if outcome.difference else ("", "", "")
    )
    if about != "workloads":
        return []
    target, answers = replaying(outcome.scenario, behaviour)
    list(islice(answers, outcome.step))
    found = [
        each
        for each in target.list(KUEUE, "Workload")
        if rest.startswith(f"{_name(each)}.")
    ]
    steps = [step for each in found for step in explained(target, each).steps]
    return [
        f"{step.text} [{', '.join(step.requirements)}]"
        if step.requirements
        else step.text
        for step in steps
    ]


def _name(workload: Manifest) -> str:
    return job_of(workload) or str(workload["metadata"]["name"])
