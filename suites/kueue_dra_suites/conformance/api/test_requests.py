"""The resource.k8s.io API: requests of templates, their defaults, names, counts and alternatives."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import GPU, a_job, a_request, a_template, first_available, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_fixtures.verdicts import admitted

REQUESTS = "spec.spec.devices.requests"
FIRST = f"{REQUESTS}[0]"


def a_flat_request(**fields: Any) -> dict[str, Any]:
    """A request as v1beta1 has it."""
    return {"deviceClassName": GPU, **fields}


@covers("API-001", "API-002", "API-005", "API-006", "API-007", "API-008")
@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        pytest.param(a_request(""), refused(f"{FIRST}.exactly.deviceClassName: Required value"), id="no-class"),
        pytest.param(a_request("Gpu"), refused(f"{FIRST}.exactly.deviceClassName: Invalid value"), id="bad-class"),
        pytest.param({**gpu(), "name": "R0"}, refused(f"{FIRST}.name: Invalid value"), id="name-in-capitals"),
        pytest.param({**gpu(), "name": "r.0"}, refused(f"{FIRST}.name: Invalid value"), id="name-with-a-dot"),
        pytest.param({**gpu(), "name": "r" * 63}, ACCEPTED, id="name-of-63"),
        pytest.param({**gpu(), "name": "r" * 64}, refused(f"{FIRST}.name: Invalid value"), id="name-of-64"),
        pytest.param(gpu(-1), refused(f"{FIRST}.exactly.count: Invalid value"), id="count-below-zero"),
        pytest.param(gpu(1), ACCEPTED, id="count-of-one"),
        pytest.param(a_request(mode="All", count=None), ACCEPTED, id="all"),
        pytest.param(
            a_request(mode="All", count=1), refused(f"{FIRST}.exactly.count: Invalid value"), id="all-with-a-count"
        ),
        pytest.param(
            a_request(mode="Some"), refused(f"{FIRST}.exactly.allocationMode: Unsupported value"), id="unknown-mode"
        ),
        pytest.param({}, refused(f"{FIRST}: Required value"), id="neither-exact-nor-a-list"),
        pytest.param({**gpu(), **first_available(GPU)}, refused(f"{FIRST}: Invalid value"), id="exact-and-a-list"),
    ],
)
def test_a_request_is_of_one_form_with_a_class_a_name_and_a_count(
    lab: Lab, request_: dict[str, Any], answer: RejectedFields
) -> None:
    """A missing or wrong field in a request keeps its template from being stored."""
    template = a_template(request_)

    assert lab.offer(template.manifest(lab.name("template"), lab.namespace())) == answer


@covers("API-003", "API-010")
@pytest.mark.parametrize(
    ("names", "answer"),
    [
        pytest.param(["a", "b"], ACCEPTED, id="two-names"),
        pytest.param(["a", "a"], refused(f"{REQUESTS}[1]: Duplicate value"), id="one-name-twice"),
        pytest.param([f"r{index}" for index in range(32)], ACCEPTED, id="as-many-as-may-be"),
        pytest.param([f"r{index}" for index in range(33)], refused(f"{REQUESTS}: Too many"), id="one-too-many"),
    ],
)
def test_requests_are_few_and_have_names_of_their_own(lab: Lab, names: list[str], answer: RejectedFields) -> None:
    """A claim has at most 32 requests with distinct names."""
    template = a_template(*({**gpu(), "name": name} for name in names))

    assert lab.offer(template.manifest(lab.name("template"), lab.namespace())) == answer


@covers("API-009")
@pytest.mark.parametrize(
    ("alternatives", "answer"),
    [
        pytest.param(first_available(*[GPU] * 8), ACCEPTED, id="as-many-as-may-be"),
        pytest.param(first_available(*[GPU] * 9), refused(f"{FIRST}.firstAvailable: Too many"), id="one-too-many"),
        pytest.param(
            {"firstAvailable": [{"name": "a", "deviceClassName": GPU}] * 2},
            refused(f"{FIRST}.firstAvailable[1]: Duplicate value"),
            id="one-name-twice",
        ),
    ],
)
def test_alternatives_are_few_and_have_names_of_their_own(
    lab: Lab, alternatives: dict[str, Any], answer: RejectedFields
) -> None:
    """A prioritized list has at most eight alternatives with distinct names."""
    template = a_template(alternatives)

    assert lab.offer(template.manifest(lab.name("template"), lab.namespace())) == answer


@covers("API-004")
@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
def test_a_request_without_a_count_is_for_one_device(lab: Lab, version: str) -> None:
    """The API server fills in mode and count, and so one device is charged."""
    queue = lab.queue({"whole-gpus": 2})
    bare = a_request(count=None)
    job = queue.submit(a_job(claims=[a_template(bare, api_version=f"resource.k8s.io/{version}")]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("API-013", "API-014", "API-015")
@pytest.mark.parametrize(
    ("devices", "answer"),
    [
        pytest.param(
            {"constraints": [{"requests": ["r0"], "matchAttribute": "a.com/numa"}]}, ACCEPTED, id="constraint"
        ),
        pytest.param(
            {"constraints": [{"matchAttribute": "numa"}]},
            refused("spec.spec.devices.constraints[0].matchAttribute: Invalid value"),
            id="attribute-without-its-domain",
        ),
        pytest.param(
            {"constraints": [{"requests": ["r1"], "matchAttribute": "a.com/numa"}]},
            refused("spec.spec.devices.constraints[0].requests[0]: Invalid value"),
            id="constraint-on-no-request",
        ),
        pytest.param({"config": [{"opaque": {"driver": "a.com", "parameters": {}}}]}, ACCEPTED, id="configuration"),
        pytest.param(
            {"config": [{"opaque": {"driver": "a.com", "parameters": {"a": "é" * 5_000}}}]}, ACCEPTED, id="long"
        ),
        pytest.param(
            {"config": [{"opaque": {"driver": "a.com", "parameters": {"a": "é" * 5_200}}}]},
            refused("spec.spec.devices.config[0].opaque.parameters: Too long"),
            id="too-long",
        ),
        pytest.param(
            {"config": [{"opaque": {"parameters": {}}}]},
            refused("spec.spec.devices.config[0].opaque.driver: Required value"),
            id="configuration-for-no-driver",
        ),
        pytest.param(
            {"config": [{"opaque": {"driver": "a.com"}}]},
            refused("spec.spec.devices.config[0].opaque.parameters: Required value"),
            id="configuration-of-nothing",
        ),
        pytest.param(
            {"config": [{"opaque": {"driver": "a.com", "parameters": ["a"]}}]},
            refused("spec.spec.devices.config[0].opaque.parameters: Invalid value"),
            id="configuration-of-a-list",
        ),
    ],
)
def test_constraints_and_configurations_are_about_the_claim(
    lab: Lab, devices: dict[str, Any], answer: RejectedFields
) -> None:
    """A constraint names an attribute with its domain and requests of the claim; a configuration is some driver's."""
    template = a_template(gpu(), **devices)

    assert lab.offer(template.manifest(lab.name("template"), lab.namespace())) == answer
