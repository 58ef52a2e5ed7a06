"""ProvisioningRequests: a cluster autoscaler is asked for the nodes of work with quota (text silent)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from kueue_dra_fixtures.builders import Work, a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.containers import limited
from kueue_dra_fixtures.lab.autoscaler import CLASS, Autoscaler
from kueue_dra_fixtures.lab.jobs import Job
from kueue_dra_fixtures.lab.lab import Lab, Queue
from kueue_dra_fixtures.manifests import an_object
from kueue_dra_fixtures.marks import covers, needs_provisioning, owns_kueue
from kueue_dra_fixtures.verdicts import admitted, evicted
from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.api.provisioning import CONTROLLER
from kueue_dra_ref.target import Ref

pytestmark = needs_provisioning

CARD = "example.com/card"
CLAIM = a_template(gpu())
CARDS = a_job(pods=2, claims=[CLAIM])
AGAIN = {"backoffBaseSeconds": 0, "backoffLimitCount": 1}
NEVER = {"backoffLimitCount": 0}
LATER = {"backoffBaseSeconds": 600}


def asking(lab: Lab, *checks: str, quota: int = 2, **spec: Any) -> Queue:
    """A queue of two cards, eight cpus and two extended resources whose checks ask a cluster autoscaler."""
    named = [{"name": check} for check in checks]
    strategy: dict[str, Any] = {"admissionChecksStrategy": {"admissionChecks": named}}
    return lab.queue({"whole-gpus": quota, "cpu": 8, CARD: 4}, **strategy, **spec)


def asked_once(lab: Lab) -> tuple[Autoscaler, str, Job]:
    """A cluster autoscaler, a check, and a workload with its first request, which waits for an answer."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check()
    job = asking(lab, check).submit(CARDS)
    autoscaler.expect(lambda: autoscaler.numbers(job), [1])
    return autoscaler, check, job


def state(lab: Lab, job: Job, check: str) -> str:
    """The state of the check of a job."""
    return lab.checks(job).get(check, "")


@covers("PROV-002", "PROV-003")
def test_quota_is_held_until_the_nodes_are_provisioned(lab: Lab) -> None:
    """The request has the pods of the Job; its devices are charged from the reservation on."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check()
    queue = asking(lab, check)
    job = queue.submit(CARDS)
    other = queue.submit(CARDS)

    autoscaler.expect(lambda: autoscaler.numbers(job), [1])
    assert autoscaler.pods(job) == {"main": 2}
    assert autoscaler.newest(job)["spec"]["provisioningClassName"] == CLASS
    assert lab.checks(job) == {check: "Pending"}
    assert lab.is_suspended(job)
    assert lab.admission(other) is None
    assert queue.figures.counts.reserving == 1

    autoscaler.answer(job, "Provisioned", message="here they are")
    autoscaler.expect(lambda: lab.verdict(job), admitted({"whole-gpus": 2}))
    assert lab.check_state(job, check)["message"] == "here they are"
    assert "requeueAfterSeconds" not in lab.check_state(job, check)
    assert "requeueState" not in lab.workload(job)["status"]
    assert not lab.is_suspended(job)

    autoscaler.answer(job, "Provisioned", message="once more")
    lab.settle()
    assert lab.check_state(job, check)["message"] == "here they are"


@covers("PROV-003")
def test_the_template_of_a_request_has_the_claims(lab: Lab) -> None:
    """It has the node labels of the flavor as well: only the cluster autoscaler can count the devices."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check()
    flavor = lab.flavor(nodeLabels={"pool": "a"})
    named: dict[str, Any] = {"admissionChecksStrategy": {"admissionChecks": [{"name": check}]}}
    job = lab.queue(groups=[{flavor: {"whole-gpus": 2}}], **named).submit(CARDS)

    autoscaler.expect(lambda: autoscaler.numbers(job), [1])
    (template,) = autoscaler.templates(job)
    (claim,) = template["spec"]["resourceClaims"]
    assert claim["resourceClaimTemplateName"]
    assert template["spec"]["nodeSelector"] == {"pool": "a"}


@covers("PROV-003")
def test_the_template_of_a_request_has_limits_as_requests(lab: Lab) -> None:
    """The container of the Job requests nothing itself."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(managedResources=["cpu"])
    job = asking(lab, check).submit(a_job(spec={"containers": limited(cpu="1")}))

    autoscaler.expect(lambda: autoscaler.numbers(job), [1])
    (template,) = autoscaler.templates(job)
    (container,) = template["spec"]["containers"]
    assert container["resources"] == {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}


@covers("PROV-001")
def test_a_check_without_its_configuration_is_inactive(lab: Lab) -> None:
    """Once the configuration is there, the ClusterQueue is active."""
    autoscaler = Autoscaler(lab=lab)
    name = lab.name("prov")
    autoscaler.check_of("ProvisioningRequestConfig", name, name=name)
    queue = asking(lab, name)
    job = queue.submit(CARDS)

    assert queue.figures.active == ("False", "AdmissionCheckInactive")
    assert lab.admission(job) is None

    autoscaler.configure(name)
    autoscaler.expect(lambda: queue.figures.active, ("True", "Ready"))
    autoscaler.expect(lambda: state(lab, job, name), "Pending")


@covers("PROV-001")
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        pytest.param(
            "MultiKueueConfig",
            'wrong kind "MultiKueueConfig", expecting "ProvisioningRequestConfig": bad parameters reference',
            id="kind",
        ),
        pytest.param(
            "ProvisioningRequestConfig",
            'ProvisioningRequestConfig.kueue.x-k8s.io "not-there" not found',
            id="missing",
        ),
    ],
)
def test_an_inactive_check_says_why(lab: Lab, kind: str, message: str) -> None:
    """In its condition Active."""
    autoscaler = Autoscaler(lab=lab)
    name = autoscaler.check_of(kind, "not-there")

    autoscaler.expect(lambda: conditions_of(lab, name), [("BadParametersRef", message)])


@covers("PROV-001")
def test_a_check_without_parameters_is_inactive(lab: Lab) -> None:
    """It names no configuration at all."""
    autoscaler = Autoscaler(lab=lab)
    name = lab.name("prov")
    lab.apply(an_object("AdmissionCheck", name, controllerName=CONTROLLER))

    autoscaler.expect(lambda: conditions_of(lab, name), [("BadParametersRef", "missing parameters reference")])


@covers("PROV-001")
def test_a_check_that_stays_inactive_keeps_its_reason(lab: Lab) -> None:
    """It names another configuration, which does not exist either."""
    autoscaler = Autoscaler(lab=lab)
    name = autoscaler.check_of("ProvisioningRequestConfig", "not-there")
    first = 'ProvisioningRequestConfig.kueue.x-k8s.io "not-there" not found'
    autoscaler.expect(lambda: conditions_of(lab, name), [("BadParametersRef", first)])

    autoscaler.check_of("ProvisioningRequestConfig", "nor-there", name=name)
    lab.settle()

    assert conditions_of(lab, name) == [("BadParametersRef", first)]


def conditions_of(lab: Lab, check: str) -> list[tuple[str, str]]:
    """The reason and the message of each condition of a check."""
    status = lab.read(lab.check_ref(check)).get("status") or {}
    return [(each["reason"], each["message"]) for each in status.get("conditions") or []]


BY_CPU = a_job(cpu="1")
BY_NAME = a_job(requests={CARD: "1"})
CLAIMING = a_job(claims=[CLAIM])
CLAIMING_WITH_CPU = a_job(cpu="1", claims=[CLAIM])


@covers("PROV-004", "PROV-005")
@pytest.mark.parametrize(
    ("work", "managed"),
    [
        pytest.param(BY_CPU, "cpu", id="cpu"),
        pytest.param(CLAIMING_WITH_CPU, "cpu", id="cpu-of-claiming-pods"),
        pytest.param(BY_NAME, CARD, id="extended-resource"),
        pytest.param(a_job(init_requests={"cpu": "1"}), "cpu", id="init-container"),
    ],
)
def test_managed_resources_of_containers_are_asked_for(lab: Lab, work: Work, managed: str) -> None:
    """A request or a limit of one container is enough."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(managedResources=[managed])
    job = asking(lab, check).submit(work)

    autoscaler.expect(lambda: autoscaler.numbers(job), [1])
    assert lab.checks(job) == {check: "Pending"}


@covers("PROV-005", "PROV-004")
@pytest.mark.parametrize(
    ("work", "managed"),
    [
        pytest.param(BY_CPU, CARD, id="cpu"),
        pytest.param(BY_NAME, "cpu", id="extended-resource"),
    ],
)
def test_work_without_managed_resources_passes_unasked(lab: Lab, work: Work, managed: str) -> None:
    """It is admitted at once."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(managedResources=[managed])
    job = asking(lab, check).submit(work)

    autoscaler.expect(lambda: state(lab, job, check), "Ready")
    assert lab.check_state(job, check)["message"] == "the provisioning request is not needed"
    assert not autoscaler.requests(job)
    assert lab.condition(job, "Admitted") == ("True", "Admitted")


@covers("PROV-006", "PROV-005")
@pytest.mark.parametrize(
    "managed",
    [
        pytest.param("whole-gpus", id="charged-resource"),
        pytest.param("gpu.example.com", id="device-class"),
        pytest.param("deviceclass.resource.kubernetes.io/gpu.example.com", id="implicit-name"),
    ],
)
def test_claims_alone_pass_unasked(lab: Lab, managed: str) -> None:
    """No name in managedResources has a cluster autoscaler asked for claims; quota is charged all the same."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(managedResources=[managed])
    job = asking(lab, check).submit(CARDS)

    autoscaler.expect(lambda: lab.verdict(job), admitted({"whole-gpus": 2}))
    assert not autoscaler.requests(job)
    assert not lab.is_suspended(job)


TWO = a_workload(
    a_pod_set("driver", cpu="1"),
    a_pod_set("workers", pods=2, claims=[CLAIM]),
)


@covers("PROV-006", "PROV-004")
def test_pod_sets_with_claims_alone_are_left_out(lab: Lab) -> None:
    """The other pod set is asked for, and the devices of both wait."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(managedResources=["cpu", "whole-gpus"])
    job = asking(lab, check).submit(TWO)

    autoscaler.expect(lambda: autoscaler.numbers(job), [1])
    assert autoscaler.pods(job) == {"driver": 1}


@covers("PROV-003", "PROV-006")
def test_without_managed_resources_claims_are_asked_for(lab: Lab) -> None:
    """The request has every pod set."""
    autoscaler = Autoscaler(lab=lab)
    job = asking(lab, autoscaler.check()).submit(TWO)

    autoscaler.expect(lambda: autoscaler.numbers(job), [1])
    assert autoscaler.pods(job) == {"driver": 1, "workers": 2}


@covers("PROV-026")
def test_pod_sets_without_pods_are_left_out(lab: Lab) -> None:
    """Their claims are not asked for either."""
    autoscaler = Autoscaler(lab=lab)
    empty = a_pod_set("workers", pods=0, cpu="1", claims=[CLAIM])
    job = asking(lab, autoscaler.check()).submit(a_workload(a_pod_set("driver", cpu="1"), empty))

    autoscaler.expect(lambda: autoscaler.numbers(job), [1])
    assert autoscaler.pods(job) == {"driver": 1}


TEMPLATES, REQUIREMENTS = "IdenticalPodTemplates", "IdenticalWorkloadSchedulingRequirements"
OTHER_CLAIM = a_template(gpu())
NOTED: dict[str, Any] = {"annotations": {"example.com/role": "b"}}
SAME = a_pod_set("b", pods=2, cpu="100m", claims=[CLAIM])
NOTED_POD_SET = a_pod_set("b", pods=2, cpu="100m", claims=[CLAIM], **NOTED)
MORE = a_pod_set("b", pods=2, cpu="200m", claims=[CLAIM])
OTHER = a_pod_set("b", pods=2, cpu="100m", claims=[OTHER_CLAIM])


@covers("PROV-008", "PROV-009")
@pytest.mark.parametrize(
    ("policy", "second", "pods"),
    [
        pytest.param({}, SAME, {"a": 1, "b": 2}, id="no-policy"),
        pytest.param({"podSetMergePolicy": TEMPLATES}, SAME, {"a": 3}, id="templates-equal"),
        pytest.param({"podSetMergePolicy": TEMPLATES}, NOTED_POD_SET, {"a": 1, "b": 2}, id="templates-annotated"),
        pytest.param({"podSetMergePolicy": REQUIREMENTS}, NOTED_POD_SET, {"a": 3}, id="requirements-annotated"),
        pytest.param({"podSetMergePolicy": REQUIREMENTS}, OTHER, {"a": 1, "b": 2}, id="requirements-other-claim"),
        pytest.param({"podSetMergePolicy": REQUIREMENTS}, MORE, {"a": 1, "b": 2}, id="requirements-other-requests"),
    ],
)
def test_pod_sets_of_one_shape_are_merged(lab: Lab, policy: dict[str, str], second: Any, pods: dict[str, int]) -> None:
    """Claims from two templates differ, even if both ask for the same devices."""
    autoscaler = Autoscaler(lab=lab)
    first = a_pod_set("a", cpu="100m", claims=[CLAIM])
    job = asking(lab, autoscaler.check(**policy), quota=3).submit(a_workload(first, second))

    autoscaler.expect(lambda: autoscaler.numbers(job), [1])
    assert autoscaler.pods(job) == pods


@covers("PROV-010")
def test_pods_name_their_request(lab: Lab) -> None:
    """Without podSetUpdates they get no node selector."""
    autoscaler = Autoscaler(lab=lab)
    job = asking(lab, autoscaler.check()).submit(CARDS)
    autoscaler.answer(job, "Provisioned")
    autoscaler.expect(lambda: lab.is_suspended(job), False)

    template = lab.read(job.ref)["spec"]["template"]
    annotations = template["metadata"]["annotations"]
    assert (
        annotations["autoscaling.x-k8s.io/consume-provisioning-request"] == autoscaler.newest(job)["metadata"]["name"]
    )
    assert annotations["autoscaling.x-k8s.io/provisioning-class-name"] == CLASS
    assert not template["spec"].get("nodeSelector")


@covers("PROV-023")
def test_pods_select_the_provisioned_nodes(lab: Lab) -> None:
    """A detail that the status of the request lacks is left out."""
    autoscaler = Autoscaler(lab=lab)
    selector = [
        {"key": "example.com/pool", "valueFromProvisioningClassDetail": "Pool"},
        {"key": "example.com/rack", "valueFromProvisioningClassDetail": "Rack"},
    ]
    check = autoscaler.check(podSetUpdates={"nodeSelector": selector})
    job = asking(lab, check).submit(CARDS)
    autoscaler.answer(job, "Provisioned", provisioningClassDetails={"Pool": "p7"})
    autoscaler.expect(lambda: lab.is_suspended(job), False)

    template = lab.read(job.ref)["spec"]["template"]
    assert template["spec"]["nodeSelector"] == {"example.com/pool": "p7"}


@covers("PROV-007")
def test_annotations_of_work_are_parameters(lab: Lab) -> None:
    """In addition to those of the configuration."""
    autoscaler = Autoscaler(lab=lab)
    queue = asking(lab, autoscaler.check(parameters={"pool": "a"}))
    made = lab.written(CARDS, queue)
    made["metadata"]["annotations"] = {"provreq.kueue.x-k8s.io/ValidUntilSeconds": "60", "example.com/other": "1"}
    job = lab.submit_manifest(made)

    autoscaler.expect(lambda: autoscaler.numbers(job), [1])
    assert autoscaler.newest(job)["spec"]["parameters"] == {"pool": "a", "ValidUntilSeconds": "60"}


@covers("PROV-002")
def test_a_check_that_is_ready_stays_so_without_its_request(lab: Lab) -> None:
    """The nodes are not asked for again while the work waits for another check."""
    autoscaler = Autoscaler(lab=lab)
    check, other = autoscaler.check(), lab.admission_check()
    job = asking(lab, check, other).submit(CARDS)
    autoscaler.answer(job, "Provisioned")
    autoscaler.expect(lambda: lab.checks(job), {check: "Ready", other: "Pending"})

    lab.remove(Ref.of(autoscaler.newest(job)))

    assert autoscaler.requests(job) == []
    assert lab.checks(job) == {check: "Ready", other: "Pending"}


@covers("PROV-011")
@pytest.mark.parametrize("answer", ["Failed", pytest.param("BookingExpired", marks=covers("PROV-015"))])
def test_what_is_not_provisioned_is_asked_for_again(lab: Lab, answer: str) -> None:
    """The workload loses its quota, gets it again, and its second request admits it."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(retryStrategy=AGAIN)
    job = asking(lab, check).submit(CARDS)
    autoscaler.answer(job, answer, message="no cards")

    autoscaler.expect(lambda: autoscaler.numbers(job)[-1:], [2])
    autoscaler.expect(lambda: state(lab, job, check), "Pending")
    assert lab.condition(job, "Evicted") == ("False", "QuotaReserved")
    assert lab.condition(job, "QuotaReserved") == ("True", "QuotaReserved")

    autoscaler.answer(job, "Provisioned")
    autoscaler.expect(lambda: lab.verdict(job), admitted({"whole-gpus": 2}))


@covers("PROV-020", "PROV-025")
def test_a_request_counts_those_that_are_gone(lab: Lab) -> None:
    """The first one is deleted when the workload is evicted."""
    autoscaler = Autoscaler(lab=lab)
    job = asking(lab, autoscaler.check(retryStrategy=AGAIN)).submit(CARDS)
    autoscaler.answer(job, "Failed")

    autoscaler.expect(lambda: autoscaler.numbers(job), [2])


@covers("PROV-019")
def test_a_new_request_has_a_check_without_message(lab: Lab) -> None:
    """The message of the eviction is gone once the second request is there."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(retryStrategy=AGAIN)
    job = asking(lab, check).submit(CARDS)
    autoscaler.answer(job, "Failed", message="no cards")

    autoscaler.expect(lambda: autoscaler.numbers(job), [2])
    autoscaler.expect(lambda: lab.check_state(job, check)["message"], "")


@covers("PROV-012")
@pytest.mark.parametrize("answer", ["Failed", pytest.param("BookingExpired", marks=covers("PROV-015"))])
def test_after_the_last_retry_the_workload_is_deactivated(lab: Lab, answer: str) -> None:
    """Its devices are free for others."""
    autoscaler = Autoscaler(lab=lab)
    queue = asking(lab, autoscaler.check(retryStrategy=NEVER))
    job, other = queue.submit(CARDS), queue.submit(CARDS)
    autoscaler.answer(job, answer, message="no cards")

    autoscaler.expect(lambda: lab.verdict(job), evicted("DeactivatedDueToAdmissionCheck"))
    assert lab.workload(job)["spec"]["active"] is False
    assert lab.admission(job) is None
    autoscaler.expect(lambda: lab.condition(other, "QuotaReserved"), ("True", "QuotaReserved"))


@covers("PROV-011", "PROV-012")
def test_retries_are_counted(lab: Lab) -> None:
    """One retry is allowed, the second failure is the last."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(retryStrategy=AGAIN)
    job = asking(lab, check).submit(CARDS)
    autoscaler.answer(job, "Failed")
    autoscaler.expect(lambda: autoscaler.numbers(job)[-1:], [2])
    autoscaler.expect(lambda: state(lab, job, check), "Pending")

    autoscaler.answer(job, "Failed")
    autoscaler.expect(lambda: lab.verdict(job), evicted("DeactivatedDueToAdmissionCheck"))


@covers("PROV-021")
@pytest.mark.parametrize(
    ("strategy", "seconds"),
    [
        pytest.param({}, 60, id="default"),
        pytest.param(LATER, 600, id="base"),
        pytest.param({"backoffBaseSeconds": 600, "backoffMaxSeconds": 30}, 600, id="first-is-not-limited"),
    ],
)
def test_a_retry_waits_with_its_quota(lab: Lab, strategy: dict[str, int], seconds: int) -> None:
    """The devices stay reserved until the time is over."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(retryStrategy=strategy)
    queue = asking(lab, check)
    job, other = queue.submit(CARDS), queue.submit(CARDS)
    autoscaler.answer(job, "Failed", message="no cards")

    autoscaler.expect(lambda: state(lab, job, check), "Retry")
    found = lab.check_state(job, check)
    assert found["message"] == "Retrying after failure: no cards"
    assert found["requeueAfterSeconds"] == seconds
    assert lab.condition(job, "QuotaReserved") == ("True", "QuotaReserved")
    assert lab.admission(other) is None


@covers("PROV-021")
@pytest.mark.parametrize(
    ("most", "seconds"), [pytest.param(1800, 8, id="twice-as-long"), pytest.param(7, 7, id="at-most")]
)
def test_a_further_retry_waits_longer(lab: Lab, most: int, seconds: int) -> None:
    """The second request fails too."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(retryStrategy={"backoffBaseSeconds": 4, "backoffMaxSeconds": most})
    job = asking(lab, check).submit(CARDS)
    autoscaler.answer(job, "Failed")
    autoscaler.expect(lambda: autoscaler.numbers(job)[-1:], [2])
    autoscaler.expect(lambda: state(lab, job, check), "Pending")

    autoscaler.answer(job, "Failed")

    autoscaler.expect(lambda: lab.check_state(job, check).get("requeueAfterSeconds"), seconds)


@covers("PROV-022")
def test_a_retry_gives_its_quota_back(lab: Lab) -> None:
    """Others get the devices while the workload waits."""
    autoscaler = Autoscaler(lab=lab)
    queue = asking(lab, autoscaler.check(retryStrategy=LATER))
    job, other = queue.submit(CPUS), queue.submit(CPUS)
    autoscaler.answer(job, "Failed")

    autoscaler.expect(lambda: lab.condition(other, "QuotaReserved"), ("True", "QuotaReserved"))
    assert lab.admission(job) is None
    assert lab.workload(job)["status"]["requeueState"]["count"] == 1


@covers("PROV-022")
@pytest.mark.parametrize(
    ("base", "most", "failures", "seconds"),
    [
        pytest.param(600, 1800, 1, 600, id="first"),
        pytest.param(600, 100, 1, 100, id="first-at-most"),
        pytest.param(5, 1800, 2, 10, id="second-twice-as-long"),
        pytest.param(5, 9, 2, 9, id="second-at-most"),
    ],
)
def test_a_retry_waits_without_its_quota(lab: Lab, base: int, most: int, failures: int, seconds: int) -> None:
    """The status of the workload says until when, and by chance a ten-thousandth more."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(retryStrategy={"backoffBaseSeconds": base, "backoffMaxSeconds": most})
    job = asking(lab, check).submit(CPUS)
    for number in range(1, failures + 1):
        autoscaler.expect(lambda: autoscaler.numbers(job)[-1:], [number])
        autoscaler.answer(job, "Failed")
        autoscaler.expect(lambda: lab.requeues(job), number)

    workload = lab.workload(job)
    found = condition(workload, "QuotaReserved")
    assert found is not None
    until = datetime.fromisoformat(workload["status"]["requeueState"]["requeueAt"])
    waits = until - datetime.fromisoformat(found["lastTransitionTime"])
    assert seconds - 2 <= waits.total_seconds() <= seconds * 1.0001 + 1


CPUS = a_job(cpu="5")


@covers("PROV-013")
@pytest.mark.parametrize("running", [pytest.param(False, id="waiting"), pytest.param(True, id="running")])
def test_revoked_capacity_deactivates(lab: Lab, running: bool) -> None:
    """Its nodes are gone, and so is its quota."""
    autoscaler = Autoscaler(lab=lab)
    queue = asking(lab, autoscaler.check())
    job = queue.submit(CARDS)
    if running:
        autoscaler.answer(job, "Provisioned")
        autoscaler.expect(lambda: lab.verdict(job), admitted({"whole-gpus": 2}))

    autoscaler.answer(job, "CapacityRevoked", message="maintenance")

    autoscaler.expect(lambda: lab.verdict(job), evicted("DeactivatedDueToAdmissionCheck"))
    assert lab.is_suspended(job)
    assert lab.admission(job) is None
    assert queue.figures.counts.reserving == 0


@covers("PROV-014")
def test_a_booking_of_admitted_work_may_expire(lab: Lab) -> None:
    """It runs on."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(retryStrategy=NEVER)
    job = asking(lab, check).submit(CARDS)
    autoscaler.answer(job, "Provisioned")
    autoscaler.expect(lambda: lab.verdict(job), admitted({"whole-gpus": 2}))

    autoscaler.answer(job, "BookingExpired")

    assert lab.checks(job) == {check: "Ready"}
    assert not lab.is_suspended(job)


@covers("PROV-016")
@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"provisioningClassName": "other.example.com"}, id="class"),
        pytest.param({"parameters": {"pool": "b"}}, id="parameter"),
    ],
)
def test_a_request_follows_its_configuration(lab: Lab, change: dict[str, Any]) -> None:
    """Another one takes its place while the workload waits."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(parameters={"pool": "a"})
    job = asking(lab, check).submit(CARDS)
    autoscaler.expect(lambda: autoscaler.numbers(job), [1])

    wanted = {"provisioningClassName": CLASS, "parameters": {"pool": "a"}, **change}
    autoscaler.configure(check, **wanted)

    def asked() -> dict[str, Any]:
        found = [each["spec"] for each in autoscaler.requests(job)]
        return {key: each[key] for each in found for key in wanted}

    autoscaler.expect(asked, wanted)
    assert lab.checks(job) == {check: "Pending"}


@covers("PROV-016", "PROV-002", "PROV-021")
def test_a_new_configuration_ends_the_wait_for_a_retry(lab: Lab) -> None:
    """The cluster autoscaler is asked at once for nodes of the other class; it never lost its quota."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(retryStrategy=LATER)
    job = asking(lab, check).submit(CARDS)
    autoscaler.answer(job, "Failed")
    autoscaler.expect(lambda: state(lab, job, check), "Retry")

    autoscaler.configure(check, provisioningClassName="other.example.com", retryStrategy=LATER)

    autoscaler.expect(lambda: state(lab, job, check), "Pending")
    assert autoscaler.newest(job)["spec"]["provisioningClassName"] == "other.example.com"
    assert lab.condition(job, "QuotaReserved") == ("True", "QuotaReserved")


@covers("PROV-017")
def test_a_configuration_that_goes_leaves_its_check_pending(lab: Lab) -> None:
    """The quota stays reserved."""
    autoscaler, check, job = asked_once(lab)

    lab.remove(autoscaler.config_ref(check))

    autoscaler.expect(lambda: lab.check_state(job, check)["message"], "the check is not active")
    assert lab.checks(job) == {check: "Pending"}
    assert lab.condition(job, "QuotaReserved") == ("True", "QuotaReserved")


@covers("PROV-027")
def test_a_check_that_names_another_kind_keeps_its_request(lab: Lab) -> None:
    """There is a configuration of that name; once the check names it again, an answer counts."""
    autoscaler, check, job = asked_once(lab)
    before = lab.check_state(job, check)

    autoscaler.check_of("ConfigMap", check, name=check)
    autoscaler.answer(job, "Provisioned")
    lab.settle()

    assert autoscaler.numbers(job) == [1]
    assert lab.check_state(job, check) == before

    autoscaler.check_of("ProvisioningRequestConfig", check, name=check)

    autoscaler.expect(lambda: lab.checks(job), {check: "Ready"})


@covers("PROV-027")
@pytest.mark.parametrize("other", [0, 1])
def test_a_check_that_names_another_kind_stops_those_next_to_it(lab: Lab, other: int) -> None:
    """An answer to the newest of two requests does not count, whichever of their checks names another kind."""
    autoscaler = Autoscaler(lab=lab)
    checks = [autoscaler.check() for _ in range(2)]
    job = asking(lab, *checks).submit(CARDS)
    autoscaler.expect(lambda: autoscaler.numbers(job), [1, 1])
    before = [lab.check_state(job, check) for check in checks]

    autoscaler.check_of("ConfigMap", checks[other], name=checks[other])
    autoscaler.answer(job, "Provisioned")
    lab.settle()

    assert [lab.check_state(job, check) for check in checks] == before


@covers("PROV-018")
def test_a_check_shows_the_progress_of_its_request(lab: Lab) -> None:
    """Quota stays reserved until the nodes are there."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check()
    job = asking(lab, check).submit(CARDS)

    autoscaler.progress(job, "two minutes left")

    autoscaler.expect(lambda: lab.check_state(job, check)["message"], "two minutes left")
    assert lab.checks(job) == {check: "Pending"}


@covers("PROV-018")
def test_a_check_without_progress_keeps_its_message(lab: Lab) -> None:
    """A request that is Accepted and says nothing of its nodes."""
    autoscaler, check, job = asked_once(lab)
    before = lab.check_state(job, check)

    autoscaler.answer(job, "Accepted")

    assert lab.check_state(job, check) == before
    assert before["state"] == "Pending"


@covers("PROV-024")
def test_the_requests_of_finished_work_go(lab: Lab) -> None:
    """The nodes are not kept for it any longer."""
    autoscaler = Autoscaler(lab=lab)
    job = asking(lab, autoscaler.check()).submit(CARDS)
    autoscaler.answer(job, "Provisioned")
    autoscaler.expect(lambda: lab.is_suspended(job), False)
    assert autoscaler.numbers(job) == [1]

    lab.finish(job)

    autoscaler.expect(lambda: autoscaler.numbers(job), [])


@covers("PROV-025")
def test_the_requests_of_evicted_work_go(lab: Lab) -> None:
    """A drained queue has none."""
    autoscaler = Autoscaler(lab=lab)
    queue = asking(lab, autoscaler.check())
    job = queue.submit(CARDS)
    autoscaler.answer(job, "Provisioned")
    autoscaler.expect(lambda: lab.is_suspended(job), False)

    queue.change(stopPolicy="HoldAndDrain")

    autoscaler.expect(lambda: autoscaler.numbers(job), [])


KEPT = {"CleanupProvisioningRequestsOnEviction": False}


@owns_kueue
@covers("PROV-011", "PROV-025")
@pytest.mark.parametrize("answer", ["Failed", pytest.param("BookingExpired", marks=covers("PROV-015"))])
def test_another_request_follows_one_that_stays(lab: Lab, answer: str) -> None:
    """Without the gate an eviction deletes no requests; the one before goes when the next one is there."""
    lab.start(switched=KEPT)
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(retryStrategy=AGAIN)
    job = asking(lab, check).submit(CARDS)
    autoscaler.answer(job, answer)

    autoscaler.expect(lambda: autoscaler.numbers(job), [2])
    autoscaler.answer(job, "Provisioned")
    autoscaler.expect(lambda: lab.verdict(job), admitted({"whole-gpus": 2}))


@owns_kueue
@covers("PROV-025", "PROV-024")
def test_the_requests_of_evicted_work_stay_without_the_gate(lab: Lab) -> None:
    """They are deleted once the work is finished, or asks for other nodes."""
    lab.start(switched=KEPT)
    autoscaler = Autoscaler(lab=lab)
    queue = asking(lab, autoscaler.check())
    job = queue.submit(CARDS)
    autoscaler.answer(job, "Provisioned")
    autoscaler.expect(lambda: lab.is_suspended(job), False)

    queue.change(stopPolicy="HoldAndDrain")

    assert lab.admission(job) is None
    assert autoscaler.numbers(job) == [1]


@covers("PROV-002", "PROV-003")
def test_two_checks_ask_twice(lab: Lab) -> None:
    """The workload is admitted when both requests are provisioned."""
    autoscaler = Autoscaler(lab=lab)
    first, second = autoscaler.check(), autoscaler.check()
    job = asking(lab, first, second).submit(CARDS)
    autoscaler.expect(lambda: autoscaler.numbers(job), [1, 1])

    autoscaler.answer(job, "Provisioned")
    autoscaler.expect(lambda: lab.checks(job), {first: "Pending", second: "Ready"})
    assert lab.is_suspended(job)
