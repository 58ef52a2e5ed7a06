"""Writes over a stored object."""

from __future__ import annotations

from typing import cast

import pytest

from kueue_dra_clusters.api_client import Answer, APIClient
from kueue_dra_clusters.apply import merged_status, overlaid, write
from kueue_dra_clusters.ownership import Ownership
from kueue_dra_clusters.waiting import WaitLimits
from kueue_dra_ref.target import Manifest, Ref
from tests.clusters_live.manifests import a_job, a_stored_job, a_workload, an_object


def test_a_replaced_job_keeps_what_kueue_and_the_api_server_own() -> None:
    """Suspension, selector and the labels of its pods stay; the rest is the manifest's."""
    stored = a_stored_job(suspend=False)
    stored["spec"]["selector"] = {"matchLabels": {"uid": "j"}}
    stored["spec"]["template"]["metadata"] = {"labels": {"uid": "j"}}

    written = overlaid(stored, a_job("j", "gpus-3"), a_job("j"))

    assert written["spec"]["suspend"] is False
    assert written["spec"]["selector"] == {"matchLabels": {"uid": "j"}}
    assert written["spec"]["template"]["metadata"] == {"labels": {"uid": "j"}}
    assert written["spec"]["template"]["spec"]["resourceClaims"][0]["resourceClaimTemplateName"] == "gpus-3"
    assert written["metadata"]["uid"] == "j"


def test_what_was_not_changed_in_a_job_stays_as_kueue_left_it() -> None:
    """Kueue writes into the pod template of a running Job, which must not change any more."""
    stored = a_stored_job(suspend=False)
    stored["spec"]["template"]["spec"]["nodeSelector"] = {"flavor": "a"}

    written = overlaid(stored, a_job("j"), a_job("j"))

    assert written["spec"] == stored["spec"]


def test_a_replaced_object_has_no_field_that_the_manifest_lacks() -> None:
    """Replacing is not merging."""
    stored = an_object("v1", "ConfigMap", "c", "team", data={"old": "1"})

    assert "data" not in overlaid(stored, an_object("v1", "ConfigMap", "c", "team"), {})


def test_conditions_are_merged_by_their_type() -> None:
    """Kueue's part of the status is kept next to what the test writes as a controller."""
    stored = a_workload(QuotaReserved="True")

    status = merged_status(stored, {"conditions": [{"type": "Finished", "status": "True", "reason": "Succeeded"}]})

    kinds = {each["type"]: each for each in status["conditions"]}
    assert kinds.keys() == {"QuotaReserved", "Finished"}
    assert kinds["Finished"]["reason"] == "Succeeded"
    assert kinds["Finished"]["lastTransitionTime"]
    assert status["admission"] == {"clusterQueue": "team"}


def test_a_job_that_is_done_has_what_the_api_server_demands() -> None:
    """Complete needs a start, an end and the criteria met before it."""
    status = merged_status(a_stored_job(), {"conditions": [{"type": "Complete", "status": "True"}], "succeeded": 1})

    assert [each["type"] for each in status["conditions"]] == ["SuccessCriteriaMet", "Complete"]
    assert status["startTime"] == status["completionTime"]
    assert (status["active"], status["succeeded"]) == (0, 1)


def test_without_labels_everything_is_ours() -> None:
    """On a control plane of our own nothing is marked."""
    job = a_job("a")

    assert Ownership().labelled(job) is job
    assert Ownership().covers(job)


def test_with_labels_only_what_carries_them_is_ours() -> None:
    """A label of another run belongs to that run."""
    ownership = Ownership(labels={"run": "1"})

    assert ownership.covers(ownership.labelled(a_job("a")))
    assert not ownership.covers(Ownership(labels={"run": "2"}).labelled(a_job("a")))
    assert not ownership.covers(a_job("a"))


class _Webhook:
    """An API server whose webhook does not find the runtime of a TrainJob in its first answers."""

    def __init__(self, *, answers: list[Answer], stored: Manifest | None) -> None:
        self.answers = answers
        self.stored = stored
        self.limits = WaitLimits().scaled(0.02)

    def create(self, manifest: Manifest) -> Answer:
        """Give the next answer; the last one again and again."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def read(self, ref: Ref) -> Manifest | None:
        """Give the stored runtime."""
        return self.stored if ref == RUNTIME else None


RUNTIME = Ref(api_version="trainer.kubeflow.org/v1alpha1", kind="TrainingRuntime", name="r", namespace="team")
TRAIN_JOB = an_object(
    RUNTIME.api_version, "TrainJob", "t", "team", spec={"runtimeRef": {"kind": RUNTIME.kind, "name": "r"}}
)
DENIED = Answer(code=403, body={"message": "webhook \"vtrainjob.kb.io\" denied the request: runtime 'r' not found"})
OTHER = Answer(code=403, body={"message": "denied the request: no"})
CREATED = Answer(code=201, body={"metadata": {}})


@pytest.mark.parametrize(
    ("answers", "stored", "expected"),
    [
        pytest.param([DENIED, DENIED, CREATED], {"kind": RUNTIME.kind}, CREATED, id="late"),
        pytest.param([DENIED, CREATED], None, DENIED, id="missing"),
        pytest.param([DENIED], {"kind": RUNTIME.kind}, DENIED, id="never-found"),
        pytest.param([OTHER, CREATED], {"kind": RUNTIME.kind}, OTHER, id="another-reason"),
    ],
)
def test_a_train_job_waits_for_its_stored_runtime(
    answers: list[Answer], stored: Manifest | None, expected: Answer
) -> None:
    """Kueue's webhook reads the runtime from its informer, which may be later than the API server."""
    objects = cast("APIClient", _Webhook(answers=list(answers), stored=stored))

    assert write(objects, Ownership(), TRAIN_JOB, {}).answer is expected
