"""Jobs that no API server takes, whatever they ask Kueue for: their numbers, containers, resources and nodes."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, on_nodes_where
from kueue_dra_fixtures.lab import Job, Lab
from kueue_dra_fixtures.manifests import QUEUE_LABEL, with_spec
from kueue_dra_fixtures.marks import covers, on_kubernetes, owns_kueue
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused

POD = "spec.template.spec"
C = f"{POD}.containers[0]"
FIRST = f"{POD}.initContainers[0]"
ASKED = f"{C}.resources"
CARD = "example.com/card"
CHOSEN = f"{POD}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
TOLERATED = f"{POD}.tolerations[0]"


def offered(lab: Lab, **spec: Any) -> RejectedFields:
    """Offer a Job of one container, with some of its spec changed, and say what it is refused for."""
    return lab.offer(with_spec(lab.written(a_job(cpu="1"), lab.missing_queue()), **spec))


def offered_pod(
    lab: Lab, container: dict[str, Any] | None = None, metadata: dict[str, Any] | None = None, **pod: Any
) -> RejectedFields:
    """Offer a Job with some of its container and some of its pod changed; None takes a field away."""
    base = lab.written(a_job(cpu="1"), lab.missing_queue())["spec"]["template"]["spec"]
    base["containers"] = [kept(base["containers"][0] | (container or {}))]
    return offered(lab, template=kept({"metadata": metadata, "spec": kept(base | pod)}))


def kept(found: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is None."""
    return {key: value for key, value in found.items() if value is not None}


def init(**container: Any) -> dict[str, Any]:
    """A container that runs before the others."""
    return {"name": "first", "image": "none", **container}


@covers("API-038")
@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        pytest.param({"parallelism": 0, "completions": 0, "backoffLimit": 0}, ACCEPTED, id="zero"),
        pytest.param({"parallelism": -1}, refused("spec.parallelism: Invalid value"), id="pods"),
        pytest.param({"completions": -1}, refused("spec.completions: Invalid value"), id="completions"),
        pytest.param({"backoffLimit": -1}, refused("spec.backoffLimit: Invalid value"), id="failures"),
        pytest.param({"parallelism": 2**31}, refused("400"), id="beyond-32-bits"),
        pytest.param({"parallelism": -(2**31)}, refused("spec.parallelism: Invalid value"), id="least-of-32-bits"),
        pytest.param({"parallelism": -(2**31) - 1}, refused("400"), id="below-32-bits"),
        pytest.param({"parallelism": "2"}, refused("400"), id="text"),
    ],
)
def test_a_job_counts_from_zero(lab: Lab, spec: dict[str, Any], answer: RejectedFields) -> None:
    """Its numbers have 32 bits, and no sign."""
    assert offered(lab, **spec) == answer


INDEXED = {"completionMode": "Indexed", "completions": 100_001}
LIMITED = {**INDEXED, "backoffLimitPerIndex": 1}


@covers("API-050")
@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        pytest.param({"completionMode": "NonIndexed"}, ACCEPTED, id="by-number"),
        pytest.param({"completionMode": "Any"}, refused("spec.completionMode: Unsupported value"), id="any-mode"),
        pytest.param(
            {"completionMode": "Indexed", "completions": None},
            refused("spec.completions: Required value"),
            id="how-many",
        ),
        pytest.param({"backoffLimitPerIndex": 1}, refused("spec.backoffLimitPerIndex: Invalid value"), id="no-index"),
        pytest.param({**INDEXED, "parallelism": 100_000}, ACCEPTED, id="most-at-once"),
        pytest.param(
            {**INDEXED, "parallelism": 100_001}, refused("spec.parallelism: Invalid value"), id="more-at-once"
        ),
        pytest.param(
            {**INDEXED, "maxFailedIndexes": 1}, refused("spec.backoffLimitPerIndex: Required value"), id="limit-of-each"
        ),
        pytest.param(LIMITED, refused("spec.maxFailedIndexes: Required value"), id="limit-of-all"),
        pytest.param({**LIMITED, "maxFailedIndexes": 10_000, "parallelism": 10_000}, ACCEPTED, id="most-of-many"),
        pytest.param({**LIMITED, "completions": 100_000, "parallelism": 10_001}, ACCEPTED, id="no-more-than-few"),
        pytest.param(
            {**INDEXED, "completions": None, "backoffLimitPerIndex": 1, "maxFailedIndexes": 2},
            refused("spec.completions: Required value"),
            id="limits-of-how-many",
        ),
        pytest.param(
            {**LIMITED, "maxFailedIndexes": 10_001},
            refused("spec.maxFailedIndexes: Invalid value"),
            id="more-of-many",
        ),
        pytest.param(
            {**LIMITED, "completions": 2, "maxFailedIndexes": 3},
            refused("spec.maxFailedIndexes: Invalid value"),
            id="more-than-there-are",
        ),
    ],
)
def test_a_job_completes_by_number_or_by_index(lab: Lab, spec: dict[str, Any], answer: RejectedFields) -> None:
    """Failures are counted for each index, and for all of them."""
    assert offered(lab, **spec) == answer


@covers("API-039")
@pytest.mark.parametrize(
    ("pod", "answer"),
    [
        pytest.param({"containers": []}, refused(f"{POD}.containers: Required value"), id="no-container"),
        pytest.param({"container": {"name": None}}, refused(f"{C}.name: Required value"), id="no-name"),
        pytest.param({"container": {"name": "Main"}}, refused(f"{C}.name: Invalid value"), id="name-in-capitals"),
        pytest.param({"container": {"image": None}}, refused(f"{C}.image: Required value"), id="no-image"),
        pytest.param({"initContainers": [init()]}, ACCEPTED, id="two-names"),
        pytest.param(
            {"container": {"name": "first"}, "initContainers": [init()]},
            refused(f"{FIRST}.name: Duplicate value"),
            id="name-twice",
        ),
    ],
)
def test_containers_are_told_apart(lab: Lab, pod: dict[str, Any], answer: RejectedFields) -> None:
    """Each has a name of its own, and an image."""
    assert offered_pod(lab, **pod) == answer


@covers("API-040")
@pytest.mark.parametrize(
    ("resources", "answer"),
    [
        pytest.param({"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}, ACCEPTED, id="at-the-limit"),
        pytest.param(
            {"requests": {"cpu": "1001m"}, "limits": {"cpu": "1"}},
            refused(f"{ASKED}.requests: Invalid value"),
            id="above-the-limit",
        ),
        pytest.param({"limits": {CARD: "2"}}, ACCEPTED, id="extended"),
        pytest.param({"requests": {CARD: "2"}}, refused(f"{ASKED}.limits: Required value"), id="extended-no-limit"),
        pytest.param(
            {"requests": {CARD: "1"}, "limits": {CARD: "2"}},
            refused(f"{ASKED}.requests: Invalid value"),
            id="extended-below-its-limit",
        ),
        pytest.param(
            {"limits": {CARD: "500m"}}, refused(f"{ASKED}.limits[{CARD}]: Invalid value"), id="half-an-extended"
        ),
        pytest.param(
            {"requests": {"cpu": "-1"}}, refused(f"{ASKED}.requests[cpu]: Invalid value"), id="negative-amount"
        ),
        pytest.param(
            {"requests": {"whole-gpus": "1"}},
            refused(*[f"{ASKED}.requests[whole-gpus]: Invalid value"] * 2),
            id="name-of-a-quota",
        ),
        pytest.param({"requests": {"cpu": "many"}}, refused("400"), id="no-amount"),
        pytest.param({"limits": {"cpu": "1", "hugepages-2Mi": "4Mi"}}, ACCEPTED, id="whole-pages"),
        pytest.param(
            {"limits": {"cpu": "1", "hugepages-2Mi": "3Mi"}},
            refused(f"{ASKED}.limits[hugepages-2Mi]: Invalid value"),
            id="half-a-page",
        ),
    ],
)
def test_containers_ask_for_what_there_is(lab: Lab, resources: dict[str, Any], answer: RejectedFields) -> None:
    """The logical name of a device class is no resource that a container could ask for."""
    assert offered_pod(lab, {"resources": resources}) == answer


@covers("API-040")
@pytest.mark.parametrize(
    ("pod", "answer"),
    [
        pytest.param({"resources": {"requests": {"cpu": "1"}}}, ACCEPTED, id="as-much-as-its-container"),
        pytest.param(
            {"resources": {"requests": {"cpu": "500m"}}},
            refused(f"{POD}.resources.requests[cpu]: Invalid value"),
            id="less-than-its-container",
        ),
        pytest.param(
            {"overhead": {"cpu": "-1"}}, refused(f"{POD}.overhead.limits[cpu]: Invalid value"), id="negative-overhead"
        ),
    ],
)
def test_pods_ask_for_what_their_containers_need(lab: Lab, pod: dict[str, Any], answer: RejectedFields) -> None:
    """The requests of a whole pod include those of its containers."""
    assert offered_pod(lab, **pod) == answer


@covers("API-041")
@pytest.mark.parametrize(
    ("pod", "answer"),
    [
        pytest.param({"restartPolicy": "OnFailure"}, ACCEPTED, id="on-failure"),
        pytest.param({"restartPolicy": None}, refused(f"{POD}.restartPolicy: Required value"), id="nothing-said"),
        pytest.param({"restartPolicy": "Always"}, refused(f"{POD}.restartPolicy: Required value"), id="always"),
        pytest.param(
            {"restartPolicy": "Once"}, refused(*[f"{POD}.restartPolicy: Unsupported value"] * 2), id="another-word"
        ),
        pytest.param({"initContainers": [init(restartPolicy="Always")]}, ACCEPTED, id="sidecar"),
        pytest.param(
            {"initContainers": [init(restartPolicy="Once")]},
            refused(f"{FIRST}.restartPolicy: Unsupported value"),
            id="another-word-of-a-container",
        ),
    ],
)
def test_the_pods_of_a_job_end(lab: Lab, pod: dict[str, Any], answer: RejectedFields) -> None:
    """Only a sidecar may always restart while the other containers do not."""
    assert offered_pod(lab, **pod) == answer


FORBIDDEN, UNSUPPORTED = f"{C}.restartPolicy: Forbidden", f"{FIRST}.restartPolicy: Unsupported value"


@covers("API-041")
@pytest.mark.parametrize(
    ("policy", "initial", "faults"),
    [
        pytest.param("Never", "Always", (FORBIDDEN,), id="in-1.33", marks=on_kubernetes("1.33")),
        pytest.param(None, "Never", (UNSUPPORTED,), id="initial-in-1.33", marks=on_kubernetes("1.33")),
        pytest.param(None, "Always", (), id="sidecar-in-1.33", marks=on_kubernetes("1.33")),
        pytest.param("Once", "Never", (), id="dropped-in-1.34", marks=on_kubernetes("1.34")),
        pytest.param("Always", "Never", (), id="in-1.36", marks=on_kubernetes("1.36")),
        pytest.param("OnFailure", "OnFailure", (), id="on-failure-in-1.36", marks=on_kubernetes("1.36")),
        pytest.param(
            "Once", "", (f"{C}.restartPolicy: Unsupported value", UNSUPPORTED), id="words", marks=on_kubernetes("1.36")
        ),
    ],
)
def test_any_container_may_restart_since_1_35(
    lab: Lab, policy: str | None, initial: str, faults: tuple[str, ...]
) -> None:
    """Up to 1.33 only a sidecar may say when it does; 1.34 reads over what the others say."""
    answer = offered_pod(lab, {"restartPolicy": policy}, initContainers=[init(restartPolicy=initial)])

    assert answer == refused(*faults)


@covers("API-042")
@pytest.mark.parametrize(
    ("pod", "answer"),
    [
        pytest.param({"nodeSelector": {"pool": "a"}}, ACCEPTED, id="label"),
        pytest.param({"nodeSelector": {"pool": "a b"}}, refused(f"{POD}.nodeSelector: Invalid value"), id="no-label"),
        pytest.param(
            on_nodes_where({"key": "pool", "operator": "In"}),
            refused(f"{CHOSEN}[0].matchExpressions[0].values: Required value"),
            id="in-nothing",
        ),
        pytest.param(
            on_nodes_where({"key": "pool", "operator": "Equal", "values": ["a"]}),
            refused(f"{CHOSEN}[0].matchExpressions[0].operator: Invalid value"),
            id="another-operator",
        ),
        pytest.param(
            on_nodes_where({"key": "pool", "operator": "Exists", "values": ["a"]}),
            refused(f"{CHOSEN}[0].matchExpressions[0].values: Forbidden"),
            id="value-that-exists",
        ),
    ],
)
def test_nodes_are_chosen_by_labels(lab: Lab, pod: dict[str, Any], answer: RejectedFields) -> None:
    """A misspelled operator is rejected before any flavor is checked."""
    assert offered_pod(lab, **pod) == answer


@covers("API-043")
@pytest.mark.parametrize(
    ("toleration", "answer"),
    [
        pytest.param({"operator": "Exists"}, ACCEPTED, id="everything"),
        pytest.param({"value": "a"}, refused(f"{TOLERATED}.operator: Invalid value"), id="value-without-a-key"),
        pytest.param(
            {"key": "pool", "operator": "Exists", "value": "a"},
            refused(f"{TOLERATED}.operator: Invalid value"),
            id="value-that-exists",
        ),
        pytest.param(
            {"key": "pool", "operator": "Equal", "value": "-a"},
            refused(f"{TOLERATED}.operator: Invalid value"),
            id="value-of-no-label",
        ),
        pytest.param(
            {"key": "pool", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 1},
            refused(f"{TOLERATED}.effect: Invalid value"),
            id="for-a-time",
        ),
        pytest.param(
            {"key": "pool", "operator": "Exists", "effect": "Never"},
            refused(f"{TOLERATED}.effect: Unsupported value"),
            id="another-effect",
        ),
    ],
)
def test_taints_are_tolerated_as_they_can_be(lab: Lab, toleration: dict[str, Any], answer: RejectedFields) -> None:
    """A toleration that matches no taint is rejected, not ignored."""
    assert offered_pod(lab, tolerations=[toleration]) == answer


@covers("API-044")
@pytest.mark.parametrize(
    ("pod", "answer"),
    [
        pytest.param(
            {"metadata": {"labels": {"a": "b c"}}}, refused("spec.template.labels: Invalid value"), id="label"
        ),
        pytest.param(
            {"metadata": {"annotations": {"a b": ""}}},
            refused("spec.template.annotations: Invalid value"),
            id="annotation",
        ),
        pytest.param({"priorityClassName": "High"}, refused(f"{POD}.priorityClassName: Invalid value"), id="priority"),
        pytest.param({"runtimeClassName": "gVisor"}, refused(f"{POD}.runtimeClassName: Invalid value"), id="runtime"),
    ],
)
def test_pods_name_what_can_be(lab: Lab, pod: dict[str, Any], answer: RejectedFields) -> None:
    """Labels, annotations and the classes of a pod."""
    assert offered_pod(lab, **pod) == answer


@owns_kueue  # on an attached cluster our objects have extra labels
@covers("API-045")
@pytest.mark.parametrize(
    ("labels", "managed"),
    [
        pytest.param({}, True, id="none"),
        pytest.param({"app": "a"}, False, id="some"),
    ],
)
def test_a_job_without_labels_has_those_of_its_pods(lab: Lab, labels: dict[str, str], managed: bool) -> None:
    """The name of a queue among the labels of the pods is one of the Job, unless the Job has labels of its own."""
    made = lab.written(a_job(cpu="1"), lab.queue({"cpu": 1}))
    template = {"metadata": {"labels": made["metadata"]["labels"]}, "spec": made["spec"]["template"]["spec"]}
    lab.apply(with_spec({**made, "metadata": {**made["metadata"], "labels": labels}}, template=template))
    lab.settle()

    assert [each["spec"]["queueName"] for each in lab.workloads(Job.of(made))] == (
        [made["metadata"]["labels"][QUEUE_LABEL]] if managed else []
    )
