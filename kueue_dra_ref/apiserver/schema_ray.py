"""The Go types of the kinds of Ray, typed where they are looked at.

Kueue: pkg/controller/jobs/raycluster/raycluster_controller.go (RayCluster);
    pkg/controller/jobs/rayjob/rayjob_controller.go (RayJob)
"""

from __future__ import annotations

from collections.abc import Mapping

from kueue_dra_ref.apiserver.go_types import (
    ANYTHING,
    FLAG,
    TEXT,
    GoSlice,
    GoStruct,
    all_of,
    fields,
)
from kueue_dra_ref.apiserver.schema_claims import HEAD
from kueue_dra_ref.apiserver.schema_pods import INT32, TEMPLATE

_RAY_GROUP = fields(
    "v1.WorkerGroupSpec",
    ("groupName", TEXT),
    *all_of(INT32, "replicas minReplicas maxReplicas numOfHosts idleTimeoutSeconds"),
    *all_of(ANYTHING, "labels rayStartParams resources scaleStrategy"),
    ("suspend", FLAG),
    ("template", TEMPLATE),
)
_RAY_HEAD = fields(
    "v1.HeadGroupSpec",
    ("template", TEMPLATE),
    ("enableIngress", FLAG),
    ("serviceType", TEXT),
    *all_of(ANYTHING, "headService labels rayStartParams resources"),
)
_RAY_CLUSTER = fields(
    "v1.RayClusterSpec",
    ("headGroupSpec", _RAY_HEAD),
    ("workerGroupSpecs", GoSlice(_RAY_GROUP)),
    *all_of(FLAG, "suspend enableInTreeAutoscaling"),
    *all_of(TEXT, "managedBy rayVersion"),
    *all_of(
        ANYTHING,
        "authOptions autoscalerOptions gcsFaultToleranceOptions headServiceAnnotations upgradeStrategy",
    ),
)
_RAY_JOB = fields(
    "v1.RayJobSpec",
    ("rayClusterSpec", _RAY_CLUSTER),
    ("submitterPodTemplate", TEMPLATE),
    *all_of(FLAG, "suspend shutdownAfterJobFinishes"),
    *all_of(
        TEXT,
        "entrypoint entrypointResources jobId managedBy runtimeEnvYAML submissionMode deletionPolicy",
    ),
    *all_of(
        INT32,
        "activeDeadlineSeconds backoffLimit preRunningDeadlineSeconds ttlSecondsAfterFinished",
    ),
    *all_of(
        ANYTHING,
        "clusterSelector deletionStrategy entrypointNumCpus entrypointNumGpus metadata submitterConfig",
    ),
)
_RAY_SERVICE = fields(
    "v1.RayServiceSpec",
    ("rayClusterConfig", _RAY_CLUSTER),
    *all_of(TEXT, "managedBy serveConfigV2"),
    *all_of(
        INT32,
        "deploymentUnhealthySecondThreshold rayClusterDeletionDelaySeconds serviceUnhealthySecondThreshold",
    ),
    ("excludeHeadPodFromServeSvc", FLAG),
    *all_of(ANYTHING, "serveService upgradeStrategy"),
)


def _kind(name: str, spec: GoStruct) -> GoStruct:
    return fields(f"v1.{name}", *HEAD, ("spec", spec), ("status", ANYTHING))


RAY: Mapping[str, GoStruct] = {
    "RayCluster": _kind("RayCluster", _RAY_CLUSTER),
    "RayJob": _kind("RayJob", _RAY_JOB),
    "RayService": _kind("RayService", _RAY_SERVICE),
}
"""The shape of each of these kinds."""
