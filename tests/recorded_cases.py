"""The cases of the suite as scenarios that a real Kueue was seen with: what else was shown when a case passed.

    kueue-dra run --target kueue --behaviour kueue-0.19.2 --scenario-dir=out/cases
    python -m tests.recorded_cases kueue-0.19.2 out/cases

writes `golden/recorded/kueue-0.19.2.cases.jsonl.gz`. Of a case that several folders have, the first recording counts
that the reference replays alike. Cases of the file that no folder has stay in it. It leaves out the cases without
one: those of several clusters, those of work that others make, and those in which time passes.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from kueue_dra_differential.oracle import compared
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.files import scenarios
from kueue_dra_ref.scenarios.scenario import Scenario, as_document, is_comparable

GOLDEN = Path(__file__).parent / "golden" / "recorded"


def differing(scenario: Scenario, release: Behaviour) -> str:
    """Say where the reference first shows something else than was recorded; empty if it does not."""
    found = compared(scenario, answers(scenario, release))
    return f"step {found.step}: {found.difference}" if found.difference else ""


def replayed_alike(recorded: Iterable[Scenario], release: Behaviour) -> Iterator[Scenario]:
    """Give a scenario of each case that shows something and that the reference replays alike, and name the others."""
    found: dict[str, Scenario] = {}
    differs: dict[str, str] = {}
    for scenario in recorded:
        if scenario.name in found:
            continue
        try:
            where = differing(scenario, release)
        except Exception as error:  # noqa: BLE001  # what the case did has no meaning without what others did
            where = repr(error)
        if where:
            differs[scenario.name] = where
        else:
            found[scenario.name] = scenario
    for name in sorted(differs.keys() - found.keys()):
        click.echo(f"left out: {name}: {differs[name][:200]}", err=True)
    for name in sorted(found):
        yield found[name]


def _shown_in(files: Iterable[Path]) -> Iterator[Scenario]:
    for file in files:
        for scenario in scenarios(file):
            if any(map(is_comparable, scenario.recorded)):
                yield scenario


@click.command()
@click.argument("name")
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(name: str, folders: tuple[Path, ...]) -> None:
    """Write the recorded cases of a behaviour."""
    file = GOLDEN / f"{name}.cases.jsonl.gz"
    files = [each for folder in folders for each in sorted(folder.glob("*.yaml"))]
    if file.exists():
        files.append(file)
    found = list(replayed_alike(_shown_in(files), behaviour(name)))
    lines = [json.dumps(as_document(each), separators=(",", ":")) for each in found]
    content = "\n".join(lines) + "\n"
    file.write_bytes(gzip.compress(content.encode(), mtime=0))
    click.echo(f"{file}: {len(found)} cases")


if __name__ == "__main__":
    main()
