"""Fields of Kueue's objects that hold something else than they must: what the API server and the webhooks say."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_pod_set, a_workload
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import KUEUE, a_cluster_queue, a_group, an_object, with_spec
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_ref.target import Manifest, Ref

GROUPS = [a_group({"one": {"cpu": 1}})]
CQ, COHORT = ('{}.kueue.x-k8s.io "{}" is invalid: '.format(kind, "{name}") for kind in ("ClusterQueue", "Cohort"))
UNCHECKED = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)
AMOUNT = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)


@covers("OBJECT-053")
@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param(
            {"namespaceSelector": 1},
            "number into Go struct field ClusterQueueSpec.spec.namespaceSelector of type v1.LabelSelector",
            id="number-for-an-object",
        ),
        pytest.param(
            {"preemption": {"borrowWithinCohort": {"maxPriorityThreshold": "high"}}},
            "string into Go struct field BorrowWithinCohort.spec.preemption.borrowWithinCohort.maxPriorityThreshold "
            "of type int32",
            id="word-for-a-number",
        ),
    ],
)
def test_a_new_cluster_queue_is_refused_by_its_webhook(lab: Lab, spec: dict[str, Any], words: str) -> None:
    """It completes what is new, and cannot read it."""
    assert lab.denied(a_cluster_queue(lab.name("cq"), GROUPS, **spec)) == (
        f'admission webhook "mclusterqueue.kb.io" denied the request: json: cannot unmarshal {words}'
    )


@covers("OBJECT-053")
@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param(
            {"fairSharing": 1},
            f'[spec.fairSharing: Invalid value: "integer": spec.fairSharing in body must be of type object: "integer", '
            f"{UNCHECKED}]",
            id="no-object",
        ),
        pytest.param(
            {"fairSharing": {"weight": "many"}},
            'spec.fairSharing.weight: Invalid value: "many": '
            f"spec.fairSharing.weight in body should match '{AMOUNT}'",
            id="no-amount",
        ),
    ],
)
def test_a_changed_cluster_queue_is_refused_by_the_api_server(lab: Lab, spec: dict[str, Any], words: str) -> None:
    """Nothing is completed any more, so the definition is what finds it out."""
    name = lab.name("cq")
    lab.apply(a_cluster_queue(name, GROUPS))

    assert lab.denied(a_cluster_queue(name, GROUPS, **spec)) == f"{CQ}{words}".format(name=name)


@covers("OBJECT-053")
def test_a_new_cohort_is_refused_by_the_api_server(lab: Lab) -> None:
    """No webhook completes it."""
    made: Manifest = {
        "apiVersion": KUEUE,
        "kind": "Cohort",
        "metadata": {"name": lab.name("co")},
        "spec": {"parentName": True},
    }
    words = 'spec.parentName: Invalid value: "boolean": spec.parentName in body must be of type string: "boolean"'

    assert lab.denied(made) == f"{COHORT}[{words}, {UNCHECKED}]".format(**made["metadata"])


@covers("OBJECT-054")
@pytest.mark.parametrize(
    ("labels", "words"),
    [
        pytest.param(5, "number into Go struct field ObjectMeta.labels of type map[string]string", id="no-labels"),
        pytest.param({"a": 5}, "number into Go struct field ObjectMeta.labels of type string", id="no-text"),
    ],
)
@pytest.mark.parametrize("kind", ["ClusterQueue", "Cohort"])
def test_metadata_is_decoded_first(lab: Lab, kind: str, labels: Any, words: str) -> None:
    """Neither the webhook that completes a new ClusterQueue nor a definition is asked."""
    meta = {"name": lab.name("made"), "labels": labels}
    made: Manifest = {"apiVersion": KUEUE, "kind": kind, "metadata": meta, "spec": {"fairSharing": 1}}

    assert lab.denied(made).endswith(f"cannot be handled as a {kind}: json: cannot unmarshal {words}")


@covers("OBJECT-053")
def test_null_in_a_list_is_no_object(lab: Lab) -> None:
    """As a field null is the same as nothing, in a list it is not."""
    made = {
        "apiVersion": KUEUE,
        "kind": "Cohort",
        "metadata": {"name": lab.name("co")},
        "spec": {"resourceGroups": [None]},
    }
    at = "spec.resourceGroups[0]"

    assert f'{at}: Invalid value: "null": {at} in body must be of type object: "null"' in lab.denied(made)


@covers("OBJECT-053")
@pytest.mark.parametrize(
    ("groups", "at"),
    [
        pytest.param([a_group({"one": {"cpu": 1}}) | {"flavors": ["one"]}], "resourceGroups[0].flavors", id="flavors"),
        pytest.param(
            [a_group({"one": {"cpu": 1}}) | {"flavors": [{"name": "one", "resources": ["cpu"]}]}],
            "resourceGroups[0].flavors[0].resources",
            id="quotas",
        ),
    ],
)
def test_the_items_of_a_list_by_name_are_objects(lab: Lab, groups: list[Any], at: str) -> None:
    """The list has a second error, as it is a map by the names of its items."""
    made = an_object("Cohort", lab.name("co"), resourceGroups=groups)

    assert f"spec.{at}[0]: Invalid value: " in (message := lab.denied(made))
    assert "must be an object for an array of list-type map" in message


@covers("OBJECT-053")
def test_the_checks_of_a_strategy_are_objects(lab: Lab) -> None:
    """A changed ClusterQueue is refused by its definition, as no webhook completes it."""
    name = lab.name("cq")
    lab.apply(a_cluster_queue(name, GROUPS))
    changed = a_cluster_queue(name, GROUPS, admissionChecksStrategy={"admissionChecks": ["some"]})

    assert "must be an object for an array of list-type map" in lab.denied(changed)


@covers("OBJECT-053")
def test_a_new_workload_is_refused_by_its_webhook(lab: Lab) -> None:
    """The error is about the quantity."""
    pod = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "many"}}}]}

    assert lab.denied(lab.written(a_workload(a_pod_set("main", spec=pod)), lab.missing_queue())) == (
        'admission webhook "mworkload.kb.io" denied the request: quantities must match the regular expression '
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )


@pytest.mark.parametrize(
    ("scope", "answer"),
    [
        pytest.param(
            {"admissionMode": "UsageBasedAdmissionFairSharing"}, ACCEPTED, id="mode", marks=covers("OBJECT-051")
        ),
        pytest.param(
            {}, refused("spec.admissionScope.admissionMode: Required value"), id="none", marks=covers("OBJECT-051")
        ),
        pytest.param(
            {"admissionMode": "Fair"},
            refused("spec.admissionScope.admissionMode: Unsupported value"),
            id="another",
            marks=covers("OBJECT-052"),
        ),
    ],
)
def test_an_admission_scope_has_a_mode(lab: Lab, scope: dict[str, str], answer: RejectedFields) -> None:
    """The effect of the mode does not concern devices."""
    name = lab.name("cq")
    lab.apply(a_cluster_queue(name, GROUPS))

    assert lab.offer(with_spec(a_cluster_queue(name, GROUPS), admissionScope=scope)) == answer


@covers("OBJECT-055")
def test_a_field_that_there_is_not_is_dropped(lab: Lab) -> None:
    """Unknown fields, next to known ones and inside them."""
    asked = {"whenCanBorrow": "TryNextFlavor", "whenCanFly": "Never"}
    made = a_cluster_queue(lab.name("cq"), GROUPS, flavorFungibility=asked, wings=2)
    lab.apply(made)

    spec = lab.read(Ref.of(made))["spec"]
    assert "wings" not in spec
    assert spec["flavorFungibility"] == {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor"}


@covers("OBJECT-067")
def test_a_field_of_an_older_version_is_dropped(lab: Lab) -> None:
    """It is deprecated in v1beta1."""
    asked = {"controllerName": "example.com/of-the-site", "retryDelayMinutes": 3}
    made = an_object("AdmissionCheck", lab.name("check"), **asked)
    lab.apply(made)

    assert "retryDelayMinutes" not in lab.read(Ref.of(made))["spec"]
