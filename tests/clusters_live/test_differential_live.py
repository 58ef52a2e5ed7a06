"""Generated scenarios on a real Kueue agree, and a reference without a rule is found."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from kueue_dra_clusters.binaries import binaries
from kueue_dra_differential.batch import Batch
from kueue_dra_differential.generate import batches
from kueue_dra_differential.oracle import Oracle, OutcomeKind
from kueue_dra_differential.run import Worker, an_oracle
from kueue_dra_differential.work_queue import Disagreement, Plan, RunTotals, Work, WorkQueue
from kueue_dra_fixtures.builders import a_job
from kueue_dra_fixtures.manifests import KUEUE, a_cluster_queue, a_group, a_job_manifest
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.diff import difference
from kueue_dra_ref.scenarios.scenario import Scenario
from kueue_dra_ref.target import Manifest
from tests.commands import kueue_dra

pytestmark = pytest.mark.live
KUEUE_0_19 = behaviour("kueue-0.19.2")
BLIND = KUEUE_0_19.without("multiply_by_pod_count")


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    """Start a Kueue to compare the reference with."""
    with an_oracle(binaries(KUEUE_0_19.kueue), KUEUE_0_19) as found:
        yield found


@pytest.fixture(scope="module")
def batch() -> Batch:
    """Generate scenarios without stops, StrictFIFO and pods, on which Kueue may decide in more than one way.

    In the first of them it matters that pods are counted.
    """
    drawn = batches(of=6, behaviour=KUEUE_0_19, number=1, count=50)
    return next(each for each in drawn if _is_decided(each) and _tells_blind(each[0]))


def _is_decided(batch: Batch) -> bool:
    words = set(re.findall(r"\w+", json.dumps([scenario.steps for scenario in batch])))
    by_chance = {"stopPolicy", "StrictFIFO", "WorkloadPriorityClass", "Pod", "rollOut"}
    return not by_chance & words


def _tells_blind(scenario: Scenario) -> bool:
    return any(map(difference, answers(scenario, KUEUE_0_19), answers(scenario, BLIND)))


def test_generated_worlds_are_decided_alike(oracle: Oracle, batch: Batch) -> None:
    """Side by side in one Kueue."""
    assert [each.kind for each in oracle.compare(batch)] == [OutcomeKind.AGREES] * len(batch)


def test_a_reference_without_a_rule_is_found_out(oracle: Oracle, batch: Batch) -> None:
    """Without the multiplication of charges by pods, a scenario in which it matters differs, again when alone."""
    blind = replace(oracle, behaviour=BLIND)

    (found,) = blind.compare(batch[:1])

    assert found.kind is OutcomeKind.DIFFERS


def test_another_kueue_takes_the_place_of_one_that_ended(batch: Batch) -> None:
    """The scenarios of the first Kueue run in parts, down to the one that made it exit; the others agree."""
    pair = batch[:2]
    ends = pair[-1].name

    def doomed(oracle: Oracle, work: Work) -> Disagreement:
        """Run a Kueue that exits as soon as it gets that scenario."""
        plane = oracle.target._plane  # type: ignore[attr-defined]
        compare = type(oracle)._run

        def exiting(self: Oracle, scenarios: Sequence[Scenario], lawful: bool) -> Any:
            if ends in [scenario.name for scenario in scenarios]:
                self.target.start(scenarios[0].configuration)
                os.kill(plane.kueue.processes.pid("kueue"), signal.SIGKILL)
            return compare(self, scenarios, lawful)

        with patch.object(Oracle, "_run", exiting):
            return work(oracle)

    tally = RunTotals()
    queue = WorkQueue(plan=Plan(behaviour=KUEUE_0_19, seed=8, budget=60.0, most=len(pair)), drawn=iter([pair]))
    with closing(Worker(programs=binaries(KUEUE_0_19.kueue), behaviour=KUEUE_0_19)) as worker:
        while work := queue.next():
            finding = worker.do(partial(doomed, work=work))
            tally.add(finding)
            queue.take(finding)

    assert tally.kinds == {OutcomeKind.AGREES: 1, OutcomeKind.ENDED: 1}
    (found,) = tally.found
    assert found.scenario.name == ends
    assert re.search(rf"kueue ended with exit code -9(?s:.*)while it ran: {ends}$", found.trouble)


def test_scenarios_that_agree_are_kept_as_recordings(tmp_path: Path) -> None:
    """``--keep`` writes them with what Kueue showed, so that ``replay --check`` compares each step again."""
    file = tmp_path / "recorded.jsonl"
    words = ["differential", "--budget=1s", "--together=2", "-n1", "--seed=7", f"--report-dir={tmp_path / 'out'}"]

    ran = kueue_dra(*words, f"--keep={file}")
    checked = kueue_dra("replay", "--check", "-ojson", file)

    assert (ran.exit_code, checked.exit_code) == (0, 0), ran.output + checked.output
    agreed = [json.loads(line) for line in checked.stdout.splitlines()]
    assert len(agreed) == 2
    assert all(each["agreeing"] and not each["differing"] for each in agreed)


def a_queue(name: str, cohort: str) -> list[Manifest]:
    """Write a ClusterQueue with three CPUs, and the LocalQueue before it."""
    meta = {"name": name, "namespace": "team"}
    local = {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": meta, "spec": {"clusterQueue": name}}
    return [a_cluster_queue(name, [a_group({"f": {"cpu": 3}})], namespaceSelector={}, cohortName=cohort), local]


def submitted(name: str, queue: str, cpus: int) -> dict[str, list[Manifest]]:
    """Write the step in which a Job comes."""
    meta = {"name": name, "namespace": "team"}
    return {"apply": [a_job_manifest(a_job(requests={"cpu": str(cpus)}), meta, queue, {})]}


def test_no_sweep_comes_between_two_steps(oracle: Oracle) -> None:
    """A pending workload in an inner Cohort is tried again once its queue was counted, before the next event."""
    made = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}},
        {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "f"}},
        {"apiVersion": KUEUE, "kind": "Cohort", "metadata": {"name": "inner"}, "spec": {"parentName": "outer"}},
        *a_queue("above", "outer"),
        *a_queue("below", "inner"),
    ]
    jobs = [submitted("holds", "above", 2), submitted("waits", "below", 6), submitted("holds-too", "above", 3)]
    scenario = Scenario(name="nested", configuration={}, inventory=(), steps=({"apply": made}, *jobs))

    assert oracle.alone(scenario).kind is OutcomeKind.AGREES
