"""Flavors that do not suit the pods: node labels and taints (Queue Admission)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kueue_dra_fixtures.builders import Work, a_job, a_pod_set, a_template, a_workload, gpu, on_nodes_where
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.rejections import NO_VALUE
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict

ZONE = "topology.kubernetes.io/zone"
SPOT = {"key": "example.com/spot", "value": "yes", "effect": "NoSchedule"}
PREFERENCE = {**SPOT, "key": "slow", "effect": "PreferNoSchedule"}
TOLERATES = {"key": "example.com/spot", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}
OF_ZONE_B = on_nodes_where({"key": ZONE, "operator": "In", "values": ["b"]})


def larger_than(*sizes: str) -> Mapping[str, Any]:
    """Required affinity to nodes whose label ``example.com/size`` is larger than any of these."""
    return on_nodes_where(*({"key": "example.com/size", "operator": "Gt", "values": [size]} for size in sizes))


@covers("QUOTA-018")
@pytest.mark.parametrize(
    "pod",
    [
        pytest.param({"nodeSelector": {ZONE: "b"}}, id="node-selector"),
        pytest.param(OF_ZONE_B, id="node-affinity"),
    ],
)
def test_a_flavor_with_other_labels_is_passed_over(lab: Lab, pod: Mapping[str, Any]) -> None:
    """Pods that select nodes of one zone are not assigned the flavor of another, though it has enough."""
    zone_a, zone_b = lab.flavor("a", nodeLabels={ZONE: "a"}), lab.flavor("b", nodeLabels={ZONE: "b"})
    queue = lab.queue(groups=[{zone_a: {"whole-gpus": 2}, zone_b: {"whole-gpus": 2}}])
    job = queue.submit(a_job(claims=[a_template(gpu())], spec=pod))

    assert lab.flavors(job) == {"main": {"whole-gpus": zone_b}}


@covers("QUOTA-018")
def test_a_workload_that_selects_no_flavor_waits(lab: Lab) -> None:
    """Pods that select nodes of a zone that no flavor has are not admitted, though devices are left."""
    zone_a = lab.flavor("a", nodeLabels={ZONE: "a"})
    queue = lab.queue(groups=[{zone_a: {"whole-gpus": 2}}])
    job = queue.submit(a_job(claims=[a_template(gpu())], spec={"nodeSelector": {ZONE: "b"}}))

    assert lab.verdict(job) == pending(Reason.NO_FLAVOR)


@covers("QUOTA-018", "QUOTA-007")
@pytest.mark.parametrize(
    "labels",
    [
        pytest.param({ZONE: "b"}, id="same-label"),
        pytest.param({"example.com/rack": "7"}, id="other-label", marks=covers("QUOTA-025")),
        pytest.param({}, id="no-label", marks=covers("QUOTA-025")),
    ],
)
def test_a_flavor_that_does_not_contradict_the_pods_is_assigned(lab: Lab, labels: Mapping[str, str]) -> None:
    """A selector for a label that the flavor does not set says nothing against the flavor."""
    first, second = lab.flavor("first", nodeLabels=labels), lab.flavor("second", nodeLabels={ZONE: "b"})
    queue = lab.queue(groups=[{first: {"whole-gpus": 2}, second: {"whole-gpus": 2}}])
    job = queue.submit(a_job(claims=[a_template(gpu())], spec={"nodeSelector": {ZONE: "b"}}))

    assert lab.flavors(job) == {"main": {"whole-gpus": first}}


@covers("QUOTA-024")
@pytest.mark.parametrize(
    ("labels", "pod"),
    [
        pytest.param({}, {"nodeSelector": {ZONE: "b"}}, id="no-label"),
        pytest.param({"example.com/rack": "7"}, {"nodeSelector": {ZONE: "b"}}, id="other-label"),
        pytest.param({}, OF_ZONE_B, id="node-affinity"),
    ],
)
def test_a_flavor_without_the_label_of_another_is_passed_over(
    lab: Lab, labels: Mapping[str, str], pod: Mapping[str, Any]
) -> None:
    """A label key of one flavor in a group is matched against the other flavors too."""
    first, second = lab.flavor("first", nodeLabels=labels), lab.flavor("second", nodeLabels={ZONE: "b"})
    queue = lab.queue(groups=[{first: {"whole-gpus": 2}, second: {"whole-gpus": 2}}])
    job = queue.submit(a_job(claims=[a_template(gpu())], spec=pod))

    assert lab.flavors(job) == {"main": {"whole-gpus": second}}


@covers("QUOTA-019")
@pytest.mark.parametrize(
    ("taints", "tolerations"),
    [
        pytest.param([SPOT], [], id="no-toleration"),
        pytest.param([SPOT], [{**TOLERATES, "value": "no"}], id="other-value"),
        pytest.param([SPOT], [{**TOLERATES, "effect": "NoExecute"}], id="other-effect"),
        pytest.param([PREFERENCE, SPOT], [], id="behind-a-mere-preference"),
    ],
)
def test_a_tainted_flavor_is_passed_over(
    lab: Lab, taints: Sequence[Mapping[str, str]], tolerations: Sequence[Mapping[str, str]]
) -> None:
    """Pods that do not tolerate a flavor's taint are assigned the next flavor, though the first has enough."""
    tainted, clean = lab.flavor("tainted", nodeTaints=taints), lab.flavor("clean")
    queue = lab.queue(groups=[{tainted: {"whole-gpus": 2}, clean: {"whole-gpus": 2}}])
    job = queue.submit(a_job(claims=[a_template(gpu())], spec={"tolerations": tolerations}))

    assert lab.flavors(job) == {"main": {"whole-gpus": clean}}


@covers("QUOTA-019")
def test_a_workload_that_tolerates_no_flavor_waits(lab: Lab) -> None:
    """Pods that do not tolerate the only flavor's taint are not admitted, though devices are left."""
    tainted = lab.flavor("tainted", nodeTaints=[SPOT])
    queue = lab.queue(groups=[{tainted: {"whole-gpus": 2}}])
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NO_FLAVOR)


@covers("QUOTA-019", "QUOTA-007")
@pytest.mark.parametrize(
    ("flavor", "tolerations"),
    [
        pytest.param({"nodeTaints": [SPOT]}, [TOLERATES], id="pods-tolerate-it"),
        pytest.param({"nodeTaints": [SPOT]}, [{"operator": "Exists"}], id="pods-tolerate-everything"),
        pytest.param({"nodeTaints": [SPOT], "tolerations": [TOLERATES]}, [], id="flavor-tolerates-it"),
        pytest.param({"nodeTaints": [{**SPOT, "effect": "PreferNoSchedule"}]}, [], id="mere-preference"),
    ],
)
def test_a_flavor_whose_taint_is_tolerated_is_assigned(
    lab: Lab, flavor: Mapping[str, Any], tolerations: Sequence[Mapping[str, str]]
) -> None:
    """A taint keeps out only pods that neither tolerate it nor get a toleration from the flavor."""
    tainted, clean = lab.flavor("tainted", **flavor), lab.flavor("clean")
    queue = lab.queue(groups=[{tainted: {"whole-gpus": 2}, clean: {"whole-gpus": 2}}])
    job = queue.submit(a_job(claims=[a_template(gpu())], spec={"tolerations": tolerations}))

    assert lab.flavors(job) == {"main": {"whole-gpus": tainted}}


@covers("QUOTA-031")
@pytest.mark.parametrize(
    "size",
    [
        pytest.param("many", id="a-word"),
        pytest.param("2.5", id="a-fraction"),
        pytest.param("9223372036854775808", id="one-beyond-the-largest"),
    ],
)
def test_a_size_that_is_no_integer_ends_the_search(lab: Lab, size: str) -> None:
    """Pods that compare a label with what is no integer wait, though another flavor has enough and no label."""
    sized, plain = lab.flavor("sized", nodeLabels={"example.com/size": "3"}), lab.flavor("plain")
    queue = lab.queue(groups=[{sized: {"whole-gpus": 2}, plain: {"whole-gpus": 2}}])
    job = queue.submit(a_job(claims=[a_template(gpu())], spec=larger_than(size)))

    assert lab.verdict(job) == pending(Reason.NO_FLAVOR)
    assert lab.message(job) == (
        "failed to assign flavors to pod set main: nodeSelectorTerms[0].matchExpressions[0].values[0]: "
        f"Invalid value: \"{size}\": for 'Gt', 'Lt' operators, the value must be an integer"
    )


@covers("QUOTA-031")
def test_every_size_that_is_no_integer_is_told(lab: Lab) -> None:
    """If no term holds, the message lists all terms that cannot be compared."""
    sized = lab.flavor("sized", nodeLabels={"example.com/size": "3"})
    queue = lab.queue(groups=[{sized: {"whole-gpus": 2}}])
    job = queue.submit(a_job(claims=[a_template(gpu())], spec=larger_than("many", "more")))

    assert lab.message(job) == (
        "failed to assign flavors to pod set main: [nodeSelectorTerms[0].matchExpressions[0].values[0]: "
        "Invalid value: \"many\": for 'Gt', 'Lt' operators, the value must be an integer, "
        "nodeSelectorTerms[1].matchExpressions[0].values[0]: "
        "Invalid value: \"more\": for 'Gt', 'Lt' operators, the value must be an integer]"
    )


@covers("QUOTA-031", "QUOTA-018")
@pytest.mark.parametrize(
    ("labels", "sizes"),
    [
        pytest.param({"example.com/size": "3"}, ["2"], id="an-integer"),
        pytest.param({"example.com/size": "3"}, ["many", "2"], id="another-term-holds"),
        pytest.param({}, ["many"], id="no-flavor-has-the-label"),
    ],
)
def test_a_size_that_does_not_matter_ends_nothing(lab: Lab, labels: Mapping[str, str], sizes: Sequence[str]) -> None:
    """Pods are assigned a flavor for which a term holds, or that has no such label, whatever else is written."""
    flavor = lab.flavor("sized", nodeLabels=labels)
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 2}}])
    job = queue.submit(a_job(claims=[a_template(gpu())], spec=larger_than(*sizes)))

    assert lab.flavors(job) == {"main": {"whole-gpus": flavor}}


@covers("QUOTA-047")
@pytest.mark.parametrize(
    ("compared", "words"),
    [
        pytest.param(
            {"operator": "Equal", "values": ["3"]},
            'operator: Unsupported value: "Equal": '
            'supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"',
            id="another-operator",
        ),
        pytest.param(
            {"operator": "NotIn"},
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
            id="in-nothing",
        ),
        pytest.param(
            {"operator": "Exists", "values": ["3"]},
            'values: Invalid value: ["3"]: values set must be empty for exists and does not exist',
            id="value-that-exists",
        ),
        pytest.param(
            {"operator": "In", "values": ["3 or 4"]},
            f'values[0][example.com/size]: Invalid value: "3 or 4": {NO_VALUE}',
            id="no-value-of-a-label",
        ),
        pytest.param(
            {"operator": "Gt", "values": ["3", "4"]},
            "values: Invalid value: [\"3\",\"4\"]: for 'Gt', 'Lt' operators, exactly one value is required",
            id="more-than-two-values",
        ),
        pytest.param(
            {"operator": "Lt"},
            "values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is required",
            id="less-than-nothing",
        ),
    ],
)
def test_what_cannot_be_compared_ends_the_search(lab: Lab, compared: Mapping[str, Any], words: str) -> None:
    """An API server lets nothing of this into a Job, and anything into a Workload."""
    sized, plain = lab.flavor("sized", nodeLabels={"example.com/size": "3"}), lab.flavor("plain")
    queue = lab.queue(groups=[{sized: {"whole-gpus": 2}, plain: {"whole-gpus": 2}}])
    pods = a_pod_set("main", claims=[a_template(gpu())], spec=on_nodes_where({"key": "example.com/size", **compared}))
    workload = queue.submit(a_workload(pods))

    assert lab.message(workload) == (
        f"failed to assign flavors to pod set main: nodeSelectorTerms[0].matchExpressions[0].{words}"
    )


@covers("QUOTA-047")
def test_what_cannot_be_compared_is_not_reached(lab: Lab) -> None:
    """The node selector comes first: a flavor that contradicts it is left, and the next one has no such label."""
    sized, plain = lab.flavor("sized", nodeLabels={"example.com/size": "3"}), lab.flavor("plain")
    queue = lab.queue(groups=[{sized: {"whole-gpus": 2}, plain: {"whole-gpus": 2}}])
    affinity = on_nodes_where({"key": "example.com/size", "operator": "Lt"})
    spec = {**affinity, "nodeSelector": {"example.com/size": "4"}}
    workload = queue.submit(a_workload(a_pod_set("main", claims=[a_template(gpu())], spec=spec)))

    assert "nodeSelectorTerms" not in lab.message(workload)


@covers("QUOTA-047")
def test_each_fault_of_what_cannot_be_compared_is_told(lab: Lab) -> None:
    """In the order in which the parts of the expression are checked."""
    queue = lab.queue(groups=[{lab.flavor("sized", nodeLabels={"example.com/size": "3"}): {"whole-gpus": 2}}])
    compared = {"key": "example.com/size", "operator": "Gt", "values": ["3", "4 or 5"]}
    pods = a_pod_set("main", claims=[a_template(gpu())], spec=on_nodes_where(compared))
    workload = queue.submit(a_workload(pods))

    path = "nodeSelectorTerms[0].matchExpressions[0].values"
    assert lab.message(workload) == (
        f'failed to assign flavors to pod set main: [{path}: Invalid value: ["3","4 or 5"]: '
        f"for 'Gt', 'Lt' operators, exactly one value is required, "
        f"{path}[1]: Invalid value: \"4 or 5\": for 'Gt', 'Lt' operators, the value must be an integer, "
        f'{path}[1][example.com/size]: Invalid value: "4 or 5": {NO_VALUE}]'
    )


def that_tolerates(**toleration: str) -> Work:
    """A Workload with a toleration that an API server would not let into a Job."""
    return a_workload(a_pod_set("main", claims=[a_template(gpu())], spec={"tolerations": [toleration]}))


@covers("QUOTA-032")
@pytest.mark.parametrize(
    ("toleration", "verdict"),
    [
        pytest.param({"value": "yes"}, admitted({"whole-gpus": 1}), id="same-value"),
        pytest.param({"value": "no"}, pending(Reason.NO_FLAVOR), id="other-value"),
        pytest.param({"effect": "NoSchedule"}, pending(Reason.NO_FLAVOR), id="no-value"),
    ],
)
def test_a_toleration_without_a_key_goes_by_the_value(
    lab: Lab, toleration: Mapping[str, str], verdict: Verdict
) -> None:
    """Pods that tolerate a value, whatever the key, get a flavor whose taint has this value."""
    queue = lab.queue(groups=[{lab.flavor("tainted", nodeTaints=[SPOT]): {"whole-gpus": 2}}])
    job = queue.submit(that_tolerates(**toleration))

    assert lab.verdict(job) == verdict


SLA = {"key": "example.com/sla", "value": "950", "effect": "NoSchedule"}


@covers("QUOTA-033")
@pytest.mark.parametrize(
    ("operator", "value", "verdict"),
    [
        pytest.param("Gt", "949", admitted({"whole-gpus": 1}), id="above"),
        pytest.param("Gt", "950", pending(Reason.NO_FLAVOR), id="not-above"),
        pytest.param("Lt", "951", admitted({"whole-gpus": 1}), id="below"),
        pytest.param("Lt", "950", pending(Reason.NO_FLAVOR), id="not-below"),
        pytest.param("Gt", "0900", pending(Reason.NO_FLAVOR), id="with-a-leading-zero"),
        pytest.param("Gt", "-1", admitted({"whole-gpus": 1}), id="above-a-negative-one"),
        pytest.param("Lt", "many", pending(Reason.NO_FLAVOR), id="no-integer"),
        pytest.param("Equal", "949", pending(Reason.NO_FLAVOR), id="other-than-equal"),
    ],
)
def test_a_toleration_compares_integers(lab: Lab, operator: str, value: str, verdict: Verdict) -> None:
    """Pods get a flavor whose taint has a larger, or a smaller, value than they tolerate."""
    queue = lab.queue(groups=[{lab.flavor("tainted", nodeTaints=[SLA]): {"whole-gpus": 2}}])
    job = queue.submit(that_tolerates(key="example.com/sla", operator=operator, value=value))

    assert lab.verdict(job) == verdict


@covers("QUOTA-034")
@pytest.mark.parametrize(
    ("operator", "value"), [pytest.param("Gt", "949", id="Gt"), pytest.param("Lt", "951", id="Lt")]
)
def test_a_toleration_that_compares_tolerates_nothing(lab: Lab, operator: str, value: str) -> None:
    """Pods are kept out by a taint though its value is beyond the one that they tolerate."""
    queue = lab.queue(groups=[{lab.flavor("tainted", nodeTaints=[SLA]): {"whole-gpus": 2}}])
    job = queue.submit(that_tolerates(key="example.com/sla", operator=operator, value=value))

    assert lab.verdict(job) == pending(Reason.NO_FLAVOR)
