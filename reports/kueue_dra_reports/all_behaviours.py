"""Judges by every text and every minor of Kueue: two processes, each with one behaviour after another.

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
"""Plugins that a run does without: what is printed is caught for it as a whole, and it has this process alone."""
INTERRUPTED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class BehaviourRun:
    """How the run of one behaviour ended: pytest's exit code, and all that it printed."""

    name: str
    code: int
    said: str

    @property
    def told(self) -> str:
        """Its last line under its name, below everything else if it did not end well."""
        last = f"{self.name}: {(self.said.splitlines() or ['said nothing'])[-1]}"
        return f"{self.said.rstrip()}\n{last}" if self.code else last


def run_behaviour(name: str, words: Sequence[str]) -> BehaviourRun:
    """Run the suite by one behaviour inside this process, whose modules serve the next one too."""
    without = [f"-pno:{plugin}" for plugin in NOT_NEEDED]
    chosen = [
        *words,
        "--behaviour",
        name,
        f"--report-dir=out/reference-{name}",
        *without,
    ]
    code, said = run_inside(chosen)
    return BehaviourRun(name=name, code=code, said=said)


def every(words: Sequence[str]) -> Iterator[BehaviourRun]:
    """Run them all and give each as it ends; whoever interrupts this ends those that run.

    Their processes live for seconds and look for no garbage: that would be a sixth of their time.
    """
    with ProcessPoolExecutor(AT_ONCE, initializer=gc.disable) as processes:
        try:
            runs = [processes.submit(run_behaviour, name, words) for name in NAMES]
            yield from (run.result() for run in as_completed(runs))
        except KeyboardInterrupt:
            processes.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def main(words: Sequence[str]) -> int:
    """Print a line for each behaviour; 1 unless all are well."""
    codes = []
    try:
        for one in every(words):
            print(one.told, flush=True)
            codes.append(one.code)
    except KeyboardInterrupt:
        return INTERRUPTED
    return int(any(codes))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
