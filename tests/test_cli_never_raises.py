"""Simulate and explain answer for every error in a manifest; they never end in a traceback."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kueue_dra_ref.behaviours import NAMES
from tests.commands import EXAMPLE, LEFT_OUT, ROOT, kueue_dra

WRONG: tuple[Any, ...] = (
    *(
        None,
        5,
        -1,
        0,
        2**40,
        0.5,
        1e30,
        True,
        False,
        "x",
        "",
        "nan",
        "1e5",
        "1e400",
        "-3",
        "é\u0000",
        "NoSchedule",
        "Exists",
    ),
    *([], {}, [None], [{}], [[1]], [1, "a"], {"a": 1}, {"": ""}, {"a": None}, {"a": {"b": []}}),
)
"""Values that replace others."""
LOST = object()
"""A field that is removed."""


def documents(*files: Path) -> list[Any]:
    """Read every document of some files."""
    return [each for file in files for each in yaml.safe_load_all(file.read_text("utf-8"))]


WORLDS = (documents(EXAMPLE, LEFT_OUT), documents(ROOT / "tests" / "golden" / "broken.yaml"))


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Give the path of everything in a document."""
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    return [(*path, key) for key in keys] + [place for key in keys for place in places(node[key], (*path, key))]


def broken(world: list[Any], path: tuple[Any, ...], value: Any) -> list[Any]:
    """Give a copy with one place changed or lost."""
    found = copy.deepcopy(world)
    node: Any = found
    for key in path[:-1]:
        node = node[key]
    if value is LOST:
        del node[path[-1]]
    else:
        node[path[-1]] = copy.deepcopy(value)
    return found


@st.composite
def worlds(draw: st.DrawFn) -> str:
    """Draw manifests with one to three errors."""
    world: list[Any] = draw(st.sampled_from(WORLDS))
    for _ in range(draw(st.integers(1, 3))):
        if found := places(world):
            world = broken(world, draw(st.sampled_from(found)), draw(st.sampled_from((LOST, *WRONG))))
    return str(yaml.safe_dump_all(world, allow_unicode=True))


@settings(max_examples=150, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(world=worlds(), behaviour=st.sampled_from(NAMES))
def test_a_broken_world_is_answered(world: str, behaviour: str) -> None:
    """The exit code is 0 or 2, and 2 comes with a word about it."""
    for command in ("simulate", "explain"):
        result = kueue_dra(command, "-f", "-", "--behaviour", behaviour, stdin=world)

        assert result.exit_code in (0, 2)
        assert result.exit_code == 0 or result.stderr


@settings(max_examples=100, derandomize=True)
@given(text=st.text(alphabet="abk:-[]{}&*!|>'\"#%@`, \n\t\u0000é0", max_size=60))
def test_any_text_is_answered(text: str) -> None:
    """A file that is not YAML is reported as such."""
    for arguments in (("simulate", "-f", "-"), ("config", "check", "-")):
        assert kueue_dra(*arguments, stdin=text).exit_code in (0, 1, 2)
