"""The feature gates in the arguments of a running Kueue's manager.

Kueue: cmd/kueue/main.go (main)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

MANAGER_CONTAINER = "manager"
"""The container of Kueue's Deployment that runs Kueue."""
FEATURE_GATES = "--feature-gates"
_WITH_ONE_DASH = "-feature-gates"


def gates_in(value: str) -> dict[str, bool]:
    """Read the value of ``--feature-gates``, such as ``A=true,B=false``."""
    gates = {}
    for pair in value.split(","):
        name, _, switch = pair.partition("=")
        if name.strip():
            gates[name.strip()] = switch.strip().lower() == "true"
    return gates


def gates_of_arguments(arguments: Sequence[str]) -> dict[str, bool]:
    """Read the feature gates of a manager's arguments; the value may be an argument of its own."""
    gates: dict[str, bool] = {}
    for option in gate_arguments(arguments):
        name = option[0]
        value = option[1] if len(option) > 1 else name.partition("=")[2]
        gates |= gates_in(value)
    return gates


def gate_arguments(arguments: Sequence[str]) -> Iterator[Sequence[str]]:
    """Give the arguments that set feature gates: one with ``=``, or the option and then its value."""
    for index, argument in enumerate(arguments):
        name, has_value, _ = argument.partition("=")
        if name in (FEATURE_GATES, _WITH_ONE_DASH):
            end = index + 1 if has_value else index + 2
            yield arguments[index:end]
