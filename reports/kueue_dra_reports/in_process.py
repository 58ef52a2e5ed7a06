"""Run pytest inside this process, so that runs share its modules."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import NamedTuple

import pytest

from kueue_dra_reports.ending import Ending

Arguments = Sequence[str]
Plugins = Sequence[object]


class Finished(NamedTuple):
    """A run of pytest that has ended."""

    code: int
    output: str


def run_inside(arguments: Arguments, plugins: Plugins = ()) -> Finished:
    """Run pytest with the arguments of a command line, and give its exit code and its output.

    Raises:
        KeyboardInterrupt: Ctrl-C or SIGTERM ended it; pytest itself would only end this one run.

    """
    output = StringIO()
    ending = Ending()
    stdout = redirect_stdout(output)
    stderr = redirect_stderr(output)
    with stdout, stderr:
        code = pytest.main(list(arguments), plugins=[*plugins, ending])
    if ending.interrupt is not None:
        raise ending.interrupt
    return Finished(
        code=int(code),
        output=output.getvalue(),
    )
