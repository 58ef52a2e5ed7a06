"""``kueue-dra controls``: misconfigure a judge on purpose, one way after another, and see that the suite notices."""

from __future__ import annotations

from pathlib import Path

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import judged_option, target_option
from kueue_dra_controls.controls import CONTROLS
from kueue_dra_controls.run import a_control_target, run_control
from kueue_dra_fixtures.targets import TargetUnavailable
from kueue_dra_ref import behaviours
from kueue_dra_ref.api.suggest import nearest
from kueue_dra_reports import controls as reporting
from kueue_dra_reports.document import ControlEntry

EPILOG = """\
\b
Examples
  kueue-dra controls                                     the reference, sabotaged in every way
  kueue-dra controls --target kueue                      a real Kueue, brought up here as local processes
  kueue-dra controls quota-doubled --target kueue        one control

\b
Exit codes
  0  each control went red exactly where named
  1  one did not: the rows are named
  2  no judge can be had, or there is no such control
"""
KNOWN = {control.fault: control for control in CONTROLS}


@click.command("controls", epilog=EPILOG)
@click.argument("names", nargs=-1, metavar="[CONTROL]...")
@target_option(
    "reference",
    "kueue",
    whose="Who is misconfigured: the reference in memory, or a real Kueue.",
)
@judged_option
@click.option(
    "--report-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default="out",
    show_default=True,
    help="Where controls.json goes; a report of the suite that lies there gets the verdicts too.",
)
def command(
    names: tuple[str, ...], target: str, behaviour: str, report_dir: Path
) -> None:
    """Misconfigure a judge on purpose and see that the suite notices.

    Exactly the named cases have to go red. CONTROL is one of the known ones; all of them unless some are named.
    """
    if unknown := [each for each in names if each not in KNOWN]:
        raise CliError(
            f"unknown control {each}; {nearest(each, KNOWN)}" for each in unknown
        )
    found: list[ControlEntry] = []
    try:
        with a_control_target(target, behaviours.behaviour(behaviour)) as judge:
            for control in [KNOWN[each] for each in dict.fromkeys(names)] or CONTROLS:
                found.append(run_control(control, judge))
                click.echo(reporting.line(found[-1]))
    except TargetUnavailable as fault:
        raise CliError([str(fault)]) from None
    written = reporting.write(found, report_dir)
    click.echo(f"files: {', '.join(map(str, written))}")
    raise SystemExit(1 if any(each["verdict"] != "caught" for each in found) else 0)
