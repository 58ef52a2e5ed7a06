"""Explains the decision of the reference about a workload that differs from a real Kueue: its steps, with IDs."""

from __future__ import annotations

from itertools import islice

from kueue_dra_differential.oracle import Comparison
from kueue_dra_ref.api.job_kinds import owner_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.reference.replay import replaying
from kueue_dra_ref.scenarios.observation import KUEUE
from kueue_dra_ref.simulation.explanation import explained
from kueue_dra_ref.target import Manifest


def explanation(outcome: Comparison, behaviour: Behaviour) -> list[str]:
    """Explain the workload that differs, after the step that differs; empty for a difference of a queue."""
    if outcome.difference is None:
        return []
    path = outcome.difference.path
    kind, _, rest = path.partition(".")
    if kind != "workloads":
        return []
    target, answers = replaying(outcome.scenario, behaviour)
    list(islice(answers, outcome.step))
    lines = []
    for workload in target.list(KUEUE, "Workload"):
        name = _name(workload)
        if not rest.startswith(f"{name}."):
            continue
        for step in explained(target, workload).steps:
            line = _line(step)
            lines.append(line)
    return lines


def _line(step: Step) -> str:
    if not step.requirements:
        return step.text
    requirements = ", ".join(step.requirements)
    return f"{step.text} [{requirements}]"


def _name(workload: Manifest) -> str:
    owner = owner_of(workload)
    return owner[1] if owner else str(workload["metadata"]["name"])
