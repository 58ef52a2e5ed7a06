"""ClusterQueues that Kueue itself denies: names, order, amounts, selectors, weights (Kueue 0.19, webhooks)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import Quota, a_cluster_queue, a_group, a_quota
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.rejections import NO_KEY, NO_VALUE

DENIED = 'admission webhook "vclusterqueue.kb.io" denied the request: '
GROUPS = "spec.resourceGroups"
FLAVOR = f"{GROUPS}[0].flavors[0]"
CPU = f"{FLAVOR}.resources[0]"
ONE = a_group({"one": {"cpu": 1}})
NEGATIVE = "must be greater than or equal to 0"
LONG = "a" * 64
PREFIX = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
EXPRESSION = "spec.namespaceSelector.matchExpressions[0]"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("gpu.example.com/Whole_gpus", "", id="key", marks=covers("OBJECT-037")),
        pytest.param("whole gpus", f"name part {NO_KEY}", id="no-key", marks=covers("OBJECT-037")),
        pytest.param(LONG, "name part must be no more than 63 bytes", id="bytes", marks=covers("OBJECT-044")),
        pytest.param("a/b/c", f"a valid label key {NO_KEY} {PREFIX}", id="slashes", marks=covers("OBJECT-044")),
        pytest.param(LONG, "name part must be no more than 63 characters", id="characters", marks=covers("OBJECT-049")),
        pytest.param("a/b/c", f"a qualified name {NO_KEY} {PREFIX}", id="qualified-name", marks=covers("OBJECT-049")),
    ],
)
def test_what_is_covered_has_a_name_that_a_label_can_have(lab: Lab, name: str, words: str) -> None:
    """A workload cannot request a resource whose name is invalid."""
    message = lab.denied(a_cluster_queue(lab.name("cq"), [a_group({"one": {name: 1}})]))

    assert message == (f'{DENIED}{GROUPS}[0].coveredResources[0]: Invalid value: "{name}": {words}' if words else "")


@covers("OBJECT-039")
def test_quotas_come_in_the_order_of_the_resources(lab: Lab) -> None:
    """Kueue reports each quota that is in the place of another one."""
    group = a_group({"one": {"cpu": 1, "memory": 1}, "other": {"memory": 1, "cpu": 1}})
    path, words = f"{GROUPS}[0].flavors[1].resources", "must match the name in coveredResources"

    assert lab.denied(a_cluster_queue(lab.name("cq"), [group])) == (
        f'{DENIED}[{path}[0].name: Invalid value: "memory": {words}, {path}[1].name: Invalid value: "cpu": {words}]'
    )


@pytest.mark.parametrize(
    ("quota", "spec", "words"),
    [
        pytest.param(0, {}, "", id="none", marks=covers("OBJECT-040")),
        pytest.param(
            "-1500m",
            {},
            f'{CPU}.nominalQuota: Invalid value: "-1500m": {NEGATIVE}',
            id="less-than-none",
            marks=covers("OBJECT-040"),
        ),
        pytest.param(a_quota(1, borrow=0, lend=0), {"cohortName": "some"}, "", id="limits", marks=covers("OBJECT-041")),
        pytest.param(
            a_quota(1, borrow="-1k"),
            {"cohortName": "some"},
            f'{CPU}.borrowingLimit: Invalid value: "-1k": {NEGATIVE}',
            id="borrows-less-than-none",
            marks=covers("OBJECT-041"),
        ),
        pytest.param(
            a_quota(1, lend=-1),
            {"cohortName": "some"},
            f'{CPU}.lendingLimit: Invalid value: "-1": {NEGATIVE}',
            id="lends-less-than-none",
            marks=covers("OBJECT-041"),
        ),
        pytest.param(
            a_quota(1, lend=1),
            {},
            f'{CPU}.lendingLimit: Invalid value: "1": must be nil when cohort is empty',
            id="nobody-to-lend-to",
            marks=covers("OBJECT-042"),
        ),
        pytest.param(
            a_quota(1, lend="1001m"),
            {"cohortName": "some"},
            f'{CPU}.lendingLimit: Invalid value: "1001m": must be less than or equal to the nominalQuota',
            id="lends-more-than-it-has",
            marks=covers("OBJECT-043"),
        ),
        pytest.param(
            a_quota(1, lend="1000m"), {"cohortName": "some"}, "", id="lends-all-it-has", marks=covers("OBJECT-043")
        ),
    ],
)
def test_amounts_mean_something(lab: Lab, quota: Quota, spec: Mapping[str, Any], words: str) -> None:
    """A quota is not negative, and has no limits in a ClusterQueue without a cohort."""
    message = lab.denied(a_cluster_queue(lab.name("cq"), [a_group({"one": {"cpu": quota}})], **spec))

    assert message == (f"{DENIED}{words}" if words else "")


@covers("OBJECT-040", "OBJECT-041", "OBJECT-042", "OBJECT-043")
def test_faults_are_told_as_they_are_found(lab: Lab) -> None:
    """Resource by resource: what there is, then what is lent of it."""
    group = a_group({"one": {"cpu": a_quota(-2, lend=-1), "memory": -3}})
    faults = (
        f'{CPU}.nominalQuota: Invalid value: "-2": {NEGATIVE}',
        f'{CPU}.lendingLimit: Invalid value: "-1": {NEGATIVE}',
        f'{CPU}.lendingLimit: Invalid value: "-1": must be nil when cohort is empty',
        f'{CPU}.lendingLimit: Invalid value: "-1": must be less than or equal to the nominalQuota',
        f'{FLAVOR}.resources[1].nominalQuota: Invalid value: "-3": {NEGATIVE}',
    )

    assert lab.denied(a_cluster_queue(lab.name("cq"), [group])) == f"{DENIED}[{', '.join(faults)}]"


@covers("OBJECT-045")
@pytest.mark.parametrize(
    ("expression", "words"),
    [
        pytest.param({"key": "a", "operator": "In", "values": ["b"]}, "", id="in"),
        pytest.param(
            {"key": "a", "operator": "NotIn"},
            f"{EXPRESSION}.values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
            id="not-in-nothing",
        ),
        pytest.param(
            {"key": "a", "operator": "Exists", "values": ["b"]},
            f"{EXPRESSION}.values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            id="exists-as",
        ),
        pytest.param(
            {"key": "a", "operator": "Gt", "values": ["1"]},
            f'{EXPRESSION}.operator: Invalid value: "Gt": not a valid selector operator',
            id="greater",
        ),
        pytest.param(
            {"key": "a", "values": ["1"]},
            f'{EXPRESSION}.operator: Invalid value: "": not a valid selector operator',
            id="no-operator",
        ),
        pytest.param(
            {"key": "a b", "operator": "Exists"},
            f'{EXPRESSION}.key: Invalid value: "a b": name part {NO_KEY}',
            id="no-key",
        ),
        pytest.param(
            {"key": "a", "operator": "In", "values": ["b", "c d"]},
            f'{EXPRESSION}.values[1]: Invalid value: "c d": {NO_VALUE}',
            id="no-value",
        ),
    ],
)
def test_namespaces_are_selected_in_known_ways(lab: Lab, expression: Mapping[str, Any], words: str) -> None:
    """A selector that cannot be read selects nothing, so it is not taken."""
    selector = {"matchExpressions": [expression]}
    message = lab.denied(a_cluster_queue(lab.name("cq"), [ONE], namespaceSelector=selector))

    assert message == (f"{DENIED}{words}" if words else "")


@covers("OBJECT-045")
def test_namespaces_are_selected_by_labels(lab: Lab) -> None:
    """A label that no namespace can have selects none."""
    made = a_cluster_queue(lab.name("cq"), [ONE], namespaceSelector={"matchLabels": {"a b": "c d"}})
    path = "spec.namespaceSelector.matchLabels: Invalid value:"

    assert lab.denied(made) == f'{DENIED}[{path} "a b": name part {NO_KEY}, {path} "c d": {NO_VALUE}]'


@covers("OBJECT-045")
@pytest.mark.parametrize("key", ["key", "operator"])
def test_a_changed_selector_says_what_it_compares(lab: Lab, key: str) -> None:
    """A field that an update does not have is missing."""
    name = lab.name("cq")
    lab.apply(a_cluster_queue(name, [ONE]))
    left = {other: word for other, word in {"key": "a", "operator": "Exists"}.items() if other != key}
    message = lab.denied(a_cluster_queue(name, [ONE], namespaceSelector={"matchExpressions": [left]}))

    assert f"{EXPRESSION}.{key}: Required value, " in message


@covers("OBJECT-046")
@pytest.mark.parametrize(
    ("weight", "words"),
    [
        pytest.param("0", "", id="none"),
        pytest.param("2n", "", id="small"),
        pytest.param("1n", 'Invalid value: "1n": When not 0, weight must be > 10e-9', id="too-small"),
        pytest.param("-1", f'Invalid value: "-1": {NEGATIVE}', id="less-than-none"),
    ],
)
def test_a_weight_can_be_reckoned_with(lab: Lab, weight: str, words: str) -> None:
    """Shares are divided by it."""
    message = lab.denied(a_cluster_queue(lab.name("cq"), [ONE], fairSharing={"weight": weight}))

    assert message == (f"{DENIED}spec.fairSharing: {words}" if words else "")


@pytest.mark.parametrize(
    ("flavors", "resources", "words"),
    [
        pytest.param(
            [64, 64, 64, 64, 1],
            [1] * 5,
            f"{GROUPS}: Invalid value: 257: total number of flavors across all resourceGroups must be ≤ 256, got 257",
            id="flavors",
            marks=covers("OBJECT-047"),
        ),
        pytest.param(
            [1] * 5,
            [64, 64, 64, 64, 1],
            f"{GROUPS}: Invalid value: 257: "
            "total number of covered resources across all resourceGroups must be ≤ 256, got 257",
            id="resources",
            marks=covers("OBJECT-047"),
        ),
        pytest.param([64] * 4, [1] * 4, "", id="256-flavors", marks=covers("OBJECT-047")),
        pytest.param(
            [19],
            [27],
            f"{GROUPS}[0]: Invalid value: 513: "
            "number of flavor-resource combinations in a resourceGroup must be ≤ 512, got 513",
            id="quotas",
            marks=covers("OBJECT-048"),
        ),
        pytest.param([16], [32], "", id="512-quotas", marks=covers("OBJECT-048")),
    ],
)
def test_a_cluster_queue_is_not_too_large(
    lab: Lab, flavors: Sequence[int], resources: Sequence[int], words: str
) -> None:
    """Groups are counted together as well."""
    groups = [
        a_group({f"f{index}-{flavor}": {f"r{index}-{each}": 1 for each in range(size)} for flavor in range(count)})
        for index, (count, size) in enumerate(zip(flavors, resources, strict=True))
    ]
    message = lab.denied(a_cluster_queue(lab.name("cq"), groups))

    assert message == (f"{DENIED}{words}" if words else "")
