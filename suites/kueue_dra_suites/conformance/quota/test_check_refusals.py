"""AdmissionChecks, their parameters and Topologies that the API server rejects (Kueue 0.19, CRDs)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import an_object
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused

HOSTNAME = "kubernetes.io/hostname"
MUTABLE = (
    f"spec.levels: Invalid value: levels are mutable only when {HOSTNAME} is the lowest level both before and after "
    "the change"
)
LOWEST = f"the {HOSTNAME} label can only be used at the lowest level of topology"


def a_topology(name: str, *labels: str) -> dict[str, Any]:
    """A Topology whose levels have these labels, the highest first."""
    return an_object("Topology", name, levels=[{"nodeLabel": label} for label in labels])


@covers("OBJECT-056")
@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        pytest.param("AdmissionCheck", {}, "controllerName", id="controller"),
        pytest.param("ProvisioningRequestConfig", {}, "provisioningClassName", id="class"),
        pytest.param("MultiKueueConfig", {}, "clusters", id="clusters"),
        pytest.param("Topology", {}, "levels", id="levels"),
        pytest.param("Topology", {"levels": [{}]}, "levels[0].nodeLabel", id="node-label"),
    ],
)
def test_a_field_is_required(lab: Lab, kind: str, spec: Mapping[str, Any], field: str) -> None:
    """None of them has a default."""
    made = an_object(kind, lab.name("made"), **spec)

    assert lab.offer(made) == refused(f"spec.{field}: Required value")


@covers("OBJECT-056")
def test_a_selector_from_a_provisioning_class_is_whole(lab: Lab) -> None:
    """Both of its parts, and the class, are reported."""
    updates: dict[str, Any] = {"nodeSelector": [{}]}
    at = "spec.podSetUpdates.nodeSelector[0]"

    assert lab.offer(an_object("ProvisioningRequestConfig", lab.name("config"), podSetUpdates=updates)) == refused(
        f"{at}.key: Required value",
        f"{at}.valueFromProvisioningClassDetail: Required value",
        "spec.provisioningClassName: Required value",
    )


@pytest.mark.parametrize(
    "field",
    [
        pytest.param("clusterSource", id="source", marks=covers("OBJECT-059")),
        pytest.param("kubeConfig", id="kubeconfig", marks=covers("OBJECT-060")),
    ],
)
def test_a_cluster_of_multikueue_has_a_source(lab: Lab, field: str) -> None:
    """Without one, Kueue could not connect to it."""
    assert lab.offer(an_object("MultiKueueCluster", lab.name("cluster"))) == refused(f"spec.{field}: Required value")


@covers("OBJECT-057")
def test_the_controller_of_a_check_is_immutable(lab: Lab) -> None:
    """Other controllers do not know what it has decided."""
    check = lab.name("check")
    lab.apply(an_object("AdmissionCheck", check, controllerName="example.com/budget"))

    found = lab.denied(an_object("AdmissionCheck", check, controllerName="example.com/other"))

    assert found.endswith('spec.controllerName: Invalid value: "example.com/other": field is immutable')


@covers("OBJECT-061")
def test_the_levels_of_a_topology_are_immutable(lab: Lab) -> None:
    """Work may have been placed by them."""
    topology = lab.name("topology")
    lab.apply(a_topology(topology, "example.com/rack", HOSTNAME))

    found = lab.denied(a_topology(topology, "example.com/rack"))

    assert found.endswith("spec.levels: Invalid value: field is immutable")


@covers("OBJECT-061", "OBJECT-058")
@pytest.mark.parametrize(
    ("spec", "faults"),
    [
        pytest.param({}, ["spec.levels: Required value"], id="no-field"),
        pytest.param({"levels": []}, ["spec.levels: Invalid value", "spec.levels: Invalid value"], id="none"),
    ],
)
def test_a_topology_keeps_levels(lab: Lab, spec: dict[str, Any], faults: list[str]) -> None:
    """A level is required, and others are an error of their own."""
    topology = lab.name("topology")
    lab.apply(a_topology(topology, HOSTNAME))

    assert lab.offer(an_object("Topology", topology, **spec)) == refused(*faults)


@covers("OBJECT-062")
@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        pytest.param([HOSTNAME], ["example.com/rack", HOSTNAME], "", id="above-the-hostname"),
        pytest.param(["example.com/rack", HOSTNAME], ["example.com/rack"], MUTABLE, id="without-the-hostname"),
        pytest.param(["example.com/rack"], ["example.com/rack", HOSTNAME], MUTABLE, id="below-a-rack"),
    ],
)
def test_levels_change_above_the_hostname(lab: Lab, before: Sequence[str], after: Sequence[str], fault: str) -> None:
    """Work is placed by hostnames then, whatever is above them."""
    topology = lab.name("topology")
    lab.apply(a_topology(topology, *before))

    found = lab.denied(a_topology(topology, *after))

    assert found.partition(" is invalid: ")[2] == fault


@covers("OBJECT-058")
@pytest.mark.parametrize(
    ("labels", "answer"),
    [
        pytest.param([f"l{index}" for index in range(16)], ACCEPTED, id="16-levels"),
        pytest.param([f"l{index}" for index in range(17)], refused("spec.levels: Too many"), id="17-levels"),
        pytest.param(["rack", HOSTNAME], ACCEPTED, id="hostname-lowest"),
        pytest.param([HOSTNAME], ACCEPTED, id="hostname-alone"),
        pytest.param([], refused("spec.levels: Invalid value"), id="no-level"),
    ],
)
def test_levels_that_a_topology_can_have(lab: Lab, labels: Sequence[str], answer: RejectedFields) -> None:
    """The hostname is no level of racks."""
    assert lab.offer(a_topology(lab.name("topology"), *labels)) == answer


@covers("OBJECT-058")
@pytest.mark.parametrize(
    ("labels", "words"),
    [
        pytest.param(["rack", "block", "rack"], "must be unique", id="twice"),
        pytest.param([HOSTNAME, "rack"], LOWEST, id="hostname-highest"),
    ],
)
def test_levels_that_a_topology_cannot_have(lab: Lab, labels: Sequence[str], words: str) -> None:
    """The error is about all levels."""
    assert lab.denied(a_topology(lab.name("topology"), *labels)).endswith(f"spec.levels: Invalid value: {words}")
