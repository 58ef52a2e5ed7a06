"""Resource groups: what a ClusterQueue may not say, and that Kueue itself denies it (Kueue 0.19, webhooks)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import a_cluster_queue
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused

DENIED = refused("403")


@pytest.mark.parametrize(
    ("groups", "answer"),
    [
        pytest.param(
            [{"one": {"cpu": 1}}, {"other": {"whole-gpus": 1}}],
            ACCEPTED,
            id="nothing-in-common",
            marks=covers("QUEUE-026", "QUEUE-027"),
        ),
        pytest.param(
            [{"one": {"whole-gpus": 1}}, {"other": {"whole-gpus": 1}}],
            DENIED,
            id="a-resource-in-common",
            marks=covers("QUEUE-026"),
        ),
        pytest.param(
            [{"one": {"cpu": 1}}, {"one": {"whole-gpus": 1}}],
            DENIED,
            id="a-flavor-in-common",
            marks=covers("QUEUE-027"),
        ),
        pytest.param(
            [{"one": {"whole-gpus": 1}, "other": {"whole-gpus": 1}}],
            ACCEPTED,
            id="two-flavors-of-one-group",
            marks=covers("QUEUE-026"),
        ),
    ],
)
def test_groups_of_a_cluster_queue_share_nothing(
    lab: Lab, groups: Sequence[Mapping[str, Mapping[str, int]]], answer: RejectedFields
) -> None:
    """A resource, and a flavor, is of one group, so that quota for it is found in one place."""
    assert lab.offer(a_cluster_queue(lab.name("cq"), lab.groups(groups))) == answer
