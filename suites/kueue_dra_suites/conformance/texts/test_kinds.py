"""Which resources of kind DeviceClass a ClusterQueue may have (Resource Quota API, April 2025)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_request, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import a_cluster_queue
from kueue_dra_fixtures.mappings import a_group_of, a_resource
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending

GPU = "gpu.example.com"
SHARED = "shared.example.com"
AT = "spec.resourceGroups[0].flavors[{}].resources[{}]"


@pytest.mark.parametrize(
    ("group", "verdict"),
    [
        pytest.param(
            a_group_of([a_resource("single-gpu", GPU)]), ACCEPTED, id="kind-and-class", marks=covers("KIND-001")
        ),
        pytest.param(a_group_of([a_resource("cpu", kind=None)]), ACCEPTED, id="neither", marks=covers("KIND-003")),
        pytest.param(
            a_group_of([a_resource("single-gpu", GPU, kind="Device")]),
            refused(f"{AT.format(0, 0)}.kind: Unsupported value"),
            id="another-kind",
            marks=covers("KIND-002"),
        ),
        pytest.param(
            a_group_of([a_resource("single-gpu", GPU, kind="deviceclass")]),
            refused(f"{AT.format(0, 0)}.kind: Unsupported value"),
            id="kind-in-lower-case",
            marks=covers("KIND-002"),
        ),
        pytest.param(
            a_group_of([a_resource("cpu", kind=None), a_resource("single-gpu", GPU, kind=None)]),
            refused(f"{AT.format(0, 1)}.deviceClassNames: Forbidden"),
            id="classes-without-kind",
            marks=covers("KIND-004"),
        ),
        pytest.param(
            a_group_of([a_resource("single-gpu")]),
            refused(f"{AT.format(0, 0)}.deviceClassNames: Required value"),
            id="kind-without-classes",
            marks=covers("KIND-005"),
        ),
        pytest.param(
            a_group_of([a_resource("single-gpu", GPU), a_resource("shared-gpus", SHARED, GPU)]),
            refused(f"{AT.format(0, 1)}.deviceClassNames[1]: Invalid value"),
            id="class-under-two-names",
            marks=covers("KIND-006"),
        ),
        pytest.param(
            a_group_of([a_resource("single-gpu", GPU)], [a_resource("shared-gpus", GPU)]),
            refused(f"{AT.format(1, 0)}.deviceClassNames[0]: Invalid value"),
            id="class-under-two-names-in-two-flavors",
            marks=covers("KIND-006"),
        ),
        pytest.param(
            a_group_of([a_resource("single-gpu", GPU)], [a_resource("single-gpu", GPU)]),
            ACCEPTED,
            id="class-under-one-name-in-two-flavors",
            marks=covers("KIND-008"),
        ),
        pytest.param(
            a_group_of([a_resource("single-gpu", GPU)], [a_resource("single-gpu", kind=None)]),
            refused(f"{AT.format(1, 0)}.kind: Invalid value"),
            id="name-of-two-kinds",
            marks=covers("KIND-007"),
        ),
        pytest.param(
            a_group_of([a_resource("single-gpu", GPU, GPU)]), ACCEPTED, id="class-twice", marks=covers("KIND-010")
        ),
    ],
)
def test_a_cluster_queue_is_refused_when_kind_and_classes_do_not_go_together(
    lab: Lab, group: dict[str, Any], verdict: RejectedFields
) -> None:
    """The API server checks the kinds and classes of a ClusterQueue when it is applied."""
    assert lab.offer(a_cluster_queue(lab.name("cq"), [group])) == verdict


@covers("KIND-009")
@pytest.mark.parametrize(
    "covered",
    [
        pytest.param(["cpu", "single-gpu"], id="its-name"),
        pytest.param(["cpu", GPU], id="its-class"),
        pytest.param(["cpu", "single-gpus"], id="neither"),
    ],
)
def test_a_class_is_charged_whatever_is_covered(lab: Lab, covered: list[str]) -> None:
    """The examples of the text cover the class, or a name that is almost the right one; they are meant to work."""
    flavor = lab.flavor()
    queue = lab.queue({"cpu": 2})
    resources = [a_resource("cpu", kind=None), a_resource("single-gpu", GPU)]
    queue.change(resourceGroups=[{"coveredResources": covered, "flavors": [{"name": flavor, "resources": resources}]}])
    job = queue.submit(a_job(cpu="1", claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"cpu": 1, "single-gpu": 2})


@covers("KIND-001", "MAP-013")
def test_the_classes_of_a_name_share_its_quota(lab: Lab) -> None:
    """A quota for two classes is used up by either."""
    queue = lab.queue({"gpus": 2}, classes={"gpus": [GPU, SHARED]})
    queue.submit(a_job(claims=[a_template(gpu(2))]))
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED))]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)


@covers("KIND-003")
def test_a_core_resource_takes_no_class(lab: Lab) -> None:
    """A resource that happens to be called like a class counts what containers request, and no device."""
    queue = lab.queue({GPU: 2}, classes={})
    ordinary = queue.submit(a_workload(a_pod_set("main", requests={GPU: "1"})))  # no API server lets a Job ask for it
    devices = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(ordinary) == admitted({GPU: 1})
    assert lab.verdict(devices) == inadmissible(Reason.UNMAPPED)


@covers("KIND-025")
def test_a_core_resource_has_to_be_covered(lab: Lab) -> None:
    """That devices are had whatever is covered does not help what containers request."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(cpu="1", claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NOT_COVERED)


@covers("KIND-008", "QUOTA-008")
def test_a_name_with_quota_in_two_flavors_is_had_from_the_second(lab: Lab) -> None:
    """When the first flavor has too little left, the next one gives the devices."""
    first, second = lab.flavor("first"), lab.flavor("second")
    queue = lab.queue(groups=[{first: {"gpus": 1}, second: {"gpus": 2}}], classes={"gpus": [GPU]})
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"gpus": 2})
    assert lab.flavors(job) == {"main": {"gpus": second}}
