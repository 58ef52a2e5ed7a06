"""The Go types of the custom resources that Kueue queues, typed where they are looked at.

Kueue: pkg/controller/jobs/jobset/jobset_controller.go (JobSet)
"""

from __future__ import annotations

from collections.abc import Mapping

from kueue_dra_ref.api.train_jobs import RUNTIME_KINDS
from kueue_dra_ref.apiserver.go_types import (
    ANYTHING,
    FLAG,
    TEXT,
    GoMap,
    GoSlice,
    GoStruct,
    all_of,
    fields,
)
from kueue_dra_ref.apiserver.schema_claims import HEAD, OBJECT_META
from kueue_dra_ref.apiserver.schema_pods import (
    EARLIER_TEMPLATE,
    INT32,
    JOB_SPEC,
    TEMPLATE,
)
from kueue_dra_ref.apiserver.schema_ray import RAY
from kueue_dra_ref.apiserver.schema_spark import SPARK_APPLICATION

_JOB_TEMPLATE = fields(
    "v1.JobTemplateSpec", ("metadata", OBJECT_META), ("spec", JOB_SPEC)
)
_REPLICATED_JOB = fields(
    "v1alpha2.ReplicatedJob",
    *all_of(TEXT, "name groupName"),
    ("template", _JOB_TEMPLATE),
    ("replicas", INT32),
    ("dependsOn", ANYTHING),
)
_JOB_SET = fields(
    "v1alpha2.JobSetSpec",
    ("replicatedJobs", GoSlice(_REPLICATED_JOB, keyed=True)),
    *all_of(
        ANYTHING,
        "network successPolicy failurePolicy startupPolicy coordinator volumeClaimPolicies",
    ),
    ("suspend", FLAG),
    ("managedBy", TEXT),
    ("ttlSecondsAfterFinished", INT32),
)
_RUN_POLICY = fields(
    "v1.RunPolicy",
    *all_of(TEXT, "cleanPodPolicy managedBy"),
    *all_of(INT32, "ttlSecondsAfterFinished activeDeadlineSeconds backoffLimit"),
    ("schedulingPolicy", ANYTHING),
    ("suspend", FLAG),
)


def _replica(template: GoStruct) -> GoStruct:
    return fields(
        "v1.ReplicaSpec",
        ("replicas", INT32),
        ("restartPolicy", TEXT),
        ("template", template),
    )


def _training_job(
    name: str, replicas: str, others: str, template: GoStruct = EARLIER_TEMPLATE
) -> GoStruct:
    replica = _replica(template)
    spec = fields(
        f"v1.{name}Spec",
        ("runPolicy", _RUN_POLICY),
        (replicas, GoMap(replica)),
        *all_of(ANYTHING, others),
    )
    return fields(f"v1.{name}", *HEAD, ("spec", spec), ("status", ANYTHING))


_TRAINER = fields(
    "v1alpha1.Trainer",
    ("image", TEXT),
    ("numNodes", INT32),
    *all_of(ANYTHING, "command args env resourcesPerNode numProcPerNode"),
)
_TRAIN_JOB = fields(
    "v1alpha1.TrainJobSpec",
    (
        "runtimeRef",
        fields("v1alpha1.RuntimeRef", *all_of(TEXT, "name apiGroup kind")),
    ),
    ("trainer", _TRAINER),
    ("suspend", FLAG),
    ("managedBy", TEXT),
    ("activeDeadlineSeconds", INT32),
    *all_of(
        ANYTHING,
        "initializer labels annotations podSpecOverrides podTemplateOverrides runtimePatches",
    ),
)
_LEADER_WORKER_SET = fields(
    "v1.LeaderWorkerSetSpec",
    ("replicas", INT32),
    (
        "leaderWorkerTemplate",
        fields(
            "v1.LeaderWorkerTemplate",
            *all_of(TEMPLATE, "leaderTemplate workerTemplate"),
            ("size", INT32),
            *all_of(
                ANYTHING,
                "restartPolicy subGroupPolicy resizePolicy volumeClaimTemplates",
            ),
        ),
    ),
    *all_of(ANYTHING, "rolloutStrategy startupPolicy networkConfig"),
)
_RUNTIME = fields(
    "v1alpha1.TrainingRuntimeSpec",
    (
        "template",
        fields(
            "v1alpha1.JobSetTemplateSpec", ("metadata", OBJECT_META), ("spec", _JOB_SET)
        ),
    ),
    *all_of(ANYTHING, "mlPolicy podGroupPolicy"),
)
RUNTIMES: Mapping[str, GoStruct] = {
    kind: fields(f"v1alpha1.{kind}", *HEAD, ("spec", _RUNTIME))
    for kind in RUNTIME_KINDS
}
"""The shape of what TrainJobs refer to."""
_COMPONENT = fields(
    "v1beta2.AppWrapperComponent",
    *all_of(ANYTHING, "annotations podSets podSetInfos template"),
)
_APP_WRAPPER = fields(
    "v1beta2.AppWrapperSpec",
    ("components", GoSlice(_COMPONENT)),
    ("suspend", FLAG),
    ("managedBy", TEXT),
)
CUSTOM: Mapping[str, GoStruct] = {
    "LeaderWorkerSet": fields(
        "v1.LeaderWorkerSet",
        *HEAD,
        ("spec", _LEADER_WORKER_SET),
        ("status", ANYTHING),
    ),
    "JobSet": fields(
        "v1alpha2.JobSet", *HEAD, ("spec", _JOB_SET), ("status", ANYTHING)
    ),
    "PyTorchJob": _training_job(
        "PyTorchJob", "pytorchReplicaSpecs", "elasticPolicy nprocPerNode"
    ),
    "TFJob": _training_job(
        "TFJob", "tfReplicaSpecs", "successPolicy enableDynamicWorker"
    ),
    "XGBoostJob": _training_job("XGBoostJob", "xgbReplicaSpecs", ""),
    "PaddleJob": _training_job("PaddleJob", "paddleReplicaSpecs", "elasticPolicy"),
    "JAXJob": _training_job("JAXJob", "jaxReplicaSpecs", ""),
    "MPIJob": _training_job(
        "MPIJob",
        "mpiReplicaSpecs",
        "slotsPerWorker runLauncherAsWorker sshAuthMountPath launcherCreationPolicy mpiImplementation",
        TEMPLATE,
    ),
    **RAY,
    "TrainJob": fields(
        "v1alpha1.TrainJob", *HEAD, ("spec", _TRAIN_JOB), ("status", ANYTHING)
    ),
    "SparkApplication": SPARK_APPLICATION,
    "AppWrapper": fields(
        "v1beta2.AppWrapper", *HEAD, ("spec", _APP_WRAPPER), ("status", ANYTHING)
    ),
}
"""The shape of each of these kinds."""
