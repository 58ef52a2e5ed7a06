"""Fixtures for all of the project's own tests."""

from __future__ import annotations

import signal

import pytest

from tests.toys import Toy


def pytest_sessionstart() -> None:
    """Let Ctrl-C reach what the tests start: a shell's background job ignores it, and its children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def toy(pytester: pytest.Pytester) -> Toy:
    """Give an empty toy suite; a module that uses it names the plugin ``pytester``."""
    return Toy(pytester)
