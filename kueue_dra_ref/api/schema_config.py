"""The keys of Kueue's Configuration and what each holds: config.kueue.x-k8s.io/v1beta1 and v1beta2 of Kueue 0.19."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

GROUP = "config.kueue.x-k8s.io"


class Scalar(StrEnum):
    """What a single value is, in words for a person."""

    TEXT = "a string"
    FLAG = "true or false"
    WHOLE = "a whole number"
    NUMBER = "a number"
    DURATION = "a duration such as 5m or 1h30m"
    QUANTITY = "a quantity such as 2, 500m or 80Gi"
    ANYTHING = "anything"


@dataclass(frozen=True, slots=True)
class ListKey:
    """A list; every element has one shape."""

    element: Shape


@dataclass(frozen=True, slots=True)
class MapKey:
    """An object with free keys; every value has one shape."""

    value: Shape


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of a few words."""

    words: tuple[str, ...]


Keys = Mapping[str, "Shape"]
Shape = Scalar | OneOf | ListKey | MapKey | Keys

_T, _F, _W, _D = Scalar.TEXT, Scalar.FLAG, Scalar.WHOLE, Scalar.DURATION
_TEXTS = ListKey(_T)
_LABEL_SELECTOR: Keys = {
    "matchLabels": MapKey(_T),
    "matchExpressions": ListKey({"key": _T, "operator": _T, "values": _TEXTS}),
}
_ACCESS_PROVIDERS = ListKey(
    {
        "name": _T,
        "execConfig": {
            "command": _T,
            "args": _TEXTS,
            "env": ListKey({"name": _T, "value": _T}),
            "apiVersion": _T,
            "installHint": _T,
            "provideClusterInfo": _F,
            "interactiveMode": _T,
        },
    }
)
_LEADER_ELECTION: Keys = {
    "leaderElect": _F,
    "leaseDuration": _D,
    "renewDeadline": _D,
    "retryPeriod": _D,
    "resourceLock": _T,
    "resourceName": _T,
    "resourceNamespace": _T,
}
_SOURCE: Keys = {
    "name": _T,
    "driver": _T,
    "deviceSelector": {"cel": {"expression": _T}},
}
_WAIT_FOR_PODS_READY: Keys = {
    "timeout": _D,
    "blockAdmission": _F,
    "requeuingStrategy": {
        "timestamp": _T,
        "backoffLimitCount": _W,
        "backoffBaseSeconds": _W,
        "backoffMaxSeconds": _W,
    },
    "recoveryTimeout": _D,
}
_MULTI_KUEUE: Keys = {
    "gcInterval": _D,
    "origin": _T,
    "workerLostTimeout": _D,
    "dispatcherName": _T,
    "externalFrameworks": ListKey({"name": _T}),
}
_CUSTOM_LABEL: Keys = {"name": _T, "sourceLabelKey": _T, "sourceAnnotationKey": _T}
_METRICS: Keys = {
    "bindAddress": _T,
    "enableClusterQueueResources": _F,
    "customLabels": ListKey(_CUSTOM_LABEL),
    "localQueueMetrics": {"enable": _F, "localQueueSelector": _LABEL_SELECTOR},
}
_INTEGRATIONS: Keys = {
    "frameworks": _TEXTS,
    "externalFrameworks": _TEXTS,
    "labelKeysToCopy": _TEXTS,
}
_MAPPING: Keys = {"name": _T, "deviceClassNames": _TEXTS}
_RESOURCES: Keys = {
    "excludeResourcePrefixes": _TEXTS,
    "transformations": ListKey(
        {
            "input": _T,
            "strategy": _T,
            "multiplyBy": _T,
            "outputs": MapKey(Scalar.QUANTITY),
        },
    ),
    "deviceClassMappings": ListKey(_MAPPING),
}
_BOTH: Keys = {
    "apiVersion": _T,
    "kind": _T,
    "namespace": _T,
    "webhook": {"port": _W, "host": _T, "certDir": _T},
    "leaderElection": _LEADER_ELECTION,
    "metrics": _METRICS,
    "health": {
        "healthProbeBindAddress": _T,
        "readinessEndpointName": _T,
        "livenessEndpointName": _T,
    },
    "pprofBindAddress": _T,
    "controller": {"groupKindConcurrency": MapKey(_W), "cacheSyncTimeout": _W},
    "tls": {"minVersion": _T, "cipherSuites": _TEXTS, "curvePreferences": ListKey(_W)},
    "manageJobsWithoutQueueName": _F,
    "managedJobsNamespaceSelector": _LABEL_SELECTOR,
    "internalCertManagement": {
        "enable": _F,
        "webhookServiceName": _T,
        "webhookSecretName": _T,
    },
    "waitForPodsReady": _WAIT_FOR_PODS_READY,
    "clientConnection": {"qps": Scalar.NUMBER, "burst": _W},
    "integrations": _INTEGRATIONS,
    "multiKueue": _MULTI_KUEUE,
    "fairSharing": {"preemptionStrategies": _TEXTS},
    "admissionFairSharing": {
        "usageHalfLifeTime": _D,
        "usageSamplingInterval": _D,
        "resourceWeights": MapKey(Scalar.NUMBER),
    },
    "resources": _RESOURCES,
    "featureGates": MapKey(_F),
    "objectRetentionPolicies": {
        "workloads": {"afterFinished": _D, "afterDeactivatedByKueue": _D}
    },
}

V1BETA1: Keys = {
    **_BOTH,
    "queueVisibility": {"updateIntervalSeconds": _W, "clusterQueues": {"maxCount": _W}},
    "waitForPodsReady": {**_WAIT_FOR_PODS_READY, "enable": _F},
    "integrations": {
        **_INTEGRATIONS,
        "podOptions": {
            "namespaceSelector": _LABEL_SELECTOR,
            "podSelector": _LABEL_SELECTOR,
        },
    },
    "fairSharing": {"enable": _F, "preemptionStrategies": _TEXTS},
}
V1BETA2: Keys = {
    **_BOTH,
    "metrics": {
        **_METRICS,
        "customLabels": ListKey(
            {**_CUSTOM_LABEL, "sourceKind": _T, "trackedValues": _TEXTS}
        ),
    },
    "multiKueue": {
        **_MULTI_KUEUE,
        "clusterProfile": {
            "accessProviders": _ACCESS_PROVIDERS,
            "credentialsProviders": _ACCESS_PROVIDERS,
        },
        "incrementalDispatcherConfig": {"stepSize": _W},
    },
    "resources": {
        **_RESOURCES,
        "quotaCheckStrategy": _T,
        "deviceClassMappings": ListKey(
            {**_MAPPING, "sources": ListKey({"counter": _SOURCE, "capacity": _SOURCE})}
        ),
    },
    "visibilityServer": {"bindAddress": _T, "bindPort": _W},
}

Versions = Mapping[str, Keys]
"""The API versions that a behaviour reads, the newest first: it is what a file without apiVersion means."""

KUEUE_0_19_VERSIONS: Versions = {
    f"{GROUP}/v1beta2": V1BETA2,
    f"{GROUP}/v1beta1": V1BETA1,
}
_UNMAPPED: Keys = {
    key: shape for key, shape in _RESOURCES.items() if key != "deviceClassMappings"
}
EARLIER_TEXTS_VERSIONS: Versions = {
    f"{GROUP}/v1beta1": {**V1BETA1, "resources": _UNMAPPED}
}
"""Before September 2025 device classes are mapped elsewhere."""
KEP_2025_09_VERSIONS: Versions = {f"{GROUP}/v1beta1": V1BETA1}
