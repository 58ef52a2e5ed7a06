"""The command that repeats a run of ``kueue-dra run`` where it was started."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

import click
from click.core import ParameterSource

ALWAYS = ("target", "behaviour", "intent")
"""Options that the command has even if the user left them out, because defaults change."""
LEFT_OUT = (
    "report_dir",
    "scenario_dir",
    "verbose",
    "rerun_failed",
)
"""What changes no result, and a report that this run may have replaced: its cases are named."""


def command_of(run: click.Context, chosen: Sequence[str], behaviour: str) -> str:
    """Give the command line of a run; ``chosen`` are its suites or cases; on a cluster the release is found."""
    return shlex.join(["kueue-dra", "run", *arguments_of(run, chosen, behaviour)])


def arguments_of(
    run: click.Context,
    chosen: Sequence[str],
    behaviour: str,
    left_out: Sequence[str] = (),
) -> list[str]:
    """Give the arguments of a run without the parameters in ``left_out``."""
    words = list(chosen)
    for option in run.command.params:
        name = option.name or ""
        if not isinstance(option, click.Option) or name in (*LEFT_OUT, *left_out):
            continue
        if name == "behaviour":
            words += [f"--behaviour={behaviour}"] if behaviour else []
        elif _is_needed(run, name):
            value = run.params.get(name, run.meta.get(name))
            words += _words(option, value)
    return words


def _is_needed(run: click.Context, name: str) -> bool:
    if name in ALWAYS:
        return True
    source = run.get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def _words(option: click.Option, value: object) -> Iterator[str]:
    name = max(option.opts, key=len)
    if option.is_flag:
        yield name
        return
    equals = "=" if name.startswith("--") else ""
    if isinstance(value, Mapping):
        value = [f"{gate}={str(on).lower()}" for gate, on in value.items()]
    values = value if option.multiple else [value]
    assert isinstance(values, Sequence)
    for one in values:
        yield f"{name}{equals}{one}"
