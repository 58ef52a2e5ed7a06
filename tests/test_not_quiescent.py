"""Scenarios that never settle, as on a real Kueue 0.19: they are marked, reported, and end with their cause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from kueue_dra_fixtures.manifests import marked
from kueue_dra_ref.api.admission_gates import GATED_BY
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference import endless_changes
from kueue_dra_ref.reference.replay import answers, replaying
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.scenarios.files import scenarios
from kueue_dra_ref.scenarios.scenario import Scenario
from kueue_dra_ref.target import NotQuiescent
from tests.clusters_live.manifests import CONFIGURATION, a_job, a_template, a_world
from tests.commands import ROOT, kueue_dra

KUEUE = behaviour("kueue-0.19.2")
FOLDER = ROOT / "docs" / "scenarios"
FIRST = "Workload team/first alternates between"
FILES = {
    "preempted-in-turns-0.19.yaml": (
        "Workload team/job-j5-",
        "Preempted to accommodate a workload",
        "Quota reserved in ClusterQueue cq0",
    ),
    "told-anew-in-turns-0.19.yaml": (FIRST, "is pending evaluation", "insufficient unused quota for gpus"),
    "two-grounds-in-turns-0.19.yaml": (FIRST, "must not be above the limitRange max", "must not exceed its limits"),
    "two-groups-in-turns-0.19.yaml": (
        FIRST,
        "insufficient unused quota for cpu",
        "insufficient quota for memory in flavor b",
    ),
    "two-messages-in-turns-0.19.yaml": (FIRST, "previously considered podsets requests (0)", "podsets requests (1)"),
}
"""Scenarios of a Workload that never settles, and of its end, as Kueue 0.19.2 decided them; with the note."""


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest) -> Path:
    """Give one story after another."""
    return FOLDER / str(request.param)


@pytest.fixture
def story(file: Path) -> Scenario:
    """Read the story, without what was recorded of it."""
    (found,) = scenarios(file)
    return replace(found, recorded=())


def test_it_is_marked_until_it_is_over(story: Scenario) -> None:
    """The step that never ends is observed as unsettled, and the next one as any other."""
    assert [each.get("unsettled", False) for each in answers(story, KUEUE)][-3:] == [False, True, False]


def test_a_real_kueue_did_not_come_to_rest_either(file: Path) -> None:
    """The steps of the recording agree, but for the one that is marked there too."""
    result = kueue_dra("replay", "--check", str(file))

    assert (result.exit_code, "0 differ, 1 skipped" in result.stdout) == (0, True)


def test_who_preempt_each_other_in_turns_are_parted() -> None:
    """With devices, the preemptor is admitted before its victim is requeued, if not at once: then the queue settles."""
    result = kueue_dra("replay", "--check", FOLDER / "parted-0.19.yaml")

    assert (result.exit_code, "7 steps agree, 0 differ, 0 skipped" in result.stdout) == (0, True)


def test_attempts_that_leave_no_trace_are_no_reason_to_wait() -> None:
    """The API server refuses every other update of a workload: a real Kueue tries for ever, and nothing changes."""
    result = kueue_dra("replay", "--check", FOLDER / "refused-in-turns-0.19.yaml")

    assert (result.exit_code, "3 steps agree, 0 differ, 0 skipped" in result.stdout) == (0, True)


def test_a_migration_goes_on_until_the_pods_have_stopped() -> None:
    """In each cycle Kueue evicts the variant again whose pods still run; a real one did not settle either."""
    file = FOLDER / "migrates-without-end-0.19.yaml"
    (story,) = scenarios(file)
    target, steps = replaying(replace(story, recorded=()), KUEUE)
    next(each for each in steps if each.get("unsettled"))

    with pytest.raises(NotQuiescent, match=r"^Workload team/job-runs-variant-second-\w+ changes without an end$"):
        target.settle()
    assert "4 steps agree, 0 differ, 1 skipped" in kueue_dra("replay", "--check", str(file)).stdout


def test_what_is_told_in_turns_is_named(story: Scenario, file: Path) -> None:
    """A caller that waits for the cluster to settle learns which workload changes, and how."""
    target, steps = replaying(story, KUEUE)
    next(each for each in steps if each.get("unsettled"))

    with pytest.raises(NotQuiescent) as found:
        target.settle()

    assert "alternates between" in str(found.value)
    assert [words for words in FILES[file.name] if words not in str(found.value)] == []


def test_a_world_is_shown_all_the_same(story: Scenario, tmp_path: Path) -> None:
    """``simulate`` prints the last state, and notes that it will not last."""
    applied = (each for step in story.steps for each in step.get("apply", ()))
    objects = [story.configuration, *story.inventory, *applied]
    given = tmp_path / "manifests.yaml"
    given.write_text(yaml.safe_dump_all(map(dict, objects)), encoding="utf-8")

    result = kueue_dra("simulate", "-f", str(given), "-o", "table")

    assert (result.exit_code, "pending" in result.stdout) == (0, True)
    assert "note: Kueue does not settle here" in result.stderr


def test_a_run_that_repeats_itself_ends_soon(story: Scenario) -> None:
    """However many Workloads there are: the cycles show that nothing else will come."""
    target, steps = replaying(story, KUEUE)
    next(each for each in steps if each.get("unsettled"))
    assert target.manager
    before = target.manager.scheduler._number

    with pytest.raises(NotQuiescent):
        target.settle()

    assert target.manager.scheduler._number - before < 100


def test_an_object_that_changes_without_an_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A controller that undoes its own change does not hang a run: here each object may be reconciled once."""
    monkeypatch.setattr(endless_changes, "_RECONCILES", 1)
    monkeypatch.setattr(endless_changes, "_RECONCILES_AGAIN", 0)
    target = ReferenceTarget(KUEUE)
    assert target.start(CONFIGURATION) == ()
    target.apply([*a_world(), a_template("gpus-1"), a_job("job")])

    with pytest.raises(NotQuiescent, match=r"^Job team/job changes without an end$"):
        target.settle()


def test_other_work_is_decided_all_the_same() -> None:
    """Kueue writes without an end to gated work whose queue is missing; work that comes then is admitted."""
    target = ReferenceTarget(KUEUE)
    assert target.start(CONFIGURATION) == ()
    gated = marked(a_job("gated", queue="missing"), annotations={GATED_BY: "example.com/budget"})
    pod = gated["spec"]["template"]["spec"]
    del pod["resourceClaims"], pod["containers"][0]["resources"]["claims"]
    target.apply([*a_world(), a_template("gpus-1"), gated])
    target.apply([a_job("job")])

    for _ in range(2):
        with pytest.raises(NotQuiescent, match=r"^Workload .*/job-gated-.* changes without an end$"):
            target.settle()
    (decided,) = (each for each in target.store.every("Workload") if "job-job-" in each["metadata"]["name"])
    assert is_true(decided, "Admitted")

    del gated["metadata"]["annotations"]
    target.apply([gated])

    target.settle()
