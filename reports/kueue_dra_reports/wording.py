"""The verdict of a report in sentences, for people who do not know the suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kueue_dra_ref.explain.step import named
from kueue_dra_reports.document import CheckEntry, Report
from kueue_dra_reports.results import FAILED

MEANS = {
    "success": "Every case passed, and each requirement that the texts state is proven by at least one case.",
    "partial": "No case contradicts what the texts demand (MUST). Something is not proven: a requirement without a "
    "case that ran, a case that was left out, a SHOULD that fails, or a question that the texts leave open.",
    "failure": "A requirement that the texts demand (MUST) is violated, a case could not be checked, or the run did "
    "less than it planned.",
}
CLAIM = "This run may be shown as a conformance claim."
NO_CLAIM = "This run is no conformance claim: only a run with --intent certify whose verdict is success is one."


def subject(report: Report) -> str:
    """Say what was checked, and against what."""
    target, behaviour = report["target"], report["specification"]["behaviour"]
    about = target["about"]
    name = "the reference in memory"
    if target["name"] != "reference":
        version = target["implementation"]["version"]
        name = f"Kueue {version}"
        if "kubernetes" in about:
            name += f" on Kubernetes {about['kubernetes']}"
    return f"{name}, checked as {behaviour}"


def verdict_sentence(report: Report) -> str:
    """Say in one sentence how the run ended."""
    checks = report["checks"]
    failed = [one for one in checks if one["outcome"] in FAILED]
    passed = sum(one["outcome"] == "passed" for one in checks)
    of = f"{passed} of {named(len(checks), 'case')} passed"
    result = report["verdict"]["result"]
    if report["integrity"]["faults"]:
        return f"The run did less than it planned: {of}."
    if result == "success":
        return f"Everything that was checked holds: {of}."
    if not failed:
        return f"Nothing is violated, but not everything is proven: {of}."
    levels = Counter(_violated(report))
    found = ", ".join(
        f"{levels[level]} {level}"
        for level in ("MUST", "SHOULD", "MAY", "INFERRED")
        if levels[level]
    )
    noun = "requirement does" if sum(levels.values()) == 1 else "requirements do"
    return f"{sum(levels.values())} {noun} not hold ({found}): {of}."


def _violated(report: Report) -> Sequence[str]:
    return [
        one["level"]
        for one in report["requirements"]
        if one["verdict"] in ("failed", "questioned")
    ]


def meaning(report: Report) -> Sequence[str]:
    """Say what the verdict means, and what it does not."""
    verdict = report["verdict"]
    return [
        MEANS[verdict["result"]],
        CLAIM if verdict["claimsConformance"] else NO_CLAIM,
    ]


def failures(report: Report) -> Sequence[CheckEntry]:
    """Give the cases that did not pass: first those that the gate counts, then by the strongest level."""
    levels = {one["id"]: one["level"] for one in report["requirements"]}
    order = ("MUST", "SHOULD", "MAY", "INFERRED")
    gate = report.get("gate")
    red = set(gate["red"]) if gate else set()

    def weight(check: CheckEntry) -> tuple[bool, int, str]:
        strongest = min(order.index(levels[one]) for one in check["requirements"])
        return check["id"] not in red, strongest, check["id"]

    return sorted(
        (one for one in report["checks"] if one["outcome"] in FAILED), key=weight
    )
