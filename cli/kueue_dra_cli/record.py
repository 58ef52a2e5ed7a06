"""``kueue-dra record`` and ``kueue-dra shrink``: record a scenario on a real Kueue, and reduce it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from kueue_dra_cli.errors import CliError, readable
from kueue_dra_cli.inputs import simulation_of
from kueue_dra_cli.notes import not_recorded
from kueue_dra_cli.options import (
    configuration_option,
    files_option,
    gates_option,
    target_option,
)
from kueue_dra_cli.own_kueue import source_option
from kueue_dra_cli.release_option import (
    any_minor_option,
    behaviour_of,
    recorded_minor,
    recorded_minor_option,
)
from kueue_dra_clusters.binaries import binaries
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.waiting import TimedOut
from kueue_dra_differential.interrupt import tries
from kueue_dra_differential.oracle import Comparison, Oracle, OutcomeKind
from kueue_dra_differential.run import Worker
from kueue_dra_differential.shrink import smallest
from kueue_dra_differential.unsettled_target import UnsettledTarget
from kueue_dra_ref.api.job_kinds import SUBMITTED
from kueue_dra_ref.api.queued_pods import THROUGH_PODS
from kueue_dra_ref.api.yaml_text import written
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.replay import answers, completed, explicit
from kueue_dra_ref.scenarios.files import scenarios
from kueue_dra_ref.scenarios.playback import ConfigurationRejected
from kueue_dra_ref.scenarios.scenario import Scenario, as_document
from kueue_dra_ref.target import Manifest

RECORD_EPILOG = """\
\b
Examples
  kueue-dra record -f my-manifests/ > story.yaml       what a real Kueue does with these objects
  kueue-dra record story.yaml --kueue 0.18 -o old.yaml what another release does with the same scenario
  kueue-dra record story.yaml --kueue-src ../kueue     what your checkout of Kueue does
  kueue-dra record story.yaml --target reference       what the reference does, in memory
  kueue-dra replay --check story.yaml                  whether the reference does the same

\b
Exit codes
  0  recorded
  2  no real Kueue can be started, or a file cannot be read
"""
SHRINK_EPILOG = """\
\b
Examples
  kueue-dra shrink out/differential/differs-70000-3-1.yaml -o smallest.yaml

\b
Exit codes
  0  the output is the smallest scenario that still differs, with the real Kueue's observations,
     or that still makes the real Kueue exit, with the end of its log
  1  nothing differs, so there is nothing to shrink
  2  no real Kueue can be started, or the file cannot be read
"""
FIRST = frozenset(
    {"DeviceClass", "ResourceSlice", "WorkloadPriorityClass", "PriorityClass"}
)
"""Kinds that exist before the first step of a recorded scenario."""
LAST = SUBMITTED
"""Kinds of which each object is a separate step."""


def _reachable(_: click.Context, __: click.Parameter, file: Path | None) -> Path | None:
    """Reject a file that cannot be created, before the scenario runs."""
    if (
        file is None
        or file.exists()
        or (file.parent.is_dir() and os.access(file.parent, os.W_OK))
    ):
        return file
    raise click.BadParameter(f"found no folder {file.parent} to write {file.name} to")


output_file = click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    callback=_reachable,
    metavar="FILE",
    help="The output file; standard output by default.",
)


@click.command("record", epilog=RECORD_EPILOG)
@click.argument(
    "stories", nargs=-1, type=click.Path(path_type=Path), metavar="[SCENARIO]..."
)
@files_option
@configuration_option
@gates_option
@target_option(
    "kueue",
    "reference",
    text="What decides: a real Kueue, or the reference with the behaviour of that release.",
)
@any_minor_option
@source_option
@output_file
def record(
    stories: tuple[Path, ...],
    files: tuple[Path, ...],
    configuration: Path | None,
    gates: Mapping[str, bool],
    target: str,
    minor: str,
    output: Path | None,
) -> None:
    """Run a scenario on a real Kueue and record what it shows after each step.

    The input is a scenario file, or plain manifests with -f: then each Job or Workload is a step of its own, after a
    step for all other objects. The output is a scenario that anyone can replay, for example for an issue of Kueue. A
    step after which Kueue does not settle is marked as unsettled. The command writes each scenario as soon as it is
    recorded: those before an error, or before Ctrl-C, are kept.
    """
    behaviour = behaviour_of(minor)
    given = [completed(each, behaviour) for file in stories for each in _read(file)]
    if files:
        given.append(_from_manifests(files, configuration, behaviour, gates))
    if not given:
        raise CliError(
            ["nothing to record: name a scenario file, or manifests with -f"]
        )
    recorded = _by_reference if target == "reference" else _by_kueue
    for number, document in enumerate(recorded(behaviour, given), 1):
        _write(document, output, further=number > 1)
        if len(given) > 1:
            click.echo(
                f"recorded {number} of {len(given)}: {document['metadata']['name']}",
                err=True,
            )


@click.command("shrink", epilog=SHRINK_EPILOG)
@click.argument("file", type=click.Path(path_type=Path))
@recorded_minor_option
@source_option
@output_file
def shrink(file: Path, minor: str | None, output: Path | None) -> None:
    """Reduce a scenario to the smallest on which the reference and a real Kueue still differ.

    The command leaves out steps and objects one after another, and runs each attempt on both targets, so it takes a
    while. The result differs in the same place. A scenario in which the real Kueue exits is reduced to the smallest in
    which it still exits. Ctrl-C ends the search, and the command writes the smallest scenario so far.
    """
    (scenario, *others) = _read(file)
    if others:
        raise CliError([f"{file}: found {1 + len(others)} scenarios; expected one"])
    with _real(behaviour_of(minor or recorded_minor(scenario.kueue))) as worker:
        first = worker.alone(scenario)
        if first.kind not in (OutcomeKind.DIFFERS, OutcomeKind.ENDED):
            click.echo(
                f"{scenario.name}: {first.kind}; {first.trouble or 'nothing to shrink'}",
                err=True,
            )
            raise SystemExit(1)
        with tries() as going_on:
            found = smallest(first, worker.alone, going_on=going_on)
    _write(as_document(found.scenario, **_why(found)), output)


def _why(found: Comparison) -> Mapping[str, Any]:
    """Give the difference, or the end of the log of a Kueue that exited, for the file."""
    if found.difference is None:
        return {"trouble": found.trouble}
    place = {"reference": found.difference.ours, "kueue": found.difference.recorded}
    return {"difference": {"step": found.step, "path": found.difference.path, **place}}


def _by_kueue(behaviour: Behaviour, given: Sequence[Scenario]) -> Iterator[Manifest]:
    with _real(behaviour) as worker:
        oracle = replace(
            worker.oracle, target=UnsettledTarget(worker.oracle.target, _note)
        )
        yield from (as_document(_recorded(oracle, each)) for each in given)


def _note(moving: str) -> None:
    click.echo(f"note: marked as unsettled: {moving}", err=True)


def _recorded(oracle: Oracle, scenario: Scenario) -> Scenario:
    with _reported_errors(scenario):
        (found,) = oracle.recorded([scenario])
    return found


def _by_reference(
    behaviour: Behaviour, given: Sequence[Scenario]
) -> Iterator[Manifest]:
    """Record the scenarios on the reference, which names no release of Kueue."""
    return (as_document(_answered(behaviour, each)) for each in given)


def _answered(behaviour: Behaviour, scenario: Scenario) -> Scenario:
    with _reported_errors(scenario):
        return replace(
            scenario,
            kueue="",
            behaviour=behaviour.name,
            recorded=tuple(answers(scenario, behaviour)),
        )


@contextmanager
def _reported_errors(scenario: Scenario) -> Iterator[None]:
    try:
        yield
    except (ConfigurationRejected, TimedOut) as trouble:
        raise CliError([f"{scenario.name}: {trouble}"]) from None


def _read(file: Path) -> list[Scenario]:
    with readable():
        return list(scenarios(file))


def _from_manifests(
    files: Sequence[Path],
    configuration: Path | None,
    behaviour: Behaviour,
    gates: Mapping[str, bool],
) -> Scenario:
    simulation = simulation_of(files, configuration, behaviour.name, gates)
    for line in not_recorded(simulation):
        click.echo(line, err=True)
    objects = []
    for each in simulation.given:
        if each.ref.kind not in THROUGH_PODS:
            objects.append(each.manifest)
    steps = [
        _of(objects, lambda kind: kind == "Namespace"),
        _of(objects, lambda kind: kind not in FIRST | LAST),
    ]
    steps += [[each] for each in objects if each["kind"] in LAST]
    return Scenario(
        name=files[0].stem,
        configuration=explicit(
            simulation.configuration, behaviour, on=False
        ),  # a scenario without a setting has the gate on
        inventory=tuple(_of(objects, FIRST.__contains__)),
        steps=tuple({"apply": step} for step in steps if step),
    )


def _of(objects: Sequence[Manifest], kinds: Callable[[str], bool]) -> list[Manifest]:
    return [each for each in objects if kinds(each["kind"])]


def _write(document: Manifest, output: Path | None, *, further: bool = False) -> None:
    """Write a scenario to the output; a further one goes below the ones before it."""
    text = written([document])
    if output is None:
        click.echo(text, nl=False)
    else:
        with output.open("a" if further else "w", encoding="utf-8") as file:
            file.write(text)


@contextmanager
def _real(behaviour: Behaviour) -> Iterator[Worker]:
    try:
        with closing(
            Worker(programs=binaries(behaviour.version), behaviour=behaviour)
        ) as worker:
            yield worker
    except ClusterError as trouble:
        raise CliError([str(trouble)]) from None
