"""MultiKueue with devices: a manager dispatches, and each cluster charges by its own templates (Kueue; text silent)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.builders import Pods, Work, a_job, a_pod_set, a_template, a_workload, gpu, work_of
from kueue_dra_fixtures.lab.clusters import MANAGES_JOBS, status_of
from kueue_dra_fixtures.lab.fleet import Fleet
from kueue_dra_fixtures.marks import covers, needs_workers, owns_kueue
from kueue_dra_fixtures.multikueue import a_secret, waiting
from kueue_dra_fixtures.verdicts import Reason, admitted, finished, pending

pytestmark = [needs_workers, owns_kueue]
CARD = a_job(claims=[a_template(gpu())])
NONE, ONE, TWO, THREE, FOUR = ({"whole-gpus": count} for count in range(5))
NOWHERE = """
apiVersion: v1
kind: Config
clusters:
- {name: nowhere, cluster: {server: "https://127.0.0.1:1"}}
contexts:
- {name: nowhere, context: {cluster: nowhere, user: ""}}
current-context: nowhere
"""


@covers("MK-001", "MK-002", "MK-004", "MK-018")
def test_the_worker_with_quota_runs_the_job(fleet: Fleet) -> None:
    """Both workers get a copy; the one with quota admits it, and the manager names that worker."""
    fleet.join(ONE, NONE, TWO)
    job = fleet.submit(CARD)

    fleet.expect_placed(job, admitted(ONE), None, admitted(ONE), worker=2)
    fleet.expect(lambda: fleet.works(job), [False, True])
    fleet.expect(fleet.reserved, ["1", "0", "1"])


@covers("MK-001")
def test_every_worker_gets_a_copy(fleet: Fleet) -> None:
    """While none admits its copy, the workload waits with its quota on the manager."""
    fleet.join(ONE, NONE, NONE)
    job = fleet.submit(CARD)

    without = pending(Reason.NEVER_FITS)
    fleet.expect_placed(job, waiting(ONE, fleet.check), without, without)
    fleet.expect(lambda: fleet.works(job), [False, False])
    fleet.expect(lambda: fleet.nominated(job), [1, 2])


@covers("MK-003")
@pytest.mark.parametrize(
    ("pods", "charged"), [pytest.param(1, THREE, id="one-pod"), pytest.param(2, {"whole-gpus": 6}, id="two-pods")]
)
def test_each_cluster_charges_its_own_template(fleet: Fleet, pods: int, charged: dict[str, int]) -> None:
    """Templates are not copied: one card on the manager, two on the first worker, three on the second."""
    fleet.join(FOUR, ONE, {"whole-gpus": 6})
    job = fleet.submit(a_job(pods=pods, claims=[a_template(gpu())]), a_template(gpu(2)), a_template(gpu(3)))

    fleet.expect_placed(job, admitted({"whole-gpus": pods}), None, admitted(charged), worker=2)


@covers("MK-005", "MK-004")
def test_the_copy_on_the_other_worker_goes(fleet: Fleet) -> None:
    """Both workers have quota: one of them runs the Job, and the other gives its quota back."""
    fleet.join(ONE, ONE, ONE)
    job = fleet.submit(CARD)

    fleet.expect(lambda: fleet.placement(job).manager, admitted(ONE))
    fleet.expect(lambda: sum(each is not None for each in fleet.placement(job).copies), 1)
    fleet.expect(lambda: sorted(fleet.reserved()), ["0", "1", "1"])
    winner = fleet.placement(job).worker
    fleet.expect(lambda: fleet.reserved()[winner], "1")
    assert fleet.works(job)[winner - 1]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("The workload was admitted on", id="admitted", marks=covers("MK-034")),
        pytest.param("The workload got reservation on", id="reserved", marks=covers("MK-033")),
    ],
)
def test_the_check_names_the_worker(fleet: Fleet, words: str) -> None:
    """It says which state of the copy counts."""
    fleet.join(ONE, NONE, ONE)
    job = fleet.submit(CARD)

    fleet.expect_placed(job, admitted(ONE), None, admitted(ONE), worker=2)
    assert fleet.check_message(job) == f'{words} "{fleet.names[1]}"'


@covers("MK-007")
def test_the_end_on_the_worker_returns_quota_everywhere(fleet: Fleet) -> None:
    """The Job completes on the worker: it is complete on the manager, and no copy is left."""
    fleet.join(ONE, NONE, ONE)
    job = fleet.submit(CARD)
    fleet.expect_placed(job, admitted(ONE), None, admitted(ONE), worker=2)
    fleet.expect(lambda: fleet.works(job), [False, True])

    fleet.finish(2, job)

    fleet.expect_placed(job, finished("Succeeded"), None, None, worker=2)
    fleet.expect(lambda: fleet.works(job), [False, False])
    fleet.expect(fleet.reserved, ["0", "0", "0"])
    assert "Complete" in [each["type"] for each in fleet.job_status(job)["conditions"]]


@covers("MK-008")
def test_deletion_returns_quota_everywhere(fleet: Fleet) -> None:
    """The Job is deleted on the manager: its copies are, too."""
    fleet.join(ONE, NONE, ONE)
    job = fleet.submit(CARD)
    fleet.expect(fleet.reserved, ["1", "0", "1"])
    fleet.expect(lambda: fleet.works(job), [False, True])

    fleet.delete(job)

    fleet.expect(lambda: fleet.left(job), [0, 0, 0])
    fleet.expect(lambda: fleet.works(job), [False, False])
    fleet.expect(fleet.reserved, ["0", "0", "0"])


@covers("MK-009")
def test_the_manager_shows_the_pods_of_the_worker(fleet: Fleet) -> None:
    """The status of the copy is that of the Job."""
    fleet.join(ONE, NONE, ONE)
    job = fleet.submit(CARD)
    fleet.expect_placed(job, admitted(ONE), None, admitted(ONE), worker=2)
    fleet.expect(lambda: fleet.runs(2, job), True)

    fleet.report(2, job, active=1)

    fleet.expect(lambda: fleet.job_status(job).get("active"), 1)


@covers("MK-001")
@pytest.mark.parametrize("work", [pytest.param(CARD, id="devices"), pytest.param(a_job(cpu="1"), id="ordinary")])
def test_nothing_is_dispatched_without_quota_on_the_manager(fleet: Fleet, work: Work) -> None:
    """The manager's own quota comes first, whatever the workers have."""
    quota = {"whole-gpus": 1, "cpu": 1}
    fleet.join(dict.fromkeys(quota, 0), quota, quota)
    job = fleet.submit(work)
    fleet.expect(lambda: fleet.left(job), [1, 0, 0])

    fleet.expect_never(lambda: fleet.left(job) != [1, 0, 0])
    assert "admission" not in fleet.local(job).get("status", {})


@covers("MK-006")
def test_losing_quota_on_the_manager_takes_the_copies_back(fleet: Fleet) -> None:
    """The workload waits on both workers; on the manager it is deactivated."""
    fleet.join(ONE, NONE, NONE)
    job = fleet.submit(CARD)
    fleet.expect(lambda: fleet.left(job), [1, 1, 1])

    fleet.manager.activate(job, active=False)

    fleet.expect(lambda: fleet.left(job), [1, 0, 0])
    fleet.expect(fleet.reserved, ["0", "0", "0"])


@covers("MK-002")
def test_a_job_of_the_queue_is_managed_by_multikueue(fleet: Fleet) -> None:
    """The webhook sets managedBy, so that no Job controller of the manager runs it; the copy has none."""
    fleet.join(ONE, NONE, ONE)
    job = fleet.submit(CARD)
    fleet.expect(lambda: fleet.works(job), [False, True])

    assert fleet.managers(job) == ["kueue.x-k8s.io/multikueue", "", ""]


@covers("MK-012")
def test_a_job_with_another_manager_is_rejected(fleet: Fleet) -> None:
    """It is deactivated, and no worker gets a copy."""
    fleet.join(ONE, ONE, ONE)
    fleet.await_active()
    made = fleet.manager.written(CARD, fleet.queues[0])
    job = fleet.submit_manifest({**made, "spec": {**made["spec"], "managedBy": "example.com/other"}})

    fleet.expect(lambda: fleet.local(job)["spec"].get("active"), False)
    fleet.expect(lambda: fleet.left(job), [1, 0, 0])
    fleet.expect(fleet.reserved, ["0", "0", "0"])


@covers("MK-052")
def test_a_workload_without_work_is_rejected(fleet: Fleet) -> None:
    """A user creates it: it is deactivated, and no worker gets a copy."""
    fleet.join(ONE, ONE, ONE)
    made = fleet.manager.written(a_workload(Pods(claims=(a_template(gpu()),))), fleet.queues[0])
    fleet.await_active()
    fleet.manager.apply(made)

    fleet.expect(lambda: fleet.sole()["spec"]["active"], False)
    fleet.expect(fleet.copies_left, [1, 0, 0])


@covers("MK-053")
@pytest.mark.parametrize(
    ("work", "managed_by", "why"),
    [
        pytest.param(
            CARD,
            {"managedBy": "example.com/other"},
            "The owner is not managed by Kueue: "
            'Expecting spec.managedBy to be "kueue.x-k8s.io/multikueue" not "example.com/other"',
            id="another-manager",
        ),
        pytest.param(
            a_workload(Pods(claims=(a_template(gpu()),))), {}, "No multikueue adapter found", id="without-work"
        ),
    ],
)
def test_a_rejection_names_the_state_before(fleet: Fleet, work: Work, managed_by: dict[str, str], why: str) -> None:
    """In the message of the eviction."""
    fleet.join(ONE, ONE, ONE)
    fleet.await_active()
    made = fleet.manager.written(work, fleet.queues[0])
    fleet.manager.apply({**made, "spec": {**made["spec"], **managed_by}})

    rejected = f'The workload is deactivated due to AdmissionCheck in Rejected state: "{fleet.check}"'
    said = "True", f'{rejected} ({why}, Previously: "Pending")'
    fleet.expect(lambda: status_of(fleet.sole(), "Evicted", "message"), said)


@covers("MK-010")
@pytest.mark.parametrize(
    ("lost", "reason"),
    [pytest.param([1], "Ready", id="one-worker-lost"), pytest.param([1, 2], "AdmissionCheckInactive", id="both-lost")],
)
def test_a_queue_is_active_while_one_worker_is_there(fleet: Fleet, lost: list[int], reason: str) -> None:
    """The check says which workers are not."""
    fleet.join(ONE, ONE, ONE)
    fleet.await_active()
    for number in lost:
        fleet.lose(number)

    inactive = f"Inactive clusters: [{' '.join(fleet.names[number - 1] for number in lost)}]"
    fleet.expect(fleet.check_condition, ("True" if reason == "Ready" else "False", inactive))
    fleet.expect(fleet.are_active, [reason, "Ready", "Ready"])


@pytest.mark.parametrize(
    "reason",
    [
        pytest.param("BadKubeConfig", marks=covers("MK-059"), id="from-0.15"),
        pytest.param("BadConfig", marks=covers("MK-060"), id="0.14"),
    ],
)
def test_a_worker_without_a_kubeconfig_says_why(fleet: Fleet, reason: str) -> None:
    """In the condition Active of its MultiKueueCluster."""
    fleet.join(ONE, ONE, NONE)
    fleet.await_active()

    fleet.lose(1)

    fleet.expect(lambda: fleet.why_lost(1), reason)


@covers("MK-010")
def test_a_worker_whose_kubeconfig_leads_nowhere_is_inactive(fleet: Fleet) -> None:
    """Its Secret gets another one while it is connected; with the one before it is back."""
    fleet.join(ONE, ONE, NONE)
    fleet.await_active()

    fleet.manager.apply(a_secret(fleet.name(1), NOWHERE))
    fleet.expect(fleet.check_condition, ("True", f"Inactive clusters: [{fleet.name(1)}]"))

    fleet.manager.apply(a_secret(fleet.name(1), fleet.kubeconfigs[0]))
    fleet.expect(fleet.check_condition, ("True", "The admission check is active"))


@covers("MK-010")
def test_a_worker_that_does_not_exist_is_named(fleet: Fleet) -> None:
    """The other one is used."""
    fleet.join(ONE, ONE, NONE, clusters=["not-there", fleet.name(1)])
    job = fleet.submit(CARD)

    fleet.expect(fleet.check_condition, ("True", "Missing clusters: [not-there]"))
    fleet.expect_placed(job, admitted(ONE), admitted(ONE), None, worker=1)


@covers("MK-022", "MK-007", "MK-002")
@pytest.mark.parametrize("kind", ["JobSet", "PyTorchJob"])
def test_other_work_is_dispatched(fleet: Fleet, kind: str) -> None:
    """Each worker charges for all pods by its own template; the end of the copy is the end of the work."""
    fleet.start(everywhere={"integrations": frameworks.all_of(fleet.manager.behaviour.kueue)})
    fleet.join(TWO, ONE, FOUR)
    job = fleet.submit(
        work_of(kind, a_pod_set("workers", pods=2, claims=[a_template(gpu())])), *[a_template(gpu(2))] * 2
    )

    fleet.expect_placed(job, admitted(TWO), None, admitted(FOUR), worker=2)
    fleet.expect(lambda: fleet.works(job), [False, True])
    assert fleet.managers(job) == ["kueue.x-k8s.io/multikueue", "", ""]

    fleet.finish(2, job)

    fleet.expect_placed(job, finished("Succeeded"), None, None, worker=2)
    fleet.expect(fleet.reserved, ["0", "0", "0"])


@covers("MK-049")
def test_a_jax_job_runs_nowhere(fleet: Fleet) -> None:
    """The worker admits the copy of the Workload, and denies that of the JAXJob."""
    fleet.start(everywhere={"integrations": frameworks.all_of(fleet.manager.behaviour.kueue)})
    fleet.join(ONE, NONE, ONE)
    job = fleet.submit(work_of("JAXJob", a_pod_set("workers", claims=[a_template(gpu())])))

    fleet.expect(lambda: fleet.placement(job).copies[1], admitted(ONE))
    fleet.expect_never(lambda: any(fleet.works(job)))
    assert fleet.placement(job).manager == waiting(ONE, fleet.check)
    assert fleet.reserved() == ["1", "0", "1"]


@covers("MK-040")
def test_a_copy_with_quota_alone_does_not_win(fleet: Fleet) -> None:
    """The first worker has a check of its own without an answer; the second gets quota later, and runs the Job."""
    fleet.join(ONE, ONE, NONE)
    check = fleet.require_check(1)
    job = fleet.submit(CARD)
    fleet.expect_placed(job, waiting(ONE, fleet.check), waiting(ONE, check), pending(Reason.NEVER_FITS))
    fleet.expect(lambda: fleet.works(job), [False, False])

    fleet.give_quota(2, ONE)

    fleet.expect_placed(job, admitted(ONE), None, admitted(ONE), worker=2)


@covers("MK-026")
def test_a_copy_with_quota_wins(fleet: Fleet) -> None:
    """The worker has a check of its own without an answer: the Job waits there, and on no other worker."""
    fleet.join(ONE, ONE, NONE)
    check = fleet.require_check(1)
    job = fleet.submit(CARD)

    fleet.expect_placed(job, admitted(ONE), waiting(ONE, check), None, worker=1)
    fleet.expect(lambda: fleet.works(job), [True, False])
    assert not fleet.runs(1, job)


@covers("MK-035")
def test_a_gate_lets_a_copy_with_quota_win(fleet: Fleet) -> None:
    """MultiKueueWaitForWorkloadAdmitted is off, as the release before has it."""
    fleet.start(switched={"MultiKueueWaitForWorkloadAdmitted": False})
    fleet.join(ONE, ONE, NONE)
    check = fleet.require_check(1)
    job = fleet.submit(CARD)

    fleet.expect_placed(job, admitted(ONE), waiting(ONE, check), None, worker=1)
    fleet.expect(lambda: fleet.works(job), [True, False])


@covers("MK-030")
def test_copies_wait_for_the_other_checks(fleet: Fleet) -> None:
    """The queue of the manager has a further check: there is no copy until it is Ready."""
    other = fleet.manager.admission_check()
    fleet.join(ONE, ONE, NONE, checks=[other])
    job = fleet.submit(CARD)
    fleet.expect_placed(job, waiting(ONE, other, fleet.check), None, None)

    fleet.manager.answer_check(job, other, "Ready", message="fine")

    fleet.expect_placed(job, admitted(ONE), admitted(ONE), None, worker=1)
    assert fleet.manager.check_state(job, other) == {"name": other, "state": "Ready", "message": "fine"}
    assert fleet.nominated(job) == []


@covers("MK-030", "MK-040")
@pytest.mark.parametrize(
    ("settings", "origin"),
    [
        pytest.param({}, "multikueue", id="no-origin"),
        pytest.param({"multiKueue": {"origin": "north"}}, "north", id="origin"),
    ],
)
def test_an_evicted_copy_that_never_ran_changes_nothing(fleet: Fleet, settings: dict[str, Any], origin: str) -> None:
    """It has quota and waits for a check of its worker when it is preempted; another worker runs the work."""
    fleet.start(**settings)
    fleet.join(ONE, ONE, NONE)
    check = fleet.require_check(1)
    job = fleet.submit(CARD)
    fleet.expect_placed(job, waiting(ONE, fleet.check), waiting(ONE, check), pending(Reason.NEVER_FITS))
    before = fleet.manager.check_state(job, fleet.check)

    fleet.queues[1].change(preemption={"withinClusterQueue": "LowerPriority"})
    fleet.queues[1].submit(a_job(priority=10, claims=[a_template(gpu())]))

    fleet.expect(lambda: fleet.copy_condition(1, job, "Evicted"), ("True", "Preempted"))
    assert before == fleet.manager.check_state(job, fleet.check)
    assert before == {"name": fleet.check, "state": "Pending", "message": ""}
    assert fleet.nominated(job) == [1, 2]
    assert fleet.origins(job) == [origin, origin]

    fleet.give_quota(2, ONE)

    fleet.expect_placed(job, admitted(ONE), None, admitted(ONE), worker=2)
    assert fleet.evictions(job) == 0
    fleet.expect(lambda: fleet.origins(job), ["", origin])


@covers("MK-032")
def test_copies_do_not_wait_for_the_other_checks(fleet: Fleet) -> None:
    """The Job runs on the worker while it waits for a check on the manager."""
    other = fleet.manager.admission_check()
    fleet.join(ONE, ONE, NONE, checks=[other])
    job = fleet.submit(CARD)

    fleet.expect_placed(job, waiting(ONE, other), admitted(ONE), None, worker=1)
    fleet.expect(lambda: fleet.runs(1, job), True)

    fleet.report(1, job, active=1)

    fleet.expect_never(lambda: "active" in fleet.job_status(job))


@covers("MK-023")
def test_work_of_others_is_no_copy(fleet: Fleet) -> None:
    """Another client has a Job of that name on the worker that admits the copy: it is not followed, and stays."""
    fleet.join(ONE, ONE, NONE)
    made = fleet.prepared(CARD)
    fleet.occupy(1, made)
    job = fleet.submit_manifest(made)

    fleet.expect_placed(job, waiting(ONE, fleet.check), admitted(ONE), None)

    fleet.delete(job)

    fleet.expect(lambda: fleet.left(job), [0, 0, 0])
    assert fleet.works(job) == [True, False]


@covers("MK-024")
def test_work_of_others_counts_as_the_copy(fleet: Fleet) -> None:
    """Another client has a Job of that name on the worker that admits the copy: it is deleted with the copies."""
    fleet.join(ONE, ONE, NONE)
    made = fleet.prepared(CARD)
    fleet.occupy(1, made)
    job = fleet.submit_manifest(made)

    fleet.expect_placed(job, admitted(ONE), admitted(ONE), None, worker=1)

    fleet.delete(job)

    fleet.expect(lambda: fleet.left(job), [0, 0, 0])
    fleet.expect(lambda: fleet.works(job), [False, False])


@covers("MK-027")
def test_a_job_without_a_manager_waits_on_the_manager(fleet: Fleet) -> None:
    """Nothing is set in it; it shows what became of its copy only at the end."""
    fleet.start(switched={MANAGES_JOBS: False})
    fleet.join(ONE, NONE, ONE)
    job = fleet.submit(CARD)
    fleet.expect(lambda: fleet.runs(2, job), True)
    assert fleet.managers(job) == ["", "", ""]

    fleet.report(2, job, active=1)

    fleet.expect_never(lambda: "active" in fleet.job_status(job))
    assert fleet.is_suspended(job)

    fleet.finish(2, job)

    fleet.expect_placed(job, finished("Succeeded"), None, None, worker=2)
    fleet.expect(fleet.reserved, ["0", "0", "0"])
    assert "Complete" in [each["type"] for each in fleet.job_status(job)["conditions"]]


@covers("MK-027")
def test_a_job_without_a_manager_waits_also_after_another_check(fleet: Fleet) -> None:
    """One of its checks is of MultiKueue: that is enough."""
    fleet.start(switched={MANAGES_JOBS: False})
    other = fleet.manager.admission_check()
    fleet.join(ONE, NONE, ONE, checks=[other])
    job = fleet.submit(CARD)
    fleet.expect(lambda: fleet.manager.checks(job).get(other), "Pending")

    fleet.manager.answer_check(job, other, "Ready", message="fine")

    fleet.expect(lambda: fleet.runs(2, job), True)
    fleet.report(2, job, active=1)
    fleet.expect_never(lambda: "active" in fleet.job_status(job))
    assert fleet.is_suspended(job)


@covers("MK-028")
def test_the_check_of_a_job_without_a_manager_stays_pending(fleet: Fleet) -> None:
    """The worker runs the Job, and the manager names the worker."""
    fleet.start(switched={MANAGES_JOBS: False})
    fleet.join(ONE, NONE, ONE)
    job = fleet.submit(CARD)

    fleet.expect_placed(job, waiting(ONE, fleet.check), None, admitted(ONE), worker=2)
    fleet.expect(lambda: fleet.runs(2, job), True)
    assert fleet.check_message(job) == f'The workload got reservation on "{fleet.names[1]}"'


@covers("MK-036")
def test_a_job_without_a_manager_is_admitted(fleet: Fleet) -> None:
    """Its check is Ready, as that of any other work."""
    fleet.start(switched={MANAGES_JOBS: False})
    fleet.join(ONE, NONE, ONE)
    job = fleet.submit(CARD)

    fleet.expect_placed(job, admitted(ONE), None, admitted(ONE), worker=2)
