"""Scenarios on which a real Kueue and the reference agreed: the reference still decides each step alike.

`kueue-dra differential --keep` wrote the generated ones, `tests.recorded_cases` those of the cases of the suite; the
name of a file begins with the behaviour.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.scenarios.files import scenarios
from kueue_dra_ref.scenarios.scenario import Scenario, is_comparable
from kueue_dra_reports.shards import Shard
from tests.commands import ROOT, kueue_dra
from tests.recorded_cases import differing

FILES = sorted((ROOT / "tests" / "golden" / "recorded").glob("*.jsonl.gz"))


def _all() -> Iterator[object]:
    for file in FILES:
        name = file.name.removesuffix(".jsonl.gz")
        release = name.removesuffix(".cases").removesuffix(".multikueue")
        for scenario in scenarios(file):
            yield pytest.param(release, scenario, id=f"{name}-{scenario.name}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Replay the scenarios that `--stories` asks for."""
    if "scenario" in metafunc.fixturenames:
        part: Shard = metafunc.config.getoption("--stories")
        metafunc.parametrize(("name", "scenario"), part.of_list([*_all()]))


def test_each_step_is_decided_as_recorded(name: str, scenario: Scenario) -> None:
    """Conditions, reasons, messages, admissions, and figures of the queues."""
    assert differing(scenario, behaviour(name)) == ""


def test_there_are_recordings() -> None:
    """Most of their steps are compared."""
    assert FILES
    for file in FILES:
        steps = [step for scenario in scenarios(file) for step in scenario.recorded]
        assert sum(map(is_comparable, steps)) > 0.9 * len(steps)


@pytest.mark.parametrize("content", [b"no gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"], ids=["other", "cut-off"])
def test_a_file_that_is_no_gzip_is_answered(tmp_path: Path, content: bytes) -> None:
    """With its name."""
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(content)

    result = kueue_dra("replay", "--check", file)

    assert result.exit_code == 2
    assert f"{file}: found bytes that gzip cannot unpack; expected a whole gzip file" in result.output
