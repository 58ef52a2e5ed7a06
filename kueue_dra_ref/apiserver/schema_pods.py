"""The Go types of a Job and its pods (Kubernetes 1.36): every field there is, typed where it is looked at.

Kubernetes: k8s.io/api/core/v1/types.go (PodSpec, Container); k8s.io/api/batch/v1/types.go (JobSpec)
"""

from __future__ import annotations

from kueue_dra_ref.apiserver.go_types import (
    ANYTHING,
    FLAG,
    QUANTITY,
    TEXT,
    TEXTS,
    TIME,
    WHOLE,
    GoMap,
    GoScalar,
    GoSlice,
    GoStruct,
    GoType,
    all_of,
    fields,
    word,
)
from kueue_dra_ref.apiserver.schema_claims import (
    HEAD,
    NODE_SELECTOR,
    OBJECT_META,
    POD_CLAIM,
)

INT32 = GoScalar(GoType.WHOLE, "int32")
AMOUNTS = GoMap(QUANTITY, go="v1.ResourceList")


RESOURCES = fields(
    "v1.ResourceRequirements",
    ("limits", AMOUNTS),
    ("requests", AMOUNTS),
    (
        "claims",
        GoSlice(
            fields("v1.ResourceClaim", ("name", TEXT), ("request", TEXT)), keyed=True
        ),
    ),
)
CONTAINER = fields(
    "v1.Container",
    *all_of(TEXT, "name image workingDir terminationMessagePath"),
    *all_of(TEXTS, "command args"),
    *all_of(FLAG, "stdin stdinOnce tty"),
    *all_of(
        ANYTHING,
        "ports envFrom env resizePolicy restartPolicyRules volumeMounts volumeDevices livenessProbe",
    ),
    *all_of(ANYTHING, "readinessProbe startupProbe lifecycle securityContext"),
    ("terminationMessagePolicy", word("v1.TerminationMessagePolicy")),
    ("imagePullPolicy", word("v1.PullPolicy")),
    ("restartPolicy", word("v1.ContainerRestartPolicy")),
    ("resources", RESOURCES),
)
TOLERATION = fields(
    "v1.Toleration",
    *all_of(TEXT, "key value"),
    ("operator", word("v1.TolerationOperator")),
    ("effect", word("v1.TaintEffect")),
    ("tolerationSeconds", WHOLE),
)
_NODE_AFFINITY = fields(
    "v1.NodeAffinity",
    ("requiredDuringSchedulingIgnoredDuringExecution", NODE_SELECTOR),
    ("preferredDuringSchedulingIgnoredDuringExecution", ANYTHING),
)
AFFINITY = fields(
    "v1.Affinity",
    ("nodeAffinity", _NODE_AFFINITY),
    *all_of(ANYTHING, "podAffinity podAntiAffinity"),
)
_EARLIER_POD = fields(
    "v1.PodSpec",
    *all_of(GoSlice(CONTAINER, keyed=True), "containers initContainers"),
    *all_of(WHOLE, "terminationGracePeriodSeconds activeDeadlineSeconds"),
    *all_of(
        TEXT,
        "serviceAccountName serviceAccount nodeName hostname subdomain schedulerName priorityClassName",
    ),
    *all_of(TEXT, "runtimeClassName hostnameOverride"),
    *all_of(
        FLAG,
        "automountServiceAccountToken hostNetwork hostPID hostIPC shareProcessNamespace enableServiceLinks",
    ),
    *all_of(FLAG, "setHostnameAsFQDN hostUsers"),
    *all_of(
        ANYTHING,
        "volumes ephemeralContainers securityContext imagePullSecrets hostAliases dnsConfig",
    ),
    *all_of(
        ANYTHING,
        "readinessGates topologySpreadConstraints os schedulingGates schedulingGroup",
    ),
    ("restartPolicy", word("v1.RestartPolicy")),
    ("dnsPolicy", word("v1.DNSPolicy")),
    ("preemptionPolicy", word("v1.PreemptionPolicy")),
    ("nodeSelector", GoMap(TEXT)),
    ("affinity", AFFINITY),
    ("tolerations", GoSlice(TOLERATION)),
    ("priority", INT32),
    ("overhead", AMOUNTS),
    ("resourceClaims", GoSlice(POD_CLAIM, keyed=True)),
)
POD = fields("v1.PodSpec", *_EARLIER_POD.fields, ("resources", RESOURCES))


def _template(pod: GoStruct) -> GoStruct:
    return fields("v1.PodTemplateSpec", ("metadata", OBJECT_META), ("spec", pod))


TEMPLATE = _template(POD)
EARLIER_TEMPLATE = _template(_EARLIER_POD)
"""A template in definitions that are older than resources of the pod itself, which the API server drops."""
JOB_SPEC = fields(
    "v1.JobSpec",
    *all_of(
        INT32,
        "parallelism completions backoffLimit backoffLimitPerIndex maxFailedIndexes ttlSecondsAfterFinished",
    ),
    *all_of(ANYTHING, "podFailurePolicy successPolicy selector"),
    *all_of(FLAG, "manualSelector suspend"),
    ("activeDeadlineSeconds", WHOLE),
    ("template", TEMPLATE),
    ("completionMode", word("v1.CompletionMode")),
    ("podReplacementPolicy", word("v1.PodReplacementPolicy")),
    ("managedBy", TEXT),
)
_CONDITION = fields(
    "v1.JobCondition",
    ("type", word("v1.JobConditionType")),
    ("status", word("v1.ConditionStatus")),
    *all_of(TIME, "lastProbeTime lastTransitionTime"),
    *all_of(TEXT, "reason message"),
)
_STATUS = fields(
    "v1.JobStatus",
    ("conditions", GoSlice(_CONDITION)),
    *all_of(TIME, "startTime completionTime"),
    *all_of(INT32, "active succeeded failed terminating ready"),
    *all_of(TEXT, "completedIndexes failedIndexes"),
    ("uncountedTerminatedPods", ANYTHING),
)
JOB: GoStruct = fields("v1.Job", *HEAD, ("spec", JOB_SPEC), ("status", _STATUS))
