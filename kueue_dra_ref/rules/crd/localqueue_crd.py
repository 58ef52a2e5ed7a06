"""CRD validation of LocalQueues by the API server (localqueue_types.go).

Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ClusterQueueReference);
    apis/kueue/v1beta2/localqueue_types.go (LocalQueueSpec)
"""

from __future__ import annotations

from kueue_dra_ref.api.crd_validation import Faults, immutable, no_object_names
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule


@rule("OBJECT-014")
def cluster_queue_name_is_valid(write: AdmissionRequest) -> Faults:
    """The API server rejects a LocalQueue whose clusterQueue is not a valid ClusterQueue name.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ClusterQueueReference)
    """
    return no_object_names(write.new, "spec.clusterQueue")


@rule("QUEUE-042")
def cluster_queue_is_immutable(write: AdmissionRequest) -> Faults:
    """The API server rejects an update that names another clusterQueue in a LocalQueue.

    Kueue: apis/kueue/v1beta2/localqueue_types.go (LocalQueueSpec)
    """
    return immutable(write.before, write.new, "clusterQueue")
