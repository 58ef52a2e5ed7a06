"""Draw mutants of the reference, try each, and list those that no case notices."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from kueue_dra_differential.mutants.mutant import UnknownModule, sample
from kueue_dra_differential.mutants.places import ROOT
from kueue_dra_reports import adequacy
from kueue_dra_reports.shards import Shard
from tests.mutants.arguments import BEHAVIOURS
from tests.mutants.log import Log
from tests.mutants.recording import NotGreen
from tests.mutants.run import tried
from tests.mutants.servers import ServerEnded
from tests.mutants.settings import Settings
from tests.mutants.table import table_of

EPILOG = """\b
Examples
  python -m tests.mutants --sample 100 --seed 1         a hundred mutants of all modules that decide
  python -m tests.mutants scheduler rules/preemption    mutants of some packages
  python -m tests.mutants --sample 1000 --shard 1/2     the first half, on one of two machines
  python -m tests.mutants --sample 1000 --cases 200     fast; without --cases, the next run tries what is left
\b
Exit codes
  0    every mutant that is no equivalent is caught, or as many percent as --least asks for
  1    more survive, or an entry of equivalents.toml is wrong
  2    the command line is wrong
  130  Ctrl-C
"""
FOLDER = click.Path(file_okay=False, path_type=Path)
SHIPPED = tuple(sorted((ROOT / "docs" / "scenarios").glob("*.yaml")))
INTERRUPTED = 130
COUNT = click.IntRange(min=1)


class Part(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.3
    """I/N: one of several parts."""

    name = "I/N"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Shard:
        """Read a part."""
        try:
            return Shard.read(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.command(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("modules", nargs=-1)
@click.option("--sample", "number", type=COUNT, default=100, show_default=True, help="How many mutants to draw.")
@click.option("--seed", default=1, show_default=True, help="The same seed draws the same mutants.")
@click.option("--shard", type=Part(), default="1/1", help="Try only part I of N of the drawn mutants.")
@click.option("--stories", type=Part(), default="1/1", help="Let only part I of N of the recorded scenarios look on.")
@click.option(
    "--cases",
    type=COUNT,
    help="Let at most so many cases of a behaviour look on, ten times as many of the first.  [default: all]",
)
@click.option("-n", "jobs", type=COUNT, default=2, show_default=True, help="How many mutants to try at once.")
@click.option(
    "--least",
    default=100,
    show_default=True,
    type=click.IntRange(0, 100),
    help="The percentage that has to be caught of those that are no equivalents.",
)
@click.option(
    "--folder",
    default=ROOT / "out" / "mutants",
    type=FOLDER,
    help="The folder for what the cases reach, and for the log: a run goes on from it.  [default: out/mutants]",
)
@click.option(
    "--recordings",
    multiple=True,
    default=SHIPPED,
    type=click.Path(exists=True, path_type=Path),
    help="A file of recorded scenarios that looks at what the cases leave; once for each.  [default: docs/scenarios]",
)
@click.option(
    "--behaviour",
    "behaviours",
    multiple=True,
    default=BEHAVIOURS,
    type=click.Choice(BEHAVIOURS),
    metavar="NAME",
    help="A behaviour whose cases look at a mutant; once for each.  [default: eleven, of KEP texts and releases]",
)
@click.option(
    "--publish",
    is_flag=True,
    help="Write the figures for the reports of the suite, and for the README: with --cases, a lower bound.",
)
def main(
    modules: tuple[str, ...],
    number: int,
    seed: int,
    shard: Shard,
    stories: Shard,
    cases: int | None,
    jobs: int,
    least: int,
    folder: Path,
    recordings: tuple[Path, ...],
    behaviours: tuple[str, ...],
    publish: bool,
) -> None:
    """Change one expression of the reference at a time, and run the cases that reach it.

    MODULES are packages or files below kueue_dra_ref. Ctrl-C ends the run; the next one goes on from the log.
    """
    if publish and (modules or shard.of > 1 or stories.of > 1):
        raise click.UsageError("--publish is for a sample of all modules, tried whole, with all scenarios")
    try:
        drawn = shard.of_list(sample(modules, number, seed))
    except UnknownModule as error:
        raise click.BadParameter(str(error), param_hint="MODULES") from None
    settings = Settings(
        behaviours=behaviours,
        recordings=[str(file.absolute()) for file in recordings],
        stories=str(stories),
        folder=folder,
        jobs=jobs,
        cases=cases,
    )
    try:
        results = tried(drawn, Log(folder / f"seed-{seed}.jsonl"), settings)
    except KeyboardInterrupt:
        click.echo("interrupted; the next run goes on from here", err=True)
        raise SystemExit(INTERRUPTED) from None
    except (NotGreen, ServerEnded) as error:
        raise SystemExit(f"the mutants cannot be tried: {error}") from None
    table = table_of(drawn, results)
    click.echo(table.text)
    if publish:
        command = _command(number, seed, behaviours, cases)
        adequacy.publish(table.adequacy(command, datetime.now(UTC).date()))
    for fault in table.wrong:
        click.echo(f"equivalents.toml: {fault}", err=True)
    raise SystemExit(0 if table.is_good(least) else 1)


def _command(number: int, seed: int, behaviours: tuple[str, ...], cases: int | None) -> str:
    """Give what tries the same mutants again."""
    command = f"make mutants SAMPLE={number} SEED={seed}"
    arguments = [] if behaviours == BEHAVIOURS else [f"--behaviour {each}" for each in behaviours]
    if cases:
        arguments.append(f"--cases {cases}")
    return f'{command} ARGS="{" ".join(arguments)}"' if arguments else command


if __name__ == "__main__":
    main()
