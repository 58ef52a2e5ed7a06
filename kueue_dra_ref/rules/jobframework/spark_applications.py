"""SparkApplications: the pod sets of their Workloads, and their size when they stop.

Kueue: pkg/controller/jobs/sparkapplication/sparkapplication_controller.go (PodSets, RestorePodSetsInfo)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kueue_dra_ref.api.job_kinds import is_of, pod_sets_of
from kueue_dra_ref.api.spark_application import SPARK_APPLICATION, role_of
from kueue_dra_ref.model.rule import rule

Job = dict[str, Any]


@rule("WORK-037", "WORK-038")
def spark_application_pod_sets(job: Job) -> list[dict[str, Any]] | None:
    """Kueue makes a pod set of the driver of a SparkApplication and one of its executors, out of their fields.

    Kueue: pkg/controller/jobs/sparkapplication/sparkapplication_controller.go (PodSets);
        pkg/controller/jobs/sparkapplication/sparkapplication_podset.go (mutateSparkPod)
    """
    return pod_sets_of(job) if is_of(job, SPARK_APPLICATION) else None


@rule("WORK-047")
def stopped_application_has_the_executors_of_its_workload(
    job: Job, pod_sets: Sequence[dict[str, Any]]
) -> dict[str, Any] | None:
    """Kueue gives a SparkApplication that it stops the number of executors of its Workload.

    Kueue: pkg/controller/jobs/sparkapplication/sparkapplication_controller.go (RestorePodSetsInfo)
    """
    if not is_of(job, SPARK_APPLICATION):
        return None
    executor = role_of(job, "executor")
    count = pod_sets[1]["count"]
    return {"executor": {**executor, "instances": count}}
