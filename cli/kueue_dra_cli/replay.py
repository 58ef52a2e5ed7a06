"""``kueue-dra replay``: replay recorded scenarios on the reference, and compare with what a real Kueue showed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from kueue_dra_cli.errors import CliError, readable
from kueue_dra_cli.options import BehaviourChoice, cel_option, output_option
from kueue_dra_cli.printing import as_json_line, as_table
from kueue_dra_ref.behaviours import NAMES, UnknownBehaviour
from kueue_dra_ref.behaviours import behaviour as behaviour_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.releases import KUEUE
from kueue_dra_ref.explain.step import named
from kueue_dra_ref.reference.replay import answers, completed
from kueue_dra_ref.scenarios.diff import Difference, difference
from kueue_dra_ref.scenarios.files import scenarios
from kueue_dra_ref.scenarios.playback import ConfigurationRejected
from kueue_dra_ref.scenarios.scenario import Observation, Scenario, is_comparable

EPILOG = """\
\b
Examples
  kueue-dra replay recorded.jsonl                how many steps agree
  kueue-dra replay --check recorded.jsonl        which differ, and where
  kueue-dra replay -o json story.yaml            what the reference shows after each step

\b
Exit codes
  0  replayed; with --check: every recorded step agrees
  1  with --check: a step differs, or no step was recorded
  2  a file cannot be read, or does not hold scenarios
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """One scenario and its result; the first step is number 1."""

    scenario: Scenario
    observations: tuple[Observation, ...]
    refused: str = ""
    """Why the reference rejected its Configuration."""
    skipped: tuple[int, ...] = ()
    """The steps that cannot be compared: not settled, recorded with two results, or not recorded."""
    differing: Mapping[int, Difference]
    """The first difference of each step that differs."""

    @property
    def agreeing(self) -> int:
        """The number of steps that agree."""
        if self.refused:
            return 0
        return len(self.scenario.steps) - len(self.skipped) - len(self.differing)

    @property
    def compared(self) -> int:
        """The number of compared steps."""
        return self.agreeing + len(self.differing)


@click.command("replay", epilog=EPILOG)
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@click.option(
    "--check",
    is_flag=True,
    help="Compare with the recorded observations; exit with 1 on any difference.",
)
@click.option(
    "--behaviour",
    type=BehaviourChoice(),
    help="The KEP text or Kueue release that decides. Default: the release that the scenario was recorded on.",
)
@cel_option
@output_option("table", "json")
def command(
    files: tuple[Path, ...], check: bool, behaviour: str | None, output: str
) -> None:
    """Replay recorded scenarios and compare what is observed.

    A scenario is a file of manifests: a Configuration, steps that apply, delete and touch objects, and what a real
    Kueue showed after each step. FILE holds one scenario per line (.jsonl or .jsonl.gz), or YAML documents; - is the
    standard input. The comparison is exact for the status and reason of conditions, by value for quantities, and
    ignores UIDs and the texts of CEL engines in messages. It skips steps that were recorded as unsettled, or with two
    results. Kueue up to 0.18 checks resources in random order and reports the first that can never fit: the reference
    then uses the recorded order.

    With -o json, each scenario is one JSON object on a line: its name and the observations, or with --check the numbers
    of agreeing, differing and skipped steps, and the first difference of each step that differs.
    """
    found = []
    for replay in _replays(files, behaviour):
        found.append(replay)
        if output == "json":
            as_json_line(_checked(replay) if check else _observed(replay))
        elif check:
            _print_check(replay)
    if output == "table":
        _print_sum(found, detailed=check)
    raise SystemExit(1 if check and not _all_agree(found) else 0)


def _replays(files: Sequence[Path], behaviour: str | None) -> Iterator[Replay]:
    for file in files:
        for scenario in _scenarios(file):
            yield _replayed(scenario, _behaviour(scenario, behaviour))


def _all_agree(found: Sequence[Replay]) -> bool:
    """Whether no step differs, and at least one was compared."""
    if any(each.differing for each in found):
        return False
    return any(each.agreeing for each in found)


def _scenarios(file: Path) -> Iterator[Scenario]:
    with readable():
        yield from scenarios(file)


def _behaviour(scenario: Scenario, named: str | None) -> Behaviour:
    """Give the named behaviour, or that of the recorded release, or the default."""
    version = scenario.kueue.removeprefix("v")
    try:
        return behaviour_of(
            named
            or scenario.behaviour
            or (f"{KUEUE}{version}" if version else NAMES[0])
        )
    except UnknownBehaviour as fault:
        recorded = scenario.behaviour or f"Kueue {scenario.kueue}"
        raise CliError(
            [
                f"{scenario.name}: recorded on {recorded}: {fault}; name one with --behaviour"
            ]
        ) from None


def _replayed(scenario: Scenario, behaviour: Behaviour) -> Replay:
    try:
        found = answers(completed(scenario, behaviour), behaviour)
        return _compared(scenario, tuple(found))
    except ConfigurationRejected as refused:
        faults = "; ".join(map(str, refused.faults))
        difference_ = Difference(
            path="configuration", ours=f"refused: {faults}", recorded="accepted"
        )
        return Replay(
            scenario=scenario,
            observations=(),
            refused=faults,
            differing={1: difference_},
        )


def _compared(scenario: Scenario, observations: tuple[Observation, ...]) -> Replay:
    known = {
        number
        for number, each in enumerate(scenario.recorded, 1)
        if is_comparable(each)
    }
    pairs = enumerate(zip(observations, scenario.recorded, strict=False), 1)
    found = {number: difference(*pair) for number, pair in pairs if number in known}
    differing = {number: each for number, each in found.items() if each}
    steps, recorded = len(scenario.steps), len(scenario.recorded)
    if recorded > steps:
        differing[steps] = Difference(
            path="number of observations", ours=steps, recorded=recorded
        )
    skipped = tuple(number for number in range(1, steps + 1) if number not in known)
    return Replay(
        scenario=scenario,
        observations=observations,
        skipped=skipped,
        differing=differing,
    )


def _observed(replay: Replay) -> dict[str, Any]:
    refused = {"refused": replay.refused} if replay.refused else {}
    return {
        "name": replay.scenario.name,
        "observations": list(replay.observations),
        **refused,
    }


def _checked(replay: Replay) -> dict[str, Any]:
    differing = [
        {
            "step": number,
            "path": each.path,
            "ours": each.ours,
            "recorded": each.recorded,
        }
        for number, each in replay.differing.items()
    ]
    counts = {
        "steps": len(replay.scenario.steps),
        "agreeing": replay.agreeing,
        "differing": len(differing),
    }
    return {
        "name": replay.scenario.name,
        **counts,
        "skipped": len(replay.skipped),
        "differences": differing,
    }


def _print_check(replay: Replay) -> None:
    word = (
        "differs"
        if replay.differing
        else "agrees"
        if replay.agreeing
        else "nothing recorded"
    )
    click.echo(
        f"{replay.scenario.name}: {word}, {replay.agreeing} of {len(replay.scenario.steps)} steps agree"
    )
    for number, each in replay.differing.items():
        click.echo(f"  step {number}: {each}")


def _print_sum(found: Sequence[Replay], *, detailed: bool) -> None:
    rows = [
        (len(e.scenario.steps), e.agreeing, len(e.differing), len(e.skipped))
        for e in found
    ]
    total = tuple(map(sum, zip(*rows, strict=True))) or (0, 0, 0, 0)
    if detailed:
        click.echo(
            f"{_agreeing(total[1])}, {total[2]} differ, {total[3]} skipped, in {named(len(rows), 'scenario')}"
        )
    else:
        table = [
            (each.scenario.name, *row) for each, row in zip(found, rows, strict=True)
        ]
        as_table(
            ("scenario", "steps", "agreeing", "differing", "skipped"),
            [*table, ("total", *total)],
        )


def _agreeing(steps: int) -> str:
    return "1 step agrees" if steps == 1 else f"{steps} steps agree"
