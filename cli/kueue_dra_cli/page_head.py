"""What a page says of the input of its command: the files or the context, the rules, and how to ask for more."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from kueue_dra_cli.inputs import Simulation
from kueue_dra_cli.notes import problems
from kueue_dra_ref.simulation.not_considered import InputNotes
from kueue_dra_ref.simulation.run import SimulationResult
from kueue_dra_reports.cluster_page.view import PageHead

_OPTIONS = (
    "context",
    "kubeconfig",
    "configuration",
    "behaviour",
    "gates",
    "allow_missing",
    "kubernetes",
    "kubernetes_gates",
    "only_served",
    "from_scratch",
)
"""The parameters that a command has in common with explain."""


def page_head(
    simulation: Simulation,
    result: SimulationResult,
    notes: InputNotes,
    files: Sequence[Path],
    change: str = "",
) -> PageHead:
    """Describe the input of a command; ``change`` is what the command line changes."""
    source = _source(files)
    allow_missing = bool(click.get_current_context().params["allow_missing"])
    found = problems(simulation, result, notes, allow_missing=allow_missing)
    return PageHead(
        source=f"{source} with {change}" if change else source,
        behaviour=simulation.behaviour.name,
        notes=list(found),
        explain="" if change else _explain(files),
    )


def _source(files: Sequence[Path]) -> str:
    """Name the cluster and the files that a command reads."""
    params = click.get_current_context().params
    named = []
    if params["context"]:
        named.append(f"context {params['context']}")
    elif params["kubeconfig"]:
        named.append(f"the current context of {params['kubeconfig']}")
    for each in files:
        named.append("standard input" if str(each) == "-" else str(each))
    return ", ".join(named)


def _explain(files: Sequence[Path]) -> str:
    """Give the command line of explain for the same input; empty if it cannot be read again."""
    if any(str(each) == "-" for each in files):
        return ""
    words = ["kueue-dra", "explain"]
    for each in files:
        words += ["-f", str(each)]
    context = click.get_current_context()
    for param in context.command.params:
        source = context.get_parameter_source(param.name or "")
        if param.name in _OPTIONS and source is not ParameterSource.DEFAULT:
            words += _written(param.opts[0], context.params[param.name])
    return shlex.join(words)


def _written(option: str, value: Any) -> list[str]:
    """Write an option as the command line has it."""
    if value is True:
        return [option]
    if isinstance(value, dict):
        gates = [f"{name}={str(on).lower()}" for name, on in value.items()]
        return [option, ",".join(gates)]
    return [option, str(value)]
