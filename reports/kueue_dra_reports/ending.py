"""How a run of pytest ended: an interrupt and an internal error get exit codes of their own, and one line each."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from types import TracebackType

import pytest

TRACEBACK = "KUEUE_DRA_TRACEBACK"
"""If this variable is set, pytest prints the traceback of an internal error."""
INVALID_INPUT, INTERNAL_ERROR, INTERRUPTED = 2, 3, 130
LONGEST = 200


class Ending:
    """A plugin that notes why a run ended early."""

    def __init__(self) -> None:
        self.interrupt: KeyboardInterrupt | None = None
        self.terminal: object = None

    def pytest_keyboard_interrupt(
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> None:
        """Note an interrupt; a fixture that ends the run is none."""
        if isinstance(excinfo.value, KeyboardInterrupt):
            self.interrupt = excinfo.value

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Find the reporter of pytest, which would print the traceback of an internal error."""
        self.terminal = config.pluginmanager.get_plugin("terminalreporter")

    @pytest.hookimpl(tryfirst=True)
    def pytest_internalerror(
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> bool | None:
        """Report an internal error in one line, in place of the traceback."""
        if os.environ.get(TRACEBACK):
            return None
        print(f"\n{internal_error(excinfo.value, excinfo.tb)}", file=sys.stderr)
        if self.terminal is not None:
            vars(self.terminal)["write_line"] = _print_nothing
        return True

    def exit_code(self, code: int) -> int:
        """Give the exit code that the command line documents."""
        if self.interrupt is not None:
            return int(getattr(self.interrupt, "exit_code", INTERRUPTED))
        if code == pytest.ExitCode.INTERNAL_ERROR:
            return INTERNAL_ERROR
        return min(code, INVALID_INPUT)


class Unfinished:
    """A plugin that prints nothing of what pytest leaves unfinished when an interrupt comes between two of its hooks.

    Python closes such a hook when it collects it, after the run, and would print the traceback of its second fault.
    """

    def __init__(self) -> None:
        self.interrupted = False

    def pytest_keyboard_interrupt(self) -> None:
        """Note an interrupt, of a worker too."""
        self.interrupted = True

    def end(self) -> None:
        """Print no faults from now on that nothing can catch, if there was an interrupt."""
        if self.interrupted and not os.environ.get(TRACEBACK):
            sys.unraisablehook = _print_nothing


def _print_nothing(*_: object, **__: object) -> None:
    """Replace what prints."""


def internal_error(fault: BaseException, at: TracebackType | None) -> str:
    """Give an internal error in one line, with the place in our code or a library's."""
    frames = list(traceback.walk_tb(at))
    place = ""
    if frames:
        frame, line = frames[-1]
        place = f" at {Path(frame.f_code.co_filename).name}:{line}"
    lines = str(fault).splitlines() or [""]
    text = lines[-1].strip()[:LONGEST]
    return (
        f"kueue-dra: internal error (please report): {type(fault).__name__}{place}: {text}; "
        f"{TRACEBACK}=1 prints the traceback"
    )
