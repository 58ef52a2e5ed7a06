"""Generated scenarios in pods, without a cluster: the parts of a seed, what a pod prints, and how logs are joined."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_cli.differential_on_cluster import joined
from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.pod_results import PodResults
from kueue_dra_differential.generate import batches
from kueue_dra_differential.work_queue import Plan
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_reports.log_archive import packed
from tests.commands import kueue_dra
from tests.test_pods import IMAGE, a_run

KUEUE_0_19 = behaviour("kueue-0.19.2")
OUTCOMES = ("agrees", "differs", "known", "race", "unsettled", "unlawful", "ended")


def a_log(folder: Path, shard: str, *scenarios: str, **changed: Any) -> Path:
    """Give the log of a pod that ran a part."""
    run = {"kueue": "0.19", "seed": 7, "features": ["retention"], "together": 24, "planned": None}
    summary = {**run, "shard": shard, "date": "2026-11-26"}
    counts = {"worlds": 10, "steps": 90, **dict.fromkeys(OUTCOMES, 0), "agrees": 10, "exited": 0, "seconds": 60}
    folder.mkdir()
    (folder / "summary.json").write_text(json.dumps({**summary, **counts, **changed}), "utf-8")
    for name in scenarios:
        (folder / name).write_text(name, "utf-8")
    log = folder / "pod.log"
    log.write_text(f"noise\n{packed(folder, ['summary.json', *scenarios])}", "utf-8")
    return log


def test_the_parts_of_a_seed_are_its_scenarios() -> None:
    """Each scenario is in one part; the number that is asked for is that of all parts together."""
    named: list[list[str]] = []
    for part in (1, 2, 3):
        plan = Plan(behaviour=KUEUE_0_19, seed=7, budget=1.0, most=9, together=2, part=part, parts=3)
        named.append([world.name for batch in plan.batches() for world in batch])
    whole = [world.name for batch in batches(of=2, behaviour=KUEUE_0_19, number=7, count=5) for world in batch]

    assert sorted(name for part in named for name in part) == sorted(whole)
    assert [len(part) for part in named] == [4, 4, 2]


def test_logs_are_joined(tmp_path: Path) -> None:
    """Their figures add up, and their scenarios are there."""
    first = a_log(tmp_path / "1", "1/2", seconds=61)
    second = a_log(tmp_path / "2", "2/2", "race-7-1-3.yaml", agrees=9, race=1)
    result = kueue_dra("report", "merge", second, first, "--report-dir", tmp_path / "joined")

    assert result.exit_code == 0, result.output
    assert "20 scenarios, 180 steps: 0 differ, 1 race" in result.stdout
    summary = json.loads((tmp_path / "joined" / "summary.json").read_text("utf-8"))
    assert (summary["worlds"], summary["race"], summary["seconds"], summary["parts"]) == (20, 1, 61, 2)
    assert summary["features"] == ["retention"]
    assert (tmp_path / "joined" / "race-7-1-3.yaml").is_file()


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        pytest.param({"agrees": 9, "differs": 1}, 1, id="differs"),
        pytest.param({"exited": 1}, 1, id="a-kueue-exited"),
        pytest.param({"agrees": 0, "worlds": 0}, 0, id="a-part-without-scenarios"),
    ],
)
def test_what_fails_in_a_part_fails_the_whole(changed: dict[str, Any], code: int, tmp_path: Path) -> None:
    """A part may have nothing to do."""
    logs = [a_log(tmp_path / "1", "1/2"), a_log(tmp_path / "2", "2/2", **changed)]

    assert kueue_dra("report", "merge", *logs, "--report-dir", tmp_path / "joined").exit_code == code


def test_a_missing_part_is_red(tmp_path: Path) -> None:
    """It is named, and why its pod failed."""
    pods = PodResults(run=a_run(pods=3), objects=APIClient(api=None), report=print)  # type: ignore[arg-type] # not used
    for index in (0, 1):
        pods.logs[index] = a_log(tmp_path / str(index), f"{index + 1}/3").read_text("utf-8")
    pods.failures[2] = "pod kueue-dra-2-x: exit code 137"

    code, faults = joined(pods, tmp_path / "joined", tmp_path / "campaigns.jsonl")

    assert code == 1
    assert faults == ["part 3 of 3: pod kueue-dra-2-x: exit code 137"]
    (line,) = (tmp_path / "campaigns.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["missing"] == [3]


@pytest.mark.parametrize(
    ("shard", "changed", "message"),
    [
        pytest.param("2/2", {"seed": 8}, "found seed 8; ", id="seed"),
        pytest.param("2/2", {"features": []}, "found features []; ", id="features"),
        pytest.param("2/3", {}, "found shards 3; ", id="number"),
        pytest.param("1/2", {}, "found part 1/2, as in ", id="twice"),
        pytest.param("", {}, "summary.json is none of a part", id="no-part"),
    ],
)
def test_logs_of_other_runs_are_refused(shard: str, changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    """In one line."""
    logs = [a_log(tmp_path / "1", "1/2"), a_log(tmp_path / "2", shard, **changed)]
    result = kueue_dra("report", "merge", *logs, "--report-dir", tmp_path / "joined")

    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_manifests_run_parts_of_one_seed() -> None:
    """Also if none is given; the Job may last as long as its budget."""
    options = ("--on-cluster=4", IMAGE, "--differential", "--", "--kueue=0.18", "--budget=6h", "-n3")
    _, job = yaml.safe_load_all(kueue_dra("manifests", *options).stdout)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    words = container["args"]

    assert container["command"][-1] == "kueue_dra_cli.differential_worker"
    assert words[:4] == ["--kueue", "0.18", "--budget", "21600s"]
    assert words[words.index("--seed") + 1].isdigit()
    assert words[-2:] == ["-n", "3"]
    assert job["spec"]["activeDeadlineSeconds"] == 7 * 3600


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["differential", "--on-cluster=2"], "--on-cluster needs --image REF or KUEUE_DRA_IMAGE"),
        (["differential", "--queue=ci"], "--queue needs --on-cluster N"),
        (["differential", "--shard=5/4"], "found '5/4'; expected I/N with I from 1 to N"),
        (["differential", "--on-cluster=2", IMAGE, "--shard=1/2"], "--shard and --on-cluster exclude each other"),
        (["differential", "--on-cluster=2", IMAGE, "--keep=a.jsonl"], "--keep and --on-cluster exclude each other"),
        (["differential", "--on-cluster=2", IMAGE, "--context=absent", "--kubeconfig=absent"], "context absent"),
        (["manifests", "--sonobuoy", "--differential", IMAGE], "--differential and --sonobuoy exclude each other"),
        (["manifests", "--differential", "--on-cluster=2", "--", "--budget=1h"], "--on-cluster needs --image"),
    ],
)
def test_wrong_options_are_answered(words: list[str], message: str) -> None:
    """Before anything is created."""
    result = kueue_dra(*words)

    assert result.exit_code == 2
    assert message in result.stderr
