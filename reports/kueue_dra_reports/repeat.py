"""The command that repeats one case of a report, where the run was started."""

from __future__ import annotations

import shlex

from kueue_dra_reports.document import Report

PROGRAM = ["kueue-dra", "run"]
WHOLE_RUN = (
    "-k",
    "-n",
    "--core",
    "--citing",
    "--shard",
    "--durations-of",
    "--intent",
    "--gate",
    "--expected-failures",
    "--against",
)
"""Options that select cases or decide about the whole run; everything else concerns the target."""


def command_of(case: str, report: Report) -> str:
    """Give the command for one case: of ``kueue-dra run``, or of pytest if that ran the report."""
    command = str(report["target"]["reproduce"]["command"])
    words = shlex.split(command)
    if words[:2] != PROGRAM:
        option = shlex.quote(f"--case={case}")
        return f"{command} {option}"
    repeated = [*PROGRAM, case]
    for word in words[2:]:
        if _concerns_the_target(word):
            repeated.append(word)
    return shlex.join(repeated)


def _concerns_the_target(word: str) -> bool:
    if not word.startswith("-"):
        return False
    name, _, _ = word.partition("=")
    if not name.startswith("--"):
        name = name[:2]
    return name not in WHOLE_RUN
