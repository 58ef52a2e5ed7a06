"""SparkApplications: the pod sets of their Workloads.

Kueue: pkg/controller/jobs/sparkapplication/sparkapplication_controller.go (PodSets)
"""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.job_kinds import is_of, pod_sets_of
from kueue_dra_ref.api.spark_application import SPARK_APPLICATION
from kueue_dra_ref.model.rule import rule

Job = dict[str, Any]


@rule("WORK-037", "WORK-038")
def spark_application_pod_sets(job: Job) -> list[dict[str, Any]] | None:
    """Kueue makes a pod set of the driver of a SparkApplication and one of its executors, out of their fields.

    Kueue: pkg/controller/jobs/sparkapplication/sparkapplication_controller.go (PodSets);
        pkg/controller/jobs/sparkapplication/sparkapplication_podset.go (mutateSparkPod)
    """
    return pod_sets_of(job) if is_of(job, SPARK_APPLICATION) else None
