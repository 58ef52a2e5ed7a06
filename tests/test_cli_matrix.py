"""``kueue-dra matrix`` as a process: it runs another one for each release, and leaves none behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest


def test_a_matrix_that_is_told_to_end_takes_its_run_with_it(tmp_path: Path) -> None:
    """A user who ends the one process that he started leaves no other process behind."""
    words = ["matrix", "0.19", "--target=reference", f"--report-dir={tmp_path / 'out'}"]
    started = subprocess.Popen(
        [sys.executable, "-u", "-m", "kueue_dra_cli", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert started.stdout is not None
    next(line for line in started.stdout if b"%]" in line)  # the run of the release has begun

    started.terminate()
    started.communicate(timeout=60)

    assert started.returncode == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.killpg(started.pid, 0)
