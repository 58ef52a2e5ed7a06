"""What all of the project's own tests need."""

from __future__ import annotations

import signal


def pytest_sessionstart() -> None:
    """Let Ctrl-C reach what the tests start: a shell's background job ignores it, and its children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
