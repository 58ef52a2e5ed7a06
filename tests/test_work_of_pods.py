"""Pods, groups of pods, and what makes pods, on the command line: charged, explained, left out with a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kueue_dra_ref.api.pod_owners import POD_OWNERS
from kueue_dra_ref.api.queued_pods import GROUP, TOTAL
from tests.test_work_kinds import LABELS, POD, ask

FRAMEWORKS = ["batch/job", "pod", *(kind.framework for kind in POD_OWNERS.values())]
TEMPLATE = {"metadata": {"labels": {"app": "x"}}, "spec": POD}
SPECS: dict[str, Any] = {
    "Deployment": {"replicas": 3, "selector": {"matchLabels": {"app": "x"}}, "template": TEMPLATE},
    "StatefulSet": {"replicas": 3, "serviceName": "x", "selector": {}, "template": TEMPLATE},
    "LeaderWorkerSet": {"replicas": 1, "leaderWorkerTemplate": {"size": 3, "workerTemplate": TEMPLATE}},
}
"""Three pods of each kind, each with one device."""


def a_pod(name: str, labels: dict[str, str] | None = None, **annotations: str) -> dict[str, Any]:
    """A pod with one device."""
    meta = {"name": name, "namespace": "default", "labels": labels or {}, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": POD}


def an_owner(kind: str, labels: dict[str, str]) -> dict[str, Any]:
    """An object that makes three pods."""
    meta = {"name": "x", "namespace": "default", "labels": labels}
    return {"apiVersion": POD_OWNERS[kind].api_version, "kind": kind, "metadata": meta, "spec": SPECS[kind]}


def charged(table: str) -> int:
    """The devices of all rows of a table."""
    rows = [line.split() for line in table.splitlines()]
    return sum(int(row[row.index("gpus") + 1]) for row in rows if "gpus" in row)


@pytest.mark.parametrize("kind", SPECS)
def test_every_pod_of_an_object_is_charged(tmp_path: Path, kind: str) -> None:
    """Nothing is printed but the table."""
    table = ask("simulate", tmp_path, an_owner(kind, LABELS), FRAMEWORKS, "-o", "table")

    assert (table.exit_code, table.stderr) == (0, "")
    assert charged(table.stdout) == 3


def test_pods_and_groups_are_charged(tmp_path: Path) -> None:
    """Two pods have two Workloads, a group of two has one."""
    grouped = {**LABELS, GROUP: "team"}
    pods = [a_pod("a", LABELS), a_pod("b", LABELS), *(a_pod(name, grouped, **{TOTAL: "2"}) for name in ("c", "d"))]
    objects = {"apiVersion": "v1", "kind": "List", "items": pods}
    table = ask("simulate", tmp_path, objects, FRAMEWORKS, "-o", "table")
    explained = ask("explain", tmp_path, objects, FRAMEWORKS, "pod/a")

    assert (table.exit_code, table.stderr) == (0, "")
    assert charged(table.stdout) == 4
    assert explained.stdout.startswith("default/a → ClusterQueue cq: admitted\n")


@pytest.mark.parametrize("kind", [*SPECS, "Pod"])
def test_what_names_no_queue_is_left_out(tmp_path: Path, kind: str) -> None:
    """One line says so, and how many there are."""
    work = a_pod("p") if kind == "Pod" else an_owner(kind, {})
    table = ask("simulate", tmp_path, work, FRAMEWORKS, "-o", "table")

    assert table.exit_code == 0
    assert table.stderr == (
        "note: left out objects that name no queue (label kueue.x-k8s.io/queue-name), "
        f"so Kueue does not queue them: 1 {kind}\n"
    )
    assert "gpus" not in table.stdout


def test_pods_without_their_framework_are_named_in_one_line(tmp_path: Path) -> None:
    """However many they are."""
    objects = {"apiVersion": "v1", "kind": "List", "items": [a_pod(name, LABELS) for name in "abcde"]}
    table = ask("simulate", tmp_path, objects, ["batch/job"], "-o", "table")

    assert table.exit_code == 0
    assert table.stderr == (
        "note: Pod default/a, Pod default/b, Pod default/c and 2 more each is of a kind that "
        "integrations.frameworks does not name (pod), so Kueue does not manage it\n"
    )


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_a_template_that_no_api_server_accepts_is_an_error(tmp_path: Path, kind: str) -> None:
    """The field is that of the object, not that of a pod."""
    work = an_owner(kind, LABELS)
    broken = {**work, "spec": {**work["spec"], "template": {"spec": {"containers": []}}}}
    table = ask("simulate", tmp_path, broken, FRAMEWORKS)

    assert table.exit_code == 2
    assert "spec.template.spec.containers: Required value" in table.stderr


def test_an_incomplete_group_has_no_row(tmp_path: Path) -> None:
    """The other pod is missing, so Kueue makes no Workload of it."""
    pod = a_pod("a", {**LABELS, GROUP: "team"}, **{TOTAL: "2"})
    table = ask("simulate", tmp_path, pod, FRAMEWORKS, "-o", "table")

    assert table.exit_code == 0
    assert charged(table.stdout) == 0
    assert table.stderr == "note: the group of pods default/team has 1 of 2 pods, so it has no Workload\n"
