"""A real Kueue as the target: decisions are final when `settle` returns, and no object is left over."""

from __future__ import annotations

import threading

import pytest

from kueue_dra_clusters.api_client import Answer, APIClient
from kueue_dra_clusters.conditions import condition_of
from kueue_dra_clusters.informer import Informer
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.plane import Plane
from kueue_dra_clusters.waiting import NotYet, WaitLimits, eventually
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.target import Manifest, Ref
from tests.clusters_live.manifests import (
    CONFIGURATION,
    GPU,
    KUEUE,
    a_job,
    a_template,
    a_workload,
    a_world,
    an_object,
)

pytestmark = pytest.mark.live

OPEN = {
    "matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "kueue-system"]},
        {"key": "closed", "operator": "DoesNotExist"},
    ]
}
"""Selects the namespaces without a label ``closed``."""


def workloads(target: LiveTarget) -> dict[str, Manifest]:
    """Give the Workloads by the name of their Job."""
    found = target.list(KUEUE, "Workload", "team")
    return {each["metadata"].get("ownerReferences", [{"name": ""}])[0]["name"]: each for each in found}


def admitted(target: LiveTarget) -> set[str]:
    """Name the Jobs whose Workloads are admitted."""
    return {name for name, workload in workloads(target).items() if is_true(workload, "Admitted")}


def job_ref(name: str) -> Ref:
    """Name a Job."""
    return Ref(api_version="batch/v1", kind="Job", name=name, namespace="team")


def test_what_fits_is_admitted_and_its_job_runs(target: LiveTarget) -> None:
    """The charge is the count of devices, and the Job is no longer suspended."""
    assert target.apply([*a_world(gpus=2), a_job("a", "gpus-2")]) == []
    target.settle()

    assignment = workloads(target)["a"]["status"]["admission"]["podSetAssignments"][0]
    assert assignment["resourceUsage"] == {"cpu": "1", "whole-gpus": "2"}
    job = target.read(job_ref("a"))
    assert job is not None
    assert job["spec"]["suspend"] is False


def test_what_does_not_fit_has_its_condition_when_settled(target: LiveTarget) -> None:
    """Never admitted is proved by the condition and the fence."""
    target.apply([*a_world(gpus=1), a_job("a", "gpus-2")])
    target.settle()

    reserved = condition_of(workloads(target)["a"], "QuotaReserved")
    assert (reserved["status"], reserved["reason"]) == ("False", "Pending")
    assert "insufficient quota for whole-gpus" in reserved["message"]


def test_the_next_one_gets_in_after_a_release(target: LiveTarget) -> None:
    """A settle after a delete has the batched sweep behind it."""
    target.apply([*a_world(gpus=1), a_job("a"), a_job("b")])
    target.settle()
    assert admitted(target) == {"a"}

    target.delete([job_ref("a")])
    target.settle()
    assert workloads(target).keys() == {"b"}
    assert admitted(target) == {"b"}


def test_a_job_that_kueue_passed_over_is_shown_to_it_again(target: LiveTarget) -> None:
    """Kueue does not observe it, as if it observed a Job before the Job's Namespace."""
    assert target.start(CONFIGURATION | {"managedJobsNamespaceSelector": OPEN}) == ()
    closed, *others = a_world(gpus=1)
    target.apply([closed | {"metadata": {"name": "team", "labels": {"closed": ""}}}, *others, a_job("a")])
    target.settle()
    assert workloads(target) == {}

    target.apply([closed | {"metadata": {"name": "team", "labels": {}}}])
    target.settle()
    assert admitted(target) == {"a"}


@pytest.mark.parametrize("names", [["a", "b", "c"], ["c", "b", "a"]])
def test_jobs_of_one_apply_queue_in_the_order_given(target: LiveTarget, names: list[str]) -> None:
    """Order never hangs on UIDs."""
    target.apply([*a_world(gpus=1), *(a_job(name) for name in names)])
    target.settle()

    assert admitted(target) == {names[0]}
    stamps = [workloads(target)[name]["metadata"]["creationTimestamp"] for name in names]
    assert stamps == sorted(set(stamps))


def test_a_job_comes_when_its_template_was_told(target: LiveTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kueue rejects no Job for a template that exists, but that no watch has shown yet."""
    target.apply([*a_world(), a_job("a")])
    happened: list[str] = []
    take, create = Informer.take, APIClient.create

    def observed(shelf: Informer, event: str, found: Manifest) -> None:
        if shelf.plural == "resourceclaimtemplates":
            threading.Event().wait(0.3)
            happened.append("observed")
        take(shelf, event, found)

    def created(objects: APIClient, manifest: Manifest) -> Answer:
        happened.append(manifest["kind"])
        return create(objects, manifest)

    monkeypatch.setattr(Informer, "take", observed)
    monkeypatch.setattr(APIClient, "create", created)
    target.apply([a_template("more"), a_job("b", "more")])

    assert happened == ["ResourceClaimTemplate", "observed", "Job"]


def test_queue_counts_are_there_when_settled(target: LiveTarget) -> None:
    """ClusterQueues and LocalQueues count reserving and pending workloads."""
    target.apply([*a_world(gpus=1), a_job("a"), a_job("b")])
    target.settle()

    for queue in (*target.list(KUEUE, "ClusterQueue"), *target.list(KUEUE, "LocalQueue")):
        status = queue["status"]
        assert (status["reservingWorkloads"], status["admittedWorkloads"], status["pendingWorkloads"]) == (1, 1, 1)


def queue_versions(target: LiveTarget) -> dict[str, str]:
    """Give the resourceVersion of each ClusterQueue."""
    return {
        each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in target.list(KUEUE, "ClusterQueue")
    }


def test_only_queues_that_something_happened_to_are_counted_anew(target: LiveTarget) -> None:
    """The status of another queue does not change; no status changes when nothing that counts happened."""
    manifests = [*a_world(gpus=2), *a_world("other")]
    target.apply([*manifests, a_job("a")])
    target.settle()
    first = queue_versions(target)
    target.apply([each for each in manifests if each["kind"] == "LocalQueue"])
    target.touch([job_ref("a")])
    target.settle()
    again = queue_versions(target)
    target.apply([a_job("b")])
    target.settle()
    later = queue_versions(target)

    assert first == again
    assert [name for name in first if first[name] != later[name]] == ["team"]


def test_a_finished_job_lets_the_next_one_in(target: LiveTarget) -> None:
    """The test acts as the Job controller by writing status."""
    target.apply([*a_world(gpus=1), a_job("a"), a_job("b")])
    target.settle()

    done = {"conditions": [{"type": "Complete", "status": "True"}], "succeeded": 1}
    assert target.apply([{**a_job("a"), "status": done}]) == []
    target.settle()

    assert is_true(workloads(target)["a"], "Finished")
    assert "b" in admitted(target)


def test_what_was_read_can_be_changed_and_applied_again(target: LiveTarget) -> None:
    """A Workload of Kueue is deactivated and activated, and a deleted one is created again from its last state."""
    target.apply([*a_world(gpus=1), a_job("a")])
    target.settle()

    for active, running in ((False, set()), (True, {"a"})):
        workload = workloads(target)["a"]
        workload.pop("status")
        workload["spec"]["active"] = active
        assert target.apply([workload]) == []
        target.settle()
        assert admitted(target) == running

    job = target.read(job_ref("a"))
    assert job is not None
    target.delete([job_ref("a")])
    for key in ("selector", "template"):
        job["spec"][key] = a_job("a")["spec"].get(key)
    job.pop("status")
    assert target.apply([job]) == []


def test_more_quota_lets_waiting_jobs_in(target: LiveTarget) -> None:
    """Replacing a queue is followed by a sweep."""
    target.apply([*a_world(gpus=1), a_job("a", "gpus-3")])
    target.settle()
    assert admitted(target) == set()

    assert target.apply(a_world(gpus=3)) == []
    target.settle()
    assert admitted(target) == {"a"}


def test_a_line_behind_a_strict_head_settles_without_a_condition(target: LiveTarget) -> None:
    """Kueue says nothing about what it never looked at."""
    target.apply([*a_world(gpus=1, strategy="StrictFIFO"), a_job("a", "gpus-2"), a_job("b")])
    target.settle()

    assert condition_of(workloads(target)["a"], "QuotaReserved")["status"] == "False"
    assert condition_of(workloads(target)["b"], "QuotaReserved") == {}


def test_a_job_whose_queue_does_not_exist_settles(target: LiveTarget) -> None:
    """Kueue retries such a DRA workload by backoff and writes no condition."""
    target.apply([*a_world(), a_job("a", queue="nowhere")])
    target.settle()

    assert condition_of(workloads(target)["a"], "QuotaReserved") == {}


def test_a_missing_template_is_recovered_by_a_touch(target: LiveTarget) -> None:
    """After the template is created, Kueue tries the touched workload again at once."""
    target.apply([*a_world(), a_job("a", "late")])
    target.settle()
    assert '"late" not found' in condition_of(workloads(target)["a"], "QuotaReserved")["message"]

    target.apply([a_template("late")])
    target.touch([job_ref("a")])
    target.settle()
    assert admitted(target) == {"a"}


def test_an_unmapped_class_is_recovered_by_a_restart(target: LiveTarget) -> None:
    """Kueue decides on the same objects again under the new mapping."""
    assert target.start({}) == ()
    target.apply([*a_world(), a_job("a")])
    target.settle()
    assert f"DeviceClass {GPU} is not mapped" in condition_of(workloads(target)["a"], "QuotaReserved")["message"]

    assert target.start(CONFIGURATION) == ()
    target.settle()
    assert admitted(target) == {"a"}


def test_a_refused_configuration_leaves_the_running_kueue_alone(target: LiveTarget) -> None:
    """The errors are values, and decisions go on being made."""
    twice = CONFIGURATION["resources"]["deviceClassMappings"] * 2
    wrong = {"resources": {"deviceClassMappings": twice}}
    faults = target.start(wrong)
    assert {fault.type for fault in faults} == {"Duplicate value"}
    assert target.check(wrong) == faults
    assert target.check(CONFIGURATION) == ()

    target.apply([*a_world(), a_job("a")])
    target.settle()
    assert admitted(target) == {"a"}


def test_a_preemption_is_over_when_settled(target: LiveTarget) -> None:
    """The victim waits, its Job is suspended, and the one with priority runs."""
    low, high = (an_object(KUEUE, "WorkloadPriorityClass", name, value=v) for name, v in (("low", 1), ("high", 9)))
    manifests = a_world(gpus=1)
    manifests[2]["spec"]["preemption"] = {"withinClusterQueue": "LowerPriority"}
    victim, preemptor = a_job("victim"), a_job("preemptor")
    victim["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "low"
    preemptor["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "high"

    target.apply([low, high, *manifests, victim])
    target.settle()
    target.apply([preemptor])
    target.settle()

    assert admitted(target) == {"preemptor"}
    assert is_true(workloads(target)["victim"], "Evicted")
    stored = target.read(job_ref("victim"))
    assert stored is not None
    assert stored["spec"]["suspend"] is True


@pytest.mark.parametrize(
    ("manifest", "code", "words"),
    [
        pytest.param(
            an_object(KUEUE, "ClusterQueue", "bad", spec={"queueingStrategy": "Sometimes"}),
            422,
            "Sometimes",
            id="schema",
        ),
        pytest.param(
            an_object(KUEUE, "LocalQueue", "main", "missing", spec={"clusterQueue": "x"}),
            404,
            "missing",
            id="namespace",
        ),
        pytest.param(an_object("resource.k8s.io/v9", "DeviceClass", "x", spec={}), 404, "could not find", id="version"),
    ],
)
def test_what_the_api_server_refuses_is_a_value(target: LiveTarget, manifest: Manifest, code: int, words: str) -> None:
    """A refusal names the object, the code and the server's words; what follows is applied."""
    refusals = target.apply([manifest, *a_world()])

    assert [(refusal.ref, refusal.code) for refusal in refusals] == [(Ref.of(manifest), code)]
    assert words in refusals[0].message
    assert len(target.list(KUEUE, "ClusterQueue")) == 1


def test_a_webhooks_words_are_those_of_kueue(target: LiveTarget) -> None:
    """Kueue's own webhook refuses what the schema lets through."""
    manifests = a_world()
    flavor = manifests[2]["spec"]["resourceGroups"][0]["flavors"][0]
    flavor["resources"].reverse()

    refusals = target.apply(manifests)
    assert [refusal.ref.kind for refusal in refusals] == ["ClusterQueue"]
    assert "spec.resourceGroups[0].flavors[0].resources[0].name" in refusals[0].message


def test_objects_are_read_in_the_version_asked_for(target: LiveTarget) -> None:
    """Conversion is the real one: v1beta1 calls the cohort otherwise."""
    manifests = a_world()
    manifests[2]["spec"]["cohortName"] = "together"
    target.apply(manifests)

    old = target.read(Ref(api_version="kueue.x-k8s.io/v1beta1", kind="ClusterQueue", name="team"))
    assert old is not None
    assert old["spec"]["cohort"] == "together"


def test_a_plain_workload_is_judged_too(target: LiveTarget) -> None:
    """No Job is needed, and its status can be written."""
    template = a_job("x")["spec"]["template"]
    workload = an_object(
        KUEUE,
        "Workload",
        "plain",
        "team",
        spec={"queueName": "main", "podSets": [{"name": "main", "count": 1, "template": template}]},
    )
    target.apply([*a_world(gpus=1), workload, a_job("b")])
    target.settle()
    assert admitted(target) == {""}

    done = {"conditions": [{"type": "Finished", "status": "True", "reason": "Succeeded", "message": "done"}]}
    assert target.apply([{**workload, "status": done}]) == []
    target.settle()
    assert "b" in admitted(target)


def test_deleting_what_is_not_there_is_no_fault(target: LiveTarget) -> None:
    """Neither an absent name nor an absent namespace is."""
    target.delete(
        [job_ref("missing"), Ref.of(a_workload("missing")), Ref(api_version="v1", kind="Namespace", name="x")]
    )


def test_a_cluster_queue_in_use_stays_and_stops(target: LiveTarget) -> None:
    """Deleting it returns although Kueue keeps it, and later Jobs wait."""
    target.apply([*a_world(gpus=2), a_job("a")])
    target.settle()
    target.delete([Ref(api_version=KUEUE, kind="ClusterQueue", name="team")])
    target.settle()

    queue = target.read(Ref(api_version=KUEUE, kind="ClusterQueue", name="team"))
    assert queue is not None
    assert condition_of(queue, "Active")["reason"] == "Terminating"


def test_cleaning_leaves_nothing_and_names_can_be_used_again(target: LiveTarget) -> None:
    """Namespaces vanish too, although no namespace controller runs."""
    for _ in range(2):
        target.apply([*a_world(gpus=1), a_job("a"), a_job("b", "gpus-3")])
        target.settle()
        assert admitted(target) == {"a"}
        target.clean()

        for kind in ("Workload", "LocalQueue", "ClusterQueue", "ResourceFlavor"):
            assert target.list(KUEUE, kind) == []
        assert target.read(Ref(api_version="v1", kind="Namespace", name="team")) is None


def _require_finished(workload: Manifest | None) -> None:
    if not workload or not is_true(workload, "Finished"):
        raise NotYet("not finished")


def _require_quota(workload: Manifest | None) -> None:
    if not workload or not is_true(workload, "QuotaReserved"):
        raise NotYet("no quota")


def test_a_late_workload_of_a_deleted_job_is_not_taken_for_that_of_the_next_one(
    target: LiveTarget, plane: Plane
) -> None:
    """Kueue may create it after the deletion, and finds the Workloads of a Job by the Job's name."""
    target.apply([*a_world(gpus=1), a_job("a", "gpus-3")])
    target.settle()
    late = workloads(target)["a"]
    target.delete([job_ref("a")])
    late["metadata"] = {key: late["metadata"][key] for key in ("name", "namespace", "ownerReferences")}
    late.pop("status")
    objects = plane.objects(WaitLimits())
    assert objects.create(late).ok
    eventually(lambda: _require_finished(objects.read(Ref.of(late))), within=10, what="Kueue to finish the orphan")

    assert target.apply([a_job("a")]) == []
    target.settle()
    assert admitted(target) == {"a"}


def test_a_late_workload_of_deleted_pods_keeps_no_queue(
    target: LiveTarget, plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kueue may admit it after its pods were deleted, and then a deleted ClusterQueue stays as long as it."""
    target.apply([*a_world(gpus=1), a_job("a")])
    target.settle()
    late = workloads(target)["a"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "gone", "uid": "gone", "controller": True}
    late["metadata"] = {"name": "late", "namespace": "team", "ownerReferences": [owner]}
    late.pop("status")
    pod = late["spec"]["podSets"][0]["template"]["spec"]
    del pod["resourceClaims"], pod["containers"][0]["resources"]["claims"]  # its template is gone by then
    objects = plane.objects(WaitLimits())
    delete = APIClient.delete

    def delete_late(client: APIClient, ref: Ref) -> Answer:
        if ref.kind == "LocalQueue":
            assert objects.create(late).ok
            eventually(lambda: _require_quota(objects.read(Ref.of(late))), within=10, what="Kueue to admit it")
        return delete(client, ref)

    monkeypatch.setattr(APIClient, "delete", delete_late)
    target.clean()
    assert target.list(KUEUE, "Workload") == target.list(KUEUE, "ClusterQueue") == []


def test_the_same_configuration_again_does_nothing(target: LiveTarget, plane: Plane) -> None:
    """Kueue is not restarted: its log goes on."""
    before = plane.kueue.log()
    assert target.start(dict(CONFIGURATION)) == ()

    assert plane.kueue.log().startswith(before)


def test_a_description_names_versions_and_no_places(target: LiveTarget) -> None:
    """The description in reports is the same on every machine."""
    described = target.describe()

    assert described["kind"] == "kueue"
    assert str(described["kueue"]).startswith("v0.19.")
    assert described["kubernetes"].startswith("v1.")
    assert "v1" in described["resourceVersions"]
    assert "127.0.0.1" not in str(described)
