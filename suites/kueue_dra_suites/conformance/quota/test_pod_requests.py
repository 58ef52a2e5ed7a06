"""The requests of a pod in addition to its devices: overhead, defaults, limits (Kueue, workload resources)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import GPU, Work, a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.containers import a_container, containers, using
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict

CARD = "vendor.example.com/card"
HALVES = {"containers": containers({"cpu": "500u"}, {"cpu": "500u"})}
"""The spec of a pod whose containers ask for half a thousandth each."""


@covers("POD-001")
@pytest.mark.parametrize(
    ("cpu", "verdict"),
    [
        pytest.param("1250m", admitted({"cpu": "1250m", "memory": "64Mi", "whole-gpus": 2}), id="fits-exactly"),
        pytest.param("1249m", pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_a_runtime_class_adds_its_overhead(lab: Lab, cpu: str, verdict: Verdict) -> None:
    """Kueue charges the overhead of the RuntimeClass in addition to the devices of the pod."""
    runtime = lab.runtime_class(cpu="250m", memory="64Mi")
    queue = lab.queue({"cpu": cpu, "memory": "64Mi", "whole-gpus": 2})
    job = queue.submit(a_job(cpu="1", claims=[a_template(gpu(2))], spec={"runtimeClassName": runtime}))

    assert lab.verdict(job) == verdict


@covers("POD-001")
def test_each_pod_has_the_overhead(lab: Lab) -> None:
    """The overhead is multiplied by the pods, of those pod sets that name the class."""
    runtime = lab.runtime_class(cpu="100m")
    queue = lab.queue({"cpu": "8", "whole-gpus": 8})
    claim = a_template(gpu())
    boxed = a_pod_set("boxed", pods=3, cpu="1", claims=[claim], spec={"runtimeClassName": runtime})
    job = queue.submit(a_workload(boxed, a_pod_set("plain", pods=2, cpu="1", claims=[claim])))

    assert lab.verdict(job) == admitted({"cpu": "5300m", "whole-gpus": 5})


@covers("POD-002")
def test_the_overhead_of_the_pod_counts_instead(lab: Lab) -> None:
    """The overhead in a pod replaces that of its RuntimeClass, even for resources that it does not name."""
    runtime = lab.runtime_class(cpu="250m", memory="64Mi")
    queue = lab.queue({"cpu": "8", "memory": "1Gi", "whole-gpus": 2})
    spec = {"runtimeClassName": runtime, "overhead": {"cpu": "1"}}
    job = queue.submit(a_workload(a_pod_set("main", cpu="1", claims=[a_template(gpu(2))], spec=spec)))

    assert lab.verdict(job) == admitted({"cpu": "2", "whole-gpus": 2})


@covers("POD-002")
@pytest.mark.parametrize("exists", [pytest.param(True, id="without-overhead"), pytest.param(False, id="missing")])
def test_a_class_may_add_nothing(lab: Lab, exists: bool) -> None:
    """A RuntimeClass without overhead, or one that does not exist, adds nothing and rejects no pod."""
    runtime = lab.runtime_class() if exists else lab.name("missing")
    queue = lab.queue({"cpu": "1", "whole-gpus": 2})
    job = queue.submit(a_job(cpu="1", claims=[a_template(gpu(2))], spec={"runtimeClassName": runtime}))

    assert lab.verdict(job) == admitted({"cpu": "1", "whole-gpus": 2})


@covers("POD-003")
@pytest.mark.parametrize(
    ("given", "cpu"),
    [
        pytest.param({"defaultRequest": {"cpu": "300m"}}, "300m", id="default-request"),
        pytest.param({"default": {"cpu": "2"}}, "2", id="default-limit"),
        pytest.param({"max": {"cpu": "3"}}, "3", id="most"),
        pytest.param({"min": {"cpu": "100m"}}, "100m", id="least"),
        pytest.param({"default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}}, "1", id="both-defaults"),
    ],
)
def test_the_namespace_gives_requests(lab: Lab, given: dict[str, dict[str, str]], cpu: str) -> None:
    """A container that says nothing requests what the LimitRange gives, which Kubernetes completes by itself."""
    namespace = lab.namespace()
    lab.limit(namespace, Container=given)
    queue = lab.queue({"cpu": "8", "whole-gpus": 2}, namespace=namespace)
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"cpu": cpu, "whole-gpus": 2})


@covers("POD-003")
def test_every_container_has_the_default(lab: Lab) -> None:
    """Each container that does not request the resource has the default: regular, initial, and one that stays."""
    namespace = lab.namespace()
    lab.limit(namespace, Container={"defaultRequest": {"cpu": "1"}})
    queue = lab.queue({"cpu": "16", "memory": "1Gi", "whole-gpus": 1}, namespace=namespace)
    spec: dict[str, Any] = {
        "initContainers": [
            {**a_container("sidecar"), "restartPolicy": "Always"},
            a_container("first", requests={"cpu": "5"}),
        ],
        "containers": [using(a_container("main-0"), "c0"), a_container("main-1", requests={"cpu": "2"})],
    }
    job = queue.submit(a_job(claims=[a_template(gpu())], spec=spec))

    assert lab.verdict(job) == admitted({"cpu": "6", "whole-gpus": 1})


@covers("POD-003")
def test_other_namespaces_have_no_default(lab: Lab) -> None:
    """A LimitRange concerns the workloads of its own namespace."""
    lab.limit(lab.namespace(), Container={"defaultRequest": {"cpu": "1"}})
    queue = lab.queue({"cpu": "8", "whole-gpus": 2})
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("POD-004")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(3, admitted({"whole-gpus": 3}), id="fits-exactly"),
        pytest.param(2, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_devices_by_default_are_added_to_those_of_claims(lab: Lab, quota: int, verdict: Verdict) -> None:
    """An extended resource that the namespace gives draws on the quota of devices, as if the pod had asked for it."""
    lab.stands_for(CARD, GPU)
    namespace = lab.namespace()
    lab.limit(namespace, Container={"default": {CARD: "2"}})
    queue = lab.queue({"whole-gpus": quota}, namespace=namespace)
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == verdict


@covers("POD-012")
def test_devices_by_default_alone_are_an_ordinary_resource(lab: Lab) -> None:
    """Whether a workload has devices is decided by what is written, before the namespace adds to it."""
    lab.stands_for(CARD, GPU)
    namespace = lab.namespace()
    lab.limit(namespace, Container={"default": {CARD: "2"}})
    queue = lab.queue({"whole-gpus": 8, CARD: 8}, namespace=namespace)
    job = queue.submit(a_job())

    assert lab.verdict(job) == admitted({CARD: 2})


@covers("POD-005")
def test_a_limit_stands_in_for_a_request(lab: Lab) -> None:
    """A pod that has limits only is charged its limits."""
    queue = lab.queue({"cpu": "8", "memory": "1Gi", "whole-gpus": 2})
    spec = {"containers": [using(a_container("main", limits={"cpu": "2", "memory": "1Gi"}), "c0")]}
    job = queue.submit(a_job(claims=[a_template(gpu(2))], spec=spec))

    assert lab.verdict(job) == admitted({"cpu": "2", "memory": "1Gi", "whole-gpus": 2})


@covers("POD-005")
def test_the_limit_of_one_of_two_containers(lab: Lab) -> None:
    """The other one has a request, and no limits."""
    queue = lab.queue({"cpu": "8"})
    both = [a_container("limited", limits={"cpu": "2"}), a_container("other", requests={"cpu": "1"})]
    job = queue.submit(a_workload(a_pod_set("main", spec={"containers": both})))

    assert lab.verdict(job) == admitted({"cpu": "3"})


@pytest.mark.parametrize(
    "cpu", [pytest.param("3", id="charged", marks=covers("POD-006")), pytest.param("1", marks=covers("POD-007"))]
)
def test_a_limit_of_the_pod(lab: Lab, cpu: str) -> None:
    """A limit of the whole pod replaces its missing request, or it does not count."""
    queue = lab.queue({"cpu": "8", "whole-gpus": 2})
    spec = {"resources": {"limits": {"cpu": "3"}}}
    job = queue.submit(a_workload(a_pod_set("main", cpu="1", claims=[a_template(gpu(2))], spec=spec)))

    assert lab.verdict(job) == admitted({"cpu": cpu, "whole-gpus": 2})


@covers("POD-019")
@pytest.mark.parametrize(
    ("resource", "usage"),
    [
        pytest.param("memory", {"cpu": "1", "memory": "1Gi"}, id="memory"),
        pytest.param("hugepages-2Mi", {"cpu": "1", "hugepages-2Mi": "1Gi"}, id="huge-pages"),
        pytest.param("example.com/nics", {"cpu": "1"}, id="extended-resource"),
        pytest.param("ephemeral-storage", {"cpu": "1"}, id="storage"),
    ],
)
def test_a_request_of_the_pod(lab: Lab, resource: str, usage: dict[str, str | int]) -> None:
    """A pod as a whole may ask for few resources; whatever else is written there is charged nothing."""
    queue = lab.queue({"cpu": "8", "memory": "8Gi", resource: "8Gi"})
    spec = {"resources": {"requests": {resource: "1Gi"}}}
    job = queue.submit(a_workload(a_pod_set("main", cpu="1", spec=spec)))

    assert lab.verdict(job) == admitted(usage)


@pytest.mark.parametrize(
    ("work", "cpu"),
    [
        pytest.param(a_job(spec=HALVES), "2m", id="job", marks=covers("API-051")),
        pytest.param(a_workload(a_pod_set("main", spec=HALVES)), "1m", id="workload", marks=covers("POD-025")),
    ],
)
def test_a_container_that_asks_for_little(lab: Lab, work: Work, cpu: str) -> None:
    """Two halves of a thousandth are two thousandths in a Job, whose amounts are rounded when it is stored."""
    queue = lab.queue({"cpu": "8"})

    assert lab.verdict(queue.submit(work)) == admitted({"cpu": cpu})
