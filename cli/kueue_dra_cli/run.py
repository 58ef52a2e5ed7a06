"""``kueue-dra run``: run the conformance suites with pytest, from a checkout or from an installed package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click
import pytest

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import (
    expression_option,
    target_behaviour_option,
    target_option,
    workers_option,
)
from kueue_dra_ref.api.suggest import nearest
from kueue_dra_suites.wiring import HOME, pytest_options

EPILOG = """\
\b
Examples
  kueue-dra run                                   every suite, against the reference in memory
  kueue-dra run quota status -k flavor            some cases of two suites
  kueue-dra run --behaviour kep-2025-09           what the September 2025 text asks
  kueue-dra run --target kueue --core -n 4        only what the KEP asks for: a minute
  kueue-dra run --target kueue                    a real Kueue, started as local processes
  kueue-dra run --target kueue --context kind-a   a real Kueue that you already have

\b
Exit codes
  0  every planned case ran and passed
  1  a case failed or did not run, or no case was selected
  2  the run could not start or was interrupted: an unknown suite, no target
"""
INTENTS = ("certify", "ci", "develop")
"""As in the plugin; pytest has to import that first, to rewrite its assertions."""


@click.command("run", epilog=EPILOG)
@click.argument("suites", nargs=-1, metavar="[SUITE]...")
@target_option(
    "reference",
    "kueue",
    text="What the cases run against: the reference in memory, or a real Kueue.",
)
@target_behaviour_option
@click.option(
    "--context",
    default="",
    metavar="NAME",
    help="With --target kueue: use the cluster of this kubeconfig context.",
)
@click.option(
    "--report-dir",
    default="out",
    show_default=True,
    metavar="DIR",
    help="The folder for the report files.",
)
@expression_option
@click.option(
    "--core",
    is_flag=True,
    help="Run only cases that prove what a text asks for: MUST, SHOULD, MAY.",
)
@workers_option("Run")
@click.option(
    "--intent",
    type=click.Choice(INTENTS),
    default="ci",
    show_default=True,
    help="certify runs the whole suite; only it may claim conformance.",
)
@click.option("-v", "--verbose", is_flag=True, help="Print the name of each case.")
def command(
    suites: tuple[str, ...],
    target: str,
    behaviour: str,
    context: str,
    report_dir: str,
    expression: str,
    core: bool,
    workers: str,
    intent: str,
    verbose: bool,
) -> None:
    """Run the conformance suites against the reference or a real Kueue.

    SUITE is a folder of cases, such as quota, mapping, claims or status; the default is all. The command writes
    report.yaml, report.json and junit.xml into the folder of --report-dir.
    """
    if context and target != "kueue":
        raise click.UsageError(
            "--context NAME needs --target kueue: the reference uses no cluster"
        )
    chosen = [
        f"--{name}={value}"
        for name, value in _given(target=target, behaviour=behaviour, context=context)
    ]
    chosen += [
        f"--report-dir={report_dir}",
        f"--intent={intent}",
        "-v" if verbose else "-q",
    ]
    chosen += [f"-k{expression}"] if expression else []
    chosen += ["--core"] if core else []
    chosen += [f"-n{workers}"] if workers else []
    raise SystemExit(
        min(int(pytest.main([*pytest_options(), *chosen, *_paths(suites)])), 2)
    )


def _given(**options: str) -> Iterator[tuple[str, str]]:
    yield from ((name, value) for name, value in options.items() if value)


def _paths(suites: Sequence[str]) -> list[str]:
    known = sorted(
        path.name
        for path in HOME.iterdir()
        if path.is_dir() and any(path.glob("test_*.py"))
    )
    if unknown := [name for name in suites if name not in known]:
        raise CliError(
            f"unknown suite {name}; {nearest(name, known)}" for name in unknown
        )
    return [str(HOME / name) for name in suites] or [str(HOME)]
