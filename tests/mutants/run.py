"""A run: the results that the log has, and the others."""

from __future__ import annotations

from collections.abc import Sequence

import click

from kueue_dra_differential.mutants.mutant import Mutant
from tests.mutants.log import Log
from tests.mutants.progress import Progress
from tests.mutants.servers import servers
from tests.mutants.settings import Settings
from tests.mutants.trial import Result, Trials
from tests.mutants.trials import trials_of

Mutants = Sequence[Mutant]
Results = dict[str, Result]


def tried(drawn: Mutants, log: Log, settings: Settings) -> Results:
    """Try the mutants that the log does not have for these sources, and add them to it."""
    results = {}
    for each in log.results(settings.state):
        if each.holds(settings.cases):
            results[each.name] = each
    left = []
    for mutant in drawn:
        if mutant.name not in results:
            left.append(mutant)
    click.echo(f"log: {log.file}")
    click.echo(f"{len(left)} of {len(drawn)} mutants are left to try")
    if left:
        with servers(settings) as started:
            trials = trials_of(started, settings)
            results |= _try(trials, left, log)
    return results


def _try(trials: Trials, left: Mutants, log: Log) -> Results:
    """Try mutants, add each result to the log, and show how far it is."""
    for earlier in log.all():
        trials.note(earlier.results())
    results = {}
    progress = Progress(of=len(left))
    for result in trials.of(left):
        log.add(result)
        progress.show(result)
        results[result.name] = result
    return results
