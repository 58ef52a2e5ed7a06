"""The command line of pytest that runs the cases of a behaviour, without the plugins that they do not need."""

from __future__ import annotations

from collections.abc import Sequence

from tests.mutants.mutant import ROOT

CASES = "suites/kueue_dra_suites/conformance"
NOT_NEEDED = (
    "cacheprovider",
    "capture",
    "cov",
    "doctest",
    "faulthandler",
    "hypothesispytest",
    "legacypath",
    "logging",
    "pastebin",
    "pytest-kind-ng",
    "recwarn",
    "setuponly",
    "setupplan",
    "stepwise",
    "subtests",
    "threadexception",
    "tmpdir",
    "unittest",
    "unraisableexception",
    "warnings",
    "xdist",
)


def arguments(behaviour: str) -> Sequence[str]:
    """Give the arguments."""
    report = ROOT / "out" / "mutants" / "report"
    chosen = ["-q", "--tb=no", CASES, "--behaviour", behaviour, f"--report-dir={report}"]
    without = [f"-pno:{plugin}" for plugin in NOT_NEEDED]
    return chosen + without
