"""CRD validation that several kinds share, by the API server.

Kueue: apis/kueue/v1beta2/constants.go (StopPolicy);
    apis/kueue/v1beta2/workloadpriorityclass_types.go (WorkloadPriorityClass)
"""

from __future__ import annotations

from kueue_dra_ref.api.crd_validation import (
    Faults,
    invalid,
    missing,
    other_words,
    places,
)
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule

_INT32 = (
    "value",
    "spec.priority",
    "spec.podSets[].count",
    "spec.podSets[].minCount",
    "spec.preemption.borrowWithinCohort.maxPriorityThreshold",
)


@rule("OBJECT-002")
def value_is_required(write: AdmissionRequest) -> Faults:
    """The API server rejects a WorkloadPriorityClass without a value.

    Kueue: apis/kueue/v1beta2/workloadpriorityclass_types.go (WorkloadPriorityClass)
    """
    return missing(write.new, "", "value")


@rule("OBJECT-050")
def integers_have_32_bits(write: AdmissionRequest) -> Faults:
    """The API server rejects a priority, a maxPriorityThreshold or a number of pods that exceeds its range.

    Kueue: apis/kueue/v1beta2/workloadpriorityclass_types.go (WorkloadPriorityClass);
        apis/kueue/v1beta2/workload_types.go (WorkloadSpec, PodSet);
        apis/kueue/v1beta2/clusterqueue_types.go (BorrowWithinCohort)
    """
    for path in _INT32:
        for at, value in places(write.new, path, int):
            if not -(2**31) <= value < 2**31:
                yield invalid(
                    "<nil>",
                    f"Checked value must be of type integer with format int32 in {at}",
                    '""',
                )


@rule("OBJECT-018")
def stop_policy_is_known(write: AdmissionRequest) -> Faults:
    """The API server rejects a stopPolicy other than None, Hold and HoldAndDrain.

    Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ClusterQueueSpec);
    apis/kueue/v1beta2/localqueue_types.go (LocalQueueSpec); apis/kueue/v1beta2/constants.go (StopPolicy)
    """
    return other_words(write.new, "spec.stopPolicy", ("None", "Hold", "HoldAndDrain"))
