"""``kueue-dra differential``: generated worlds, on the reference and on a real Kueue, until the time is up."""

from __future__ import annotations

import json
import re
import secrets
import signal
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.release_option import behaviour_of, minor_option
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.waiting import elapsed_since, moment_now
from kueue_dra_differential.explain import explanation
from kueue_dra_differential.oracle import Comparison, OutcomeKind
from kueue_dra_differential.run import running_totals
from kueue_dra_differential.work_queue import Plan, RunTotals
from kueue_dra_ref.api.yaml_text import written
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.scenario import as_document

EPILOG = """\
\b
Examples
  kueue-dra differential                          ten minutes with two real Kueues 0.19
  kueue-dra differential --kueue 0.18 --budget 1h another release, for longer
  kueue-dra differential --seed 7 --worlds 16     the same worlds again

\b
Exit codes
  0  the reference decided as the real Kueue did, races of Kueue with itself apart
  1  it did not, or a real Kueue ended by itself: each world is in a file of its own, to be replayed with
     kueue-dra replay --check
  2  no real Kueue can be had
"""
RED = (OutcomeKind.DIFFERS, OutcomeKind.UNSETTLED, OutcomeKind.UNLAWFUL)
UNITS = {"s": 1, "m": 60, "h": 3600}


class Duration(click.ParamType[float]):
    """A time such as 90s, 10m or 2h, in seconds."""

    name = "TIME"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read it, or say how it is written."""
        if isinstance(value, float):
            return value
        if not (found := re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", str(value))):
            self.fail(
                f"found {value!r}; expected a number and s, m or h, such as 90s or 10m",
                param,
                ctx,
            )
        return float(found[1]) * UNITS[found[2]]


@click.command("differential", epilog=EPILOG)
@minor_option
@click.option(
    "--budget",
    type=Duration(),
    default="10m",
    show_default=True,
    help="When to begin no more worlds.",
)
@click.option(
    "--worlds",
    "most",
    type=click.IntRange(1),
    help="After how many worlds to end earlier.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    help="Which worlds; others each time unless one is named.",
)
@click.option(
    "--together",
    type=click.IntRange(1),
    default=24,
    show_default=True,
    help="Worlds in one Kueue at a time.",
)
@click.option(
    "-n",
    "kueues",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Kueues at a time.",
)
@click.option(
    "--report-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default="out/differential",
    show_default=True,
    help="Where the worlds go on which they differ, and the summary.",
)
@click.option(
    "--log",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Append the figures to this file, a line.",
)
def command(
    minor: str,
    budget: float,
    most: int | None,
    seed: int | None,
    together: int,
    kueues: int,
    report_dir: Path,
    log: Path | None,
) -> None:
    """Hunt for worlds on which the reference and a real Kueue differ.

    Worlds are generated: queues in trees of cohorts, quota with limits, claim templates, Jobs, and what happens to
    them. Several share a Kueue at a time. After each step conditions, reasons, messages, admissions and the figures of
    the queues are compared. A world that came out differently is played twice more, alone: it counts when the real
    Kueue says the same again, and is kept apart as a race when it does not. What differs is shrunk while there is time.
    When a Kueue ends by itself, another one takes its place, and what it played is played in parts to find out why.
    """
    plan = Plan(
        behaviour=behaviour_of(minor),
        seed=secrets.randbelow(1_000_000) if seed is None else seed,
        budget=budget,
        most=most,
        together=together,
        kueues=kueues,
    )
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # an ordinary kill keeps what was judged, as Ctrl-C does
    click.echo(f"Kueue {minor}, seed {plan.seed}", err=True)
    began, tally = moment_now(), RunTotals()
    _empty(report_dir)
    try:
        for tally in running_totals(plan):
            click.echo(
                f"{_figures(tally)} ({elapsed_since(began):.0f} of {budget:.0f} s)",
                err=True,
            )
            _keep(
                {f"{each.kind}-{each.scenario.name}": each for each in tally.found},
                plan.behaviour,
                report_dir,
            )
            _keep(
                {f"smallest-{each.scenario.name}": each for each in tally.smallest},
                plan.behaviour,
                report_dir,
            )
    except ClusterError as trouble:
        raise CliError([str(trouble)]) from None
    finally:  # also when interrupted: what was judged was judged
        _tell(plan, tally, elapsed_since(began), report_dir, log)
    raise SystemExit(
        1
        if any(tally.kinds[each] for each in RED)
        or tally.endings
        or not tally.scenarios
        else 0
    )


def _figures(tally: RunTotals) -> str:
    kinds = tally.kinds
    return (
        f"{tally.scenarios} worlds, {tally.steps} steps: {kinds[OutcomeKind.DIFFERS]} differ, "
        f"{kinds[OutcomeKind.RACE]} races, {kinds[OutcomeKind.UNSETTLED]} not settled, "
        f"{kinds[OutcomeKind.UNLAWFUL]} against a law, {kinds[OutcomeKind.KNOWN]} in the ledger"
        + (f"; {len(tally.endings)} Kueues ended" if tally.endings else "")
    )


def _empty(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.yaml"):
        old.unlink()


def _keep(found: Mapping[str, Comparison], behaviour: Behaviour, folder: Path) -> None:
    """Write each world that did not simply agree to a file, once."""
    for name, each in found.items():
        file = folder / f"{name}.yaml"
        if not file.exists():
            file.write_text(
                written([as_document(each.scenario, **dict(_status(each, behaviour)))]),
                "utf-8",
            )
            click.echo(f"{each.kind}: {file}{_first(each)}")


def _tell(
    plan: Plan, tally: RunTotals, seconds: float, folder: Path, log: Path | None
) -> None:
    """Write down the figures of the hunt."""
    summary = {
        "date": datetime.now(UTC).date().isoformat(),
        "kueue": plan.behaviour.kueue,
        "seed": plan.seed,
        "worlds": tally.scenarios,
        "steps": tally.steps,
        **{str(kind): tally.kinds[kind] for kind in OutcomeKind},
        "seconds": round(seconds),
    }
    (folder / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", "utf-8")
    if log:
        with log.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(summary) + "\n")
    if tally.endings and not tally.kinds[OutcomeKind.ENDED]:
        click.echo(
            f"no single world ends a Kueue; the last one that did: {tally.endings[-1]}"
        )
    click.echo(f"{_figures(tally)}, in {seconds:.0f} s; seed {plan.seed}")


def _first(outcome: Comparison) -> str:
    if outcome.difference is None:
        return f": {outcome.trouble}"
    return f": step {outcome.step}: {outcome.difference}"


def _status(outcome: Comparison, behaviour: Behaviour) -> Iterator[tuple[str, Any]]:
    """What a file says beside the real Kueue's observations: the difference, why, and of a race the other answer."""
    if found := outcome.difference:
        place: Mapping[str, Any] = {"step": outcome.step, "path": found.path}
        yield "difference", {**place, "reference": found.ours, "kueue": found.recorded}
        yield "explanation", explanation(outcome, behaviour)
        yield "referenceObservations", list(answers(outcome.scenario, behaviour))
    if outcome.trouble:
        yield "trouble", outcome.trouble
    if outcome.other:
        yield "otherObservations", [*outcome.other]
