"""What a mutant changes: operators of cosmic-ray, and three that it lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import parso
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.plugins import get_operator

_OF_COSMIC_RAY = (
    "AddNot",
    "NumberReplacer",
    "ZeroIterationForLoop",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_Mul_FloorDiv",
    "ReplaceBinaryOperator_FloorDiv_Mul",
    "ReplaceBinaryOperator_BitAnd_BitOr",
    "ReplaceComparisonOperator_Eq_NotEq",
    "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceComparisonOperator_Is_IsNot",
    "ReplaceComparisonOperator_IsNot_Is",
    "ReplaceComparisonOperator_Lt_LtE",
    "ReplaceComparisonOperator_Lt_GtE",
    "ReplaceComparisonOperator_LtE_Lt",
    "ReplaceComparisonOperator_LtE_Gt",
    "ReplaceComparisonOperator_Gt_GtE",
    "ReplaceComparisonOperator_Gt_LtE",
    "ReplaceComparisonOperator_GtE_Gt",
    "ReplaceComparisonOperator_GtE_Lt",
)
PARSE: Any = parso.parse
Positions = Iterator[tuple[tuple[int, int], tuple[int, int]]]


class SwapNames(Operator):  # type: ignore[misc]  # cosmic-ray has no types
    """Puts a maximum for a minimum, `any` for `all`, and the reverse."""

    SWAPPED: Mapping[str, str] = {
        "min": "max",
        "max": "min",
        "any": "all",
        "all": "any",
    }

    def mutation_positions(self, node: Any) -> Positions:
        """Give where one of the names is called."""
        following = node.get_next_leaf() if node.type == "name" else None
        if (
            following is not None
            and following.value == "("
            and node.value in self.SWAPPED
        ):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Give the other name."""
        return parso.python.tree.Name(
            self.SWAPPED[node.value], node.start_pos, node.prefix
        )

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Give an example."""
        return (Example("x = min(a, b)", "x = max(a, b)"),)


class TakeBranch(Operator):  # type: ignore[misc]  # cosmic-ray has no types
    """Takes one branch always: the condition of an `if` is true, or false."""

    VALUES = (" True", " False")

    def mutation_positions(self, node: Any) -> Positions:
        """Give each condition, once for each value."""
        if isinstance(node, parso.python.tree.IfStmt):
            test = node.children[1]
            for _ in self.VALUES:
                yield test.start_pos, test.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Put a value for the condition."""
        node.children[1] = PARSE(self.VALUES[index])
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Give an example."""
        return (Example("if x: pass", "if True: pass"),)


class TurnMembership(Operator):  # type: ignore[misc]  # cosmic-ray has no types
    """Puts `not in` for `in`, outside of loops."""

    def mutation_positions(self, node: Any) -> Positions:
        """Give each comparison with `in`."""
        if node.type == "comparison" and getattr(node.children[1], "value", "") == "in":
            yield node.children[1].start_pos, node.children[1].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Turn the comparison."""
        node.children[1] = PARSE(" not in")
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Give an example."""
        return (Example("x in y", "x not in y"),)


def _all() -> dict[str, Operator]:
    found: dict[str, Operator] = {
        name: get_operator(f"core/{name}")() for name in _OF_COSMIC_RAY
    }
    return found | {
        each.__name__: each() for each in (SwapNames, TakeBranch, TurnMembership)
    }


OPERATORS = _all()
"""Each operator by its name."""
