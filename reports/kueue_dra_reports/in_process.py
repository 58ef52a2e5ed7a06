"""Pytest inside this process, so that runs share its modules and what it holds; what it prints is kept."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence

import pytest


def run_inside(words: Sequence[str], plugins: Sequence[object] = ()) -> tuple[int, str]:
    """Run pytest with the words of a command line; its exit code, and all that it said."""
    with (
        contextlib.redirect_stdout(io.StringIO()) as said,
        contextlib.redirect_stderr(said),
    ):
        code = int(pytest.main([*words], plugins=[*plugins]))
    return code, said.getvalue()
