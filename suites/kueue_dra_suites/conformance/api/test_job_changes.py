"""Updates of Jobs: which fields are immutable, and which may change while the Job waits."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, on_nodes_where
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import with_spec
from kueue_dra_fixtures.marks import covers, on_kubernetes
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_ref.target import Manifest

STAYS = refused("spec.template.spec: Invalid value")
KEY = {"key": "example.com/model", "operator": "Exists"}


def made(lab: Lab, **spec: Any) -> Manifest:
    """Make a Job that waits, for its queue is missing."""
    job = with_spec(lab.written(a_job(cpu="1"), lab.missing_queue()), **spec)
    lab.apply(job)
    return job


def repodded(job: Manifest, container: Manifest | None = None, **pod: Any) -> Manifest:
    """Change some of the container and some of the pod of a Job."""
    template = job["spec"]["template"]
    containers = [template["spec"]["containers"][0] | (container or {})]
    return with_spec(job, template={**template, "spec": template["spec"] | {"containers": containers} | pod})


@covers("API-047")
@pytest.mark.parametrize(
    ("before", "after", "answer"),
    [
        pytest.param({"completions": 2}, {"completions": 2, "parallelism": 2}, ACCEPTED, id="pods-at-once"),
        pytest.param({"completions": 2}, {"completions": 3}, refused("spec.completions: Invalid value"), id="more"),
        pytest.param(
            {"completions": 2, "parallelism": 2},
            {"completions": 3, "parallelism": 3},
            refused("spec.completions: Invalid value"),
            id="more-in-tandem",
        ),
        pytest.param(
            {"completionMode": "Indexed", "completions": 2, "parallelism": 2},
            {"completions": 3, "parallelism": 3},
            ACCEPTED,
            id="indexed-in-tandem",
        ),
        pytest.param(
            {"completionMode": "Indexed", "completions": 2, "parallelism": 2},
            {"completions": 3},
            refused("spec.completions: Invalid value"),
            id="indexed-alone",
        ),
    ],
)
def test_completions_stay(lab: Lab, before: dict[str, Any], after: dict[str, Any], answer: RejectedFields) -> None:
    """The parallelism may change separately."""
    job = made(lab, **before)

    assert lab.offer(with_spec(job, **after)) == answer


@covers("API-048")
@pytest.mark.parametrize(
    ("change", "answer"),
    [
        pytest.param({"container": {"image": "other"}}, STAYS, id="image"),
        pytest.param({"container": {"name": "other"}}, STAYS, id="name"),
        pytest.param({"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}, STAYS, id="claims"),
        pytest.param({"priorityClassName": "system-node-critical"}, STAYS, id="priority-class"),
        pytest.param({"initContainers": [{"name": "first", "image": "none"}]}, STAYS, id="another-container"),
        pytest.param({"container": {"resources": {"requests": {"cpu": "2"}}}}, ACCEPTED, id="resources"),
        pytest.param(
            {"container": {"resources": {"requests": {"cpu": "2"}}}},
            refused("spec.template: Invalid value"),
            id="resources-in-1.33",
            marks=on_kubernetes("1.33"),
        ),
        pytest.param(
            {"nodeSelector": {"example.com/model": "a"}}, ACCEPTED, id="nodes-in-1.33", marks=on_kubernetes("1.33")
        ),
        pytest.param({"container": {"resources": {"requests": {"cpu": "1000m"}}}}, ACCEPTED, id="the-same-amount"),
        pytest.param({"nodeSelector": {"example.com/model": "a"}}, ACCEPTED, id="nodes"),
        pytest.param({"tolerations": [KEY]}, ACCEPTED, id="tolerations"),
        pytest.param({"affinity": on_nodes_where(KEY)}, ACCEPTED, id="affinity"),
    ],
)
def test_the_pods_of_a_job_that_waits_may_go_elsewhere(
    lab: Lab, change: dict[str, Any], answer: RejectedFields
) -> None:
    """They do what they did, with what they had; only where, and with how much, is open."""
    assert lab.offer(repodded(made(lab), **change)) == answer


@covers("API-048")
@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"container": {"resources": {"requests": {"cpu": "2"}}}}, id="resources"),
        pytest.param({"tolerations": [KEY]}, id="tolerations"),
    ],
)
def test_the_pods_of_a_job_that_was_admitted_stay(lab: Lab, change: dict[str, Any]) -> None:
    """Kueue has let it go, and it is suspended no more."""
    queue = lab.queue({"cpu": 3})
    job = lab.written(a_job(cpu="1"), queue)
    lab.apply(job)
    lab.settle()

    assert lab.offer(repodded(job, **change)) == refused("spec.template: Invalid value")


@covers("API-049")
@pytest.mark.parametrize(
    ("field", "before", "after"),
    [
        pytest.param("completionMode", {"completions": 2}, {"completionMode": "Indexed"}, id="mode"),
        pytest.param(
            "backoffLimitPerIndex",
            {"completionMode": "Indexed", "completions": 2, "backoffLimitPerIndex": 1},
            {"backoffLimitPerIndex": 2},
            id="failures-per-index",
        ),
    ],
)
def test_how_a_job_ends_stays(lab: Lab, field: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    """The criteria for the end of a Job are fixed when it is created."""
    assert lab.offer(with_spec(made(lab, **before), **after)) == refused(f"spec.{field}: Invalid value")
