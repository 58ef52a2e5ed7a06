"""Which engine answers: the one of this package, unless Kubernetes' own is put in its place (see `exact`).

No counterpart: it chooses the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from kueue_dra_ref.cel import selector
from kueue_dra_ref.cel.kubernetes_backend import KubernetesSelector, OracleProgram
from kueue_dra_ref.cel.model import CompileError, Undecided
from kueue_dra_ref.cel.selector import Selector

Compiled = Selector | KubernetesSelector | CompileError | Undecided
_COMPILE: ContextVar[Callable[[str], Compiled]] = ContextVar(
    "compile", default=selector.compiled
)


def compiled(expression: str) -> Compiled:
    """Compile an expression with the engine that is in use."""
    return _COMPILE.get()(expression)


@contextmanager
def answered_by(program: OracleProgram) -> Iterator[None]:
    """Evaluate with Kubernetes' own engine, in this thread, until the block ends."""
    before = _COMPILE.set(program.compiled)
    try:
        yield
    finally:
        _COMPILE.reset(before)
