"""CRD validation of AdmissionChecks and of their parameters by the API server (admissioncheck_types.go).

Kueue: apis/kueue/v1beta2/admissioncheck_types.go (AdmissionCheckSpec);
    apis/kueue/v1beta2/provisioningrequestconfig_types.go (ProvisioningRequestConfigSpec);
    apis/kueue/v1beta2/multikueue_types.go (MultiKueueConfigSpec, MultiKueueClusterSpec)
"""

from __future__ import annotations

from kueue_dra_ref.api.crd_validation import Faults, immutable, missing
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule

_CONTROLLER = "controllerName"
_SELECTED = "spec.podSetUpdates.nodeSelector[]"
_FROM_CLASS = "valueFromProvisioningClassDetail"


@rule("OBJECT-056")
def controller_name_is_required(write: AdmissionRequest) -> Faults:
    """The API server rejects an AdmissionCheck without a controllerName.

    Kueue: apis/kueue/v1beta2/admissioncheck_types.go (AdmissionCheckSpec)
    """
    return missing(write.new, "spec", _CONTROLLER)


@rule("OBJECT-057")
def controller_name_is_immutable(write: AdmissionRequest) -> Faults:
    """The API server rejects an update of the controllerName of an AdmissionCheck.

    Kueue: apis/kueue/v1beta2/admissioncheck_types.go (AdmissionCheckSpec)
    """
    return immutable(write.before, write.new, _CONTROLLER)


@rule("OBJECT-056")
def provisioning_class_is_required(write: AdmissionRequest) -> Faults:
    """The API server rejects a ProvisioningRequestConfig without a class, or with a selector without its parts.

    Kueue: apis/kueue/v1beta2/provisioningrequestconfig_types.go (ProvisioningRequestConfigSpec)
    """
    yield from missing(write.new, _SELECTED, "key", _FROM_CLASS)
    yield from missing(write.new, "spec", "provisioningClassName")


@rule("OBJECT-056")
def multikueue_clusters_are_required(write: AdmissionRequest) -> Faults:
    """The API server rejects a MultiKueueConfig without clusters.

    Kueue: apis/kueue/v1beta2/multikueue_types.go (MultiKueueConfigSpec)
    """
    return missing(write.new, "spec", "clusters")


@rule("OBJECT-060")
def kubeconfig_is_required_0_14(write: AdmissionRequest) -> Faults:
    """The API server rejects a MultiKueueCluster without a kubeconfig, which v1beta2 has in its clusterSource.

    Kueue 0.14: apis/kueue/v1beta1/multikueue_types.go (MultiKueueClusterSpec)
    """
    spec = write.new.get("spec") or {}
    source = spec.get("clusterSource") or {}
    if "kubeConfig" not in source:
        yield from missing(write.new, "spec", "kubeConfig")


@rule("OBJECT-059")
def cluster_source_is_required(write: AdmissionRequest) -> Faults:
    """The API server rejects a MultiKueueCluster without a clusterSource.

    Kueue: apis/kueue/v1beta2/multikueue_types.go (MultiKueueClusterSpec)
    """
    return missing(write.new, "spec", "clusterSource")
