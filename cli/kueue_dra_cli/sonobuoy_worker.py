"""What the pod of the Sonobuoy plugin does: run the suites, leave the results for Sonobuoy, and mark that it is done.

``python -m kueue_dra_cli.sonobuoy_worker ARGUMENTS`` with the arguments of ``kueue-dra run``.
"""

from __future__ import annotations

import os
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from kueue_dra_cli.child import RAN, run_child

FOLDER_VARIABLE = "SONOBUOY_RESULTS_DIR"
FOLDER = "/tmp/sonobuoy/results"
DONE, ARCHIVE, JUNIT = "done", "results.tar.gz", "junit.xml"
COULD_NOT_START = """\
<testsuite name="kueue-dra" tests="1" errors="1">
  <testcase classname="kueue-dra" name="run">
    <error message="the run ended with exit code {code}; the log of the pod has the reason"/>
  </testcase>
</testsuite>
"""


def work(arguments: Sequence[str], results: Path, scratch: Path) -> int:
    """Run the suites, and write the archive; the file ``done`` has its path and comes last.

    Sonobuoy reads the verdict from the JUnit, so a failed case does not fail the pod; a run that could not start does.
    """
    results.mkdir(parents=True, exist_ok=True)
    code = run_child(["run", *arguments, f"--report-dir={scratch}"])
    if code not in RAN:
        _write_error(scratch, code)
    archive = results / ARCHIVE
    _pack(scratch, archive)
    done = results / DONE
    done.write_text(str(archive), "utf-8")
    if code in RAN:
        return 0
    return code


def _write_error(folder: Path, code: int) -> None:
    """Write a JUnit with one error, so that Sonobuoy does not take a run without cases for a good one."""
    folder.mkdir(parents=True, exist_ok=True)
    text = COULD_NOT_START.format(code=code)
    file = folder / JUNIT
    file.write_text(text, "utf-8")


def _pack(folder: Path, archive: Path) -> None:
    """Pack the files of a folder."""
    files = sorted(folder.iterdir())
    with tarfile.open(archive, "w:gz") as packed:
        for file in files:
            packed.add(file, arcname=file.name)


def main() -> int:
    """Run as the first process of a container."""
    named = os.environ.get(FOLDER_VARIABLE)
    results = Path(named or FOLDER)
    arguments = sys.argv[1:]
    scratch = Path("out")
    return work(arguments, results, scratch)


if __name__ == "__main__":
    sys.exit(main())
