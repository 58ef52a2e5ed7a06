"""Pods that are never admitted: beyond their own limits, or beyond those of a LimitRange (Kueue, scheduler)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.containers import a_container, containers, using
from kueue_dra_fixtures.lab import Lab, Queue
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.queue_status import WorkloadCounts
from kueue_dra_fixtures.verdicts import Reason, admitted, pending, unseen
from kueue_dra_ref.verdict import Verdict

FITS = admitted({"cpu": "2", "whole-gpus": 2})


def let_new_queues_pass(lab: Lab, queue: Queue) -> None:
    """A new ClusterQueue retries its pending workloads after a second; once a Job has waited, that is over."""
    queue.submit(a_job(cpu="10"))
    lab.settle()


@covers("POD-008")
@pytest.mark.parametrize(
    ("limit", "verdict"),
    [
        pytest.param("2", FITS, id="at-the-limit"),
        pytest.param("1999m", pending(Reason.OVER_ITS_LIMIT), id="one-too-many"),
    ],
)
def test_a_request_above_the_default_limit_is_refused(lab: Lab, limit: str, verdict: Verdict) -> None:
    """A container that requests more than the limit that its namespace gives it is not admitted."""
    namespace = lab.namespace()
    lab.limit(namespace, Container={"default": {"cpu": limit}})
    queue = lab.queue({"cpu": "8", "whole-gpus": 2}, namespace=namespace)
    let_new_queues_pass(lab, queue)
    job = queue.submit(a_job(cpu="2", claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == verdict


@pytest.mark.parametrize(
    "verdict",
    [
        pytest.param(pending(Reason.OVER_ITS_LIMIT), id="refused-again", marks=covers("POD-023")),
        pytest.param(admitted({"cpu": "2"}), id="overlooked", marks=covers("POD-024")),
    ],
)
def test_a_request_above_the_default_limit_is_tried_again(lab: Lab, verdict: Verdict) -> None:
    """There was quota enough before; a changed quota has whatever waits tried again."""
    namespace, flavor = lab.namespace(), lab.flavor()
    lab.limit(namespace, Container={"default": {"cpu": "1"}})
    queue = lab.queue(groups=[{flavor: {"cpu": "8"}}], namespace=namespace)
    let_new_queues_pass(lab, queue)
    job = queue.submit(a_job(cpu="2"))
    assert lab.verdict(job) == pending(Reason.OVER_ITS_LIMIT)

    queue.regroup({flavor: {"cpu": "9"}})
    queue.regroup({flavor: {"cpu": "11"}})

    assert lab.verdict(job) == verdict


@covers("POD-009")
def test_a_pod_that_requests_more_than_its_limit_is_refused(lab: Lab) -> None:
    """The requests of a whole pod must not be above its limits."""
    queue = lab.queue({"cpu": "8", "whole-gpus": 2})
    spec = {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}
    job = queue.submit(a_workload(a_pod_set("main", claims=[a_template(gpu(2))], spec=spec)))

    assert lab.verdict(job) == pending(Reason.OVER_ITS_LIMIT)


@pytest.mark.parametrize(
    ("type_", "bounds", "verdict"),
    [
        pytest.param("Container", {"max": {"cpu": "2"}}, FITS, id="the-most", marks=covers("POD-010")),
        pytest.param(
            "Container",
            {"max": {"cpu": "1999m"}},
            pending(Reason.OVER_ITS_LIMIT),
            id="the-most-is-a-default-limit",
            marks=covers("POD-008"),
        ),
        pytest.param("Container", {"min": {"cpu": "2"}}, FITS, id="the-least", marks=covers("POD-010")),
        pytest.param(
            "Container",
            {"min": {"cpu": "2001m"}},
            pending(Reason.LIMIT_RANGE),
            id="below-the-least",
            marks=covers("POD-010"),
        ),
        pytest.param("Pod", {"max": {"cpu": "2"}}, FITS, id="the-most-of-pods", marks=covers("POD-011")),
        pytest.param(
            "Pod", {"max": {"cpu": "1999m"}}, pending(Reason.LIMIT_RANGE), id="above-the-most-of-pods",
            marks=covers("POD-011"),
        ),
        pytest.param("Pod", {"min": {"cpu": "2"}}, FITS, id="the-least-of-pods", marks=covers("POD-011")),
        pytest.param(
            "Pod", {"min": {"cpu": "2001m"}}, pending(Reason.LIMIT_RANGE), id="below-the-least-of-pods",
            marks=covers("POD-011"),
        ),
        pytest.param("Pod", {"min": {"memory": "1Gi"}}, FITS, id="the-least-of-another", marks=covers("POD-015")),
    ],
)  # fmt: skip
def test_requests_lie_within_the_bounds_of_the_namespace(
    lab: Lab, type_: str, bounds: dict[str, dict[str, str]], verdict: Verdict
) -> None:
    """Bounds are inclusive; what is not requested is not held to the least."""
    namespace = lab.namespace()
    lab.limit(namespace, **{type_: bounds})
    queue = lab.queue({"cpu": "8", "memory": "8Gi", "whole-gpus": 2}, namespace=namespace)
    job = queue.submit(a_job(cpu="2", claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == verdict


@covers("POD-010")
@pytest.mark.parametrize(
    ("limit", "verdict"),
    [
        pytest.param("4", admitted({"cpu": "1", "whole-gpus": 2}), id="the-most"),
        pytest.param("4001m", pending(Reason.LIMIT_RANGE), id="above-the-most"),
    ],
)
@pytest.mark.parametrize("kind", ["containers", "initContainers"])
def test_limits_lie_within_the_bounds_of_the_namespace(lab: Lab, kind: str, limit: str, verdict: Verdict) -> None:
    """Limits of a container count like its requests, also those of init containers."""
    namespace = lab.namespace()
    lab.limit(namespace, Container={"max": {"cpu": "4"}, "defaultRequest": {"cpu": "1"}})
    queue = lab.queue({"cpu": "8", "whole-gpus": 2}, namespace=namespace)
    bounded = using(a_container("limited", limits={"cpu": limit}), "c0")
    spec = {"containers": [a_container("main")], kind: [bounded]}
    job = queue.submit(a_job(claims=[a_template(gpu(2))], spec=spec))

    assert lab.verdict(job) == verdict


@covers("POD-011")
@pytest.mark.parametrize(
    ("most", "verdict"),
    [
        pytest.param("3500m", admitted({"cpu": "3500m", "whole-gpus": 1}), id="the-most"),
        pytest.param("3499m", pending(Reason.LIMIT_RANGE), id="above-the-most"),
    ],
)
def test_the_bounds_of_pods_concern_all_that_a_pod_is_charged(lab: Lab, most: str, verdict: Verdict) -> None:
    """Containers are added, and the overhead of the RuntimeClass to them, before a pod is held against the bounds."""
    runtime, namespace = lab.runtime_class(cpu="500m"), lab.namespace()
    lab.limit(namespace, Pod={"max": {"cpu": most}})
    queue = lab.queue({"cpu": "8", "whole-gpus": 1}, namespace=namespace)
    let_new_queues_pass(lab, queue)
    users = [using(each, "c0") for each in containers({"cpu": "1"}, {"cpu": "2"})]
    spec = {"containers": users, "runtimeClassName": runtime}
    job = queue.submit(a_job(claims=[a_template(gpu())], spec=spec))

    assert lab.verdict(job) == verdict


@covers("POD-010", "POD-014")
def test_who_is_refused_holds_no_devices(lab: Lab) -> None:
    """The devices of a refused workload go to the one behind it; queues go on."""
    namespace = lab.namespace()
    lab.limit(namespace, Pod={"max": {"cpu": "1"}})
    queue = lab.queue({"cpu": "8", "whole-gpus": 2}, namespace=namespace)
    claim = a_template(gpu(2))
    refused, other = queue.submit(a_job(cpu="2", claims=[claim])), queue.submit(a_job(cpu="1", claims=[claim]))

    assert lab.verdict(refused) == pending(Reason.LIMIT_RANGE)
    assert lab.verdict(other) == admitted({"cpu": "1", "whole-gpus": 2})
    assert queue.figures.counts == WorkloadCounts(pending=1, reserving=1, admitted=1)


@covers("POD-014")
def test_who_is_refused_holds_up_a_strict_queue(lab: Lab) -> None:
    """In a StrictFIFO queue no workload overtakes one whose requests are rejected."""
    namespace = lab.namespace()
    lab.limit(namespace, Pod={"max": {"cpu": "1"}})
    queue = lab.queue({"cpu": "8", "whole-gpus": 2}, namespace=namespace, queueingStrategy="StrictFIFO")
    refused = queue.submit(a_job(cpu="2", claims=[a_template(gpu())]))
    other = queue.submit(a_job(cpu="1", claims=[a_template(gpu())]))

    assert lab.verdict(refused) == pending(Reason.LIMIT_RANGE)
    assert lab.verdict(other) == unseen()


@covers("POD-008", "POD-010", "POD-011")
def test_everything_that_is_wrong_is_told(lab: Lab) -> None:
    """Kueue reports every wrong container and pod set with its field, and checks limits before bounds."""
    namespace = lab.namespace()
    lab.limit(namespace, Container={"max": {"cpu": "4"}, "min": {"memory": "1Gi"}}, Pod={"max": {"cpu": "5"}})
    queue = lab.queue({"cpu": "8", "memory": "8Gi", "whole-gpus": 2}, namespace=namespace)
    spec = {"containers": containers({"cpu": "6", "memory": "1Mi"}, {"cpu": "1"})}
    bounded = queue.submit(a_job(claims=[a_template(gpu())], spec=spec))
    over = queue.submit(a_job(requests={"cpu": "5", "memory": "1Mi"}, claims=[a_template(gpu())]))

    path = "spec.podSets[0].template.spec"
    assert lab.message(bounded) == (
        "resources didn't satisfy LimitRange constraints: "
        f'[{path}.containers[0]: Invalid value: ["cpu"]: requests must not be above the limitRange max, '
        f'{path}.containers[0]: Invalid value: ["memory"]: requests must not be below the limitRange min, '
        f'{path}: Invalid value: ["cpu"]: requests must not be above the limitRange max]'
    )
    assert lab.message(over) == (
        f'resources validation failed: {path}.containers[0]: Invalid value: ["cpu"]: '
        "requests must not exceed its limits"
    )
