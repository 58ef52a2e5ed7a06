"""What each pod of a run in a cluster does: run its part of the cases, and print the report into its log.

``python -m kueue_dra_cli.pod_worker ARGUMENTS`` with the arguments of ``kueue-dra run``.  Kubernetes gives the number
of the pod in ``JOB_COMPLETION_INDEX``.  The pod succeeds when there is a report, whatever its verdict, so that a failed
case is not run again.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from kueue_dra_cli.child import RAN, run_child
from kueue_dra_clusters.indexed_job import INVALID_INPUT, SHARDS_VARIABLE
from kueue_dra_reports.log_archive import packed

INDEX_VARIABLE = "JOB_COMPLETION_INDEX"
REPORT = "report.json"
NO_REPORT = 3
TERMINATED = 143


def shard_of(environment: Mapping[str, str]) -> str:
    """Give the part of this pod as I/N.

    Raises:
        KeyError: this is no pod of such a run.
        ValueError: a variable is no number.

    """
    index = int(environment[INDEX_VARIABLE])
    return f"{index + 1}/{int(environment[SHARDS_VARIABLE])}"


def work(arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> int:
    """Run the part of this pod, and print its report; 0 if there is one."""
    try:
        shard = shard_of(environment)
    except (KeyError, ValueError) as fault:
        needed = f"{INDEX_VARIABLE} and {SHARDS_VARIABLE}"
        print(f"kueue-dra: found no number in {fault}; expected {needed}")
        return INVALID_INPUT
    (folder / REPORT).unlink(missing_ok=True)
    code = run_child(["run", *arguments, f"--shard={shard}", f"--report-dir={folder}"])
    if code not in RAN:
        return code
    if not (folder / REPORT).is_file():
        return NO_REPORT
    print(packed(folder, [REPORT]), end="", flush=True)
    return 0


def _terminate(_: int, __: object) -> NoReturn:
    raise KeyboardInterrupt


def main() -> int:
    """Run as the first process of a container, which gets no signal without a handler."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        return work(sys.argv[1:], Path("out"), os.environ)
    except KeyboardInterrupt:
        return TERMINATED


if __name__ == "__main__":
    sys.exit(main())
