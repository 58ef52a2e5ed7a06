"""Cohorts that cannot be made: by Kueue's definition of them, and by Kueue itself (Kueue 0.19, CRDs and webhooks)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import Quota, a_group, a_quota, an_object
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.rejections import ACCEPTED, refused

DENIED = 'admission webhook "vcohort.kb.io" denied the request: '
GROUP = "spec.resourceGroups[0]"
CPU = f"{GROUP}.flavors[0].resources[0]"
NEGATIVE = "must be greater than or equal to 0"


@pytest.mark.parametrize(
    ("group", "fault"),
    [
        pytest.param({"flavors": []}, "coveredResources", id="resources", marks=covers("OBJECT-007")),
        pytest.param({"coveredResources": ["cpu"]}, "flavors", id="flavors", marks=covers("OBJECT-007")),
        pytest.param(
            {"coveredResources": ["cpu"], "flavors": [{"resources": [{"name": "cpu", "nominalQuota": 1}]}]},
            "flavors[0].name",
            id="name-of-a-flavor",
            marks=covers("OBJECT-007"),
        ),
        pytest.param(
            {"coveredResources": ["cpu"], "flavors": [{"name": "one"}]},
            "flavors[0].resources",
            id="quotas",
            marks=covers("OBJECT-007"),
        ),
        pytest.param(
            {"coveredResources": ["cpu"], "flavors": [{"name": "one", "resources": [{"nominalQuota": 1}]}]},
            "flavors[0].resources[0].name",
            id="name-of-a-resource",
            marks=covers("OBJECT-007"),
        ),
        pytest.param(
            {"coveredResources": ["cpu"], "flavors": [{"name": "one", "resources": [{"name": "cpu"}]}]},
            "flavors[0].resources[0].nominalQuota",
            id="amount",
            marks=covers("OBJECT-008"),
        ),
    ],
)
def test_a_cohort_says_of_what_there_is_how_much(lab: Lab, group: Mapping[str, Any], fault: str) -> None:
    """Nothing gets a default."""
    message = lab.denied(an_object("Cohort", lab.name("cohort"), resourceGroups=[group]))

    assert f"{GROUP}.{fault}: Required value, " in message


@covers("OBJECT-003")
def test_a_cohort_has_not_too_many_groups(lab: Lab) -> None:
    """As many as a ClusterQueue."""
    groups = [a_group({f"f{index}": {f"r{index}": 1}}) for index in range(17)]

    answer = refused("spec.resourceGroups: Too many")
    assert lab.offer(an_object("Cohort", lab.name("cohort"), resourceGroups=groups)) == answer


@covers("OBJECT-011")
@pytest.mark.parametrize(
    ("parent", "answer"),
    [
        pytest.param("some", ACCEPTED, id="name"),
        pytest.param("Some", refused("spec.parentName: Invalid value"), id="capital"),
        pytest.param("a" * 254, refused("spec.parentName: Too long"), id="long"),
    ],
)
def test_the_parent_of_a_cohort_can_be_there(lab: Lab, parent: str, answer: object) -> None:
    """A name that no Cohort can have is not waited for."""
    assert lab.offer(an_object("Cohort", lab.name("cohort"), parentName=parent)) == answer


@covers("OBJECT-025")
def test_flavors_of_a_cohort_have_quota_of_the_same_resources(lab: Lab) -> None:
    """As in a ClusterQueue."""
    group = a_group({"one": {"cpu": 1, "memory": 1}, "other": {"cpu": 1}})

    answer = refused(f"{GROUP}: Invalid value")
    assert lab.offer(an_object("Cohort", lab.name("cohort"), resourceGroups=[group])) == answer


@pytest.mark.parametrize(
    ("quota", "spec", "words"),
    [
        pytest.param(
            -1, {}, f'{CPU}.nominalQuota: Invalid value: "-1": {NEGATIVE}', id="negative", marks=covers("OBJECT-040")
        ),
        pytest.param(
            a_quota(1, borrow=1),
            {},
            f'{CPU}.borrowingLimit: Invalid value: "1": must be nil when parent is empty',
            id="nobody-to-borrow-from",
            marks=covers("OBJECT-042"),
        ),
        pytest.param(
            a_quota(1, lend=1),
            {},
            f'{CPU}.lendingLimit: Invalid value: "1": must be nil when parent is empty',
            id="nobody-to-lend-to",
            marks=covers("OBJECT-042"),
        ),
        pytest.param(
            a_quota(1, borrow=1, lend=1), {"parentName": "some"}, "", id="with-a-parent", marks=covers("OBJECT-042")
        ),
        pytest.param(
            a_quota(1, lend=2), {"parentName": "some"}, "", id="lends-of-those-below", marks=covers("OBJECT-043")
        ),
        pytest.param(
            a_quota(-1),
            {"fairSharing": {"weight": "-1"}},
            f'[spec.fairSharing: Invalid value: "-1": {NEGATIVE}, {CPU}.nominalQuota: Invalid value: "-1": {NEGATIVE}]',
            id="weight",
            marks=covers("OBJECT-046"),
        ),
    ],
)
def test_amounts_of_a_cohort_mean_something(lab: Lab, quota: Quota, spec: Mapping[str, Any], words: str) -> None:
    """A Cohort without a parent shares only with the ClusterQueues and Cohorts below it."""
    groups = [a_group({"one": {"cpu": quota}})]
    message = lab.denied(an_object("Cohort", lab.name("cohort"), resourceGroups=groups, **spec))

    assert message == (f"{DENIED}{words}" if words else "")


@covers("OBJECT-038")
@pytest.mark.parametrize(
    ("groups", "words"),
    [
        pytest.param(
            [{"one": {"cpu": 1}}, {"other": {"cpu": 1}}],
            'spec.resourceGroups[1].coveredResources[0]: Duplicate value: "cpu"',
            id="resource",
        ),
        pytest.param(
            [{"one": {"cpu": 1}}, {"one": {"memory": 1}}],
            'spec.resourceGroups[1].flavors[0].name: Duplicate value: "one"',
            id="flavor",
        ),
    ],
)
def test_groups_of_a_cohort_share_nothing(
    lab: Lab, groups: Sequence[Mapping[str, Mapping[str, Quota]]], words: str
) -> None:
    """As in a ClusterQueue."""
    made = an_object("Cohort", lab.name("cohort"), resourceGroups=[a_group(group) for group in groups])

    assert lab.denied(made) == f"{DENIED}{words}"
