"""``kueue-dra controls``: misconfigure the target on purpose, and check that the listed cases fail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import target_behaviour_option, target_option
from kueue_dra_controls.controls import CONTROLS, Control
from kueue_dra_controls.run import a_control_target, run_control
from kueue_dra_fixtures.targets import TargetUnavailable, behaviour_on
from kueue_dra_ref import behaviours
from kueue_dra_ref.api.suggest import nearest
from kueue_dra_reports import controls as reporting
from kueue_dra_reports.document import ControlEntry

EPILOG = """\
\b
Examples
  kueue-dra controls                                     every control, on the reference
  kueue-dra controls --target kueue                      every control, on a real Kueue in local processes
  kueue-dra controls quota-doubled --target kueue        one control

\b
Exit codes
  0  for each control exactly the listed cases failed
  1  for some control other cases failed, or not all; they are listed
  2  no target could start, or the control is unknown
"""
KNOWN = {control.fault: control for control in CONTROLS}


@click.command("controls", epilog=EPILOG)
@click.argument("names", nargs=-1, metavar="[CONTROL]...")
@target_option(
    "reference",
    "kueue",
    text="What is misconfigured: the reference in memory, or a real Kueue.",
)
@target_behaviour_option
@click.option(
    "--report-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default="out",
    show_default=True,
    help="The folder for controls.json; a report of the suite in it gets the results too.",
)
def command(
    names: tuple[str, ...], target: str, behaviour: str, report_dir: Path
) -> None:
    """Misconfigure the target on purpose and check that the listed cases fail.

    No other case may fail. CONTROL is the name of a control; the default is all.
    """
    controls = _chosen(names)
    found: list[ControlEntry] = []
    checked = behaviours.behaviour(behaviour_on(target, "", behaviour))
    try:
        with a_control_target(target, checked) as controlled:
            for control in controls:
                found.append(run_control(control, controlled))
                click.echo(reporting.line(found[-1]))
    except TargetUnavailable as fault:
        raise CliError([str(fault)]) from None
    click.echo(reporting.written(found, report_dir))
    raise SystemExit(reporting.exit_code(found))


def _chosen(names: Sequence[str]) -> Sequence[Control]:
    """Give the named controls, each once, or all of them."""
    if unknown := [each for each in names if each not in KNOWN]:
        raise CliError(
            f"unknown control {each}; {nearest(each, KNOWN)}" for each in unknown
        )
    return [KNOWN[each] for each in dict.fromkeys(names)] or CONTROLS
