"""The terminal text of a case that did not pass."""

from __future__ import annotations

from kueue_dra_reports.document import CheckEntry
from kueue_dra_reports.summary import explained

FAILED: CheckEntry = {
    "id": "quota/test_toy::test_a",
    "requirements": ["TOY-001"],
    "outcome": "failed",
    "durationSeconds": 0.1,
    "title": "Counts add up.",
    "message": "assert Pending == Admitted\n  more",
    "expected": "Admitted",
    "observed": "Pending",
    "explanation": ["class gpu -> whole-gpus", "2 x 1 = 2"],
}
BROKEN: CheckEntry = {
    "id": "quota/test_toy::test_b",
    "requirements": ["TOY-001"],
    "outcome": "notTestable",
    "durationSeconds": 0.1,
    "message": "a missing prerequisite fails a conformance case: no driver\n  more",
}


def test_a_failed_case_shows_both_sides_and_how_the_decision_comes_about() -> None:
    """One screen line each, the requirement's ID among them."""
    assert explained(FAILED).splitlines() == [
        "quota/test_toy::test_a  [TOY-001]  failed",
        "  title: Counts add up.",
        "  - expected, + observed:",
        "  - Admitted",
        "  + Pending",
        "    class gpu -> whole-gpus",
        "    2 x 1 = 2",
    ]


def test_a_case_that_could_not_be_judged_shows_why() -> None:
    """Without expected and observed values the first line of the message replaces them."""
    assert explained(BROKEN).splitlines() == [
        "quota/test_toy::test_b  [TOY-001]  notTestable",
        "  message: a missing prerequisite fails a conformance case: no driver",
    ]
