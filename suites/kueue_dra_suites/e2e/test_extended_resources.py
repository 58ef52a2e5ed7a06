"""Extended resources that map to a DeviceClass, on one quota with claims (Kueue: DRA extended resources)."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.kind.profiles import CLASS, EXTENDED, RESOURCE
from kueue_dra_fixtures.builders import Work, a_job, a_template, gpu
from kueue_dra_fixtures.on_nodes import NodeLab
from kueue_dra_fixtures.verdicts import Reason, admitted, pending

pytestmark = pytest.mark.profile("extended-resource")

IMPLICIT = f"deviceclass.resource.kubernetes.io/{CLASS}"
BY_NAME = a_job(requests={EXTENDED: "1"})
BY_CLASS = a_job(requests={IMPLICIT: "1"})
BY_CLAIM = a_job(claims=[a_template(gpu())])


@pytest.mark.parametrize(
    ("work", "devices"),
    [
        pytest.param(BY_NAME, 1, id="one"),
        pytest.param(a_job(requests={EXTENDED: "2"}), 2, id="two"),
        pytest.param(a_job(pods=2, requests={EXTENDED: "1"}), 2, id="two-pods"),
    ],
)
def test_the_pod_gets_what_is_charged(site: NodeLab, work: Work, devices: int) -> None:
    """The scheduler makes a claim for the resource; it has as many devices as were charged."""
    queue = site.queue({RESOURCE: 8})
    job = queue.submit(work)
    job.becomes(admitted({RESOURCE: devices}))
    job.runs(work.pod_sets[0].count)

    assert len(job.devices()) == devices
    assert all(pod["status"]["extendedResourceClaimStatus"]["resourceClaimName"] for pod in job.pods())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(BY_NAME, BY_CLAIM, id="claim-after-resource"),
        pytest.param(BY_CLAIM, BY_NAME, id="resource-after-claim"),
    ],
)
def test_both_ways_are_on_one_quota(site: NodeLab, first: Work, second: Work) -> None:
    """One Job uses the device, and the other waits for it without a pod."""
    queue = site.queue({RESOURCE: 1})
    running = queue.submit(first)
    running.runs()
    waiting = queue.submit(second)
    waiting.becomes(pending(Reason.NO_QUOTA))
    assert waiting.pods_ever() == []

    running.end()
    waiting.runs()


def test_the_implicit_name_is_not_covered(site: NodeLab) -> None:
    """The name that Kubernetes gives every class is an ordinary resource to Kueue: without own quota it waits."""
    job = site.queue({RESOURCE: 8}).submit(BY_CLASS)

    job.becomes(pending(Reason.NOT_COVERED))
    assert job.pods_ever() == []


@pytest.mark.devices(2)
@pytest.mark.known_limit("the implicit name of a class is charged apart from its mapping, so one device has two quotas")
def test_the_implicit_name_is_charged_apart(site: NodeLab) -> None:
    """With quota of its own it is admitted, and the device that it gets is not charged to the mapping's resource."""
    queue = site.queue({RESOURCE: 1, site.implicit: 1})
    queue.submit(BY_CLASS).runs()
    queue.submit(BY_CLAIM).runs()

    queue.uses({RESOURCE: "1", site.implicit: "1"})
