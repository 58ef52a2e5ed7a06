"""The Go types of a Job and its pods (Kubernetes 1.36): every field there is, typed where it is looked at."""

from __future__ import annotations

from kueue_dra_ref.apiserver.schema_claims import HEAD, NODE_SELECTOR, OBJECT_META, POD_CLAIM
from kueue_dra_ref.apiserver.shapes import (
    ANYTHING,
    FLAG,
    QUANTITY,
    TEXT,
    TEXTS,
    TIME,
    WHOLE,
    Field,
    Holds,
    ListOf,
    MapOf,
    Plain,
    Shape,
    Struct,
    fields,
    word,
)

INT32 = Plain(Holds.WHOLE, "int32")
AMOUNTS = MapOf(QUANTITY, go="v1.ResourceList")


def _all(shape: Shape, names: str) -> tuple[Field, ...]:
    return tuple(Field(name, shape) for name in names.split())


RESOURCES = fields(
    "v1.ResourceRequirements",
    ("limits", AMOUNTS),
    ("requests", AMOUNTS),
    ("claims", ListOf(fields("v1.ResourceClaim", ("name", TEXT), ("request", TEXT)), keyed=True)),
)
CONTAINER = fields(
    "v1.Container",
    *_all(TEXT, "name image workingDir terminationMessagePath"),
    *_all(TEXTS, "command args"),
    *_all(FLAG, "stdin stdinOnce tty"),
    *_all(ANYTHING, "ports envFrom env resizePolicy restartPolicyRules volumeMounts volumeDevices livenessProbe"),
    *_all(ANYTHING, "readinessProbe startupProbe lifecycle securityContext"),
    ("terminationMessagePolicy", word("v1.TerminationMessagePolicy")),
    ("imagePullPolicy", word("v1.PullPolicy")),
    ("restartPolicy", word("v1.ContainerRestartPolicy")),
    ("resources", RESOURCES),
)
TOLERATION = fields(
    "v1.Toleration",
    *_all(TEXT, "key value"),
    ("operator", word("v1.TolerationOperator")),
    ("effect", word("v1.TaintEffect")),
    ("tolerationSeconds", WHOLE),
)
_NODE_AFFINITY = fields(
    "v1.NodeAffinity",
    ("requiredDuringSchedulingIgnoredDuringExecution", NODE_SELECTOR),
    ("preferredDuringSchedulingIgnoredDuringExecution", ANYTHING),
)
POD = fields(
    "v1.PodSpec",
    *_all(ListOf(CONTAINER, keyed=True), "containers initContainers"),
    *_all(WHOLE, "terminationGracePeriodSeconds activeDeadlineSeconds"),
    *_all(TEXT, "serviceAccountName serviceAccount nodeName hostname subdomain schedulerName priorityClassName"),
    *_all(TEXT, "runtimeClassName hostnameOverride"),
    *_all(FLAG, "automountServiceAccountToken hostNetwork hostPID hostIPC shareProcessNamespace enableServiceLinks"),
    *_all(FLAG, "setHostnameAsFQDN hostUsers"),
    *_all(ANYTHING, "volumes ephemeralContainers securityContext imagePullSecrets hostAliases dnsConfig"),
    *_all(ANYTHING, "readinessGates topologySpreadConstraints os schedulingGates schedulingGroup"),
    ("restartPolicy", word("v1.RestartPolicy")),
    ("dnsPolicy", word("v1.DNSPolicy")),
    ("preemptionPolicy", word("v1.PreemptionPolicy")),
    ("nodeSelector", MapOf(TEXT)),
    (
        "affinity",
        fields("v1.Affinity", ("nodeAffinity", _NODE_AFFINITY), *_all(ANYTHING, "podAffinity podAntiAffinity")),
    ),
    ("tolerations", ListOf(TOLERATION)),
    ("priority", INT32),
    ("overhead", AMOUNTS),
    ("resourceClaims", ListOf(POD_CLAIM, keyed=True)),
    ("resources", RESOURCES),
)
TEMPLATE = fields("v1.PodTemplateSpec", ("metadata", OBJECT_META), ("spec", POD))
_JOB = fields(
    "v1.JobSpec",
    *_all(INT32, "parallelism completions backoffLimit backoffLimitPerIndex maxFailedIndexes ttlSecondsAfterFinished"),
    *_all(ANYTHING, "podFailurePolicy successPolicy selector"),
    *_all(FLAG, "manualSelector suspend"),
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
    *_all(TIME, "lastProbeTime lastTransitionTime"),
    *_all(TEXT, "reason message"),
)
_STATUS = fields(
    "v1.JobStatus",
    ("conditions", ListOf(_CONDITION)),
    *_all(TIME, "startTime completionTime"),
    *_all(INT32, "active succeeded failed terminating ready"),
    *_all(TEXT, "completedIndexes failedIndexes"),
    ("uncountedTerminatedPods", ANYTHING),
)
JOB: Struct = fields("v1.Job", *HEAD, ("spec", _JOB), ("status", _STATUS))
