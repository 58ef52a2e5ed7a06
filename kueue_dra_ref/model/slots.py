"""Slots: the rules of a behaviour that decide one question, and how their answers combine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, Self, TypeVar

from kueue_dra_ref.model.rule import Rule

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")


class Answer(NamedTuple, Generic[R]):
    """What a rule answered, with the rule, so that a step can cite it."""

    rule: Rule[..., Any]
    value: R


@dataclass(init=False, repr=False)
class Slot(Generic[P, R]):
    """Some rules in the order of application; a subclass says how their answers combine.

    A slot is a value: `add`, `drop` and `swap` give another one.
    """

    __slots__ = ("rules",)
    rules: tuple[Rule[P, R], ...]

    def __init__(self, *rules: Rule[P, R]) -> None:
        self.rules = rules

    def __bool__(self) -> bool:
        """Whether the slot holds any rule."""
        return bool(self.rules)

    def __hash__(self) -> int:
        """Hash by the names of the rules."""
        names = tuple(self._names())
        return hash((type(self), names))

    def __repr__(self) -> str:
        """Show the rules by name."""
        kind = type(self).__name__
        names = ", ".join(self._names())
        return f"{kind}({names})"

    def add(self, *rules: Rule[P, R], before: Rule[..., Any] | None = None) -> Self:
        """Give this slot with more rules: at the end, or before a rule that it holds.

        Raises:
            KeyError: the slot does not hold ``before``, or holds a rule of the same name already.

        """
        held = self._names()
        for rule in rules:
            if rule.name in held:
                raise KeyError(f"{rule.name} is in {self!r} already")
        at = len(held)
        if before is not None:
            at = self._index(before)
        earlier = self.rules[:at]
        later = self.rules[at:]
        return self._of([*earlier, *rules, *later])

    def drop(self, *rules: Rule[..., Any]) -> Self:
        """Give this slot without some rules.

        Raises:
            KeyError: the slot does not hold one of them.

        """
        left = list(self.rules)
        dropped = self._indexes(rules)
        for at in sorted(dropped, reverse=True):
            del left[at]
        return self._of(left)

    def swap(self, old: Rule[..., Any], new: Rule[P, R]) -> Self:
        """Give this slot with another rule in the place of one; they may differ in their gates only.

        Raises:
            KeyError: the slot does not hold ``old``.

        """
        changed = list(self.rules)
        at = self._index(old)
        changed[at] = new
        return self._of(changed)

    def gate(self, *rules: Rule[..., Any], **gates: bool) -> Self:
        """Give this slot with rules that are in force only under some gates, whatever theirs were before.

        Raises:
            KeyError: the slot does not hold one of them.

        """
        changed = list(self.rules)
        for at in self._indexes(rules):
            rule = changed[at]
            changed[at] = replace(rule, gates=gates)
        return self._of(changed)

    def ungate(self, *rules: Rule[..., Any]) -> Self:
        """Give this slot with rules that are in force under all gates.

        Raises:
            KeyError: the slot does not hold one of them.

        """
        return self.gate(*rules)

    def keep(self, is_kept: Callable[[Rule[..., Any]], bool]) -> Self:
        """Give this slot with the rules for which ``is_kept`` holds."""
        kept = filter(is_kept, self.rules)
        return self._of(kept)

    def _of(self, rules: Iterable[Rule[P, R]]) -> Self:
        return type(self)(*rules)

    def _names(self) -> list[str]:
        return [rule.name for rule in self.rules]

    def _index(self, rule: Rule[..., Any]) -> int:
        names = self._names()
        if rule.name not in names:
            raise KeyError(f"{rule.name} is not in {self!r}")
        return names.index(rule.name)

    def _indexes(self, rules: Iterable[Rule[..., Any]]) -> set[int]:
        return {self._index(rule) for rule in rules}


class First(Slot[P, R | None], Generic[P, R]):
    """The first rule that answers decides; a rule that has no answer returns None."""

    __slots__ = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R | None:
        """Give the first answer, or None."""
        for rule in self.rules:
            value = rule.apply(*args, **kwargs)
            if value is not None:
                return value
        return None

    def or_else(self, default: R, *args: P.args, **kwargs: P.kwargs) -> R:
        """Give the first answer, or a default."""
        for rule in self.rules:
            value = rule.apply(*args, **kwargs)
            if value is not None:
                return value
        return default

    def answer(self, *args: P.args, **kwargs: P.kwargs) -> Answer[R] | None:
        """Give the first answer with its rule, or None."""
        for rule in self.rules:
            value = rule.apply(*args, **kwargs)
            if value is not None:
                return Answer(rule, value)
        return None


class AnyOf(Slot[P, bool], Generic[P]):
    """One rule that holds is enough; without rules nothing holds."""

    __slots__ = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Whether a rule holds."""
        for rule in self.rules:  # noqa: SIM110 - slots are asked often; a generator would cost as much as most rules
            if rule.apply(*args, **kwargs):
                return True
        return False

    def holding(self, *args: P.args, **kwargs: P.kwargs) -> list[Rule[P, bool]]:
        """Give the rules that hold."""
        return [rule for rule in self.rules if rule.apply(*args, **kwargs)]


class AllOf(Slot[P, R], Generic[P, R]):
    """Every rule has to answer True; without rules everything passes."""

    __slots__ = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Whether every rule answers True."""
        return all(rule.apply(*args, **kwargs) is True for rule in self.rules)

    def failed(self, *args: P.args, **kwargs: P.kwargs) -> Answer[R] | None:
        """Give the first answer that is not True, with its rule, or None."""
        for rule in self.rules:
            value = rule.apply(*args, **kwargs)
            if value is not True:
                return Answer(rule, value)
        return None

    def failing(self, *args: P.args, **kwargs: P.kwargs) -> list[Rule[P, R]]:
        """Give every rule that does not answer True."""
        found = []
        for rule in self.rules:
            if rule.apply(*args, **kwargs) is not True:
                found.append(rule)
        return found


class Collect(Slot[P, Iterable[T]], Generic[P, T]):
    """Each rule finds any number of things; they are put together in the order of the rules."""

    __slots__ = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        """Give what all rules find."""
        for rule in self.rules:
            yield from rule.apply(*args, **kwargs)

    def answers(self, *args: P.args, **kwargs: P.kwargs) -> Iterator[Answer[T]]:
        """Give what all rules find, each with its rule."""
        for rule in self.rules:
            for value in rule.apply(*args, **kwargs):
                yield Answer(rule, value)

    def first(self, *args: P.args, **kwargs: P.kwargs) -> Answer[list[T]] | None:
        """Give all that the first rule finds that finds anything, with the rule, or None."""
        for rule in self.rules:
            if found := list(rule.apply(*args, **kwargs)):
                return Answer(rule, found)
        return None


class Each(Slot[P, R | None], Generic[P, R]):
    """Every answer counts; a rule that has no answer returns None."""

    __slots__ = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[R]:
        """Give every answer in the order of the rules."""
        found = []
        for rule in self.rules:
            value = rule.apply(*args, **kwargs)
            if value is not None:
                found.append(value)
        return found

    def answers(self, *args: P.args, **kwargs: P.kwargs) -> Iterator[Answer[R]]:
        """Give every answer with its rule."""
        for rule in self.rules:
            value = rule.apply(*args, **kwargs)
            if value is not None:
                yield Answer(rule, value)


class Fold(Slot[Concatenate[S, P], S | None], Generic[S, P]):
    """Each rule goes on from what the rule before it has made; a rule that returns None ends the fold."""

    __slots__ = ()

    def __call__(self, state: S, *args: P.args, **kwargs: P.kwargs) -> S:
        """Give what the last rule makes; a fold that a rule may end is read by its steps."""
        for rule in self.rules:
            made = rule.apply(state, *args, **kwargs)
            assert made is not None
            state = made
        return state

    def steps(
        self, state: S, *args: P.args, **kwargs: P.kwargs
    ) -> Iterator[Answer[S | None]]:
        """Give each rule with what it makes; None is the last one, after which nothing more is read."""
        for rule in self.rules:
            made = rule.apply(state, *args, **kwargs)
            yield Answer(rule, made)
            assert made is not None
            state = made


class Order(Slot[P, Any], Generic[P]):
    """Each rule gives one part of a sort key; the first part that differs decides."""

    __slots__ = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> tuple[Any, ...]:
        """Give the sort key."""
        return tuple(rule.apply(*args, **kwargs) for rule in self.rules)
