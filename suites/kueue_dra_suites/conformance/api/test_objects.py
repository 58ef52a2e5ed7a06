"""The resource.k8s.io API: selectors, classes, admin access, decoding, and what cannot be changed."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import GPU, Template, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, on_kubernetes
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_fixtures.resources import a_class, a_slice
from kueue_dra_ref.target import Manifest, Ref

ADMIN_LABEL = "resource.kubernetes.io/admin-access"
EXPRESSION = "spec.selectors[0].cel.expression"
NAME = "spec.extendedResourceName"
CAT = {"color": {"string": "black"}, "size": {"string": "large"}, "cat": {"boolean": True}}


@covers("API-011", "API-012")
@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        pytest.param('device.driver == "a.com"', ACCEPTED, id="condition"),
        pytest.param('device.drivers == "a.com"', refused(f"{EXPRESSION}: Invalid value"), id="unknown-field"),
        pytest.param("device.driver", refused(f"{EXPRESSION}: Invalid value"), id="no-condition"),
        pytest.param('["a"].join("") == device.driver', refused(f"{EXPRESSION}: Forbidden"), id="too-costly"),
        pytest.param("true" + 10236 * " ", ACCEPTED, id="as-long-as-may-be"),
        pytest.param("true" + 10237 * " ", refused(f"{EXPRESSION}: Too long"), id="one-byte-too-long"),
    ],
)
def test_a_selector_is_an_affordable_condition(lab: Lab, expression: str, answer: RejectedFields) -> None:
    """The API server compiles each selector and estimates what it may cost."""
    assert lab.offer(a_class(lab.name("class"), expression)) == answer


@covers("API-011")
def test_a_selector_of_a_request_is_compiled_too(lab: Lab) -> None:
    """The path leads through the request."""
    template = a_template(gpu(), a_request(selectors=["true", "device.drivers"]))
    path = "spec.spec.devices.requests[1].exactly.selectors[1].cel.expression"

    assert lab.offer(template.manifest(lab.name("template"), lab.namespace())) == refused(f"{path}: Invalid value")


@covers("API-035")
@pytest.mark.parametrize(
    ("selector", "answer"),
    [
        pytest.param("false", ACCEPTED, id="another"),
        pytest.param("1", refused(f"{EXPRESSION}: Invalid value"), id="no-condition"),
    ],
)
def test_the_selectors_of_a_class_can_be_changed(lab: Lab, selector: str, answer: RejectedFields) -> None:
    """A class may change, unlike a template, whose spec is immutable."""
    name = lab.name("class")
    lab.apply(a_class(name, "true"))

    assert lab.offer(a_class(name, selector)) == answer


@covers("API-034")
@pytest.mark.parametrize(
    ("resource", "answer"),
    [
        pytest.param("example.com/gpu", ACCEPTED, id="with-a-domain"),
        pytest.param("gpu", refused(f"{NAME}: Invalid value"), id="without-a-domain"),
        pytest.param("node.kubernetes.io/gpu", refused(f"{NAME}: Invalid value"), id="of-kubernetes"),
        pytest.param("requests.example.com/gpu", refused(f"{NAME}: Invalid value"), id="like-a-quota"),
        pytest.param("example.com/-", refused(f"{NAME}: Invalid value"), id="no-name"),
    ],
)
def test_an_extended_resource_of_a_class_is_a_vendors(lab: Lab, resource: str, answer: RejectedFields) -> None:
    """Its name has a domain that is not one of Kubernetes."""
    assert lab.offer(a_class(lab.name("class"), extendedResourceName=resource)) == answer


@covers("API-016")
@pytest.mark.parametrize(
    ("labels", "answer"),
    [
        pytest.param({}, refused("spec.devices.requests[1].adminAccess: Forbidden"), id="no-label"),
        pytest.param(
            {ADMIN_LABEL: "yes"}, refused("spec.devices.requests[1].adminAccess: Forbidden"), id="label-of-another-word"
        ),
        pytest.param({ADMIN_LABEL: "true"}, ACCEPTED, id="label"),
    ],
)
def test_admin_access_needs_a_label_of_the_namespace(lab: Lab, labels: dict[str, str], answer: RejectedFields) -> None:
    """The path in the error of a template is that of a claim."""
    template = a_template(gpu(), a_request(admin=True))

    assert lab.offer(template.manifest(lab.name("template"), lab.namespace(**labels))) == answer


@covers("API-017")
@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        pytest.param({"exactly": {"deviceClassName": GPU, "count": 1}}, ACCEPTED, id="the-same-in-other-words"),
        pytest.param(gpu(2), refused("spec: Invalid value"), id="another-count"),
    ],
)
def test_the_spec_of_a_template_stays(lab: Lab, request_: dict[str, Any], answer: RejectedFields) -> None:
    """A template has to be deleted to ask for something else."""
    name, namespace = lab.name("template"), lab.namespace()
    lab.template(a_template(a_request(count=None)), name, namespace)

    assert lab.offer(a_template(request_).manifest(name, namespace)) == answer


@covers("API-017")
def test_the_spec_of_a_template_stays_what_it_is_now(lab: Lab) -> None:
    """A template of the same name that was deleted asked for the same."""
    name, namespace = lab.name("template"), lab.namespace()
    one, two = (a_template(gpu(count)).manifest(name, namespace) for count in (1, 2))
    assert lab.offer(one) == ACCEPTED
    lab.remove(Ref.of(one))

    assert lab.offer(two) == ACCEPTED
    assert lab.offer(one) == refused("spec: Invalid value")


@covers("API-018")
@pytest.mark.parametrize(
    ("metadata", "answer"),
    [
        pytest.param({"labels": {"a": "b"}, "annotations": {"c": "d"}}, ACCEPTED, id="labels-and-annotations"),
        pytest.param({"labels": {"a b": "c"}}, refused("spec.metadata.labels: Invalid value"), id="no-label"),
        pytest.param({"name": "a"}, refused("spec.metadata.name: Forbidden"), id="name"),
        pytest.param({"finalizers": ["a.com/b"]}, refused("spec.metadata.finalizers: Forbidden"), id="finalizers"),
    ],
)
def test_a_template_gives_claims_labels_and_annotations(
    lab: Lab, metadata: dict[str, Any], answer: RejectedFields
) -> None:
    """Everything else of a claim's metadata is not the template's to set."""
    manifest = a_template(gpu()).manifest(lab.name("template"), lab.namespace())
    manifest["spec"]["metadata"] = metadata

    assert lab.offer(manifest) == answer


@covers("API-019")
@pytest.mark.parametrize(
    "devices",
    [
        pytest.param({"requests": {"name": "r0"}}, id="an-object-for-a-list"),
        pytest.param({"requests": [{"name": 5}]}, id="a-number-for-a-text"),
        pytest.param({"requests": [{"name": "r0", "exactly": {"count": "1"}}]}, id="a-text-for-a-number"),
        pytest.param({"requests": [{"name": "r0", "exactly": {"adminAccess": "no"}}]}, id="a-text-for-a-truth"),
        pytest.param(
            {"requests": [{"name": "r0", "exactly": {"capacity": {"requests": {"memory": "1Gb"}}}}]}, id="no-amount"
        ),
    ],
)
def test_a_value_of_the_wrong_type_is_a_bad_request(lab: Lab, devices: dict[str, Any]) -> None:
    """The API server does not read the object: the error is about the request, not about a field."""
    manifest = Template(spec={"devices": devices}).manifest(lab.name("template"), lab.namespace())

    assert lab.offer(manifest) == refused("400")


@covers("API-046")
@pytest.mark.parametrize(
    ("version", "kind", "parts", "words"),
    [
        pytest.param(
            "scheduling.k8s.io/v1",
            "PriorityClass",
            {"value": "high"},
            "json: cannot unmarshal string into Go struct field PriorityClass.value of type int32",
            id="priority",
        ),
        pytest.param(
            "node.k8s.io/v1",
            "RuntimeClass",
            {"handler": "none", "overhead": {"podFixed": "1"}},
            "json: cannot unmarshal string into Go struct field Overhead.overhead.podFixed of type v1.ResourceList",
            id="overhead",
        ),
        pytest.param(
            "v1",
            "LimitRange",
            {"spec": {"limits": [{"type": "Container", "max": {"cpu": "many"}}]}},
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
            id="amount",
        ),
        pytest.param(
            "v1",
            "Namespace",
            {"spec": 1},
            "json: cannot unmarshal number into Go struct field Namespace.spec of type v1.NamespaceSpec",
            id="namespace",
        ),
    ],
)
def test_a_kind_of_kubernetes_of_the_wrong_type_is_a_bad_request(
    lab: Lab, version: str, kind: str, parts: Manifest, words: str
) -> None:
    """The words are Go's: the struct, the field as it is written, and the type that it has."""
    meta = {"name": lab.name("made")} | ({"namespace": lab.namespace()} if kind == "LimitRange" else {})
    made = {"apiVersion": version, "kind": kind, "metadata": meta, **parts}

    assert lab.denied(made) == f'{kind} in version "v1" cannot be handled as a {kind}: {words}'


@covers("API-020")
@pytest.mark.parametrize(
    "device",
    [
        pytest.param("spec.devices[0]", id="in-1.36", marks=on_kubernetes("1.36")),
        pytest.param("spec.devices[0].basic", id="in-1.37", marks=on_kubernetes("1.37")),
    ],
)
def test_the_cat_of_the_concept_page_is_refused(lab: Lab, device: str) -> None:
    """Its attribute says boolean where the API says bool, and so it has no value."""
    cat = {"name": "large-black-cat", "basic": {"attributes": CAT}}
    cats = a_slice(lab.name("slice"), [cat], version="v1beta1")

    assert lab.offer(cats) == refused(f"{device}.attributes[cat]: Invalid value")


@covers("API-020")
def test_fields_of_another_version_are_dropped(lab: Lab) -> None:
    """A request of v1beta1 in v1 has no field that v1 knows but its name."""
    flat = Template(spec={"devices": {"requests": [{"name": "r0", "deviceClassName": GPU}]}})
    answer = lab.offer(flat.manifest(lab.name("template"), lab.namespace()))

    assert answer == refused("spec.spec.devices.requests[0]: Required value")
