"""The command line of pytest that runs the cases of a behaviour, without the plugins that they do not need."""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_differential.mutants.places import ROOT

CASES = "suites/kueue_dra_suites/conformance"
SCENARIOS = (
    "tests/test_continued_recordings.py::test_the_rest_is_decided_as_recorded",
    "tests/test_recorded_scenarios.py::test_each_step_is_decided_as_recorded",
)
ANSWERS = (
    "tests/test_apiserver.py",
    "tests/test_fields_of_minors.py",
    "tests/test_generated_objects.py::test_answers_are_an_api_servers",
    "tests/test_generated_selectors.py::test_answers_are_kubernetes_own",
    "tests/test_kubernetes_backend.py",
    "tests/test_selectors_golden.py::test_an_answer_is_kubernetes_own_or_none",
    "tests/test_selectors_golden.py::test_an_attribute_is_read_or_fails_every_evaluation",
    "tests/test_selectors_golden.py::test_an_older_api_server_lacks_a_function",
    "tests/test_selectors_golden.py::test_an_older_kubernetes_lacks_an_argument",
    "tests/test_selectors_golden.py::test_cost_traps_are_known",
    "tests/test_selectors_golden.py::test_the_words_are_kubernetes_own",
    "tests/test_selectors_undecided.py",
)
"""Answers of real API servers, and of Kubernetes' own CEL code: a question takes some thousandths of a second."""
RECORDED = (*SCENARIOS, *ANSWERS)
"""The same, and what real Kueues decided in recorded scenarios; one behaviour runs them."""
EXPLAINED = (
    "tests/test_cli_explain.py",
    "tests/test_concurrent_admission_simulation.py::test_a_job_is_explained_by_its_variants",
    "tests/test_concurrent_admission_simulation.py::test_a_job_whose_claims_are_refused_is_explained_by_them",
    "tests/test_earlier_texts.py::test_flavors_after_the_first_that_fits_are_not_explained",
    "tests/test_elastic_simulation.py::test_the_name_of_an_elastic_job_is_that_of_its_newest_workload",
    "tests/test_execution_time_simulation.py::test_when_it_is_deactivated_is_explained",
    "tests/test_explain_devices.py",
    "tests/test_explain_extended.py",
    "tests/test_explain_flavors.py",
    "tests/test_explain_preemption.py",
    "tests/test_explain_sources.py",
    "tests/test_pods_ready_simulation.py::test_blocked_work_is_explained",
    "tests/test_provisioning.py::test_an_answer_explains_no_request_away",
    "tests/test_retention_simulation.py::test_when_it_is_deleted_is_explained",
)
"""What `explain` prints of a decision, which no Kueue says."""
BEHAVIOURS = (
    "kueue-0.19.2",
    "kueue-0.14.0",
    "kueue-0.20.0",
    "kueue-0.17.1",
    "kueue-0.18.3",
    "kueue-0.16.2",
    "kueue-0.15.2",
    "kep-2025-04",
    "kep-2025-07",
    "kep-2026-09",
    "main-2026-08-22",
)
"""The behaviours whose cases look at a mutant, those that hold most code first."""
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


def arguments(behaviour: str, stories: str) -> Sequence[str]:
    """Give the arguments for a server of mutants; ``stories`` is the part I/N of the recorded scenarios."""
    if behaviour != BEHAVIOURS[0]:
        return cases_of(behaviour)
    return cases_of(behaviour, *RECORDED, *EXPLAINED, f"--stories={stories}")


def cases_of(behaviour: str, *more: str) -> Sequence[str]:
    """Give the arguments for the cases of a behaviour, and for more tests."""
    report = ROOT / "out" / "mutants" / "report"
    chosen = ["-q", "--tb=no", CASES, *more, "--behaviour", behaviour, f"--report-dir={report}"]
    without = [f"-pno:{plugin}" for plugin in NOT_NEEDED]
    return chosen + without
