"""``kueue-dra vendor`` and wrong types: the answer is a finding or one line, never a traceback."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import kueue_dra
from tests.test_vendor import NO_MAPPING, a_driver, with_counters, with_shares

VALUES: tuple[Any, ...] = (None, "", [], {}, 5, "x", [None], {"a": None}, True, -1, 1.5, ["x"])
SEED, EACH = 20261126, 40
"""Which fields are changed, and how many of them for each command."""
COMMANDS = (("check",), ("minors",), ("mapping",), ("diff",))


def _manifests() -> list[Any]:
    """Give a driver that uses most fields, with a Node, a Namespace and a custom resource."""
    files = a_driver()
    with_counters(files)
    with_shares(files, default="80Gi", validValues=["80Gi"])
    devices = files["template"]["spec"]["spec"]["devices"]
    devices["constraints"] = [{"requests": ["gpu"], "matchAttribute": "a/b"}]
    selector = {"cel": {"expression": "device.driver == 'x'"}}
    devices["requests"][0]["exactly"].update(selectors=[selector], capacity={"requests": {"memory": "1Gi"}})
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}, "status": {"allocatable": {"a/b": "1"}}}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "demo", "labels": {"a": "b"}}}
    custom = {"apiVersion": "x.io/v1", "kind": "Domain", "metadata": {"name": "c"}, "spec": {"template": "one"}}
    mapping = {**NO_MAPPING, **files["mapping"]}
    given = [files["class"], *files["slices"], files["template"], files["job"]]
    return [*given, node, namespace, custom, mapping]


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if len(path) > 1:
        yield path
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inside in steps:
        yield from _paths(inside, (*path, step))


@pytest.mark.parametrize("command", COMMANDS, ids=[each[0] for each in COMMANDS])
def test_a_wrong_value_anywhere_is_answered(command: tuple[str, ...], tmp_path: Path) -> None:
    """Exit code 0, 1 or 2; an exception would fail the test."""
    manifests = _manifests()
    draw = random.Random(f"{SEED}{command}")
    paths = list(_paths(manifests))
    for _ in range(EACH):
        path, value = draw.choice(paths), draw.choice(VALUES)
        changed = copy.deepcopy(manifests)
        place: Any = changed
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        (tmp_path / "driver.yaml").write_text(yaml.safe_dump_all(changed))
        folders = [tmp_path] * (2 if command == ("diff",) else 1)

        done = kueue_dra("vendor", *command, *folders)

        assert done.exit_code in (0, 1, 2), f"{path} = {value!r}: {done.output}"


@pytest.mark.parametrize("attributes", [["x"], {"numa": ["ints"]}, {"numa": "ints"}, "ints"])
def test_attributes_of_a_wrong_type_are_answered(attributes: Any, tmp_path: Path) -> None:
    """The slice is rejected; no check reads it as if it were stored."""
    files = a_driver()
    files["slices"][0]["spec"]["devices"][0]["attributes"] = attributes
    (tmp_path / "driver.yaml").write_text(yaml.safe_dump_all([files["class"], *files["slices"]]))

    done = kueue_dra("vendor", "check", tmp_path)

    assert done.exit_code == 1
    assert "error VENDOR-001" in done.stdout
