"""Run the suite for every behaviour, KEP texts and Kueue releases: two processes, each one behaviour at a time.

Run it with ``make conformance-all``, or as ``python -m kueue_dra_reports.all_behaviours [PYTEST OPTIONS]``; each
report goes to ``out/reference-NAME``.
"""

from __future__ import annotations

import gc
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from kueue_dra_ref.behaviours import NAMES
from kueue_dra_reports.in_process import run_inside

AT_ONCE = 2
NOT_NEEDED = ("cacheprovider", "capture", "xdist")
"""Plugins that a run does not need: it captures all output itself, and uses one process."""
INTERRUPTED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class BehaviourRun:
    """The run of one behaviour: pytest's exit code and output."""

    name: str
    code: int
    output: str

    @property
    def text(self) -> str:
        """The last line of its output with its name; the whole output first if it failed and has more lines."""
        lines = [line for line in self.output.splitlines() if line.strip()]
        last = f"{self.name}: {lines[-1] if lines else 'no output'}"
        if self.code and len(lines) > 1:
            return f"{self.output.rstrip()}\n{last}"
        return last


def run_behaviour(name: str, arguments: Sequence[str]) -> BehaviourRun:
    """Run the suite for one behaviour inside this process, which keeps its modules for the next one."""
    without = [f"-pno:{plugin}" for plugin in NOT_NEEDED]
    chosen = [
        *arguments,
        "--behaviour",
        name,
        f"--report-dir=out/reference-{name}",
        *without,
    ]
    code, output = run_inside(chosen)
    return BehaviourRun(name=name, code=code, output=output)


def every(arguments: Sequence[str]) -> Iterator[BehaviourRun]:
    """Run all behaviours and give each as it ends; Ctrl-C ends those that run.

    The processes live for seconds and collect no garbage, which would take a sixth of their time.
    """
    with ProcessPoolExecutor(AT_ONCE, initializer=gc.disable) as processes:
        try:
            runs = [processes.submit(run_behaviour, name, arguments) for name in NAMES]
            yield from (run.result() for run in as_completed(runs))
        except KeyboardInterrupt:
            processes.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def main(arguments: Sequence[str]) -> int:
    """Print a line for each behaviour, and give 1 if one of them failed."""
    codes = []
    try:
        for one in every(arguments):
            print(one.text, flush=True)
            codes.append(one.code)
    except KeyboardInterrupt:
        return INTERRUPTED
    return int(any(codes))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
