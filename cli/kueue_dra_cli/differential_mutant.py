"""``kueue-dra differential --against-mutant FILE:LINE``: look for scenarios that tell mutants from the reference."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import click

from kueue_dra_cli.differential_summary import empty
from kueue_dra_cli.errors import CliError
from kueue_dra_clusters.waiting import elapsed_since, moment_now
from kueue_dra_differential.interrupt import tries
from kueue_dra_differential.mutants.answering import Changed
from kueue_dra_differential.mutants.hunt import GoingOn, Hunt, Suspect
from kueue_dra_differential.mutants.process import ChangedReference
from kueue_dra_differential.oracle import Comparison
from kueue_dra_differential.work_queue import Plan
from kueue_dra_ref.api.yaml_text import written
from kueue_dra_ref.explain.step import named
from kueue_dra_ref.scenarios.scenario import Scenario, as_document

EXCLUDED = {
    "kept": "--keep",
    "kueue_src": "--kueue-src",
    "log": "--log",
    "on_cluster": "--on-cluster",
}
"""Options that only mean something with a real Kueue."""


class Line(click.ParamType[tuple[str, int]]):
    """One line of the reference, such as kueue_dra_ref/scheduler/cycle.py:120."""

    name = "FILE:LINE"

    def convert(
        self,
        value: str | tuple[str, int],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[str, int]:
        """Read a place; what follows the line, as in the table of ``make mutants``, is ignored."""
        if isinstance(value, tuple):
            return value
        file, _, rest = value.partition(":")
        number, _, _ = rest.partition(":")
        if not number.isdigit():
            self.fail(f"found {value!r}; expected FILE:LINE", param, ctx)
        return file, int(number)


def check(given: click.Context) -> None:
    """Reject options that need a real Kueue.

    Raises:
        click.UsageError: one is given.

    """
    for name, option in EXCLUDED.items():
        if given.params.get(name):
            raise click.UsageError(
                f"{option} and --against-mutant exclude each other: no real Kueue runs"
            )


def tell_apart(place: tuple[str, int], plan: Plan, folder: Path) -> int:
    """Look for a scenario for each mutant of a line, shrink it, and write it; 1 if a mutant is left.

    Raises:
        CliError: cosmic-ray is missing, or the line has no mutant.

    """
    hunt = Hunt(behaviour=plan.behaviour, suspects=list(_suspects(place, plan)))
    for suspect in hunt.suspects:
        click.echo(f"mutant {suspect.name}: {suspect.change}", err=True)
    empty(folder)
    with tries() as going_on:
        scenarios = _until(plan, going_on)
        for number, (suspect, outcome) in enumerate(
            hunt.found(scenarios, going_on), start=1
        ):
            _tell(suspect, outcome, folder / f"mutant-{number}.yaml")
    for suspect in hunt.suspects:
        tried = named(hunt.tried, "scenario")
        click.echo(f"left: {suspect.name}: {suspect.change}: the same in {tried}")
    return int(bool(hunt.suspects))


def _suspects(place: tuple[str, int], plan: Plan) -> Iterator[Suspect]:
    try:
        from kueue_dra_differential.mutants.mutant import UnknownModule, at
    except ModuleNotFoundError:
        raise CliError(["cosmic-ray is missing: pip install cosmic-ray"]) from None
    try:
        mutants = at(*place)
    except UnknownModule as error:
        raise CliError([str(error)]) from None
    for each in mutants:
        source = each.source
        before, after = each.change(source)
        changed = Changed(each.file, source, plan.behaviour.name)
        yield Suspect(each.name, f"{before} -> {after}", ChangedReference(changed))


def _until(plan: Plan, going_on: GoingOn) -> Iterator[Scenario]:
    """Draw scenarios until the time is up, their number is reached, or Ctrl-C."""
    began = moment_now()
    drawn = chain.from_iterable(plan.batches())
    for scenario in islice(drawn, plan.most):
        if elapsed_since(began) > plan.budget or not going_on(scenario):
            return
        yield scenario


def _tell(suspect: Suspect, outcome: Comparison, file: Path) -> None:
    """Write the scenario that tells a mutant apart, with what the reference shows, and print where they differ."""
    file.write_text(written([as_document(outcome.scenario)]), "utf-8")
    found = outcome.difference
    shown = outcome.trouble
    if found:
        sides = f"the mutant {json.dumps(found.ours)}, the reference {json.dumps(found.recorded)}"
        shown = f"step {outcome.step}: {found.path}: {sides}"
    click.echo(f"distinguished: {suspect.name}: {suspect.change}\n  {shown}\n  {file}")
