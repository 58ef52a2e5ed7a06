"""``kueue-dra replay``: scenarios replayed, and compared step by step."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import EXAMPLE, LEFT_OUT, kueue_dra

QUEUE = {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": 1}]}]}
CONTAINER = {"name": "c", "image": "none", "resources": {"requests": {"cpu": 1}}}
STEPS: list[dict[str, Any]] = [
    {"apply": [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}]},
    {
        "apply": [
            {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "f"}},
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "ClusterQueue",
                "metadata": {"name": "cq"},
                "spec": {"namespaceSelector": {}, "resourceGroups": [QUEUE]},
            },
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "LocalQueue",
                "metadata": {"name": "lq", "namespace": "ns"},
                "spec": {"clusterQueue": "cq"},
            },
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": "j", "namespace": "ns", "labels": {"kueue.x-k8s.io/queue-name": "lq"}},
                "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}},
            },
        ]
    },
]
SEEN: list[dict[str, Any]] = [
    {},
    {
        "workloads": {
            "j": {
                "QuotaReserved": {
                    "status": "True",
                    "reason": "QuotaReserved",
                    "message": "Quota reserved in ClusterQueue cq",
                },
                "Admitted": {"status": "True", "reason": "Admitted", "message": "The workload is admitted"},
                "admission": {
                    "clusterQueue": "cq",
                    "podSets": [{"name": "main", "count": 1, "flavors": {"cpu": "f"}, "usage": {"cpu": "1"}}],
                },
            }
        },
        "clusterQueues": {
            "cq": {
                "pending": 0,
                "reserving": 1,
                "admitted": 1,
                "reservation": {"f": {"cpu": {"total": "1", "borrowed": "0"}}},
            }
        },
    },
]


def recorded(tmp_path: Path, seen: list[dict[str, Any]] | None, **spec: Any) -> Path:
    """Write a file of one scenario."""
    found: dict[str, Any] = {
        "apiVersion": "kueue-dra.dev/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "one"},
        "spec": {"configuration": {}, "inventory": [], "steps": STEPS, **spec},
        "status": {"kueue": "0.19.2", "observations": seen} if seen is not None else {},
    }
    file = tmp_path / "scenarios.jsonl"
    file.write_text(json.dumps(found) + "\n", "utf-8")
    return file


def changed(**ours: Any) -> list[dict[str, Any]]:
    """Change what was seen of the ClusterQueue."""
    found = copy.deepcopy(SEEN)
    found[1]["clusterQueues"]["cq"] |= ours
    return found


def test_observations_have_the_shape_of_recorded_ones(tmp_path: Path) -> None:
    """With -o json each scenario is one JSON object on a line."""
    result = kueue_dra("replay", "-o", "json", recorded(tmp_path, None))

    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == [{"name": "one", "observations": SEEN}]


def test_a_scenario_may_be_yaml(tmp_path: Path) -> None:
    """JSON is YAML, so the same text under another name."""
    file = recorded(tmp_path, SEEN).rename(tmp_path / "scenario.yaml")

    assert kueue_dra("replay", "--check", file).exit_code == 0


def test_agreement_is_said(tmp_path: Path) -> None:
    """How many steps agree, and exit code 0."""
    result = kueue_dra("replay", "--check", recorded(tmp_path, SEEN))

    assert result.exit_code == 0
    assert result.stdout == ("one: agrees, 2 of 2 steps agree\n2 steps agree, 0 differ, 0 skipped, in 1 scenario\n")


def test_the_first_difference_of_a_step_is_shown(tmp_path: Path) -> None:
    """Its path and both values; exit code 1."""
    result = kueue_dra("replay", "--check", recorded(tmp_path, changed(admitted=0, pending=1)))

    assert result.exit_code == 1
    assert "one: differs, 1 of 2 steps agree" in result.stdout
    assert "  step 2: clusterQueues.cq.admitted: ours 1, recorded 0\n" in result.stdout


def test_a_check_is_read_by_programs(tmp_path: Path) -> None:
    """Numbers, and the path of each difference."""
    result = kueue_dra("replay", "--check", "-o", "json", recorded(tmp_path, changed(admitted=0)))

    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "name": "one",
        "steps": 2,
        "agreeing": 1,
        "differing": 1,
        "skipped": 0,
        "differences": [{"step": 2, "path": "clusterQueues.cq.admitted", "ours": 1, "recorded": 0}],
    }


def test_the_table_counts_steps(tmp_path: Path) -> None:
    """Without --check a difference is counted and is no failure."""
    result = kueue_dra("replay", recorded(tmp_path, changed(admitted=0)))

    assert result.exit_code == 0
    assert result.stdout.splitlines()[2].split() == ["one", "2", "1", "1", "0"]


@pytest.mark.parametrize("mark", ["unsettled", "race"])
def test_what_was_moving_is_not_compared(tmp_path: Path, mark: str) -> None:
    """Such a step is skipped, and counted as that."""
    seen = [{}, {**changed(admitted=0)[1], mark: True}]

    result = kueue_dra("replay", "--check", recorded(tmp_path, seen))

    assert result.exit_code == 0
    assert "1 step agrees, 0 differ, 1 skipped" in result.stdout


@pytest.mark.parametrize("seen", [pytest.param(None, id="nothing-recorded"), pytest.param([], id="no-observation")])
def test_a_check_that_compares_nothing_fails(tmp_path: Path, seen: list[dict[str, Any]] | None) -> None:
    """Green must mean something."""
    result = kueue_dra("replay", "--check", recorded(tmp_path, seen))

    assert result.exit_code == 1
    assert "one: nothing recorded" in result.stdout


def test_more_observations_than_steps_differ(tmp_path: Path) -> None:
    """A recording that goes on is not cut off in silence."""
    result = kueue_dra("replay", "--check", recorded(tmp_path, [*SEEN, {}]))

    assert result.exit_code == 1
    assert "number of observations: ours 2, recorded 3" in result.stdout


def test_a_refused_configuration_is_a_difference(tmp_path: Path) -> None:
    """The recording started, the reference does not: no traceback."""
    configuration = {"resources": {"deviceClassMappings": [{"name": "x"}]}}

    result = kueue_dra("replay", "--check", recorded(tmp_path, SEEN, configuration=configuration))

    assert result.exit_code == 1
    assert "configuration: ours" in result.stdout
    assert "deviceClassNames: Required value" in result.stdout


def test_refusals_are_observed(tmp_path: Path) -> None:
    """Objects that the API server rejects are listed under ``rejected``."""
    stray = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "nowhere"}, "spec": {}}

    result = kueue_dra("replay", "-o", "json", recorded(tmp_path, None, steps=[{"apply": [stray]}]))

    (observation,) = json.loads(result.stdout)["observations"]
    assert [(each["kind"], each["name"], each["code"]) for each in observation["rejected"]] == [("Job", "j", 404)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "{", ":1: found Expecting property name enclosed in double quotes at column 2; expected JSON", id="json"
        ),
        pytest.param("[]", ":1: found []; expected an object of kind Scenario", id="list"),
        pytest.param('{"kind": "Job"}', ':1: kind: found "Job"; expected an object of kind Scenario', id="kind"),
        pytest.param('{"kind": "Scenario"}', ":1: spec: found null; expected an object with steps", id="no-spec"),
        pytest.param(
            '{"kind": "Scenario", "spec": {}}', ":1: spec.steps: found null; expected a list of steps", id="no-steps"
        ),
        pytest.param(
            '\n{"kind": "Scenario", "spec": {"steps": [{"apply": [{"kind": "Job"}]}]}}',
            ":2: spec.steps[0].apply[0].apiVersion: found null; expected a string",
            id="no-version",
        ),
        pytest.param(
            '{"kind": "Scenario", "spec": {"steps": [{"delete": [5]}]}}',
            ":1: spec.steps[0].delete[0]: found 5; expected an object",
            id="no-reference",
        ),
        pytest.param(
            '{"kind": "Scenario", "spec": {"steps": [{"aply": []}]}}',
            ":1: spec.steps[0].aply: found an unknown field; expected a known field (did you mean apply?)",
            id="slip",
        ),
        pytest.param(
            '{"kind": "Scenario", "spec": {"steps": [{"delete": [{"apiVersion": "v1", "kind": "Jab", "name": "j"}]}]}}',
            ':1: spec.steps[0].delete[0].kind: found "Jab"; expected a known kind (did you mean Job?)',
            id="kind-of-reference",
        ),
        pytest.param(
            '{"kind": "Scenario", "spec": {"steps": []}, "status": {"observations": [{"workloads": {"j": 5}}]}}',
            ":1: status.observations[0].workloads[j]: found 5; expected an object",
            id="observation",
        ),
        pytest.param(
            '{"kind": "Scenario", "spec": {"steps": []}, "status": {"kueue": 0.19}}',
            ":1: status.kueue: found 0.19; expected a string",
            id="release",
        ),
        pytest.param('{"a": 1, "a": 2}', ':1: found key "a" twice; expected JSON', id="key-twice"),
        pytest.param('{"a": NaN}', ":1: found NaN; expected JSON", id="not-a-number"),
        pytest.param("[" * 100_000, ":1: found far too many levels inside each other; expected JSON", id="deep"),
        pytest.param("\ufeff\n", ": found no document; expected an object of kind Scenario", id="empty"),
    ],
)
def test_what_is_no_scenario_is_answered(tmp_path: Path, text: str, expected: str) -> None:
    """File, line, field, expected and found."""
    file = tmp_path / "bad.jsonl"
    file.write_text(text, "utf-8")

    result = kueue_dra("replay", file)

    assert result.exit_code == 2
    assert result.stderr.startswith(f"{file}{expected}")


def test_a_missing_file_is_answered() -> None:
    """Exit code 2."""
    result = kueue_dra("replay", "nowhere.jsonl")

    assert result.exit_code == 2
    assert "nowhere.jsonl" in result.stderr


@pytest.mark.parametrize(("minor", "release"), [("0.14", "0.14.0"), ("0.18", "0.18.3"), ("0.19", "0.19.2")])
def test_what_the_reference_is_recorded_to_decide_is_replayed(tmp_path: Path, minor: str, release: str) -> None:
    """``record --target reference`` writes what ``replay --check`` finds again, and names no release that was asked."""
    story = tmp_path / "story.yaml"
    made = kueue_dra("record", "-f", EXAMPLE, "-f", LEFT_OUT, "--target", "reference", "--kueue", minor, "-o", story)
    replayed = kueue_dra("replay", "--check", story)

    assert made.exit_code == 0, made.output
    assert replayed.exit_code == 0, replayed.output
    status = yaml.safe_load(story.read_text())["status"]
    assert status["behaviour"] == f"kueue-{release}"
    assert "kueue" not in status


def test_what_was_recorded_before_a_fault_is_kept(tmp_path: Path) -> None:
    """The command reports its progress and the scenario with the error; those before it can be replayed."""
    stories, recorded = tmp_path / "stories.jsonl", tmp_path / "recorded.yaml"
    right = [{"metadata": {"name": name}, "spec": {"steps": STEPS}} for name in ("first", "second")]
    wrong = {"metadata": {"name": "third"}, "spec": {"steps": STEPS, "configuration": {"featureGates": 7}}}
    stories.write_text("".join(json.dumps({"kind": "Scenario", **each}) + "\n" for each in (*right, wrong)))
    made = kueue_dra("record", stories, "--target", "reference", "-o", recorded)

    assert made.exit_code == 2
    assert made.stderr.startswith("recorded 1 of 3: first\nrecorded 2 of 3: second\nthird: ")
    assert "featureGates" in made.stderr
    assert [each["metadata"]["name"] for each in yaml.safe_load_all(recorded.read_text())] == ["first", "second"]
    assert kueue_dra("replay", "--check", recorded).exit_code == 0


def test_a_recording_says_which_features_were_off(tmp_path: Path) -> None:
    """A replay switches on what a scenario does not mention, so what a Configuration left off is written down."""
    story = tmp_path / "story.yaml"
    kueue_dra("record", "-f", EXAMPLE, "-f", LEFT_OUT, "--target", "reference", "--kueue", "0.18", "-o", story)

    assert yaml.safe_load(story.read_text())["spec"]["configuration"]["featureGates"] == {
        "KueueDRAIntegrationExtendedResource": False,
        "KueueDRAIntegrationPartitionableDevices": False,
    }


@pytest.mark.parametrize("gates", ["[A]", "7", "text"])
def test_gates_of_another_type_are_refused(tmp_path: Path, gates: str) -> None:
    """A value that is not a map of gates is reported as a rejected Configuration."""
    story = tmp_path / "story.yaml"
    spec = f"{{configuration: {{featureGates: {gates}}}, steps: [{{apply: []}}]}}"
    story.write_text(f"kind: Scenario\nmetadata: {{name: s}}\nspec: {spec}\nstatus: {{observations: [{{}}]}}\n")
    result = kueue_dra("replay", "--check", story)

    assert result.exit_code == 1
    assert "featureGates" in result.output
