"""Draw mutants of the reference, try each, and list those that no case notices."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from kueue_dra_reports.shards import Shard
from tests.mutants.mutant import PACKAGE, ROOT, Mutant, UnknownModule, sample
from tests.mutants.reach import recorded
from tests.mutants.table import table_of
from tests.mutants.trial import CAUGHT, Result, Trials

EPILOG = """\b
Examples
  python -m tests.mutants --sample 100 --seed 1         a hundred mutants of all modules that decide
  python -m tests.mutants scheduler rules/preemption    mutants of some packages
  python -m tests.mutants --sample 1000 --shard 1/2     the first half, on one of two machines
\b
Exit codes
  0  every mutant that is no equivalent is caught
  1  one survives, or an entry of equivalents.toml is wrong
  2  the command line is wrong
"""
FOLDER = click.Path(file_okay=False, path_type=Path)
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
@click.option("-n", "jobs", type=COUNT, default=2, show_default=True, help="How many mutants to try at once.")
@click.option(
    "--folder",
    default=ROOT / "out" / "mutants",
    type=FOLDER,
    help="The folder for what the cases reach, and for the log: a run goes on from it.  [default: out/mutants]",
)
def main(modules: tuple[str, ...], number: int, seed: int, shard: Shard, jobs: int, folder: Path) -> None:
    """Change one expression of the reference at a time, and run the cases that reach it.

    MODULES are packages or files below kueue_dra_ref. Ctrl-C ends the run; the next one goes on from the log.
    """
    try:
        drawn = sample(modules, number, seed)[shard.index - 1 :: shard.of]
    except UnknownModule as error:
        raise click.BadParameter(str(error), param_hint="MODULES") from None
    trials = Trials(reaches=list(recorded(folder)), folder=folder, jobs=jobs)
    results = _tried(drawn, trials, folder / f"seed-{seed}-{_digest()}.jsonl")
    table = table_of(drawn, results)
    click.echo(table.text)
    for fault in table.wrong:
        click.echo(f"equivalents.toml: {fault}", err=True)
    raise SystemExit(0 if table.is_good else 1)


def _digest() -> str:
    """Tell one state of the reference from another: results of another one do not count."""
    found = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        found.update(file.read_bytes())
    return found.hexdigest()[:8]


def _tried(drawn: Sequence[Mutant], trials: Trials, log: Path) -> Mapping[str, Result]:
    """Try the mutants that the log does not have, and add them to it."""
    results = dict(_logged(log))
    left = [mutant for mutant in drawn if mutant.name not in results]
    click.echo(f"{len(drawn)} mutants, {len(drawn) - len(left)} of them tried before; log: {log}")
    with log.open("a", encoding="utf-8") as lines:
        for done, result in enumerate(trials.of(left), 1):
            results[result.name] = result
            lines.write(json.dumps(result.as_values) + "\n")
            lines.flush()
            _show(result, done, len(left))
    return results


def _logged(log: Path) -> Iterator[tuple[str, Result]]:
    if not log.exists():
        return
    for line in log.read_text("utf-8").splitlines():
        result = Result(**json.loads(line))
        yield result.name, result


def _show(result: Result, done: int, of: int) -> None:
    if result.outcome != CAUGHT:
        click.echo(f"{result.outcome}: {result.name}: {result.before} -> {result.after}")
    if done % 10 == 0:
        click.echo(f"{done} of {of} tried")


if __name__ == "__main__":
    main()
