"""The object that maps classes: its schema and its place (DynamicResourceAllocationConfig API, July 2025)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_request, a_template, gpu
from kueue_dra_fixtures.config_documents import V1BETA1, a_document, a_mapping
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.mappings import a_config_object
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible

pytestmark = owns_kueue


CLASSES = [f"class-{index}.example.com" for index in range(9)]


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        pytest.param(
            a_config_object(name="other"), refused("metadata.name: Invalid value"), id="name", marks=covers("CRD-002")
        ),
        pytest.param(
            a_config_object(namespace="default"),
            refused("metadata.namespace: Invalid value"),
            id="namespace",
            marks=covers("CRD-003"),
        ),
        pytest.param(
            a_config_object(*[a_mapping(f"r{i}", f"c{i}") for i in range(16)]),
            ACCEPTED,
            id="16-resources",
            marks=covers("CRD-004"),
        ),
        pytest.param(
            a_config_object(*[a_mapping(f"r{i}", f"c{i}") for i in range(17)]),
            refused("spec.resources: Too many"),
            id="17-resources",
            marks=covers("CRD-004"),
        ),
        pytest.param(
            a_config_object(a_mapping("gpus", *CLASSES[:8])), ACCEPTED, id="8-classes", marks=covers("CRD-005")
        ),
        pytest.param(
            a_config_object(a_mapping("nics", "n"), a_mapping("gpus", *CLASSES)),
            refused("spec.resources[1].deviceClassNames: Too many"),
            id="9-classes",
            marks=covers("CRD-005"),
        ),
        pytest.param(
            a_config_object(a_mapping("gpus", "a"), a_mapping("gpus", "b")),
            refused("spec.resources[1]: Duplicate value"),
            id="name-twice",
            marks=covers("CRD-006"),
        ),
        pytest.param(
            a_config_object(a_mapping("gpus", "a", "b", "a")),
            refused("spec.resources[0].deviceClassNames[2]: Duplicate value"),
            id="class-twice",
            marks=covers("CRD-007"),
        ),
        pytest.param(
            a_config_object(a_mapping("gpus", "a"), a_mapping("nics", "a")),
            ACCEPTED,
            id="class-of-two-resources",
            marks=covers("CRD-010"),
        ),
        pytest.param(
            a_config_object({"deviceClassNames": ["a"]}),
            refused("spec.resources[0].name: Required value"),
            id="no-name",
            marks=covers("CRD-008"),
        ),
        pytest.param(
            a_config_object({"name": "gpus"}),
            refused("spec.resources[0].deviceClassNames: Required value"),
            id="no-classes",
            marks=covers("CRD-008"),
        ),
        pytest.param(
            a_config_object() | {"spec": {}},
            refused("spec.resources: Required value"),
            id="no-list",
            marks=covers("CRD-008"),
        ),
        pytest.param(a_config_object(a_mapping("gpus")), ACCEPTED, id="empty-set", marks=covers("CRD-009")),
    ],
)
def test_the_object_is_checked_when_it_is_applied(lab: Lab, made: dict[str, Any], verdict: RejectedFields) -> None:
    """One object in one place, with so many resources and classes, each named once."""
    lab.start()

    assert lab.offer(made) == verdict


@covers("CRD-001", "MAP-013")
def test_the_object_maps_classes_to_resources(lab: Lab) -> None:
    """Each class is charged to the resource that has it; the classes of a resource share its quota."""
    lab.start({"gpus": ["gpu.example.com", "mig.example.com"], "nics": ["nic.example.com"]})
    queue = lab.queue({"gpus": 3, "nics": 1})
    asked = [gpu(2), a_request("mig.example.com"), a_request("nic.example.com")]
    job = queue.submit(a_job(claims=[a_template(*asked)]))

    assert lab.verdict(job) == admitted({"gpus": 3, "nics": 1})


@covers("CRD-017")
@pytest.mark.parametrize(
    "mappings",
    [pytest.param({}, id="empty-object"), pytest.param({"nics": ["nic.example.com"]}, id="of-another-class")],
)
def test_without_a_mapping_nothing_is_admitted(lab: Lab, mappings: dict[str, list[str]]) -> None:
    """A class that the object does not map has no quota."""
    lab.start(mappings)
    queue = lab.queue({"gpu.example.com": 1, "whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)


@covers("CRD-018")
def test_a_changed_object_needs_no_restart(lab: Lab) -> None:
    """The object is read when a workload is processed."""
    lab.start({"old-gpus": ["gpu.example.com"]})
    queue = lab.queue({"old-gpus": 1, "new-gpus": 1})
    before = queue.submit(a_job(claims=[a_template(gpu())]))

    lab.apply(a_config_object(a_mapping("new-gpus", "gpu.example.com")))
    after = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(before) == admitted({"old-gpus": 1})
    assert lab.verdict(after) == admitted({"new-gpus": 1})


@covers("CRD-019", "CFG-003")
def test_the_configuration_maps_nothing(lab: Lab) -> None:
    """Before September 2025 the Configuration has no such key."""
    document = a_document(a_mapping("gpus", "gpu.example.com"), version=V1BETA1)

    assert lab.check(document) == refused("resources.deviceClassMappings: Unknown field")
