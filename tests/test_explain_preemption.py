"""``kueue-dra explain`` of a workload that preempts: who has to go, and what lets it be."""

from __future__ import annotations

from tests.commands import kueue_dra
from tests.test_cli_simulate import QUEUES, a_job

CLASS = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: urgent}
value: 7
"""


def test_who_is_preempted_is_explained() -> None:
    """The one who had to go stands before the flavors of the admission that followed."""
    preemption = "namespaceSelector: {}\n  preemption: {withinClusterQueue: LowerPriority}"
    queues = QUEUES.replace("namespaceSelector: {}", preemption)
    urgent = a_job("name: urgent").replace("mine}", "mine, kueue.x-k8s.io/priority-class: urgent}")

    result = kueue_dra("explain", "-f", "-", "urgent", stdin=f"{queues}---\n{CLASS}---\n{a_job()}---\n{urgent}")

    steps = [line for line in result.stdout.splitlines() if "preempts " in line]
    assert len(steps) == 1
    assert "preempts default/job-job-" in steps[0]
    assert steps[0].endswith("of ClusterQueue all, priority 0: InClusterQueue   [PREEMPT-002]")
