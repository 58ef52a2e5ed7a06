"""What newer API servers offer to drivers and pods, and what Kueue charges for it (Kubernetes 1.36 and 1.37)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import GPU, a_job, a_request, a_template
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, on_kubernetes, owns_kueue
from kueue_dra_fixtures.sources import SHARES, SOURCED, a_range, a_share, a_shared_gpu
from kueue_dra_fixtures.verdicts import admitted

pytestmark = owns_kueue

AS_IT_IS = pytest.param(id="by-default")
DOMAIN = "lab.example.com"


@covers("CAPACITY-016")
@pytest.mark.parametrize(
    "",
    [
        AS_IT_IS,
        pytest.param(id="whole-units-in-1.37", marks=on_kubernetes("1.37")),
        pytest.param(id="fractions-in-1.37", marks=on_kubernetes("1.37", "DRAFractionalCapacityRange")),
    ],
)
def test_fractions_of_a_range_are_charged_in_whole_units(lab: Lab) -> None:
    """1.5 of a range that begins at 0.5 with steps of 0.5 is 2, though kube-scheduler may allocate 1.5."""
    lab.start(**SOURCED)
    lab.device_class(SHARES)
    lab.publish(a_shared_gpu("d0", a_range("500m", step="500m"), memory="80"), driver=SHARES)
    queue = lab.queue({"vgpu-memory": 2})
    job = queue.submit(a_job(claims=[a_template(a_share(memory="1500m"))]))

    assert lab.verdict(job) == admitted({"vgpu-memory": 2})


@covers("DEVICE-028")
@pytest.mark.parametrize(
    "",
    [
        AS_IT_IS,
        pytest.param(id="on-in-1.36", marks=on_kubernetes("1.36", "DRANodeAllocatableResources")),
        pytest.param(id="on-in-1.37", marks=on_kubernetes("1.37", "DRANodeAllocatableResources")),
    ],
)
def test_node_allocatable_resources_of_devices_are_not_charged(lab: Lab) -> None:
    """A device that takes two cpu of its node is charged as a device; the quota of one cpu is for the pod."""
    mappings = {"cpu": {"allocationMultiplier": "2"}}
    lab.device_class(GPU)
    lab.publish({"name": "d0", "nodeAllocatableResourceMappings": mappings})
    queue = lab.queue({"whole-gpus": 1, "cpu": 1})
    job = queue.submit(a_job(cpu="1", claims=[a_template(a_request(GPU))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1, "cpu": 1})


@covers("DEVICE-029")
@pytest.mark.parametrize("", [AS_IT_IS, pytest.param(id="in-1.37", marks=on_kubernetes("1.37"))])
def test_devices_that_wait_for_conditions_are_admitted(lab: Lab) -> None:
    """The Job is started; its pod is bound once the driver reports the condition."""
    conditions = {
        "bindsToNode": True,
        "bindingConditions": [f"{DOMAIN}/attached"],
        "bindingFailureConditions": [f"{DOMAIN}/failed"],
    }
    lab.device_class(GPU)
    lab.publish({"name": "d0", **conditions})
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(a_request(GPU))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("COUNT-030")
@pytest.mark.parametrize("", [AS_IT_IS, pytest.param(id="in-1.37", marks=on_kubernetes("1.37"))])
def test_pods_that_may_share_the_claim_of_their_group_are_charged_each(lab: Lab) -> None:
    """Four pods with one claim of two devices are charged eight, also where their PodGroup has that claim."""
    queue = lab.queue({"whole-gpus": 8})
    group = {"schedulingGroup": {"podGroupName": "group"}}
    job = queue.submit(a_job(pods=4, spec=group, claims=[a_template(a_request(GPU, count=2))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 8})


@covers("CLAIM-036")
@pytest.mark.parametrize("", [pytest.param(id="on-in-1.37", marks=on_kubernetes("1.37", "DRADerivedAttributes"))])
def test_derived_attributes_are_unknown(lab: Lab) -> None:
    """The constraint that names one is for kube-scheduler; an API server accepts none that no constraint names."""
    derived = [{"name": f"{DOMAIN}/numa", "expression": 'device.attributes["lab.example.com"].node'}]
    request = a_request(GPU)
    request["exactly"]["derivedAttributes"] = derived
    constraint = {"requests": ["r0"], "matchAttribute": f"{DOMAIN}/numa"}
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(request, constraints=[constraint])]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
