"""The namespaceSelector of a ClusterQueue (Kueue 0.19, scheduler)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kueue_dra_fixtures.builders import Work, a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending

RESEARCH = {"matchLabels": {"team": "research"}}


@covers("QUEUE-013")
@pytest.mark.parametrize(
    "work",
    [pytest.param(a_job(cpu="1"), id="ordinary"), pytest.param(a_job(claims=[a_template(gpu())]), id="devices")],
)
def test_a_queue_without_a_selector_admits_nothing(lab: Lab, work: Work) -> None:
    """No selector is not the same as an empty one."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1}, namespaceSelector=None)
    job = queue.submit(work)

    assert lab.verdict(job) == pending(Reason.NAMESPACE)
    assert queue.figures.counts.pending == 1


@covers("QUEUE-014")
def test_a_queue_with_an_empty_selector_admits_from_every_namespace(lab: Lab) -> None:
    """Labels or none, it takes them all."""
    queue = lab.queue({"whole-gpus": 2}, namespace=lab.namespace(), namespaceSelector={})
    labelled = lab.local_queue(queue.cluster, lab.namespace(team="research"))
    one = queue.submit(a_job(claims=[a_template(gpu())]))
    other = labelled.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(one) == admitted({"whole-gpus": 1})
    assert lab.verdict(other) == admitted({"whole-gpus": 1})


@covers("QUEUE-015")
@pytest.mark.parametrize(
    ("selector", "labels"),
    [
        pytest.param(RESEARCH, {}, id="no-label"),
        pytest.param(RESEARCH, {"team": "sales"}, id="another-value"),
        pytest.param(
            {"matchLabels": {"team": "research", "stage": "live"}}, {"team": "research"}, id="one-of-two-labels"
        ),
        pytest.param(
            {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["research"]}]},
            {"team": "research"},
            id="not-in",
        ),
    ],
)
def test_work_of_a_namespace_that_is_not_selected_waits(
    lab: Lab, selector: Mapping[str, Any], labels: dict[str, str]
) -> None:
    """Quota is there, but not for this namespace."""
    queue = lab.queue({"whole-gpus": 1}, namespace=lab.namespace(**labels), namespaceSelector=selector)
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NAMESPACE)


@covers("STATUS-040")
def test_pods_are_not_shown_before_a_flavor_was_looked_for(lab: Lab) -> None:
    """Kueue adds the pods to the requests only when it assigns flavors."""
    queue = lab.queue({"whole-gpus": 1, "pods": 1}, namespace=lab.namespace(), namespaceSelector=RESEARCH)
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.requests(job) == [{"name": "main", "resources": {"whole-gpus": "1"}}]


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(
            "workload namespace doesn't match ClusterQueue selector", id="a-clause", marks=covers("QUEUE-030")
        ),
        pytest.param(
            "Workload namespace doesn't match ClusterQueue selector", id="a-sentence", marks=covers("QUEUE-031")
        ),
    ],
)
def test_work_of_a_namespace_that_is_not_selected_is_told_so(lab: Lab, message: str) -> None:
    """The message differs between releases by a letter, and scripts that search for it depend on that."""
    queue = lab.queue({"whole-gpus": 1}, namespace=lab.namespace(), namespaceSelector=RESEARCH)
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.message(job) == message


@covers("QUEUE-015")
@pytest.mark.parametrize(
    ("selector", "labels"),
    [
        pytest.param(RESEARCH, {"team": "research"}, id="the-label"),
        pytest.param(RESEARCH, {"team": "research", "stage": "live"}, id="and-another-label"),
        pytest.param(
            {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["research"]}]},
            {"team": "sales"},
            id="not-in",
        ),
    ],
)
def test_work_of_a_namespace_that_is_selected_is_admitted(
    lab: Lab, selector: Mapping[str, Any], labels: dict[str, str]
) -> None:
    """The labels of the namespace decide."""
    queue = lab.queue({"whole-gpus": 1}, namespace=lab.namespace(**labels), namespaceSelector=selector)
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("QUEUE-015")
def test_work_of_another_namespace_is_admitted_past_work_that_is_not_selected(lab: Lab) -> None:
    """A namespace that is not selected blocks no workload."""
    queue = lab.queue({"whole-gpus": 1}, namespace=lab.namespace(team="sales"), namespaceSelector=RESEARCH)
    selected = lab.local_queue(queue.cluster, lab.namespace(team="research"))
    first = queue.submit(a_job(claims=[a_template(gpu())]))
    second = selected.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(first) == pending(Reason.NAMESPACE)
    assert lab.verdict(second) == admitted({"whole-gpus": 1})


@covers("QUEUE-016")
@pytest.mark.parametrize(
    "work",
    [pytest.param(a_job(cpu="1"), id="ordinary"), pytest.param(a_job(cpu="1", claims=[a_template(gpu())]), id="both")],
)
def test_work_is_admitted_once_its_namespace_comes_to_match(lab: Lab, work: Work) -> None:
    """A label that is added later counts."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1}, namespace=lab.namespace(), namespaceSelector=RESEARCH)
    job = queue.submit(work)
    assert lab.verdict(job) == pending(Reason.NAMESPACE)

    lab.label(queue.namespace, team="research")

    assert lab.condition(job, "Admitted") == ("True", "Admitted")


@covers("QUEUE-016")
def test_work_is_admitted_once_its_namespace_comes_to_match_beside_its_name(lab: Lab) -> None:
    """The name of a namespace is one of its labels, though no client wrote it."""
    namespace = lab.namespace()
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace, "team": "research"}}
    queue = lab.queue({"whole-gpus": 1}, namespace=namespace, namespaceSelector=selector)
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.verdict(job) == pending(Reason.NAMESPACE)

    lab.label(namespace, team="research")

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("QUEUE-015")
def test_pending_work_is_not_tried_once_its_namespace_ceases_to_match(lab: Lab) -> None:
    """Quota that is released does not reach it, and its message still says what it waited for."""
    queue = lab.queue({"whole-gpus": 1}, namespace=lab.namespace(team="research"), namespaceSelector=RESEARCH)
    holder, waiting = queue.submit(a_job(claims=[a_template(gpu())])), queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.verdict(waiting) == pending(Reason.NO_QUOTA)

    lab.label(queue.namespace, team="sales")
    lab.delete(holder)

    assert lab.verdict(waiting) == pending(Reason.NO_QUOTA)


@covers("QUEUE-016")
def test_work_that_was_admitted_stays_when_its_namespace_ceases_to_match(lab: Lab) -> None:
    """Selection is asked for at admission only."""
    queue = lab.queue({"whole-gpus": 1}, namespace=lab.namespace(team="research"), namespaceSelector=RESEARCH)
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    lab.label(queue.namespace, team="sales")

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
