"""The Go types of a Job and its pods (Kubernetes 1.36): every field there is, typed where it is looked at."""

from __future__ import annotations

from kueue_dra_ref.apiserver.schema_claims import NODE_SELECTOR, OBJECT_META, POD_CLAIM
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
)

INT32 = Plain(Holds.WHOLE, "int32")
_AMOUNTS = MapOf(QUANTITY, go="v1.ResourceList")


def _word(go: str) -> Plain:
    return Plain(Holds.TEXT, f"v1.{go}")


def _all(shape: Shape, names: str) -> tuple[Field, ...]:
    return tuple(Field(name, shape) for name in names.split())


RESOURCES = fields(
    "v1.ResourceRequirements",
    ("limits", _AMOUNTS),
    ("requests", _AMOUNTS),
    ("claims", ListOf(fields("v1.ResourceClaim", ("name", TEXT), ("request", TEXT)), keyed=True)),
)
CONTAINER = fields(
    "v1.Container",
    *_all(TEXT, "name image workingDir terminationMessagePath"),
    *_all(TEXTS, "command args"),
    *_all(FLAG, "stdin stdinOnce tty"),
    *_all(ANYTHING, "ports envFrom env resizePolicy restartPolicyRules volumeMounts volumeDevices livenessProbe"),
    *_all(ANYTHING, "readinessProbe startupProbe lifecycle securityContext"),
    ("terminationMessagePolicy", _word("TerminationMessagePolicy")),
    ("imagePullPolicy", _word("PullPolicy")),
    ("restartPolicy", _word("ContainerRestartPolicy")),
    ("resources", RESOURCES),
)
TOLERATION = fields(
    "v1.Toleration",
    *_all(TEXT, "key value"),
    ("operator", _word("TolerationOperator")),
    ("effect", _word("TaintEffect")),
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
    ("restartPolicy", _word("RestartPolicy")),
    ("dnsPolicy", _word("DNSPolicy")),
    ("preemptionPolicy", _word("PreemptionPolicy")),
    ("nodeSelector", MapOf(TEXT)),
    (
        "affinity",
        fields("v1.Affinity", ("nodeAffinity", _NODE_AFFINITY), *_all(ANYTHING, "podAffinity podAntiAffinity")),
    ),
    ("tolerations", ListOf(TOLERATION)),
    ("priority", INT32),
    ("overhead", _AMOUNTS),
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
    ("completionMode", _word("CompletionMode")),
    ("podReplacementPolicy", _word("PodReplacementPolicy")),
    ("managedBy", TEXT),
)
_CONDITION = fields(
    "v1.JobCondition",
    ("type", _word("JobConditionType")),
    ("status", _word("ConditionStatus")),
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
JOB: Struct = fields(
    "v1.Job", *_all(TEXT, "apiVersion kind"), ("metadata", OBJECT_META), ("spec", _JOB), ("status", _STATUS)
)
