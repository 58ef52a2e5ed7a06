"""The Go types of SparkApplications, typed where they are looked at.

Kueue: pkg/controller/jobs/sparkapplication/sparkapplication_controller.go (SparkApplication)
"""

from __future__ import annotations

from kueue_dra_ref.apiserver.go_types import (
    ANYTHING,
    FLAG,
    TEXT,
    WHOLE,
    GoField,
    GoMap,
    GoSlice,
    GoStruct,
    Shape,
    all_of,
    fields,
)
from kueue_dra_ref.apiserver.schema_claims import HEAD
from kueue_dra_ref.apiserver.schema_pods import AFFINITY, CONTAINER, INT32, TOLERATION

Part = GoField | tuple[str, Shape]
_ROLE: tuple[Part, ...] = (
    *all_of(TEXT, "coreLimit coreRequest image memory memoryLimit memoryOverhead"),
    *all_of(TEXT, "javaOptions priorityClassName schedulerName serviceAccount"),
    *all_of(INT32, "cores"),
    *all_of(WHOLE, "terminationGracePeriodSeconds"),
    *all_of(FLAG, "hostNetwork shareProcessNamespace"),
    *all_of(GoMap(TEXT), "annotations labels nodeSelector"),
    *all_of(GoSlice(CONTAINER), "initContainers sidecars"),
    ("affinity", AFFINITY),
    ("tolerations", GoSlice(TOLERATION)),
    ("gpu", fields("v1beta2.GPUSpec", ("name", TEXT), ("quantity", WHOLE))),
    *all_of(ANYTHING, "configMaps dnsConfig env envFrom envSecretKeyRefs envVars"),
    *all_of(ANYTHING, "hostAliases lifecycle podSecurityContext ports secrets"),
    *all_of(ANYTHING, "securityContext template volumeMounts"),
)
_DRIVER = fields(
    "v1beta2.DriverSpec",
    *_ROLE,
    *all_of(TEXT, "kubernetesMaster podName"),
    *all_of(ANYTHING, "serviceAnnotations serviceLabels"),
)
_EXECUTOR = fields(
    "v1beta2.ExecutorSpec", *_ROLE, ("instances", INT32), ("deleteOnTermination", FLAG)
)
_DYNAMIC_ALLOCATION = fields(
    "v1beta2.DynamicAllocation",
    *all_of(FLAG, "enabled shuffleTrackingEnabled"),
    *all_of(INT32, "initialExecutors maxExecutors minExecutors"),
    ("shuffleTrackingTimeout", WHOLE),
)
_SPEC = fields(
    "v1beta2.SparkApplicationSpec",
    ("driver", _DRIVER),
    ("executor", _EXECUTOR),
    ("dynamicAllocation", _DYNAMIC_ALLOCATION),
    ("nodeSelector", GoMap(TEXT)),
    ("suspend", FLAG),
    *all_of(TEXT, "batchScheduler image imagePullPolicy mainApplicationFile mainClass"),
    *all_of(
        TEXT, "memoryOverheadFactor mode proxyUser pythonVersion sparkVersion type"
    ),
    *all_of(TEXT, "hadoopConfigMap sparkConfigMap"),
    *all_of(WHOLE, "retryInterval timeToLiveSeconds"),
    ("failureRetries", INT32),
    *all_of(ANYTHING, "arguments batchSchedulerOptions deps driverIngressOptions"),
    *all_of(ANYTHING, "hadoopConf imagePullSecrets monitoring restartPolicy sparkConf"),
    *all_of(ANYTHING, "sparkUIOptions volumes"),
)
SPARK_APPLICATION: GoStruct = fields(
    "v1beta2.SparkApplication", *HEAD, ("spec", _SPEC), ("status", ANYTHING)
)
"""The shape of a SparkApplication."""
