"""Runs ``kueue-dra`` in a child process, because pytest can run one behaviour and one target only."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

RAN = (0, 1)
"""The exit codes of a run that has a report."""


def run_child(arguments: Sequence[str]) -> int:
    """Run ``kueue-dra`` in a child process that ends with this one."""
    with subprocess.Popen([sys.executable, "-m", "kueue_dra_cli", *arguments]) as child:
        try:
            return child.wait()
        except KeyboardInterrupt:
            child.terminate()
            child.wait()
            raise
