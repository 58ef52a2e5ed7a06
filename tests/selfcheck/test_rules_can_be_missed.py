"""Each rule of the reference, knocked out one at a time: some case that cites its requirement goes red."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kueue_dra_ref.behaviours import NAMES, behaviour
from kueue_dra_ref.behaviours.behaviour import rules_of
from kueue_dra_ref.requirements.catalogue import catalogue
from tests.mutants.messages import KnockOut
from tests.mutants.servers import Server, a_server, end
from tests.requirements_page import SUITES
from tests.requirements_page import cited as cited_by_cases

ROOT = Path(__file__).resolve().parents[2]


def _distinct() -> list[tuple[str, str]]:
    """Each rule once, with the first behaviour that holds it: behaviours share most of their rules."""
    seen: list[object] = []
    found: dict[tuple[str, str], None] = {}
    for name in NAMES:
        for rule in rules_of(behaviour(name)):
            if rule not in seen:
                seen.append(rule)
                found[name, rule.name] = None
    return list(found)


RULES = [pytest.param(name, rule, id=f"{name}-{rule}") for name, rule in _distinct()]
CITED = cited_by_cases()
CASES_FAILED = 1
"""The exit code of a pytest run in which a case failed; a usage error or an empty run has another."""


def _cited(name: str, rule: str) -> list[str]:
    known = {one for found in rules_of(behaviour(name)) if found.name == rule for one in found.requirements}
    return sorted(one for one in known if name in catalogue()[one].holds and not catalogue()[one].excluded)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Server]]:
    """Give the server of a behaviour, which has collected its cases; it starts when it is first asked for."""
    folder = tmp_path_factory.mktemp("servers")
    started: dict[str, Server] = {}

    def of(name: str) -> Server:
        if name not in started:
            started[name] = a_server("without_rules", [name], folder)
        return started[name]

    yield of
    for each in started.values():
        end(each)


@pytest.mark.without_a_rule
@pytest.mark.parametrize(("name", "rule"), RULES)
def test_a_missing_rule_turns_a_case_red(name: str, rule: str, server: Callable[[str], Server]) -> None:
    """Without the rule, a case that cites one of its requirements fails."""
    cited = _cited(name, rule)
    assert cited, f"{rule} cites no requirement that holds in {name} and can be proven"

    answer = server(name).ask(KnockOut(rule=rule, citing=frozenset(cited)))

    assert answer is not None, f"without {rule} a case takes too long"
    assert answer.failed, f"nothing went red without {rule} ({', '.join(cited)})"


def test_a_run_without_a_rule_says_so(tmp_path: Path) -> None:
    """With ``--knock-out`` it is red, and names the rule."""
    name, rule = _distinct()[0]
    cited = _cited(name, rule)
    files = [str(SUITES / "kueue_dra_suites" / "conformance" / file) for file in _files_citing(cited)]
    options = ["--behaviour", name, "--knock-out", rule, "--citing", ",".join(cited), "--report-dir", str(tmp_path)]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *options, *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == CASES_FAILED
    assert f"without the rule {rule}" in run.stdout


def _files_citing(requirements: list[str]) -> list[str]:
    """The files of cases that cite a requirement; to collect the others would take most of the time."""
    names = {case.partition("::")[0] for case, ids in CITED.items() if not set(requirements).isdisjoint(ids)}
    return sorted(names)
