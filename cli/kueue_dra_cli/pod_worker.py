"""What each pod of a run in a cluster does: run its part, and print the results into its log.

``python -m kueue_dra_cli.pod_worker ARGUMENTS`` with the arguments of ``kueue-dra run``.  Kubernetes gives the number
of the pod in ``JOB_COMPLETION_INDEX``.  The pod succeeds when there is a report, whatever its verdict, so that a failed
case is not run again.  ``python -m kueue_dra_cli.differential_worker`` does the same for ``kueue-dra differential``.
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
SCENARIOS = "*-*-*-*.yaml"
"""The files of `kueue-dra differential` next to its result, such as differs-7-0-3.yaml."""
TERMINATED = 143


def shard_of(environment: Mapping[str, str]) -> str:
    """Give the part of this pod as I/N.

    Raises:
        KeyError: this is no pod of such a run.
        ValueError: a variable is no number.

    """
    index = int(environment[INDEX_VARIABLE])
    return f"{index + 1}/{int(environment[SHARDS_VARIABLE])}"


def work(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    command: str = "run",
    result: str = REPORT,
) -> int:
    """Run the part of this pod, and print its result and the scenarios next to it; 0 if there is one."""
    try:
        shard = shard_of(environment)
    except (KeyError, ValueError) as fault:
        needed = f"{INDEX_VARIABLE} and {SHARDS_VARIABLE}"
        print(f"kueue-dra: found no number in {fault}; expected {needed}")
        return INVALID_INPUT
    (folder / result).unlink(missing_ok=True)
    options = [f"--shard={shard}", f"--report-dir={folder}"]
    code = run_child([command, *arguments, *options])
    if code not in RAN:
        return code
    if not (folder / result).is_file():
        return NO_REPORT
    scenarios = sorted(file.name for file in folder.glob(SCENARIOS))
    print(packed(folder, [result, *scenarios]), end="", flush=True)
    return 0


def _terminate(_: int, __: object) -> NoReturn:
    raise KeyboardInterrupt


def main(command: str = "run", result: str = REPORT) -> int:
    """Run as the first process of a container, which gets no signal without a handler."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        return work(sys.argv[1:], Path("out"), os.environ, command, result)
    except KeyboardInterrupt:
        return TERMINATED


if __name__ == "__main__":
    sys.exit(main())
