"""Names that no Kueue object can have; invalid LocalQueues and priority classes (Kueue 0.19, CRDs)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import KUEUE, an_object
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused

GRAMMAR = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"


@covers("OBJECT-001")
@pytest.mark.parametrize("kind", ["ClusterQueue", "Cohort", "ResourceFlavor"])
def test_an_object_has_a_name_in_lower_case(lab: Lab, kind: str) -> None:
    """Every kind is held to it."""
    words = (
        'metadata.name: Invalid value: "Upper": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric '
        "characters, '-' or '.', and must start and end with an alphanumeric character "
        f"(e.g. 'example.com', regex used for validation is '{GRAMMAR}')"
    )
    made = an_object(kind, "Upper")

    assert lab.denied(made) == f'{kind}.kueue.x-k8s.io "Upper" is invalid: {words}'


@covers("OBJECT-001")
def test_an_object_has_a_name_of_at_most_253_characters(lab: Lab) -> None:
    """Every kind is held to it."""
    made = an_object("Cohort", "a" * 254)

    assert lab.denied(made).endswith(": must be no more than 253 characters")


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        pytest.param({"clusterQueue": "Some"}, "clusterQueue: Invalid value", id="name", marks=covers("OBJECT-014")),
        pytest.param({"clusterQueue": "a" * 254}, "clusterQueue: Too long", id="long", marks=covers("OBJECT-014")),
        pytest.param(
            {"clusterQueue": "some", "stopPolicy": "Halt"},
            "stopPolicy: Unsupported value",
            id="stop",
            marks=covers("OBJECT-018"),
        ),
    ],
)
def test_what_a_local_queue_says_can_be(lab: Lab, spec: Mapping[str, Any], fault: str) -> None:
    """A ClusterQueue that cannot be there is not waited for, and another word has no meaning."""
    meta = {"name": lab.name("lq"), "namespace": lab.namespace()}

    answer = refused(f"spec.{fault}")
    assert lab.offer({"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": meta, "spec": spec}) == answer


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        pytest.param({"value": 0}, ACCEPTED, id="none", marks=covers("OBJECT-002")),
        pytest.param({}, refused("value: Required value"), id="unsaid", marks=covers("OBJECT-002")),
        pytest.param({"value": -(2**31)}, ACCEPTED, id="least", marks=covers("OBJECT-050")),
        pytest.param({"value": -(2**31) - 1}, refused("422"), id="too-little", marks=covers("OBJECT-050")),
        pytest.param({"value": 2**31 - 1}, ACCEPTED, id="most", marks=covers("OBJECT-050")),
        pytest.param({"value": 2**31}, refused("422"), id="too-much", marks=covers("OBJECT-050")),
    ],
)
def test_a_priority_class_has_a_value_of_32_bits(lab: Lab, fields: Mapping[str, int], answer: RejectedFields) -> None:
    """A priority is never made up."""
    made = {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": lab.name("priority")}, **fields}

    assert lab.offer(made) == answer
