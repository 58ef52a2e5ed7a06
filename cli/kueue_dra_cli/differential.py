"""``kueue-dra differential``: run generated scenarios on the reference and on a real Kueue for some time."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from kueue_dra_cli.differential_mutant import Line, check, tell_apart
from kueue_dra_cli.differential_on_cluster import run_in_pods
from kueue_dra_cli.differential_summary import (
    EXITED,
    SCENARIOS,
    Summary,
    append,
    empty,
    figures,
    is_red,
    write,
)
from kueue_dra_cli.errors import CliError
from kueue_dra_cli.on_cluster import check_image, on_cluster_options
from kueue_dra_cli.options import context_option, kubeconfig_option
from kueue_dra_cli.own_kueue import source_option
from kueue_dra_cli.release_option import any_minor_option, behaviour_of
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.waiting import elapsed_since, moment_now
from kueue_dra_differential.explain import explanation
from kueue_dra_differential.oracle import Comparison, OutcomeKind
from kueue_dra_differential.run import running_totals
from kueue_dra_differential.swarm_features import FEATURES, MULTIKUEUE
from kueue_dra_differential.work_queue import Plan, RunTotals
from kueue_dra_ref.api.yaml_text import written
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.scenario import as_document
from kueue_dra_reports.shards import Shard

EPILOG = """\
\b
Examples
  kueue-dra differential                          ten minutes on two real Kueues 0.19
  kueue-dra differential --kueue 0.18 --budget 1h  another release, for longer
  kueue-dra differential --seed 7 --worlds 16     the same scenarios again
  kueue-dra differential --with admission-checks  every scenario has admission checks
  kueue-dra differential --with retention         Kueue deletes finished Workloads in every scenario
  kueue-dra differential --with multikueue        a manager and two workers in every scenario
  kueue-dra differential --keep recorded.jsonl    also what Kueue showed where both agree, for replay --check
  kueue-dra differential --kueue-src ../kueue     your checkout of Kueue
  kueue-dra differential --against-mutant kueue_dra_ref/rules/queue/queueing_strategy.py:30   what no case asks for
  kueue-dra differential --budget 1h --on-cluster 4 --image REGISTRY/kueue-dra:0.2.0-kueue   in four pods

\b
Exit codes
  0  the reference and the real Kueue agree, except for races of Kueue with itself
  1  they disagree, or a real Kueue exited: the command writes each such scenario to a file for
     kueue-dra replay --check; or a part of --on-cluster has no result;
     with --against-mutant: no scenario tells a mutant of the line apart
  2  no real Kueue can be started; the reference has no such line
"""
UNITS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class Files:
    """Where a run writes: the folder of its summary and of what does not agree, a log, and a file of what agrees."""

    folder: Path
    log: Path | None
    kept: Path | None


class Duration(click.ParamType[float]):
    """A time such as 90s, 10m or 2h, in seconds."""

    name = "TIME"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read a duration, or describe the format."""
        if isinstance(value, float):
            return value
        if not (found := re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", str(value))):
            self.fail(
                f"found {value!r}; expected a number and s, m or h, such as 90s or 10m",
                param,
                ctx,
            )
        return float(found[1]) * UNITS[found[2]]


class Part(click.ParamType[Shard]):
    """One of several parts, such as 2/4."""

    name = "I/N"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Shard:
        """Read a part, or describe the format."""
        if isinstance(value, Shard):
            return value
        try:
            return Shard.read(str(value))
        except ValueError as fault:
            self.fail(str(fault), param, ctx)


@click.command("differential", epilog=EPILOG)
@any_minor_option
@source_option
@click.option(
    "--budget",
    type=Duration(),
    default="10m",
    show_default=True,
    help="For how long to start new scenarios.",
)
@click.option(
    "--worlds",
    "most",
    type=click.IntRange(1),
    help="Stop after this number of scenarios.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    help="The seed of the generator; a random one by default.",
)
@click.option(
    "--together",
    type=click.IntRange(1),
    default=24,
    show_default=True,
    help="The number of scenarios that share a Kueue.",
)
@click.option(
    "-n",
    "kueues",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="The number of Kueues that run at the same time.",
)
@click.option(
    "--with",
    "wanted",
    type=click.Choice([*FEATURES]),
    multiple=True,
    help="A feature that every scenario has; repeatable. Without it, a seed decides which have admission checks, "
    "and none has the others. multikueue goes alone: scenarios of a manager and two workers, each a real Kueue.",
)
@click.option(
    "--against-mutant",
    "place",
    type=Line(),
    help="Look for scenarios that tell each mutant of this line of the reference apart from the reference, without a "
    "real Kueue.",
)
@click.option(
    "--report-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default="out/differential",
    show_default=True,
    help="The folder for the summary, and for the scenarios that differ.",
)
@click.option(
    "--log",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Append the summary to this file, as one line.",
)
@click.option(
    "--keep",
    "kept",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Append each scenario on which both agree to this file, with what Kueue showed, one per line.",
)
@click.option(
    "--shard",
    type=Part(),
    metavar="I/N",
    help="Run only part I of N of the scenarios of --seed.",
)
@on_cluster_options
@context_option("With --on-cluster: the kubeconfig context; default: the current one.")
@kubeconfig_option("The kubeconfig of --context. Default: as kubectl finds it.")
@click.pass_context
def command(
    differential: click.Context,
    /,
    minor: str,
    budget: float,
    most: int | None,
    seed: int | None,
    together: int,
    kueues: int,
    wanted: tuple[str, ...],
    place: tuple[str, int] | None,
    report_dir: Path,
    log: Path | None,
    kept: Path | None,
    shard: Shard | None,
    **_: object,
) -> None:
    """Generate scenarios and report where the reference and a real Kueue disagree.

    A scenario has queues in cohort trees, quota with limits, claim templates, work, and events. Several scenarios share
    a Kueue. After each step the command compares conditions, reasons, messages, admissions and the usage of the queues.
    If a scenario differs, it runs up to five times more, alone: the difference counts if the real Kueue repeats it each
    time, and is a race if not. The command shrinks scenarios that differ while there is time. If a Kueue exits, another
    one replaces it, and its scenarios run again in parts to find the cause.

    With --against-mutant, the other side is the reference with one expression changed, and no real Kueue runs. The
    command shrinks each scenario that tells them apart; kueue-dra record then shows what a real Kueue does with it.

    With --on-cluster, each pod of an Indexed Job runs another part of the scenarios of one seed, and their results are
    joined.
    """
    check_image(differential.params)
    if MULTIKUEUE in wanted and len(wanted) > 1:
        raise click.UsageError(f"--with {MULTIKUEUE} goes with no other feature")
    if place:
        check(differential)
    seed = differential.params["seed"] = chosen_seed(seed)
    click.echo(f"Kueue {minor}, seed {seed}", err=True)
    if differential.params["on_cluster"]:
        raise SystemExit(run_in_pods(differential))
    part = shard or Shard(1, 1)
    plan = Plan(
        behaviour=behaviour_of(minor),
        seed=seed,
        budget=budget,
        most=most,
        together=together,
        kueues=kueues,
        part=part.index,
        parts=part.of,
        wanted=wanted,
    )
    if place:
        raise SystemExit(tell_apart(place, plan, report_dir))
    summary = _run(plan, Files(report_dir, log, kept), shard)
    raise SystemExit(int(is_red(summary)))


def chosen_seed(seed: int | None) -> int:
    """Give the seed, or a random one."""
    return secrets.randbelow(1_000_000) if seed is None else seed


def _run(plan: Plan, files: Files, shard: Shard | None) -> Summary:
    """Run the plan, and write what it finds; an interrupted run writes its summary too."""
    began = moment_now()
    tally = RunTotals()
    empty(files.folder)
    try:
        for tally in running_totals(plan):
            seconds = elapsed_since(began)
            found = figures(_summary(plan, tally, seconds, shard))
            click.echo(f"{found} ({seconds:.0f} of {plan.budget:.0f} s)", err=True)
            for each in tally.found:
                _write(f"{each.kind}-{each.scenario.name}", each, plan, files.folder)
            for each in tally.smallest:
                _write(f"smallest-{each.scenario.name}", each, plan, files.folder)
            if files.kept:
                _keep(tally.agreeing, files.kept)
    except ClusterError as error:
        raise CliError([str(error)]) from None
    finally:
        summary = _summary(plan, tally, elapsed_since(began), shard)
        _finish(summary, tally, files)
    return summary


def _summary(
    plan: Plan, tally: RunTotals, seconds: float, shard: Shard | None
) -> Summary:
    """Give the totals of a run; those of a part also say of what it is a part."""
    summary = {
        "date": datetime.now(UTC).date().isoformat(),
        "kueue": plan.behaviour.kueue,
        "seed": plan.seed,
        "features": [*plan.wanted],
        SCENARIOS: tally.scenarios,
        "steps": tally.steps,
        **{str(kind): tally.kinds[kind] for kind in OutcomeKind},
        EXITED: len(tally.endings),
        "seconds": round(seconds),
    }
    if shard is None:
        return summary
    part = str(shard)
    return {**summary, "together": plan.together, "planned": plan.most, "shard": part}


def _finish(summary: Summary, tally: RunTotals, files: Files) -> None:
    """Write the totals of the run to files, and print them."""
    write(summary, files.folder)
    if files.log:
        append(summary, files.log)
    if tally.endings and not tally.kinds[OutcomeKind.ENDED]:
        click.echo(
            f"no single scenario makes a Kueue exit; the last exit: {tally.endings[-1]}"
        )
    click.echo(f"{figures(summary)}, in {summary['seconds']} s; seed {summary['seed']}")


def _write(name: str, found: Comparison, plan: Plan, folder: Path) -> None:
    """Write a scenario that does not simply agree to a file, unless the file exists."""
    file = folder / f"{name}.yaml"
    if file.exists():
        return
    status = dict(_status(found, plan.behaviour))
    file.write_text(written([as_document(found.scenario, **status)]), "utf-8")
    click.echo(f"{found.kind}: {file}{_first(found)}")


def _keep(agreeing: Iterable[Comparison], file: Path) -> None:
    """Append scenarios on which both agree to a file of recordings."""
    with file.open("a", encoding="utf-8") as lines:
        for each in agreeing:
            lines.write(
                json.dumps(as_document(each.scenario), ensure_ascii=False) + "\n"
            )


def _first(outcome: Comparison) -> str:
    if outcome.difference is None:
        return f": {outcome.trouble}"
    return f": step {outcome.step}: {outcome.difference}"


def _status(outcome: Comparison, behaviour: Behaviour) -> Iterator[tuple[str, Any]]:
    """Give what a file adds to the observations: the difference with an explanation, the other result of a race."""
    if found := outcome.difference:
        place: Mapping[str, Any] = {"step": outcome.step, "path": found.path}
        yield "difference", {**place, "reference": found.ours, "kueue": found.recorded}
        yield "explanation", explanation(outcome, behaviour)
        yield "referenceObservations", list(answers(outcome.scenario, behaviour))
    if outcome.trouble:
        yield "trouble", outcome.trouble
    if outcome.other:
        yield "otherObservations", [*outcome.other]
