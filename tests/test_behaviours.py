"""All lists of releases agree with the registry, each slot says what it decides, and the pages are fresh."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from kueue_dra_clusters.kind.profiles import PROFILES
from kueue_dra_clusters.releases import RELEASES as PROGRAMS
from kueue_dra_ref.behaviours import NAMES, behaviour, marked
from kueue_dra_ref.behaviours.behaviour import rules_of
from kueue_dra_ref.behaviours.description import (
    NOTHING,
    condition,
    counterpart_files,
    headline,
    phases,
    relevant_gates,
)
from kueue_dra_ref.behaviours.releases import (
    BRANCHES,
    BY_NAME,
    NEWEST,
    PINNED,
    PROVISIONAL,
    REGISTRY,
    RELEASES,
    TEXTS,
    VARIATIONS,
    RegisteredRelease,
)
from kueue_dra_ref.model.rule import Rule, rule, when
from kueue_dra_ref.model.slots import Each
from kueue_dra_reports.behaviour_pages import pages, stale, write

ROOT = Path(__file__).resolve().parents[1]
RUN = (ROOT / "docs/how-to/run-on-a-real-kueue.md").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


@pytest.mark.parametrize("name", BY_NAME)
def test_a_behaviour_has_the_name_and_title_of_its_entry(name: str) -> None:
    """Both are stated twice, so that a behaviour can be read alone."""
    found, entry = behaviour(name), BY_NAME[name]

    assert (found.name, found.title, found.kueue) == (entry.name, entry.title, entry.minor)
    assert found.version == entry.version or (name in BRANCHES and found.version == entry.minor)


def test_the_registry_lists_the_oldest_first() -> None:
    """Texts, then releases; each list derives from it."""
    releases = [each.numbers for each in RELEASES]

    assert [each.name for each in REGISTRY] == [*TEXTS, *VARIATIONS, *(each.name for each in RELEASES)]
    assert releases == sorted(releases)
    assert all(len(each) == 3 for each in releases)
    assert list(TEXTS) == sorted(TEXTS)
    assert set(NAMES) == set(BY_NAME)
    assert NAMES[0] == NEWEST.name


@pytest.mark.parametrize("found", REGISTRY, ids=lambda entry: entry.name)
def test_a_minor_is_pinned_or_provisional(found: RegisteredRelease) -> None:
    """A text is neither; a release that is pinned says what it serves and reads."""
    assert bool(found.minor) == bool(found.pinned or found.provisional) == bool(found.serves) == bool(found.reads)
    assert not (found.pinned and found.provisional)
    assert marked(found.name).endswith("(provisional)") == (found.name in PROVISIONAL)


@pytest.mark.parametrize("found", PINNED, ids=lambda entry: entry.name)
def test_the_pins_are_those_of_the_registry(found: RegisteredRelease) -> None:
    """The go.mod requires the release that the registry names."""
    assert PROGRAMS[found.minor].component.version == f"v{found.version}"


def test_the_makefile_runs_the_newest_release() -> None:
    """`make live` without KUEUE, and `make matrix` without MINORS."""
    assert f"\nKUEUE ?= {NEWEST.minor}\n" in MAKEFILE
    assert "\nMINORS ?=\n" in MAKEFILE


def test_end_to_end_profiles_name_the_minors_that_have_their_gates() -> None:
    """A profile is for each pinned minor that knows its gates and has device integration on by default."""
    for profile in PROFILES.values():
        found = [each.minor for each in PINNED if _offers(each.name, profile.gates)]
        assert list(profile.minors) == found, profile.name


def test_the_end_to_end_matrix_runs_all_minors_of_the_profiles() -> None:
    """The loop of `make e2e-matrix` goes over what the module prints."""
    minors = [each.minor for each in PINNED if _offers(each.name, {})]
    module = "kueue_dra_clusters.kind.profiles"

    printed = subprocess.run([sys.executable, "-m", module], capture_output=True, text=True, check=True)

    assert printed.stdout.split() == minors
    assert f"for minor in $$($(BIN)/python -m {module});" in MAKEFILE


def _offers(name: str, gates: Mapping[str, bool]) -> bool:
    known = behaviour(name).gates.table
    return known[behaviour(name).integration_gate].default and set(gates) <= set(known)


def test_the_table_of_releases_is_the_registry() -> None:
    """The newest release first, with the versions that it reads and serves."""
    rows = re.findall(r"^\| (0\.\d+) \| (\S+) \| (\S+) \| (.+?) \| (.+?) \|", RUN, re.MULTILINE)
    expected = [
        (
            each.minor,
            each.version,
            each.reads,
            ", ".join(each.serves),
            ", ".join(version.rpartition("/")[2] for version in behaviour(each.name).versions),
        )
        for each in reversed(PINNED)
    ]

    assert rows == expected


def test_each_slot_says_which_question_it_decides() -> None:
    """And what follows if it holds no rule, where that is so in some behaviour."""
    silent, unexplained = set[str](), set[str]()
    for name in NAMES:
        for phase in phases(behaviour(name)):
            for slot in phase.slots:
                if not slot.question.endswith((".", "?")):
                    silent.add(f"{phase.name}.{slot.name}")
                if not slot.rules and slot.without == NOTHING:
                    unexplained.add(f"{phase.name}.{slot.name}")

    assert (silent, unexplained) == (set(), set())


@pytest.mark.parametrize("name", NAMES)
def test_a_description_holds_every_rule_in_order(name: str) -> None:
    """Nothing of a behaviour is left out."""
    found = behaviour(name)
    described = [rule.name for phase in phases(found) for slot in phase.slots for rule in slot.rules]

    assert described == [rule.name for rule in rules_of(found)]
    assert all(phase.slots for phase in phases(found))
    assert len(headline(found).split("\n\n")) > 1


def test_the_gates_that_matter_are_known_to_the_release() -> None:
    """The integration gate comes first."""
    assert relevant_gates(behaviour("kueue-0.17.1"))[0].name == "DynamicResourceAllocation"
    assert len(relevant_gates(behaviour("kep-2025-09"))) == 1


@rule("CLAIM-001")
def a_rule() -> str | None:
    """Decide something.

    Kueue: pkg/dra/claims.go (one, two (three)); Kubernetes: k8s.io/api/types.go (four)
    """
    return None


def test_a_condition_is_put_in_words() -> None:
    """All gates have to be in their states."""
    gated: Rule[[], str | None] = when(a_rule, A=True, B=False)

    assert condition(gated) == "while A is on and B is off"
    assert condition(a_rule) == ""


def test_a_counterpart_without_symbols_names_the_files() -> None:
    """Brackets inside brackets go, too."""
    assert counterpart_files(a_rule) == "Kueue: pkg/dra/claims.go; Kubernetes: k8s.io/api/types.go"


def test_gates_of_a_slot_can_be_changed_by_the_name_of_the_rule() -> None:
    """Other rules keep theirs, and a rule that is not there is an error."""
    slot = Each(a_rule)

    assert slot.gate(a_rule, A=True).rules[0].gates == {"A": True}
    assert slot.gate(a_rule, A=True).ungate(a_rule) == slot
    with pytest.raises(KeyError, match="a_rule is not in"):
        Each[[], str]().ungate(a_rule)


def test_the_committed_pages_are_those_that_are_printed() -> None:
    """`make docs` writes them."""
    assert stale(ROOT / "docs/behaviours") == []


def test_a_page_of_no_behaviour_is_removed(tmp_path: Path) -> None:
    """A stale page is named by the check, and removed when the pages are written."""
    write(tmp_path)
    (tmp_path / "kueue-0.9.md").write_text("old", "utf-8")
    assert stale(tmp_path) == ["kueue-0.9.md"]

    write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(pages())


def test_pages_name_files_and_no_symbols() -> None:
    """So a search for a symbol of Kueue finds the deciding module first."""
    assert "pkg/dra/claims.go" in pages()["kueue-0.19.2.md"]
    assert "GetResourceRequestsForResourceClaimTemplates" not in "".join(pages().values())
