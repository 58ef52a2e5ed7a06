"""Workloads made directly that Kueue's definition of them does not let pass: names, pods, queues, priority classes."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_pod_set, a_workload, on_nodes_where
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import with_spec
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_ref.target import Manifest

POD = "spec.podSets[0].template.spec"
REQUIRED = f"{POD}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
COMPARED = f"{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0]"
MAIN = {"name": "main", "image": "none"}
CLASS = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}


def missing(field: str) -> RejectedFields:
    """The refusal of what lacks a field."""
    return refused(f"{field}: Required value")


def made_of(lab: Lab, **pod: Any) -> Manifest:
    """A Workload of one pod set with some fields of its pods."""
    return lab.written(a_workload(a_pod_set("main", spec=pod)), lab.missing_queue())


@covers("COUNT-026")
@pytest.mark.parametrize(
    ("names", "answer"),
    [
        pytest.param(["driver", "workers"], ACCEPTED, id="two"),
        pytest.param(["driver", "driver"], refused("spec.podSets[1]: Duplicate value"), id="name-twice"),
        pytest.param(["Driver"], refused("spec.podSets[0].name: Invalid value"), id="name-in-capitals"),
        pytest.param(["a" * 64], refused("spec.podSets[0].name: Too long"), id="64-characters"),
        pytest.param(["", "main"], refused("spec.podSets[1]: Duplicate value"), id="none-is-main"),
    ],
)
def test_pod_sets_are_told_apart(lab: Lab, names: list[str], answer: RejectedFields) -> None:
    """A pod set without a name is called main."""
    made = lab.written(a_workload(*(a_pod_set(f"p{index}") for index in range(len(names)))), lab.missing_queue())
    for pod_set, name in zip(made["spec"]["podSets"], names, strict=True):
        pod_set |= {"name": name} if name else {}
        pod_set.pop("name") if not name else None

    assert lab.offer(made) == answer


@covers("COUNT-027")
@pytest.mark.parametrize(
    ("pod", "answer"),
    [
        pytest.param({"containers": [MAIN, MAIN]}, refused(f"{POD}.containers[1]: Duplicate value"), id="name-twice"),
        pytest.param({"initContainers": [MAIN]}, ACCEPTED, id="name-of-another-kind"),
        pytest.param(
            {"resourceClaims": [{"name": "g"}, {"name": "g"}]},
            refused(f"{POD}.resourceClaims[1]: Duplicate value"),
            id="claim-twice",
        ),
    ],
)
def test_names_differ(lab: Lab, pod: dict[str, Any], answer: RejectedFields) -> None:
    """In each list for itself."""
    assert lab.offer(made_of(lab, **pod)) == answer


NAMELESS = [
    pytest.param({"containers": [{"image": "none"}]}, f"{POD}.containers[0].name", id="container"),
    pytest.param({"resourceClaims": [{"resourceClaimName": "c"}]}, f"{POD}.resourceClaims[0].name", id="claim"),
    pytest.param(on_nodes_where({"key": "pool"}), f"{COMPARED}.operator", id="operator"),
    pytest.param(on_nodes_where({"operator": "Exists"}), f"{COMPARED}.key", id="key"),
]


@covers("COUNT-028")
@pytest.mark.parametrize(("pod", "field"), NAMELESS)
def test_pods_are_changed_to_what_has_names(lab: Lab, pod: dict[str, Any], field: str) -> None:
    """An update of a Workload must be complete."""
    made = made_of(lab)
    lab.apply(made)
    (pod_set,) = made["spec"]["podSets"]
    spec = {**pod_set["template"]["spec"], **pod}

    assert lab.offer(with_spec(made, podSets=[{**pod_set, "template": {"spec": spec}}])) == refused(
        f"{field}: Required value"
    )


@covers("COUNT-028")
@pytest.mark.parametrize(
    "pod",
    [
        pytest.param({"containers": [{"name": "Main"}]}, id="container-in-capitals-without-an-image"),
        pytest.param({"resourceClaims": [{"name": "g"}]}, id="claim-from-nowhere"),
        pytest.param(on_nodes_where({"key": "pool", "operator": "Equal"}), id="another-operator"),
    ],
)
def test_what_names_mean_is_not_looked_at(lab: Lab, pod: dict[str, Any]) -> None:
    """Much that is refused of a Job is taken here."""
    assert lab.offer(made_of(lab, **pod)) == ACCEPTED


@covers("COUNT-029")
@pytest.mark.parametrize(("pod", "field"), NAMELESS)
def test_new_pods_get_empty_names(lab: Lab, pod: dict[str, Any], field: str) -> None:
    """The webhook that completes a new Workload writes down every text."""
    made = made_of(lab, **pod)

    assert lab.offer(made) == ACCEPTED, field


@covers("QUEUE-061")
@pytest.mark.parametrize(
    ("name", "answer"),
    [
        pytest.param("main", ACCEPTED, id="name"),
        pytest.param("Main", refused("spec.queueName: Invalid value"), id="capitals"),
        pytest.param("a" * 254, refused("spec.queueName: Too long"), id="254-characters"),
        pytest.param("A" * 254, refused("spec.queueName: Too long"), id="254-capitals"),
    ],
)
def test_a_queue_is_named_as_objects_are(lab: Lab, name: str, answer: RejectedFields) -> None:
    """It need not be there."""
    assert lab.offer(with_spec(made_of(lab), queueName=name)) == answer


@covers("PREEMPT-049")
@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        pytest.param(CLASS, ACCEPTED, id="of-kueue"),
        pytest.param({**CLASS, "group": "scheduling.k8s.io", "kind": "PriorityClass"}, ACCEPTED, id="of-pods"),
        pytest.param(
            {**CLASS, "kind": "PriorityClass"}, refused("spec.priorityClassRef: Invalid value"), id="of-the-other-group"
        ),
        pytest.param({**CLASS, "kind": "Class"}, refused("spec.priorityClassRef.kind: Unsupported value"), id="kind"),
        pytest.param({**CLASS, "name": "High"}, refused("spec.priorityClassRef.name: Invalid value"), id="capitals"),
        pytest.param({**CLASS, "name": ""}, refused("spec.priorityClassRef.name: Invalid value"), id="empty"),
        pytest.param(
            {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass"},
            missing("spec.priorityClassRef.name"),
            id="no-name",
        ),
    ],
)
def test_a_priority_class_is_one_of_two_kinds(lab: Lab, reference: dict[str, str], answer: RejectedFields) -> None:
    """The class need not be there."""
    assert lab.offer(with_spec(made_of(lab), priority=1, priorityClassRef=reference)) == answer
