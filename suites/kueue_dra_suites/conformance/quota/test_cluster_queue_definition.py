"""ClusterQueues that an API server does not take, by Kueue's definition of them (Kueue 0.19, CRDs)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import a_cluster_queue, a_group, a_quota
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_ref.target import Ref

INVALID = 'ClusterQueue.kueue.x-k8s.io "{name}" is invalid: '
GROUP = "spec.resourceGroups[0]"
UNSAID = {"coveredResources": ["cpu"], "flavors": [{"name": "one", "resources": [{"name": "cpu"}]}]}
ONE = a_group({"one": {"cpu": 1}})
RESOURCES = [f"r{index}" for index in range(65)]
CPU = {"name": "cpu", "nominalQuota": "1"}
GRAMMAR = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
UNCHECKED = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)
MANY = "Too many: 65: must have at most 64 items"
LOWER, GOES_ON = {"policy": "LowerPriority"}, "TryNextFlavor"
PREFERENCE = "BorrowingOverPreemption"


@covers("OBJECT-003")
@pytest.mark.parametrize(
    ("count", "answer"),
    [
        pytest.param(16, ACCEPTED, id="16"),
        pytest.param(17, refused("spec.resourceGroups: Too many"), id="17"),
    ],
)
def test_a_cluster_queue_has_not_too_many_groups(lab: Lab, count: int, answer: RejectedFields) -> None:
    """The number of groups in a ClusterQueue is limited."""
    groups = [a_group({f"f{index}": {f"r{index}": 1}}) for index in range(count)]

    assert lab.offer(a_cluster_queue(lab.name("cq"), groups)) == answer


@pytest.mark.parametrize(
    ("covered", "flavors", "fault"),
    [
        pytest.param([], ["one"], "coveredResources: Invalid value: 0", id="nothing", marks=covers("OBJECT-004")),
        pytest.param(["cpu"], [], "flavors: Invalid value: 0", id="nowhere", marks=covers("OBJECT-005")),
        pytest.param(
            RESOURCES, ["one"], "coveredResources: Too many: 65", id="65-resources", marks=covers("OBJECT-004")
        ),
        pytest.param(["cpu"], RESOURCES, "flavors: Too many: 65", id="65-flavors", marks=covers("OBJECT-005")),
    ],
)
def test_a_group_has_some_resources_and_flavors(
    lab: Lab, covered: Sequence[str], flavors: Sequence[str], fault: str
) -> None:
    """There is quota of something, somewhere, and not of too much."""
    listed = [{"name": name, "resources": [CPU]} for name in flavors]
    made = a_cluster_queue(lab.name("cq"), [{"coveredResources": covered, "flavors": listed}])

    assert f"{GROUP}.{fault}: " in lab.denied(made)


@covers("OBJECT-006")
@pytest.mark.parametrize(
    ("count", "fault"),
    [pytest.param(0, "Invalid value: 0", id="none"), pytest.param(65, "Too many: 65", id="65")],
)
def test_a_flavor_has_some_quotas(lab: Lab, count: int, fault: str) -> None:
    """A flavor is of a group because there is quota in it."""
    quotas = [{**CPU, "name": name} for name in RESOURCES[:count]]
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "one", "resources": quotas}]}

    assert f"{GROUP}.flavors[0].resources: {fault}: " in lab.denied(a_cluster_queue(lab.name("cq"), [group]))


@covers("OBJECT-066")
@pytest.mark.parametrize(
    ("checks", "flavors", "words"),
    [
        pytest.param(64, 64, "", id="64"),
        pytest.param(0, 0, "{path}: Invalid value: 0: {path} in body should have at least 1 items", id="none"),
        pytest.param(65, 0, f"[{{path}}: {MANY}, {UNCHECKED}]", id="65"),
        pytest.param(1, 65, f"[{{path}}[0].onFlavors: {MANY}, {UNCHECKED}]", id="65-flavors"),
    ],
)
def test_a_strategy_names_some_checks(lab: Lab, checks: int, flavors: int, words: str) -> None:
    """Without any, a ClusterQueue has no strategy."""
    named = [{"name": f"c{index}", "onFlavors": [f"f{each}" for each in range(flavors)]} for index in range(checks)]
    group = a_group({f"f{index}": {"cpu": 1} for index in range(64)})
    made = a_cluster_queue(lab.name("cq"), [group], admissionChecksStrategy={"admissionChecks": named})

    answer = f"{INVALID}{words}".format(path="spec.admissionChecksStrategy.admissionChecks", **made["metadata"])
    assert lab.denied(made) == (answer if words else "")


@covers("OBJECT-004", "OBJECT-005", "OBJECT-006")
@pytest.mark.parametrize(
    "group",
    [
        pytest.param(a_group({"one": dict.fromkeys(RESOURCES[:64], 1)}), id="64-resources"),
        pytest.param(a_group({name: {"cpu": 1} for name in RESOURCES[:64]}), id="64-flavors"),
    ],
)
def test_a_group_may_be_large(lab: Lab, group: Mapping[str, Any]) -> None:
    """Sixty-four of either are taken."""
    assert lab.offer(a_cluster_queue(lab.name("cq"), [group])) == ACCEPTED


@covers("OBJECT-009")
def test_a_new_cluster_queue_has_none_of_what_it_says_nothing_about(lab: Lab) -> None:
    """Quota without a value is stored as zero."""
    made = a_cluster_queue(lab.name("cq"), [UNSAID])
    lab.apply(made)

    (group,) = lab.read(Ref.of(made))["spec"]["resourceGroups"]
    assert group["flavors"] == [{"name": "one", "resources": [{"name": "cpu", "nominalQuota": "0"}]}]


@covers("OBJECT-008")
def test_a_changed_cluster_queue_says_how_much_there_is(lab: Lab) -> None:
    """A field that an update does not have does not become zero."""
    name = lab.name("cq")
    lab.apply(a_cluster_queue(name, [ONE]))
    answer = refused(f"{GROUP}.flavors[0].resources[0].nominalQuota: Required value")

    assert lab.offer(a_cluster_queue(name, [UNSAID])) == answer


@pytest.mark.parametrize(
    ("groups", "spec", "words"),
    [
        pytest.param(
            [a_group({"No_Flavor": {"cpu": 1}})],
            {},
            f'{GROUP}.flavors[0].name: Invalid value: "No_Flavor": {GROUP}.flavors[0].name in body should match'
            f" '{GRAMMAR}'",
            id="flavor",
            marks=covers("OBJECT-010"),
        ),
        pytest.param(
            [ONE],
            {"cohortName": "No_Cohort"},
            f"spec.cohortName: Invalid value: \"No_Cohort\": spec.cohortName in body should match '{GRAMMAR}'",
            id="cohort-name",
            marks=covers("OBJECT-012"),
        ),
        pytest.param(
            [ONE],
            {"cohortName": "a" * 254},
            f"[spec.cohortName: Too long: may not be more than 253 bytes, {UNCHECKED}]",
            id="long-cohort-name",
            marks=covers("OBJECT-012"),
        ),
        pytest.param(
            [ONE],
            {"cohortName": "No_Cohort"},
            f"spec.cohort: Invalid value: \"No_Cohort\": spec.cohort in body should match '{GRAMMAR}'",
            id="cohort",
            marks=covers("OBJECT-013"),
        ),
    ],
)
def test_what_a_cluster_queue_names_can_be_there(
    lab: Lab, groups: Sequence[Mapping[str, Any]], spec: Mapping[str, Any], words: str
) -> None:
    """A name that no object can have is not waited for."""
    made = a_cluster_queue(lab.name("cq"), groups, **spec)

    assert lab.denied(made) == f"{INVALID}{words}".format(**made["metadata"])


@pytest.mark.parametrize(
    ("resources", "flavors", "words"),
    [
        pytest.param(
            [CPU],
            ["one", "other", "one"],
            'flavors[2]: Duplicate value: {"name":"one"}',
            id="flavor",
            marks=covers("OBJECT-015"),
        ),
        pytest.param(
            [CPU, CPU],
            ["one"],
            'flavors[0].resources[1]: Duplicate value: {"name":"cpu"}',
            id="resource",
            marks=covers("OBJECT-016"),
        ),
    ],
)
def test_nothing_is_twice_in_a_group(
    lab: Lab, resources: Sequence[Mapping[str, str]], flavors: Sequence[str], words: str
) -> None:
    """Quota of a resource in a flavor is found in one place."""
    listed = [{"name": name, "resources": resources} for name in flavors]
    made = a_cluster_queue(lab.name("cq"), [{"coveredResources": ["cpu"] * len(resources), "flavors": listed}])

    assert lab.denied(made) == f"{INVALID.format(**made['metadata'])}{GROUP}.{words}"


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        pytest.param({"queueingStrategy": "LIFO"}, "queueingStrategy", id="strategy", marks=covers("OBJECT-017")),
        pytest.param({"stopPolicy": "Halt"}, "stopPolicy", id="stop", marks=covers("OBJECT-018")),
        pytest.param(
            {"preemption": {"withinClusterQueue": "Any"}},
            "preemption.withinClusterQueue",
            id="within-queue",
            marks=covers("OBJECT-019"),
        ),
        pytest.param(
            {"preemption": {"reclaimWithinCohort": "Some"}},
            "preemption.reclaimWithinCohort",
            id="within-cohort",
            marks=covers("OBJECT-019"),
        ),
        pytest.param(
            {"preemption": {"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "Any"}}},
            "preemption.borrowWithinCohort.policy",
            id="while-borrowing",
            marks=covers("OBJECT-019"),
        ),
        pytest.param(
            {"flavorFungibility": {"whenCanBorrow": "Stop"}},
            "flavorFungibility.whenCanBorrow",
            id="search",
            marks=covers("OBJECT-020"),
        ),
        pytest.param(
            {"flavorFungibility": {"whenCanBorrow": GOES_ON, "preference": "Neither"}},
            "flavorFungibility.preference",
            id="preference",
            marks=covers("OBJECT-021"),
        ),
    ],
)
def test_words_are_known(lab: Lab, spec: Mapping[str, Any], field: str) -> None:
    """Another word than those that Kueue knows has no meaning."""
    assert lab.offer(a_cluster_queue(lab.name("cq"), [ONE], **spec)) == refused(f"spec.{field}: Unsupported value")


@covers("OBJECT-017")
def test_the_known_words_are_told(lab: Lab) -> None:
    """If a value is unknown, no other rule is checked."""
    made = a_cluster_queue(lab.name("cq"), [a_group({"one": {"cpu": a_quota(1, borrow=1)}})], queueingStrategy="LIFO")
    words = 'spec.queueingStrategy: Unsupported value: "LIFO": supported values: "StrictFIFO", "BestEffortFIFO"'

    assert lab.denied(made) == f"{INVALID}[{words}, {UNCHECKED}]".format(**made["metadata"])


@pytest.mark.parametrize(
    ("groups", "spec", "words"),
    [
        pytest.param(
            [a_group({"one": {"cpu": a_quota(1, borrow=1)}})],
            {},
            "spec: Invalid value: borrowingLimit must be nil when cohort is empty",
            id="nobody-to-borrow-from",
            marks=covers("OBJECT-022"),
        ),
        pytest.param(
            [a_group({"one": {"cpu": a_quota(1, borrow=1)}})],
            {"cohortName": "some"},
            "",
            id="somebody-to-borrow-from",
            marks=covers("OBJECT-022"),
        ),
        pytest.param(
            [ONE],
            {"preemption": {"borrowWithinCohort": LOWER}},
            "spec.preemption: Invalid value: reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
            id="borrowing-is-more",
            marks=covers("OBJECT-023"),
        ),
        pytest.param(
            [ONE],
            {"preemption": {"borrowWithinCohort": LOWER, "reclaimWithinCohort": "Any"}},
            "",
            id="both",
            marks=covers("OBJECT-023"),
        ),
        pytest.param(
            [ONE],
            {"flavorFungibility": {"preference": PREFERENCE, "whenCanPreempt": GOES_ON}},
            "spec.flavorFungibility: Invalid value: "
            "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor",
            id="search-stops",
            marks=covers("OBJECT-024"),
        ),
        pytest.param(
            [ONE],
            {"flavorFungibility": {"preference": PREFERENCE, "whenCanBorrow": GOES_ON}},
            "",
            id="search-goes-on",
            marks=covers("OBJECT-024"),
        ),
        pytest.param(
            [a_group({"one": {"cpu": 1, "memory": 1}, "other": {"cpu": 1}})],
            {},
            f"{GROUP}: Invalid value: flavors must have the same number of resources as the coveredResources",
            id="fewer-quotas",
            marks=covers("OBJECT-025"),
        ),
    ],
)
def test_what_is_said_fits_together(
    lab: Lab, groups: Sequence[Mapping[str, Any]], spec: Mapping[str, Any], words: str
) -> None:
    """Kueue rejects fields that have no effect or contradict each other."""
    made = a_cluster_queue(lab.name("cq"), groups, **spec)

    assert lab.denied(made) == (f"{INVALID}{words}".format(**made["metadata"]) if words else "")


@covers("OBJECT-050")
@pytest.mark.parametrize(
    ("threshold", "words"),
    [
        pytest.param(2**31 - 1, "", id="largest"),
        pytest.param(
            2**31,
            '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in '
            "spec.preemption.borrowWithinCohort.maxPriorityThreshold",
            id="too-large",
        ),
    ],
)
def test_a_threshold_is_a_priority(lab: Lab, threshold: int, words: str) -> None:
    """A changed ClusterQueue protects priorities that there can be."""
    name = lab.name("cq")
    lab.apply(a_cluster_queue(name, [ONE]))
    policy = {"reclaimWithinCohort": "Any", "borrowWithinCohort": {**LOWER, "maxPriorityThreshold": threshold}}
    message = lab.denied(a_cluster_queue(name, [ONE], preemption=policy))

    assert message == (f"{INVALID}{words}".format(name=name) if words else "")
