"""Run the suite on the reference, and its negative controls at the same time, as ``make conformance`` does.

The controls use the core that is free while the suite loads and collects its cases.

Run it as ``python -m kueue_dra_controls.with_suite FOLDER [PYTEST OPTIONS]``; the reports go to the folder.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from kueue_dra_reports import controls as reporting
from kueue_dra_reports.document import ControlEntry

Entries = list[ControlEntry]


def run_controls() -> Entries:
    """Run every control on the reference."""
    # Imported here, so that the process of the suite imports it with pytest, which rewrites its assertions.
    from kueue_dra_controls.controls import CONTROLS
    from kueue_dra_controls.run import a_control_target, run_control
    from kueue_dra_ref import behaviours

    with a_control_target("reference", behaviours.behaviour(behaviours.NAMES[0])) as target:
        return [run_control(control, target) for control in CONTROLS]


@contextmanager
def _at_the_same_time() -> Iterator[Future[Entries]]:
    """Run the controls in a process of their own, which ends with the block."""
    with ProcessPoolExecutor(1) as processes:
        try:
            yield processes.submit(run_controls)
        finally:
            for process in multiprocessing.active_children():
                process.terminate()


def main(arguments: Sequence[str]) -> int:
    """Print both, and give the exit code; the controls count only if every case of the suite passed."""
    folder, *options = arguments
    with _at_the_same_time() as running:
        if code := pytest.main([*options, f"--report-dir={folder}"]):
            return int(code)
        found = running.result()
    for each in found:
        print(reporting.line(each))
    written = reporting.write(found, Path(folder))
    print(f"files: {', '.join(map(str, written))}")
    return int(any(each["verdict"] != "caught" for each in found))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
