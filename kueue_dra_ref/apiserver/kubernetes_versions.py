"""Kubernetes 1.31 to 1.37 as values; each minor is the one before it with stated differences.

The answers of 1.36 were compared with a running API server; the other minors follow their sources.

Kubernetes: pkg/features/kube_features.go (defaultVersionedKubernetesFeatureGates)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes, ResourceAPILimits

_REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
_LIFETIMES: Mapping[str, tuple[int, int]] = {"v1beta1": (35, 38), "v1beta2": (36, 39)}

KUBERNETES_1_31 = Kubernetes(
    minor=31,
    served=frozenset({"v1alpha3"}),
    lifetimes=_LIFETIMES,
    has_flat_paths=True,
    defaults_without_class=True,
    too_long="may not be longer than {}",
    null='"null"',
    not_an_object="parameters must be a valid JSON object",
)
KUBERNETES_1_32 = replace(
    KUBERNETES_1_31,
    minor=32,
    served=frozenset({"v1alpha3", "v1beta1"}),
    gates={"DRAAdminAccess": False, "DRAResourceClaimDeviceStatus": False},
    too_long="may not be more than {} bytes",
)
KUBERNETES_1_33 = replace(
    KUBERNETES_1_32,
    minor=33,
    served=frozenset({"v1alpha3", "v1beta1", "v1beta2"}),
    gates={
        **KUBERNETES_1_32.gates,
        "DRAResourceClaimDeviceStatus": True,
        "DRAPrioritizedList": False,
        "DRAPartitionableDevices": False,
        "DRADeviceTaints": False,
    },
    admin_label="resource.k8s.io/admin-access",
    has_flat_paths=False,
    defaults_without_class=False,
    request_reference=_REFERENCE,
)
KUBERNETES_1_34 = replace(
    KUBERNETES_1_33,
    minor=34,
    served=frozenset({"v1beta1", "v1beta2", "v1"}),
    served_by_default=frozenset({"v1"}),
    gates={
        **KUBERNETES_1_33.gates,
        "DRAAdminAccess": True,
        "DRAPrioritizedList": True,
        "DRAConsumableCapacity": False,
        "DRAExtendedResource": False,
        "DRADeviceBindingConditions": False,
    },
    admin_label="resource.kubernetes.io/admin-access",
    knows_pod_resources=True,
    restart_policies="dropped",
    quotes_words=True,
    null="null",
    not_an_object="must be a valid JSON object",
)
KUBERNETES_1_35 = replace(
    KUBERNETES_1_34,
    minor=35,
    limits=ResourceAPILimits(
        taints=16,
        devices_with_features=64,
        counter_sets=8,
        counters_per_set=32,
        consumptions=2,
        counters_per_consumption=32,
        shared_counters=None,
        counters_per_device=None,
        counters_per_slice=None,
    ),
    stops_at_sizes=True,
    stops_at_unions=True,
    stops_at_missing_drivers=True,
    names_duplicates=False,
    checks_stored_specs=False,
    checks_counter_references=False,
    warns_of_capitals=True,
    counts_bytes=True,
    unqualified="a fully qualified name must be a domain and a name separated by a slash",
    unset_attribute="Invalid value",
    empty_part="Invalid value",
    effects=("NoExecute", "NoSchedule", "None"),
    restart_policies="any",
    knows_comparing_tolerations=True,
)
KUBERNETES_1_36 = replace(
    KUBERNETES_1_35,
    minor=36,
    gates={
        **KUBERNETES_1_35.gates,
        "DRAPartitionableDevices": True,
        "DRAConsumableCapacity": True,
        "DRAExtendedResource": True,
        "DRADeviceTaints": True,
        "DRADeviceBindingConditions": True,
        "DRAListTypeAttributes": False,
        "DRANodeAllocatableResources": False,
    },
    locked=frozenset({"DRAAdminAccess"}),
    limits=replace(KUBERNETES_1_35.limits, attribute_values=48),
    keys_have_paths=False,
)
KUBERNETES_1_37 = replace(
    KUBERNETES_1_36,
    minor=37,
    gates={
        **KUBERNETES_1_36.gates,
        "DRAPartitionableDevicesType": False,
        "DRAOptionalNodeOperations": False,
        "DRADerivedAttributes": False,
        "DRADeviceCompatibilityGroups": False,
        # On only with --min-compatibility-version=1.37; the default of that flag is one minor earlier.
        "DRAFractionalCapacityRange": False,
    },
    locked=frozenset(
        {
            "DRAAdminAccess",
            "DRAExtendedResource",
            "DRAPrioritizedList",
            "DRAResourceClaimDeviceStatus",
        }
    ),
    checks_old_capacity=False,
    steps_are_checked=True,
    default_has_path=True,
    is_declarative=True,
)

CONTROL_PLANE = KUBERNETES_1_36.with_gates(DRAListTypeAttributes=True)
"""What this project's own control planes run: with a gate on that cases about newer API servers need."""

MINORS: Mapping[str, Kubernetes] = {
    each.name: each
    for each in (
        KUBERNETES_1_31,
        KUBERNETES_1_32,
        KUBERNETES_1_33,
        KUBERNETES_1_34,
        KUBERNETES_1_35,
        KUBERNETES_1_36,
        KUBERNETES_1_37,
    )
}
