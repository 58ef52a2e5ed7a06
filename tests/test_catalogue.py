"""The catalogue of requirements is whole: IDs, behaviours, headings, exclusions, and the three piles of coverage."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pytest

from kueue_dra_ref.behaviours import NAMES
from kueue_dra_ref.behaviours.releases import MINORS, RELEASES
from kueue_dra_ref.requirements.catalogue import (
    CatalogueError,
    Level,
    Requirement,
    catalogue,
    renamed,
    retired,
)
from kueue_dra_ref.requirements.coverage import coverage
from kueue_dra_ref.requirements.ranges import RangeError, compact, expanded
from kueue_dra_reports.applicability import citation_faults
from tests.requirements_page import cited, page

KUEUE = re.compile(rf"Kueue ({'|'.join(map(re.escape, MINORS))})(\.\d+)?, ")
TEXTS = {"kep-2025-04", "kep-2025-07", "kep-2025-09"}
BOTH = {"kep-2025-09", "kueue-0.19.2"}
ALL = [each.name for each in RELEASES]
OPEN = ["kep-2026-09", "main-2026-08-22"]
BEHAVIOURS = TEXTS | set(ALL) | set(OPEN)
PROFILES = {"DRA-CLAIM", "DRA-DISABLED", "DRA-API", "DRA-PARTITIONABLE", "DRA-CAPACITY", "DRA-EXTENDED"}
SEPTEMBER = {
    "Summary",
    "Motivation",
    "Background",
    "DRA Example",
    "Workload Example",
    "Example Driver Cluster Resources",
    "ResourceSlices",
    "DeviceClasses",
    "Goals",
    "Non-Goals",
    "Proposal",
    "User Stories (Optional)",
    "Story 1",
    "Story 2",
    "Story 3",
    "Notes/Constraints/Caveats (Optional)",
    "Risks and Mitigations",
    "Design Details",
    "Configuration API Extension for DRA",
    "Device Class Resolution and Conflict Prevention",
    "Device Class Mapping Uniqueness",
    "RBAC Requirements",
    "Workloads",
    "DRA-Specific Workload Processing",
    "Workload Processing Flow",
    "Architecture Details",
    "Queue Manager Extensions",
    "Test Plan",
    "Prerequisite testing updates",
    "Unit Tests",
    "Integration tests",
    "E2E Test",
    "Graduation Criteria",
    "Alpha",
    "Beta",
    "GA",
    "Implementation History",
    "Drawbacks",
    "Alternatives",
    "ResourceClaim By Count",
    "Using devices in ResourceSlice to Count",
    "Using a CEL expression",
    "Defining DeviceClass mapping in ClusterQuota",
    "Using ResourceFlavor for DeviceClass Mapping",
    "Creating a new CRD for device class mapping",
}
JULY = SEPTEMBER - {
    "Story 3",
    "Configuration API Extension for DRA",
    "Device Class Resolution and Conflict Prevention",
    "Device Class Mapping Uniqueness",
    "RBAC Requirements",
    "DRA-Specific Workload Processing",
    "Workload Processing Flow",
    "Architecture Details",
    "Queue Manager Extensions",
    "Creating a new CRD for device class mapping",
} | {
    "DynamicResourceAllocationConfig API",
    "Device Class Resolution and Ambiguity Handling",
    "Device Class Mapping Ambiguity",
    "Using ConfigMap for DeviceClass Mapping",
}
APRIL = JULY - {
    "DynamicResourceAllocationConfig API",
    "Device Class Resolution and Ambiguity Handling",
    "Device Class Mapping Ambiguity",
    "Alpha",
    "Beta",
    "GA",
    "ResourceClaim By Count",
    "Defining DeviceClass mapping in ClusterQuota",
    "Using ResourceFlavor for DeviceClass Mapping",
    "Using ConfigMap for DeviceClass Mapping",
} | {"Resource Quota API", "Feature Gate", "Resource Claim By Count"}
OPEN_HEADINGS = {"Prioritized List Quota"}
KEP_SOURCES = {
    f"KEP-2941 {text}, {heading}"
    for text, headings in (("2025-04", APRIL), ("2025-07", JULY), ("2025-09", SEPTEMBER), ("2026-09", OPEN_HEADINGS))
    for heading in headings
}
API_TYPES = {
    "BasicDevice",
    "Device",
    "DeviceAttribute",
    "DeviceConstraint",
    "DeviceRequest",
    "OpaqueDeviceConfiguration",
    "ResourcePool",
    "ResourceSliceSpec",
}
SOURCES = KEP_SOURCES | {f"resource.k8s.io v1alpha3, {name}" for name in API_TYPES}


def _of(file: str) -> list[Requirement]:
    return [r for r in catalogue().values() if r.file == file]


FILES = [file for file, _ in groupby(catalogue().values(), key=lambda r: r.file)]


@pytest.mark.parametrize("file", FILES)
def test_ids_of_a_file_count_from_one_under_one_prefix(file: str) -> None:
    """A gap or a swap would mean that an ID was changed."""
    prefix = _of(file)[0].id.split("-")[0]
    assert re.fullmatch(r"[A-Z]+", prefix)
    assert [r.id for r in _of(file)] == [f"{prefix}-{n:03d}" for n in range(1, len(_of(file)) + 1)]


def test_no_two_files_share_a_prefix() -> None:
    """The prefix tells the file."""
    prefixes = [_of(file)[0].id.split("-")[0] for file in FILES]
    assert len(set(prefixes)) == len(prefixes)


def test_a_retired_id_never_comes_back() -> None:
    """A retired ID has exactly one current ID, and no heading takes its prefix again."""
    assert set(retired()).isdisjoint(catalogue())
    assert {each.now for each in retired().values()} <= set(catalogue())
    assert len({each.now for each in retired().values()}) == len(retired())
    assert "AHEAD" not in {id_.split("-")[0] for id_ in catalogue()}


def test_the_current_id_of_a_retired_one_is_reported() -> None:
    """A report of an earlier version still leads to the requirement."""
    assert renamed("AHEAD-001") == "AHEAD-001 is MAP-021 since 0.2.0"
    assert renamed("MAP-021") == ""
    assert citation_faults(["AHEAD-001"], catalogue()) == ["cites 'AHEAD-001': AHEAD-001 is MAP-021 since 0.2.0"]


@pytest.mark.parametrize("r", catalogue().values(), ids=lambda r: r.id)
def test_an_entry_is_one_sentence_of_a_known_source(r: Requirement) -> None:
    """Behaviours and profiles are known, a heading of the text exists, and only Kueue infers."""
    assert set(r.holds) <= BEHAVIOURS
    assert len(set(r.holds)) == len(r.holds)
    assert r.profile in PROFILES
    assert re.fullmatch(r"[A-Za-z].{20,}\.", r.text)
    assert r.source in SOURCES or r.source.startswith("Kubernetes 1.36, ") or KUEUE.match(r.source)
    assert set(r.also) <= SOURCES - {r.source}
    if r.level is not Level.INFERRED and not r.excluded:
        assert r.source in SOURCES, "what the text does not say cannot be asked in its name"


@pytest.mark.parametrize("r", catalogue().values(), ids=lambda r: r.id)
def test_a_text_holds_what_it_says(r: Requirement) -> None:
    """An entry whose source is a text holds in the behaviour of that text."""
    texts = {f"kep-{source[9:16]}" for source in (r.source, *r.also) if source in KEP_SOURCES}
    assert texts <= set(r.holds)


@pytest.mark.parametrize("r", catalogue().values(), ids=lambda r: r.id)
def test_what_stands_instead_of_another_holds_elsewhere(r: Requirement) -> None:
    """Two sentences that contradict each other never hold in one behaviour."""
    assert set(r.instead_of) <= set(catalogue()) - {r.id}
    assert [id_ for id_ in r.instead_of if set(catalogue()[id_].holds) & set(r.holds)] == []


def test_a_text_that_is_silent_asks_for_nothing() -> None:
    """Where a text does not say what holds in it, Kueue's way stands in, and a difference is a question."""
    one = Requirement(
        id="X-001",
        text="t",
        source="KEP-2941 2025-09, Proposal",
        level=Level.MUST,
        holds=("kep-2025-04", "kep-2025-07", "kep-2025-09", "kueue-0.19.2"),
        also=("KEP-2941 2025-07, Goals",),
    )
    assert [one.level_in(name) for name in one.holds] == [Level.INFERRED, Level.MUST, Level.MUST, Level.MUST]
    assert one.source_in("kep-2025-07") == "KEP-2941 2025-07, Goals"
    assert one.source_in("kep-2025-04") == "KEP-2941 2025-09, Proposal"


def test_every_reason_for_an_exclusion_is_a_sentence() -> None:
    """An exclusion without a reason worth reading is a gap in disguise."""
    assert [r.id for r in catalogue().values() if r.excluded and len(r.excluded.split()) < 4] == []


def test_a_reason_points_only_at_ids_that_can_be_proven() -> None:
    """Where a reason says "testable as X", a case can cite X."""
    pointed = {id_ for r in catalogue().values() for id_ in re.findall(r"[A-Z]+-\d{3}", r.excluded)}
    assert {id_ for id_ in pointed if id_ not in catalogue() or catalogue()[id_].excluded} == set()


def test_both_behaviours_say_most_things_alike() -> None:
    """The sizes move only when entries are added, so a lost file is seen."""
    both = [r for r in catalogue().values() if not r.excluded and set(r.holds) >= BOTH]
    assert len(both) >= 120
    assert sum(not r.excluded for r in catalogue().values()) >= 180


def _requirement(id_: str, *, holds: tuple[str, ...] = ("a",), excluded: str = "") -> Requirement:
    return Requirement(id=id_, text="t", source="s", level=Level.MUST, holds=holds, excluded=excluded)


THREE = {
    "X-001": _requirement("X-001"),
    "X-002": _requirement("X-002"),
    "X-003": _requirement("X-003", excluded="because"),
    "X-004": _requirement("X-004", holds=("b",)),
}


def test_the_piles_hold_every_requirement_of_the_behaviour_once() -> None:
    """A requirement of another behaviour is in no list; one that passed twice is proven once, by both."""
    found = coverage(THREE, {"two": ["X-001"], "one": ["X-001", "X-001", "X-004"]}, "a")
    assert found.proven == {"X-001": ("one", "two")}
    assert found.untested == ("X-002",)
    assert found.excluded == {"X-003": "because"}
    assert found.required == 3


def test_a_case_that_cites_an_unknown_id_is_a_fault() -> None:
    """A misspelt ID must not pass for coverage."""
    with pytest.raises(CatalogueError, match="X-009"):
        coverage(THREE, {"one": ["X-009"]}, "a")


def test_the_page_shows_each_requirement_with_its_cases() -> None:
    """Every ID has a row; an excluded one says why."""
    printed = page(THREE, {"one": ["X-001"]})
    assert "| X-001 | MUST | a | t | s | `one` |" in printed
    assert "| X-003 | MUST | a | t | s | none: because |" in printed


def test_the_page_names_three_cases_and_counts_the_rest() -> None:
    """A row stays short."""
    printed = page(THREE, {case: ["X-001"] for case in ("a", "b", "c", "d", "e")})
    assert "| `a`, `b`, `c`, +2 |" in printed


def test_every_requirement_that_is_not_excluded_has_a_case() -> None:
    """The cases are read from the sources, with the rows of tables outside of a test."""
    named = {id_ for ids in cited().values() for id_ in ids}
    assert named == {r.id for r in catalogue().values() if not r.excluded}


def test_the_committed_page_is_the_one_that_is_printed() -> None:
    """docs/reference/requirements.md is generated, never edited by hand."""
    committed = Path(__file__).parent.parent / "docs" / "reference" / "requirements.md"
    assert committed.read_text("utf-8") == page(catalogue(), cited())


@pytest.mark.parametrize(
    ("written", "names"),
    [
        pytest.param(["kueue-.."], ALL + OPEN, id="all"),
        pytest.param(["kueue-..", "not kep-2026-09", "not main-2026-08-22"], ALL, id="not-in-an-open-text"),
        pytest.param(["kueue-0.15.."], ALL[1:] + OPEN, id="and-later"),
        pytest.param(OPEN, OPEN, id="an-open-text-alone"),
        pytest.param(["kueue-..0.14"], ALL[:1], id="and-earlier"),
        pytest.param(["kueue-0.19.2"], ["kueue-0.19.2"], id="patch"),
        pytest.param(
            ["kep-2025-09", "kueue-0.16..0.17"], ["kep-2025-09", "kueue-0.16.2", "kueue-0.17.1"], id="between"
        ),
    ],
)
def test_a_range_stands_for_names(written: list[str], names: list[str]) -> None:
    """Ranges are expanded when the catalogue is loaded, and printed as ranges again."""
    assert list(expanded(written)) == names
    assert expanded(compact(names)) == tuple(names)


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        pytest.param(["kueue-0.3.."], "found minor 0.3; expected one of", id="unknown-minor"),
        pytest.param(["kueue-0.19..0.18"], "expected a range to end after it begins", id="backwards"),
        pytest.param(["kueue-0.19..0.19"], "one minor is written by its name", id="one-minor"),
        pytest.param(["kueue-.."] * 2, "kueue-0.14.0 stands there twice", id="twice"),
        pytest.param(["kueue-0.19.2+"], "expected one of kep-2025-04", id="no-range"),
    ],
)
def test_a_range_that_cannot_be_read_is_told(written: list[str], fault: str) -> None:
    """The found and the expected value."""
    with pytest.raises(RangeError, match=re.escape(fault)):
        expanded(written)


def test_ranges_are_of_the_minors_that_there_are() -> None:
    """A minor has a behaviour, and a behaviour of Kueue is a minor that ranges know."""
    assert set(NAMES) == BEHAVIOURS
