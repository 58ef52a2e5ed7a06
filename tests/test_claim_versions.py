"""Claims in every version of resource.k8s.io come to one stored shape, and what no API server stores is refused."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_ref.apiserver import CONTROL_PLANE, AcceptedRequest, RejectedRequest, RequestContext, admitted

ANYWHERE = RequestContext(kubernetes=CONTROL_PLANE, namespace_labels={})
FLAT = {"name": "gpus", "deviceClassName": "gpu.example.com", "count": 2}
EXACT = {"name": "gpus", "exactly": {"deviceClassName": "gpu.example.com", "count": 2}}
STORED = {
    "name": "gpus",
    "exactly": {"deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": 2},
}


def a_template(version: str, request: dict[str, Any]) -> dict[str, Any]:
    """Build a template of one request."""
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "gpus", "namespace": "team"},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }


@pytest.mark.parametrize(
    ("version", "request_"), [("v1alpha3", FLAT), ("v1beta1", FLAT), ("v1beta2", EXACT), ("v1", EXACT)]
)
def test_a_template_is_stored_alike_whatever_it_was_written_in(version: str, request_: dict[str, Any]) -> None:
    """Only the reference serves v1alpha3, which Kubernetes 1.36 does not serve for claims."""
    answer = admitted(a_template(version, request_), None, ANYWHERE)

    assert isinstance(answer, AcceptedRequest)
    assert answer.obj["spec"]["spec"]["devices"]["requests"] == [STORED]


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        pytest.param({"name": "gpus"}, "spec.spec.devices.requests[0]", id="neither-form"),
        pytest.param({**EXACT, "firstAvailable": [FLAT]}, "spec.spec.devices.requests[0]", id="both-forms"),
        pytest.param(
            {"name": "gpus", "exactly": {"deviceClassName": "a", "allocationMode": "Some"}},
            "spec.spec.devices.requests[0].exactly.allocationMode",
            id="unknown-mode",
        ),
    ],
)
def test_a_request_that_no_api_server_stores_is_refused(request_: dict[str, Any], field: str) -> None:
    """CLAIM-009 and CLAIM-011 are excluded because such a template cannot be had; here is why."""
    answer = admitted(a_template("v1", request_), None, ANYWHERE)

    assert isinstance(answer, RejectedRequest)
    assert answer.errors[0].field == field
