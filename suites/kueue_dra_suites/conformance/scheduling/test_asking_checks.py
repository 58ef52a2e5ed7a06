"""ProvisioningRequests and the checks that ask for them: all that Kueue writes, event by event (text silent)."""

from __future__ import annotations

from typing import Any

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab.autoscaler import CLASS, Autoscaler
from kueue_dra_fixtures.lab.jobs import Job
from kueue_dra_fixtures.lab.lab import Lab, Queue
from kueue_dra_fixtures.marks import covers, needs_provisioning
from kueue_dra_fixtures.verdicts import admitted
from kueue_dra_ref.api.provisioning import CONFIG

pytestmark = needs_provisioning

CARDS = a_job(pods=2, cpu="1", claims=[a_template(gpu())])
LATER = {"backoffBaseSeconds": 600, "backoffLimitCount": 1}
SELECTOR = [{"key": "example.com/pool", "valueFromProvisioningClassDetail": "Pool"}]
OWNED = ("kind", "name", "uid", "controller")


def asking(lab: Lab, *checks: str) -> Queue:
    """A queue of two cards and two cpus with some checks."""
    named = [{"name": check} for check in checks]
    return lab.queue({"whole-gpus": 2, "cpu": 2}, admissionChecksStrategy={"admissionChecks": named})


def states(lab: Lab, job: Job, *checks: str) -> list[dict[str, Any]]:
    """What the status of a job's Workload has of each of some checks, without their times and names."""
    found = []
    for name in checks:
        state = dict(lab.check_state(job, name))
        assert state.pop("name") == name
        found.append(state)
    return found


@covers("PROV-002", "PROV-003", "PROV-010", "PROV-018", "PROV-023")
def test_the_check_of_another_controller_stays_as_it_is(lab: Lab) -> None:
    """All that the status has of both checks, as the cluster autoscaler goes on."""
    autoscaler = Autoscaler(lab=lab)
    other, check = lab.admission_check(), autoscaler.check(podSetUpdates={"nodeSelector": SELECTOR})
    job = asking(lab, other, check).submit(CARDS)
    autoscaler.expect(lambda: autoscaler.numbers(job), [1])
    waits = {"state": "Pending", "message": ""}
    assert states(lab, job, other, check) == [waits, waits]

    lab.answer_check(job, other, "Pending", message="not yet")
    autoscaler.answer(job, "Accepted", message="seen")
    not_yet = {"state": "Pending", "message": "not yet"}
    assert states(lab, job, other, check) == [not_yet, waits]

    autoscaler.progress(job, "soon")
    soon = {"state": "Pending", "message": "soon"}
    autoscaler.expect(lambda: states(lab, job, other, check), [not_yet, soon])

    autoscaler.answer(job, "Provisioned", message="done", provisioningClassDetails={"Pool": "p7"})
    annotations = {
        "autoscaling.x-k8s.io/consume-provisioning-request": autoscaler.newest(job)["metadata"]["name"],
        "autoscaling.x-k8s.io/provisioning-class-name": CLASS,
    }
    update = {"name": "main", "annotations": annotations, "nodeSelector": {"example.com/pool": "p7"}}
    done = {"state": "Ready", "message": "done", "podSetUpdates": [update]}
    autoscaler.expect(lambda: states(lab, job, other, check), [not_yet, done])
    assert lab.is_suspended(job)
    assert autoscaler.numbers(job) == [1]


@covers("PROV-003", "PROV-007")
def test_a_request_and_its_templates_are_marked_and_owned(lab: Lab) -> None:
    """By the Workload, and by the request."""
    autoscaler = Autoscaler(lab=lab)
    job = asking(lab, autoscaler.check(parameters={"pool": "a"})).submit(CARDS)
    autoscaler.expect(lambda: autoscaler.numbers(job), [1])

    request, workload = autoscaler.newest(job), lab.workload(job)
    (template,) = request["spec"]["podSets"]
    name = template["podTemplateRef"]["name"]
    assert request["spec"] == {
        "podSets": [{"podTemplateRef": {"name": name}, "count": 2}],
        "provisioningClassName": CLASS,
        "parameters": {"pool": "a"},
    }
    made = autoscaler.template(job, name)
    for owned, owner in ((request, workload), (made, request)):
        meta = owned["metadata"]
        assert meta["labels"] == {"kueue.x-k8s.io/managed": "true"}
        (reference,) = meta["ownerReferences"]
        named = owner["metadata"]["name"], owner["metadata"]["uid"]
        expected = owner["kind"], *named, True
        assert tuple(reference[key] for key in OWNED) == expected


@covers("PROV-005", "PROV-003")
def test_one_of_two_checks_asks(lab: Lab) -> None:
    """The other one manages a resource that the pods do not request; it waits for the first request."""
    autoscaler = Autoscaler(lab=lab)
    needless, check = autoscaler.check(managedResources=["memory"]), autoscaler.check()
    job = asking(lab, needless, check).submit(CARDS)

    autoscaler.expect(lambda: autoscaler.numbers(job), [1])
    unasked = {"state": "Ready", "message": "the provisioning request is not needed"}
    autoscaler.expect(lambda: states(lab, job, needless, check), [unasked, {"state": "Pending", "message": ""}])

    autoscaler.answer(job, "Provisioned")
    autoscaler.expect(lambda: lab.verdict(job), admitted({"whole-gpus": 2, "cpu": 2}))


@covers("PROV-005", "PROV-016")
def test_a_ready_check_keeps_its_message(lab: Lab) -> None:
    """The pods request none of the resources that its configuration manages from then on: the request goes."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check()
    job = asking(lab, check).submit(CARDS)
    autoscaler.answer(job, "Provisioned", message="done")
    autoscaler.expect(lambda: lab.verdict(job), admitted({"whole-gpus": 2, "cpu": 2}))
    before = states(lab, job, check)

    autoscaler.configure(check, managedResources=["memory"])

    autoscaler.expect(lambda: autoscaler.numbers(job), [])
    assert states(lab, job, check) == before
    assert not lab.is_suspended(job)


@covers("PROV-016", "PROV-021")
def test_a_wait_for_a_retry_outlives_other_limits(lab: Lab) -> None:
    """Kueue looks at the work again only if the configuration asks for other nodes."""
    autoscaler = Autoscaler(lab=lab)
    check = autoscaler.check(retryStrategy=LATER)
    job = asking(lab, check).submit(a_job(cpu="1"))
    autoscaler.answer(job, "Failed", message="no nodes")
    autoscaler.expect(lambda: lab.workload(job)["spec"]["active"], True)
    before = lab.checks(job), lab.condition(job, "Evicted")

    autoscaler.configure(check, retryStrategy={"backoffLimitCount": 0})
    lab.settle()

    assert (lab.checks(job), lab.condition(job, "Evicted")) == before
    assert lab.workload(job)["spec"]["active"] is True


@covers("PROV-017", "PROV-003")
def test_a_configuration_that_comes_back_asks_again(lab: Lab) -> None:
    """The request of the other check stays the same one."""
    autoscaler = Autoscaler(lab=lab)
    first, second = autoscaler.check(), autoscaler.check()
    job = asking(lab, first, second).submit(CARDS)
    autoscaler.expect(lambda: len(autoscaler.requests(job)), 2)
    before = {each["metadata"]["name"]: each["metadata"]["uid"] for each in autoscaler.requests(job)}

    lab.remove(autoscaler.config_ref(second))
    autoscaler.expect(lambda: len(autoscaler.requests(job)), 1)
    (left,) = autoscaler.requests(job)
    assert before[left["metadata"]["name"]] == left["metadata"]["uid"]

    autoscaler.configure(second)
    autoscaler.expect(lambda: sorted(each["metadata"]["name"] for each in autoscaler.requests(job)), sorted(before))
    autoscaler.expect(lambda: lab.checks(job), {first: "Pending", second: "Pending"})


@covers("PROV-001")
def test_an_inactive_check_goes_on_saying_what_was_wrong_first(lab: Lab) -> None:
    """The reference is to another missing configuration: only a change of the status is written."""
    autoscaler = Autoscaler(lab=lab)
    name = autoscaler.check_of(CONFIG, "not-there")

    def said() -> list[tuple[str, str]]:
        conditions = (lab.read(lab.check_ref(name)).get("status") or {}).get("conditions") or []
        return [(each["status"], each["message"]) for each in conditions]

    first = [("False", f'{CONFIG}.kueue.x-k8s.io "not-there" not found')]
    autoscaler.expect(said, first)

    autoscaler.check_of("MultiKueueConfig", "not-there", name=name)
    lab.settle()

    assert said() == first
