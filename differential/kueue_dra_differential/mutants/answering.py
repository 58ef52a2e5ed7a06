"""A process that has imported one changed module of the reference, and answers scenarios as that reference does."""

from __future__ import annotations

import resource
import signal
import sys
from dataclasses import dataclass
from multiprocessing.connection import Connection

from kueue_dra_differential.mutants.imported import put
from kueue_dra_differential.mutants.places import ROOT

LONGEST = 20
"""Seconds of processor time after which a scenario counts as one that never ends."""
MEMORY = 6 << 30
"""Bytes of memory at which a mutant fails."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A module of the reference, by its path below `ROOT`, with other source, and the behaviour that it decides by."""

    file: str
    source: str
    behaviour: str


def main(number: int) -> None:
    """Answer scenarios until the other end of the connection closes; a mutant that does not end, ends the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    with Connection(number) as line:
        changed: Changed = line.recv()
        put(ROOT, changed.file, changed.source)
        from kueue_dra_ref.behaviours import behaviour
        from kueue_dra_ref.reference.replay import answers

        release = behaviour(changed.behaviour)
        while True:
            try:
                scenario = line.recv()
            except EOFError:
                return
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            line.send(list(answers(scenario, release)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
