"""The claims of a Job's pods, as an API server takes them or refuses the Job."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import with_spec
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.rejections import ACCEPTED, RejectedFields, refused
from kueue_dra_ref.target import Manifest

CLAIMS = "spec.template.spec.resourceClaims"
USED = "spec.template.spec.containers[0].resources.claims"
DEVICES = {"name": "devices", "resourceClaimTemplateName": "t"}
OF_BOTH = {"name": "devices", "resourceClaimTemplateName": "t", "resourceClaimName": "c"}


def a_job_with(lab: Lab, claims: list[dict[str, Any]], used: list[dict[str, Any]]) -> Manifest:
    """A Job whose pods have some claims, of which their container uses some."""
    made = lab.written(a_job(cpu="1"), lab.missing_queue())
    pod = made["spec"]["template"]["spec"]
    pod["containers"][0]["resources"]["claims"] = used
    return with_spec(made, template={"spec": {**pod, "resourceClaims": claims}})


@covers("API-036")
@pytest.mark.parametrize(
    ("claims", "answer"),
    [
        pytest.param([DEVICES, {"name": "more", "resourceClaimName": "c"}], ACCEPTED, id="two"),
        pytest.param([{"resourceClaimName": "c"}], refused(f"{CLAIMS}[0].name: Required value"), id="no-name"),
        pytest.param([DEVICES, DEVICES], refused(f"{CLAIMS}[1].name: Duplicate value"), id="name-twice"),
        pytest.param([DEVICES | {"name": "De"}], refused(f"{CLAIMS}[0].name: Invalid value"), id="name-in-capitals"),
        pytest.param([OF_BOTH], refused(f"{CLAIMS}[0]: Invalid value"), id="claim-and-template"),
        pytest.param([{"name": "devices"}], refused(f"{CLAIMS}[0]: Invalid value"), id="neither"),
        pytest.param(
            [{"name": "devices", "resourceClaimTemplateName": "T"}],
            refused(f"{CLAIMS}[0].resourceClaimTemplateName: Invalid value"),
            id="template-in-capitals",
        ),
    ],
)
def test_a_claim_of_a_pod_comes_from_somewhere(lab: Lab, claims: list[dict[str, Any]], answer: RejectedFields) -> None:
    """Each has a name in the pod, and names what it comes from."""
    assert lab.offer(a_job_with(lab, claims, [])) == answer


@covers("API-037")
@pytest.mark.parametrize(
    ("used", "answer"),
    [
        pytest.param([{"name": "devices"}], ACCEPTED, id="whole"),
        pytest.param([{"name": "devices", "request": "a"}], ACCEPTED, id="one-request"),
        pytest.param([{"name": "gpus"}], refused(f"{USED}[0]: Not found"), id="another"),
        pytest.param([{}], refused(f"{USED}[0]: Required value"), id="no-name"),
        pytest.param([{"name": "devices"}, {"name": "devices"}], refused(f"{USED}[1]: Duplicate value"), id="twice"),
        pytest.param(
            [{"name": "devices", "request": "a"}, {"name": "devices"}],
            refused(f"{USED}[1]: Duplicate value"),
            id="request-and-whole",
        ),
        pytest.param(
            [{"name": "devices", "request": "A"}],
            refused(f"{USED}[0].request: Invalid value"),
            id="request-in-capitals",
        ),
    ],
)
def test_a_container_uses_claims_of_its_pod(lab: Lab, used: list[dict[str, Any]], answer: RejectedFields) -> None:
    """A misspelled claim in a container is rejected before Kueue counts anything."""
    assert lab.offer(a_job_with(lab, [DEVICES], used)) == answer


@covers("API-037")
@pytest.mark.parametrize(
    ("claims", "words"),
    [
        pytest.param([DEVICES, {"name": "all", "resourceClaimName": "c"}], ": all, devices", id="some"),
        pytest.param([], " which is empty", id="none"),
    ],
)
def test_the_claims_that_there_are_are_told(lab: Lab, claims: list[dict[str, Any]], words: str) -> None:
    """The error lists the supported values."""
    made = a_job_with(lab, claims, [{"name": "gpus"}])

    assert lab.denied(made) == (
        f'Job.batch "{made["metadata"]["name"]}" is invalid: {USED}[0]: Not found: "gpus": '
        f"must be one of the names in pod.spec.resourceClaims{words}"
    )
