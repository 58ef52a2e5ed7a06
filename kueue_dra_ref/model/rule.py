"""A rule: a small pure function that a behaviour holds, and the requirements that it proves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Generic[P, R]):
    """A named function; ``Rule[[MappingPath], FieldError | None]`` takes a path and may give an error at it."""

    name: str
    requirements: tuple[str, ...]
    """IDs of the catalogue that fail when this rule is absent."""
    apply: Callable[P, R]
    gates: Mapping[str, bool] = field(default_factory=dict)
    """The states of feature gates in which the rule is in force."""

    @property
    def sentence(self) -> str:
        """What the rule decides: the first sentence of its docstring, without the full stop."""
        documentation = self.apply.__doc__ or self.name
        first, _, _ = documentation.partition("\n")
        return first.rstrip(".")

    @property
    def counterpart(self) -> str:
        """Where Kueue or Kubernetes decides the same: the last paragraph of the docstring."""
        documentation = (self.apply.__doc__ or "").strip()
        _, _, last = documentation.rpartition("\n\n")
        return " ".join(last.split())

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Apply the rule."""
        return self.apply(*args, **kwargs)


def rule(*requirements: str) -> Callable[[Callable[P, R]], Rule[P, R]]:
    """Make a rule of a function, and name it after the function."""

    def named(apply: Callable[P, R]) -> Rule[P, R]:
        return Rule(
            name=apply.__name__,
            requirements=requirements,
            apply=apply,
        )

    return named


def when(wanted: Rule[P, R], **gates: bool) -> Rule[P, R]:
    """Make a rule depend on feature gates; rules themselves never read a gate."""
    together = {**wanted.gates, **gates}
    return replace(wanted, gates=together)
