"""Run the suite on the reference, and its negative controls at the same time, as ``make conformance`` does.

The controls use the core that is free while the suite collects its cases.

Run it as ``python -m kueue_dra_controls.with_suite FOLDER [PYTEST OPTIONS]``; the reports go to the folder.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from kueue_dra_reports import controls as reporting
from kueue_dra_reports.document import ControlEntry


def run_controls(pipe: Connection) -> None:
    """Run every control on the reference, and send the results."""
    # Imported here: pytest has to import what a run needs, to rewrite its assertions.
    from kueue_dra_controls.controls import CONTROLS
    from kueue_dra_controls.run import a_control_target, run_control
    from kueue_dra_ref import behaviours

    newest = behaviours.behaviour(behaviours.NAMES[0])
    with a_control_target("reference", newest) as target:
        pipe.send([run_control(control, target) for control in CONTROLS])


class ControlsOnTheWay:
    """A plugin that runs the controls in a process of their own, forked when pytest has loaded what both need."""

    def __init__(self) -> None:
        self.pipe, there = multiprocessing.Pipe(duplex=False)
        self.there = there
        self.process = multiprocessing.Process(
            target=run_controls, args=(there,), daemon=True
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Start the controls; they end with this process."""
        self.process.start()
        self.there.close()

    @property
    def started(self) -> bool:
        """Whether there are controls: pytest may have been asked for its help alone."""
        return self.process.pid is not None

    def results(self) -> list[ControlEntry]:
        """Wait for the results."""
        try:
            found: list[ControlEntry] = self.pipe.recv()
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            hint = "run: kueue-dra controls"
            raise SystemExit(
                f"the controls exited early, with code {code}; {hint}"
            ) from None
        return found


def main(arguments: Sequence[str]) -> int:
    """Print the results of both and give the exit code; the controls count only if every case of the suite passed."""
    folder, *options = arguments
    controls = ControlsOnTheWay()
    code = pytest.main([*options, f"--report-dir={folder}"], plugins=[controls])
    if code or not controls.started:
        return int(code)
    found = controls.results()
    for each in found:
        print(reporting.line(each))
    print(reporting.written(found, Path(folder)))
    return reporting.exit_code(found)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
