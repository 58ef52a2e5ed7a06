"""A cluster that is taken over in the middle of a recorded scenario decides the rest as the real Kueue did."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache

import pytest

from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.scenarios.files import scenarios
from kueue_dra_ref.scenarios.scenario import Scenario
from kueue_dra_reports.shards import Shard
from tests.continued import differing
from tests.recorded_cases import GOLDEN

KNOWN = tomllib.loads(GOLDEN.with_name("continued.toml").read_text("utf-8"))


@cache
def _generated() -> Sequence[tuple[str, Scenario]]:
    """Give the generated scenarios of one cluster, by release."""
    found = []
    for file in sorted(GOLDEN.glob("*.jsonl.gz")):
        release = file.name.removesuffix(".jsonl.gz")
        if not release.endswith((".cases", ".multikueue")):
            found += [(release, scenario) for scenario in scenarios(file)]
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Continue the scenarios that `--stories` asks for."""
    if "scenario" in metafunc.fixturenames:
        part: Shard = metafunc.config.getoption("--stories")
        found = [pytest.param(release, each, id=f"{release}-{each.name}") for release, each in _generated()]
        metafunc.parametrize(("release", "scenario"), part.of_list(found))


def test_the_rest_is_decided_as_recorded(release: str, scenario: Scenario) -> None:
    """From the objects alone, with their status; what differs is listed, with the first field."""
    assert differing(scenario, behaviour(release)) == KNOWN.get(release, {}).get(scenario.name, "")


def test_the_list_names_scenarios() -> None:
    """An entry without one is an error."""
    found = {(release, scenario.name) for release, scenario in _generated()}

    assert {(release, name) for release, names in KNOWN.items() for name in names} <= found
