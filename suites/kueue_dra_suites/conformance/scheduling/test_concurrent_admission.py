"""Concurrent admission: a variant of each Workload for each flavor (Kueue 0.18, KEP-8691; text silent)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.aging import aged
from kueue_dra_fixtures.builders import Pods, Work, a_job, a_missing_template, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Job, Lab
from kueue_dra_fixtures.manifests import a_cluster_queue, marked
from kueue_dra_fixtures.marks import breaks_law, covers, owns_kueue
from kueue_dra_fixtures.variants import GATE, RETAIN, TRY, Contest, a_policy
from kueue_dra_fixtures.verdicts import Reason, admitted, evicted, inadmissible, unseen
from kueue_dra_ref.api.conditions import reason_of
from kueue_dra_ref.api.variants import ALLOWED, PARENT
from kueue_dra_ref.target import Manifest, Ref

pytestmark = owns_kueue

CARD = a_job(claims=[a_template(gpu())])
CARDS = a_job(claims=[a_template(gpu(2))])
URGENT = a_job(priority=10, claims=[a_template(gpu(2))])
THREE = a_job(claims=[a_template(gpu(3))])
CPUS = a_job(cpu="2")
KINDS = [pytest.param(CARDS, id="devices"), pytest.param(CPUS, id="ordinary")]
TIMES = {"timeout": "10m", "blockAdmission": False, "requeuingStrategy": {"backoffBaseSeconds": 3600}}
OBSERVED = "UnadmittedWorkloadsObservability"
LOWER = {"withinClusterQueue": "LowerPriority"}
RIVALS = [
    pytest.param(CARDS, URGENT, 2, id="devices"),
    pytest.param(CPUS, a_job(cpu="2", priority=10), 3, id="ordinary"),
]
TWICE = "a ClusterQueue without a policy charges parents of variants, too"
MODES = [pytest.param(TRY, id="try-preferred"), pytest.param(RETAIN, id="retain-first")]


@covers("CONC-001", "CONC-002", "CONC-006", "CONC-008")
@pytest.mark.parametrize("work", KINDS)
def test_work_is_admitted_with_a_variant(lab: Lab, work: Work) -> None:
    """It starts in the first flavor, and the other variant is given up."""
    contest = Contest.of(lab, 2, 2)

    job = contest.submit(work)

    assert contest.states(job) == ["admitted", "inactive"]
    assert contest.admitted(job) == 0
    assert not lab.is_suspended(job)
    name = contest.variant(job, 0)["metadata"]["name"]
    assert lab.message(job, "Admitted") == f"The variant {name} is admitted"


@covers("CONC-028")
@pytest.mark.parametrize(
    ("state", "after"),
    [
        pytest.param("Ready", "admitted", id="ready"),
        pytest.param("Rejected", "pending", id="rejected"),
    ],
)
def test_the_variants_have_the_checks(lab: Lab, state: str, after: str) -> None:
    """Their parent has none, and waits until one of them is admitted; one that is rejected is tried again."""
    check = lab.admission_check()
    checks = {"admissionChecks": [{"name": check}]}
    contest = Contest.of(lab, 2, admissionChecksStrategy=checks)
    job = contest.submit(CARDS)

    variant = Job.of(contest.variant(job, 0))
    assert lab.checks(job) == {}
    assert lab.checks(variant) == {check: "Pending"}
    assert lab.is_suspended(job)

    lab.answer_check(variant, check, state)

    assert contest.states(job) == [after]
    assert lab.is_suspended(job) is (state != "Ready")
    assert lab.checks(job) == {}


@covers("CONC-028", "CHECK-001")
def test_work_without_variants_has_its_checks(lab: Lab) -> None:
    """Its ClusterQueue has no policy."""
    lab.start(switched=GATE)
    check = lab.admission_check()
    job = lab.queue({"whole-gpus": 2}, admissionChecksStrategy={"admissionChecks": [{"name": check}]}).submit(CARDS)

    assert lab.checks(job) == {check: "Pending"}
    assert lab.is_suspended(job)


@covers("CONC-029")
@pytest.mark.parametrize(
    "work",
    [
        pytest.param(a_job(pods=2, claims=[a_template(gpu())]), id="devices"),
        pytest.param(a_job(pods=2, cpu="1"), id="ordinary"),
    ],
)
def test_another_workload_has_variants_of_its_own(lab: Lab, work: Work) -> None:
    """A Job that runs with other pods than before is stopped; the variants of its former Workload hold nothing."""
    contest = Contest.of(lab, 4, 4)
    job = contest.submit(work)
    before = lab.workload(job)

    lab.change(job.ref, parallelism=1)

    assert contest.states(job) == ["admitted", "inactive"]
    assert lab.workload(job)["metadata"]["uid"] != before["metadata"]["uid"]
    assert contest.queue.figures.counts.admitted == 1
    held = contest.queue.figures.reserved[contest.flavors[0]]
    assert "1" in held.values()


@covers("CONC-002", "CONC-017")
def test_a_variant_is_a_copy_of_its_parent(lab: Lab) -> None:
    """It has its labels, annotations and spec, an owner, a flavor, and a gate in addition to those of its parent."""
    contest = Contest.of(lab, 2, 2)
    made = lab.written(a_workload(Pods(claims=(a_template(gpu(3)),)), priority=7), contest.queue)
    made["spec"]["preemptionGates"] = [{"name": "example.com/later"}]
    noted = marked(made, labels={"example.com/team": "b"}, annotations={"example.com/note": "a"})
    job = lab.submit_manifest(noted)
    parent = lab.workload(job)
    assert parent["metadata"]["labels"] == {"example.com/team": "b", PARENT: "true"}

    for place, flavor in enumerate(contest.flavors):
        variant = contest.variant(job, place)
        meta = variant["metadata"]
        assert meta["labels"] == {"example.com/team": "b"}
        assert meta["annotations"] == {"example.com/note": "a", ALLOWED: flavor}
        (owner,) = meta["ownerReferences"]
        named = parent["metadata"]["name"], parent["metadata"]["uid"]
        assert (owner["kind"], owner["name"], owner["uid"], owner["controller"]) == ("Workload", *named, True)
        gates = [{"name": "example.com/later"}, {"name": "kueue.x-k8s.io/concurrent-admission"}]
        assert variant["spec"] == {**parent["spec"], "preemptionGates": gates}


@covers("CONC-006", "CONC-012", "CONC-013")
def test_all_conditions_of_a_family(lab: Lab) -> None:
    """Of the work and of its admitted variant, before a migration and after it."""
    contest = Contest.of(lab, 2, 2)
    first, job = contest.submit(CARDS), contest.submit(CARDS)
    reserved = ("True", "QuotaReserved", f"Quota reserved in ClusterQueue {contest.queue.cluster}")

    def told(place: int) -> dict[str, tuple[str, str, str]]:
        name = contest.variant(job, place)["metadata"]["name"]
        admitted_with = ("True", "Admitted", f"The variant {name} is admitted")
        return {"Admitted": admitted_with, "QuotaReserved": reserved}

    own = {"Admitted": ("True", "Admitted", "The workload is admitted"), "QuotaReserved": reserved}
    assert conditions_of(lab.workload(job)) == told(1)
    assert conditions_of(contest.variant(job, 1)) == own

    lab.finish(first)
    assert contest.states(job) == ["admitted", "inactive"]

    why = "Admitted variant was evicted"
    left = {"Evicted": ("False", "QuotaReserved", f"Previously: {why}"), "Requeued": ("False", "VariantEvicted", why)}
    assert conditions_of(lab.workload(job)) == told(0) | left
    assert conditions_of(contest.variant(job, 0)) == own


def conditions_of(workload: Manifest) -> dict[str, tuple[str, str, str]]:
    """The status, the reason and the message of each condition; up to 0.18 PodsReady is only there if it is awaited."""
    found = {}
    for each in workload["status"]["conditions"]:
        found[each["type"]] = each["status"], each["reason"], each["message"]
    found.pop("PodsReady", None)
    return found


@covers("CONC-027", "CONC-004")
@pytest.mark.parametrize(
    ("name", "states"),
    [
        pytest.param("alone", ["missing", "missing"], id="without-a-hyphen"),
        pytest.param("alone-1", ["admitted", "inactive"], id="with-a-hyphen"),
    ],
)
def test_a_name_without_a_hyphen(lab: Lab, name: str, states: list[str]) -> None:
    """The variants of such a Workload get no names: it waits for ever, and no devices are charged."""
    contest = Contest.of(lab, 2, 2)
    made = lab.written(a_workload(Pods(claims=(a_template(gpu()),))), contest.queue)
    made["metadata"]["name"] = name

    job = lab.submit_manifest(made)

    assert contest.states(job) == states
    assert (lab.admission(job) is None) is ("missing" in states)
    assert contest.queue.figures.counts.pending == 0


@covers("CONC-002", "CONC-005")
@pytest.mark.parametrize("mode", MODES)
def test_devices_are_charged_once(lab: Lab, mode: str) -> None:
    """The Workload and its variant have the same admission, and the queue counts one of them."""
    contest = Contest.of(lab, 2, 4, mode=mode)
    contest.submit(CARDS)
    job = contest.submit(THREE)

    assert lab.verdict(job) == admitted({"whole-gpus": 3})
    assert contest.admitted(job) == 1
    assert contest.queue.figures.counts.reserving == 2
    reserved = contest.queue.figures.reserved
    assert [reserved[flavor]["whole-gpus"] for flavor in contest.flavors] == ["2", "3"]
    assert contest.queue.local_figures.counts.admitted == 2


@covers("CONC-001")
@pytest.mark.parametrize(
    ("gates", "policy"),
    [
        pytest.param({}, a_policy(TRY), id="gate-off"),
        pytest.param(GATE, None, id="no-policy"),
    ],
)
def test_work_has_no_variants(lab: Lab, gates: dict[str, bool], policy: Any) -> None:
    """The scheduler looks for a flavor as ever."""
    lab.start(switched=gates)
    flavors = lab.flavor("first"), lab.flavor("second")
    groups = [{flavor: {"whole-gpus": 2} for flavor in flavors}]
    queue = lab.queue(groups=groups, concurrentAdmissionPolicy=policy)
    contest = Contest(lab=lab, queue=queue, flavors=flavors)

    job = contest.submit(CARDS)

    assert contest.states(job) == ["missing", "missing"]
    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("CONC-003", "CONC-004")
@pytest.mark.parametrize("work", KINDS)
def test_variants_wait_and_their_parent_says_nothing(lab: Lab, work: Work) -> None:
    """Each variant says what its flavor lacks; the queue counts both variants."""
    contest = Contest.of(lab, 1, 1)

    job = contest.submit(work)

    assert lab.verdict(job) == unseen()
    assert contest.states(job) == ["pending", "pending"]
    assert contest.queue.figures.counts.pending == 2
    message = contest.message(job, 1)
    assert f"in flavor {contest.flavors[1]}, previously considered" in message
    assert f"skipping flavor {contest.flavors[0]} due to WorkloadAllowedResourceFlavorAnnotation annotation" in message


@covers("CONC-003")
@pytest.mark.parametrize(
    ("allowed", "place"),
    [
        pytest.param(None, 0, id="any"),
        pytest.param((1,), 1, id="the-second"),
        pytest.param((2, 1), 1, id="two-of-three"),
    ],
)
def test_a_workload_names_its_flavors(lab: Lab, allowed: tuple[int, ...] | None, place: int) -> None:
    """Also without variants: the annotation limits the search of any Workload."""
    lab.start(switched=GATE)
    flavors = [lab.flavor(f"choice{number}") for number in range(3)]
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 2} for flavor in flavors}])
    made = lab.written(a_workload(Pods(claims=(a_template(gpu(2)),))), queue)
    if allowed is not None:
        made = marked(made, annotations={ALLOWED: ",".join(flavors[each] for each in allowed)})

    job = lab.submit_manifest(made)

    assert lab.flavors(job) == {"main": {"whole-gpus": flavors[place]}}


@covers("CONC-003")
def test_no_flavor_is_allowed(lab: Lab) -> None:
    """The annotation names a flavor that the ClusterQueue does not have."""
    lab.start(switched=GATE)
    queue = lab.queue({"whole-gpus": 2})
    work = lab.written(a_workload(Pods(claims=(a_template(gpu(2)),))), queue)

    job = lab.submit_manifest(marked(work, annotations={ALLOWED: "elsewhere"}))

    assert lab.admission(job) is None
    assert "due to WorkloadAllowedResourceFlavorAnnotation annotation" in lab.message(job)


@covers("CONC-012", "CONC-013", "CONC-008")
@pytest.mark.parametrize("work", KINDS)
def test_work_migrates_to_a_preferred_flavor(lab: Lab, work: Work) -> None:
    """As soon as its devices fit there: it stops, and starts in the other flavor."""
    contest = Contest.of(lab, 2, 2)
    first, job = contest.submit(work), contest.submit(work)
    assert contest.states(job) == ["pending", "admitted"]

    lab.finish(first)

    assert contest.states(job) == ["admitted", "inactive"]
    assert contest.admitted(job) == 0
    assert lab.condition(job, "Evicted") == ("False", "QuotaReserved")
    assert lab.message(job, "Evicted") == "Previously: Admitted variant was evicted"
    reason = contest.condition(job, 1, "Evicted")
    assert reason == ("True", "FlavorMigration")
    assert contest.queue.figures.counts.reserving == 1


@covers("CONC-012", "CONC-008")
def test_work_does_not_migrate_from_a_flavor_that_waits_for_a_check(lab: Lab) -> None:
    """It starts in the preferred one, as if it had none, and the other variant is deactivated."""
    check = lab.admission_check()
    contest = Contest.of(lab, 2, 2)
    of_second = {"name": check, "onFlavors": [contest.flavors[1]]}
    contest.queue.change(admissionChecksStrategy={"admissionChecks": [of_second]})
    first, job = contest.submit(CARDS), contest.submit(CARDS)
    assert contest.states(job) == ["pending", "pending"]
    assert contest.queue.figures.counts.reserving == 2

    lab.finish(first)

    assert contest.states(job) == ["admitted", "inactive"]
    assert contest.condition(job, 1, "Evicted") == ("True", "Deactivated")
    assert contest.queue.figures.counts.reserving == 1


@covers("CONC-002", "CONC-004")
def test_variants_stay_without_their_cluster_queue(lab: Lab) -> None:
    """They wait as any other work, and no longer follow their parent."""
    contest = Contest.of(lab, 1, 1)
    job = contest.submit(CARDS)

    contest.queue.delete()
    lab.activate(job, False)

    assert contest.states(job) == ["pending", "pending"]
    assert not lab.is_there(contest.queue.ref)


@covers("CONC-011", "CONC-012", "CONC-024")
@pytest.mark.parametrize(
    ("work", "urgent", "place"),
    [
        pytest.param(CARDS, URGENT, 1, id="devices"),
        pytest.param(CPUS, a_job(cpu="2", priority=10), None, id="ordinary"),
    ],
)
def test_a_flavor_that_was_left(lab: Lab, work: Work, urgent: Work, place: int | None) -> None:
    """The variant for it is never tried again after a migration, unless it requests devices."""
    contest = Contest.of(lab, 2, 2, preemption=LOWER)
    first, job = contest.submit(work), contest.submit(work)
    lab.finish(first)
    assert contest.admitted(job) == 0
    preemptor, other = contest.submit(urgent), contest.submit(urgent)
    assert [contest.admitted(each) for each in (preemptor, other, job)] == [0, 1, None]

    lab.finish(other)

    assert contest.admitted(job) == place


@covers("CONC-007")
def test_work_retains_its_first_flavor(lab: Lab) -> None:
    """It does not migrate: its other variants are given up."""
    contest = Contest.of(lab, 2, 2, 2, mode=RETAIN)
    first, second, job = (contest.submit(CARDS) for _ in range(3))
    assert contest.states(second) == ["inactive", "admitted", "inactive"]
    assert contest.states(job) == ["inactive", "inactive", "admitted"]

    lab.finish(first)

    assert contest.admitted(second) == 1
    assert contest.admitted(job) == 2


@covers("CONC-009", "CONC-012", "CONC-019")
def test_the_last_acceptable_flavor_bounds_migrations(lab: Lab) -> None:
    """Work starts in any flavor, and from then on waits only for the acceptable ones."""
    contest = Contest.of(lab, 2, 2, 2, last=0)
    first, second, job = (contest.submit(CARDS) for _ in range(3))
    assert contest.states(second) == ["pending", "admitted", "inactive"]
    assert contest.states(job) == ["pending", "inactive", "admitted"]

    lab.finish(second)
    assert contest.states(job) == ["pending", "inactive", "admitted"]

    lab.finish(first)
    assert contest.states(job) == ["admitted", "inactive", "inactive"]


@covers("CONC-010", "CONC-011")
@pytest.mark.parametrize("work", KINDS)
def test_deactivated_work_releases_its_devices(lab: Lab, work: Work) -> None:
    """All its variants are deactivated with it, and activated with it; which controller evicts it first is chance."""
    contest = Contest.of(lab, 2, 2)
    job = contest.submit(work)

    lab.activate(job, False)

    assert contest.states(job) == ["inactive", "inactive"]
    assert lab.verdict(job) in (evicted("Deactivated"), evicted("VariantEvicted"))
    assert lab.is_suspended(job)
    assert contest.queue.figures.counts.reserving == 0

    lab.activate(job, True)

    assert contest.states(job) == ["admitted", "inactive"]
    assert contest.queue.figures.counts.reserving == 1


@covers("CONC-019")
@pytest.mark.parametrize("last", [pytest.param(-1, id="any-is-acceptable"), pytest.param(0, id="last-acceptable")])
def test_a_preferred_variant_cannot_be_given_up_alone(lab: Lab, last: int) -> None:
    """A user deactivates it, and Kueue activates it again."""
    contest = Contest.of(lab, 2, 2, last=last)
    contest.submit(CARDS)
    job = contest.submit(CARDS)

    contest.activate(job, 0, False)
    assert contest.states(job) == ["pending", "admitted"]


@covers("CONC-025")
def test_reclaimable_pods_release_no_devices(lab: Lab) -> None:
    """Only the Workload of the Job says that a pod will not run again."""
    contest = Contest.of(lab, 2, 1)
    job = contest.submit(a_job(pods=2, claims=[a_template(gpu())]))
    other = contest.submit(CARDS)

    lab.run(job, pods=1, succeeded=1)

    assert lab.workload(job)["status"]["reclaimablePods"] == [{"name": "main", "count": 1}]
    assert contest.queue.figures.reserved[contest.flavors[0]]["whole-gpus"] == "2"
    assert contest.admitted(other) is None


@covers("CONC-025")
def test_variants_keep_their_pods(lab: Lab) -> None:
    """A Job that waits is made smaller, and its variants are not."""
    contest = Contest.of(lab, 1, 1)
    job = contest.submit(a_job(pods=2, claims=[a_template(gpu())]))
    assert contest.states(job) == ["pending", "pending"]

    lab.scale(job, 1)

    assert lab.workload(job)["spec"]["podSets"][0]["count"] == 1
    assert contest.variant(job, 0)["spec"]["podSets"][0]["count"] == 2
    assert contest.admitted(job) is None


@covers("CONC-026")
def test_pods_of_a_variant(lab: Lab) -> None:
    """The variant has the condition PodsReady of its parent, and outlives the time for them."""
    contest = Contest.of(lab, 2, 2, settings={"waitForPodsReady": TIMES})
    job = contest.submit(CARDS)
    assert contest.condition(job, 0, "PodsReady") == ("False", "WaitForStart")

    contest.age(job, 0, 1200)
    assert contest.states(job) == ["admitted", "inactive"]
    assert contest.condition(job, 0, "Evicted") is None

    lab.run_ready(job, pods=1, ready=1)

    assert contest.condition(job, 0, "PodsReady") == lab.pods_ready(job) == ("True", "Started")
    assert contest.states(job) == ["admitted", "inactive"]


@covers("CONC-026")
def test_pods_of_a_variant_that_is_evicted(lab: Lab) -> None:
    """While its parent stops, and from then on, it shows the pods that it had."""
    contest = Contest.of(lab, 2, 1, preemption=LOWER, settings={"waitForPodsReady": TIMES})
    job = contest.submit(CARDS)
    lab.run_ready(job, pods=1, ready=1)
    contest.submit(URGENT)

    lab.run_ready(job, pods=0, ready=0)

    assert lab.admission(job) is None
    assert lab.pods_ready(job) == ("False", "WaitForStart")
    assert contest.condition(job, 0, "PodsReady") == ("True", "Started")


@covers("CONC-026", "CONC-006")
def test_pods_that_are_not_ready_in_time(lab: Lab) -> None:
    """The work stops, and starts again at once: its variant keeps the devices."""
    contest = Contest.of(lab, 2, 2, settings={"waitForPodsReady": TIMES})
    job = contest.submit(CARDS)

    aged(lab, job, 1200)

    assert contest.states(job) == ["admitted", "inactive"]
    assert lab.message(job, "Evicted").startswith("Previously: Exceeded the PodsReady timeout")
    assert contest.condition(job, 0, "Evicted") is None
    assert not lab.is_suspended(job)
    assert contest.queue.figures.counts.reserving == 1


@covers("CONC-015")
@pytest.mark.parametrize("work", KINDS)
def test_variants_finish_with_their_parent(lab: Lab, work: Work) -> None:
    """The next work gets the devices."""
    contest = Contest.of(lab, 2, 1)
    job, other = contest.submit(work), contest.submit(work)
    assert contest.admitted(other) is None

    lab.finish(job)

    assert contest.states(job) == ["finished", "finished"]
    assert contest.admitted(other) == 0
    assert contest.queue.figures.counts.reserving == 1


@covers("CONC-015")
def test_a_variant_finishes_once(lab: Lab) -> None:
    """A client has finished it: its parent adds no reason of its own."""
    contest = Contest.of(lab, 2, 1)
    job = contest.submit(CARDS)
    lab.end(Job.of(contest.variant(job, 1)))

    lab.finish(job)

    assert contest.states(job) == ["finished", "finished"]
    assert reason_of(contest.variant(job, 1), "Finished") == "Case"


@covers("CONC-005", "CONC-015")
def test_variants_are_deleted_with_their_work(lab: Lab) -> None:
    """The next work gets the devices."""
    contest = Contest.of(lab, 2, 1)
    job, other = contest.submit(CARDS), contest.submit(CARDS)

    lab.delete(job)

    assert contest.admitted(other) == 0
    assert contest.queue.figures.counts.reserving == 1
    assert contest.queue.figures.counts.pending == 0


@covers("CONC-005")
def test_variants_of_waiting_work_are_deleted_with_it(lab: Lab) -> None:
    """Those of older work stay."""
    contest = Contest.of(lab, 2, 1)
    job, other = contest.submit(CARDS), contest.submit(CARDS)

    lab.delete(other)

    assert contest.states(job) == ["admitted", "inactive"]
    assert contest.queue.figures.counts.pending == 0


@covers("CONC-014", "CONC-011", "CONC-002")
def test_work_stops_without_its_variant(lab: Lab) -> None:
    """A user deletes the admitted variant: Kueue creates it again, and the work starts again."""
    contest = Contest.of(lab, 2, 1)
    job = contest.submit(CARDS)
    before = contest.variant(job, 0)["metadata"]["uid"]

    lab.remove(Ref.of(contest.variant(job, 0)))
    lab.settle()

    assert contest.variant(job, 0)["metadata"]["uid"] != before
    assert lab.message(job, "Evicted") == "Previously: No variant is running"
    assert contest.queue.figures.counts.reserving == 1


@covers("CONC-014")
def test_work_that_stops_already_loses_its_variant(lab: Lab) -> None:
    """It was evicted with its variant; now it is evicted for having none."""
    contest = Contest.of(lab, 2, preemption=LOWER)
    job = contest.submit(CARDS)
    lab.run(job, pods=1)
    contest.submit(URGENT)
    assert lab.message(job, "Evicted") == "Admitted variant was evicted"

    lab.remove(Ref.of(contest.variant(job, 0)))
    lab.settle()

    assert lab.message(job, "Evicted") == "No variant is running"


@covers("CONC-016")
def test_variants_follow_the_flavors(lab: Lab) -> None:
    """The variant of a removed flavor is gone, its work stops, and starts in a new one."""
    contest = Contest.of(lab, 1, 2)
    job = contest.submit(CARDS)
    assert contest.states(job) == ["pending", "admitted"]
    third = lab.flavor("third")

    contest.queue.regroup({contest.flavors[0]: {"whole-gpus": 1, "cpu": 1}, third: {"whole-gpus": 2, "cpu": 2}})

    assert set(contest.variants(job)) == {contest.flavors[0], third}
    assert lab.flavors(job) == {"main": {"whole-gpus": third}}
    assert contest.queue.figures.counts.reserving == 1


@pytest.mark.parametrize(
    "flavors",
    [
        pytest.param(3, id="follows", marks=covers("CONC-016")),
        pytest.param(2, id="stays", marks=covers("CONC-032")),
    ],
)
def test_work_that_runs_when_a_flavor_is_added(lab: Lab, flavors: int) -> None:
    """It gets a variant for it, although nothing else of it changes."""
    contest = Contest.of(lab, 2, 2)
    job = contest.submit(CARDS)
    quota = {"whole-gpus": 2, "cpu": 2}

    contest.queue.regroup(dict.fromkeys([*contest.flavors, lab.flavor("third")], quota))

    assert contest.states(job) == ["admitted", "inactive"]
    assert len(contest.variants(job)) == flavors


@covers("CONC-032")
def test_a_variant_stays_although_its_flavor_is_removed(lab: Lab) -> None:
    """Its work runs on, and no variant is created for the flavor in its place."""
    contest = Contest.of(lab, 1, 2)
    job = contest.submit(CARDS)
    third = lab.flavor("third")

    contest.queue.regroup({contest.flavors[0]: {"whole-gpus": 1, "cpu": 1}, third: {"whole-gpus": 2, "cpu": 2}})

    assert contest.states(job) == ["pending", "admitted"]
    assert set(contest.variants(job)) == set(contest.flavors)
    assert contest.admitted(job) == 1


@covers("CONC-032")
def test_a_variant_whose_flavor_is_removed_counts_as_the_first(lab: Lab) -> None:
    """The variant of the second flavor comes after it now, and is deactivated."""
    contest = Contest.of(lab, 1, 1, 2)
    job = contest.submit(CARDS)
    assert contest.states(job) == ["pending", "pending", "admitted"]
    other = lab.flavor("other")

    one, two = ({"whole-gpus": count, "cpu": count} for count in (1, 2))
    contest.queue.regroup({contest.flavors[0]: one, contest.flavors[1]: one, other: two})

    assert contest.states(job) == ["pending", "inactive", "admitted"]


@covers("CONC-033")
def test_variants_stay_in_their_queue(lab: Lab) -> None:
    """Their work moves to a ClusterQueue without a policy that has the same flavors, and waits for them."""
    contest = Contest.of(lab, 1, 1)
    job = contest.submit(CARDS)
    groups = [{flavor: {"whole-gpus": 2} for flavor in contest.flavors}]
    elsewhere = lab.queue(namespace=contest.queue.namespace, groups=groups)

    lab.move(job, elsewhere.local)

    assert contest.states(job) == ["pending", "pending"]
    assert contest.variant(job, 0)["spec"]["queueName"] == contest.queue.local
    assert lab.admission(job) is None
    assert elsewhere.figures.counts.pending == 0


@covers("CONC-034")
@breaks_law("charges are reservations", TWICE)
@breaks_law("charges are usage", TWICE)
@breaks_law("holders are counted", TWICE)
def test_a_variant_of_another_flavor_moves_with_its_work(lab: Lab) -> None:
    """The ClusterQueue without a policy charges both of them, above its quota."""
    contest = Contest.of(lab, 1, 1)
    job = contest.submit(CARDS)
    flavor = lab.flavor("other")
    elsewhere = lab.queue(namespace=contest.queue.namespace, groups=[{flavor: {"whole-gpus": 2}}])

    lab.move(job, elsewhere.local)

    assert set(contest.variants(job)) == {flavor}
    assert lab.flavors(job) == {"main": {"whole-gpus": flavor}}
    assert elsewhere.figures.counts.reserving == 2
    assert elsewhere.figures.reserved[flavor]["whole-gpus"] == "4"


@covers("CONC-013", "CONC-011", "CONC-030")
@pytest.mark.parametrize(("work", "urgent", "pending"), RIVALS)
def test_a_preempted_variant_stops_its_work(lab: Lab, work: Work, urgent: Work, pending: int) -> None:
    """All its variants wait again; ordinary work waits with them in its LocalQueue, and none tries it."""
    contest = Contest.of(lab, 2, 1, preemption=LOWER)
    job = contest.submit(work)

    preemptor = contest.submit(urgent)

    assert contest.admitted(preemptor) == 0
    assert lab.verdict(job) == evicted("VariantEvicted")
    assert contest.states(job) == ["pending", "pending"]
    assert lab.is_suspended(job)
    assert contest.queue.figures.counts.reserving == 1
    assert contest.queue.figures.counts.pending == 2
    assert contest.queue.local_figures.counts.pending == pending


@covers("CONC-030", "CONC-004")
@pytest.mark.parametrize(
    ("work", "pending"), [pytest.param(CARDS, 2, id="devices"), pytest.param(CPUS, 3, id="ordinary")]
)
def test_variants_of_a_local_queue_that_runs_again(lab: Lab, work: Work, pending: int) -> None:
    """The ClusterQueue tries them, and not their parent, which the LocalQueue counts if it has no devices."""
    contest = Contest.of(lab, 1, 1)
    job = contest.submit(work)
    assert contest.queue.local_figures.counts.pending == 2

    contest.queue.change_local(stopPolicy="Hold")
    contest.queue.change_local(stopPolicy="None")

    assert contest.states(job) == ["pending", "pending"]
    assert contest.queue.figures.counts.pending == 2
    assert contest.queue.local_figures.counts.pending == pending


@covers("CONC-031")
@pytest.mark.parametrize("work", KINDS)
def test_variants_of_a_drained_local_queue(lab: Lab, work: Work) -> None:
    """The work stops, and its variant keeps the quota until the LocalQueue runs again."""
    contest = Contest.of(lab, 2, 2)
    job = contest.submit(work)

    contest.queue.change_local(stopPolicy="HoldAndDrain")

    assert lab.is_suspended(job)
    assert contest.condition(job, 0, "QuotaReserved") == ("True", "QuotaReserved")
    assert contest.condition(job, 0, "Evicted") == ("True", "LocalQueueStopped")

    contest.queue.change_local(stopPolicy="None")

    assert contest.states(job) == ["admitted", "inactive"]
    assert not lab.is_suspended(job)


@covers("CONC-031", "CONC-010")
def test_variants_follow_their_parent_once_the_local_queue_runs(lab: Lab) -> None:
    """They are deactivated with it, although it was deactivated before."""
    contest = Contest.of(lab, 1, 1)
    job = contest.submit(CARDS)
    contest.queue.change_local(stopPolicy="Hold")

    lab.activate(job, False)
    assert contest.states(job) == ["pending", "pending"]

    contest.queue.change_local(stopPolicy="None")
    assert contest.states(job) == ["inactive", "inactive"]


@covers("CONC-017", "CONC-018")
def test_one_variant_preempts(lab: Lab) -> None:
    """Each of two flavors needs preemption: the work preempts in the first one only."""
    contest = Contest.of(lab, 2, 2, preemption=LOWER)
    first, second = contest.submit(CARDS), contest.submit(CARDS)

    urgent = contest.submit(URGENT)

    assert contest.states(urgent) == ["admitted", "inactive"]
    assert lab.admission(first) is None
    assert contest.states(second) == ["pending", "admitted"]
    assert contest.gates(urgent) == [["Open"], []]
    blocked = contest.condition(urgent, 0, "BlockedOnPreemptionGates")
    assert blocked == ("False", "QuotaReserved")


@covers("CONC-017", "CONC-018", "CONC-012")
def test_work_preempts_for_a_preferred_flavor(lab: Lab) -> None:
    """Although it fits in another one, which is left to its victim."""
    contest = Contest.of(lab, 2, 2, preemption=LOWER)
    victim = contest.submit(CARDS)

    urgent = contest.submit(URGENT)

    assert contest.states(urgent) == ["admitted", "inactive"]
    assert contest.states(victim) == ["pending", "admitted"]


@covers("CONC-013", "CONC-018")
def test_a_preemptor_waits_for_the_pods(lab: Lab) -> None:
    """The variant of its victim keeps the devices until they have stopped."""
    contest = Contest.of(lab, 2, 2, preemption=LOWER)
    first, second = contest.submit(CARDS), contest.submit(CARDS)
    lab.run(first, pods=1)

    urgent = contest.submit(URGENT)

    assert contest.states(urgent) == ["pending", "pending"]
    assert contest.states(second) == ["pending", "admitted"]
    assert contest.condition(urgent, 0, "BlockedOnPreemptionGates") == ("True", "PreemptionGated")
    assert contest.gates(urgent) == [["Open"], []]

    lab.run(first, pods=0)

    assert contest.states(urgent) == ["admitted", "inactive"]


@covers("CONC-017", "CONC-018")
def test_the_next_gate_opens_after_five_minutes(lab: Lab) -> None:
    """The first variant cannot preempt any more: the second one may, but not at once."""
    contest = Contest.of(lab, 2, 2, preemption=LOWER)
    first, second = contest.submit(CARDS), contest.submit(CARDS)
    lab.run(first, pods=1)
    urgent = contest.submit(URGENT)
    quota = {"whole-gpus": 0, "cpu": 0}, {"whole-gpus": 2, "cpu": 2}

    contest.queue.regroup(dict(zip(contest.flavors, quota, strict=True)))

    assert contest.states(urgent) == ["pending", "pending"]
    assert contest.gates(urgent) == [["Open"], []]
    assert contest.condition(urgent, 1, "BlockedOnPreemptionGates") == ("True", "PreemptionGated")
    assert contest.message(urgent, 1) == "Workload requires preemption, but it's gated"
    assert contest.states(second) == ["pending", "admitted"]

    contest.age_gate(urgent, 0, 301)

    assert contest.states(urgent) == ["pending", "admitted"]
    assert contest.gates(urgent) == [["Open"], ["Open"]]


@covers("CONC-018")
def test_the_five_minutes_count_from_the_last_gate_that_opened(lab: Lab) -> None:
    """The first of three has been open for longer, the second one not: the third one stays closed."""
    contest = Contest.of(lab, 2, 2, 2, preemption=LOWER)
    for _ in contest.flavors:
        lab.run(contest.submit(CARDS), pods=1)
    urgent = contest.submit(URGENT)
    none, cards = {"whole-gpus": 0, "cpu": 0}, {"whole-gpus": 2, "cpu": 2}
    contest.queue.regroup(dict(zip(contest.flavors, (none, cards, cards), strict=True)))
    contest.age_gate(urgent, 0, 301)
    assert contest.gates(urgent) == [["Open"], ["Open"], []]

    contest.queue.regroup(dict(zip(contest.flavors, (none, none, cards), strict=True)))

    assert contest.states(urgent) == ["pending", "pending", "pending"]
    assert contest.condition(urgent, 2, "BlockedOnPreemptionGates") == ("True", "PreemptionGated")
    assert contest.gates(urgent) == [["Open"], ["Open"], []]


@covers("CONC-018")
def test_no_gate_opens_before_the_preferred_variants_were_tried(lab: Lab) -> None:
    """The second variant is moved to a queue where it may preempt; the first one waits behind work that preempts."""
    contest = Contest.of(lab, 2, 2, preemption=LOWER)
    blocking = contest.submit(CARDS)
    lab.run(blocking, pods=1)
    contest.submit(URGENT)
    groups = [{contest.flavors[1]: {"whole-gpus": 2}}]
    elsewhere = lab.queue(groups=groups, namespace=contest.queue.namespace, preemption=LOWER)
    victim = elsewhere.submit(CARDS)
    job = contest.submit(URGENT)
    assert contest.condition(job, 0, "QuotaReserved") is None

    lab.change(Ref.of(contest.variant(job, 1)), queueName=elsewhere.local)

    assert contest.condition(job, 1, "BlockedOnPreemptionGates") == ("True", "PreemptionGated")
    assert contest.gates(job) == [[], []]
    assert lab.verdict(victim) == admitted({"whole-gpus": 2})


@covers("CONC-017")
@pytest.mark.parametrize(
    ("observed", "reason"),
    [pytest.param(False, "Pending", id="plain"), pytest.param(True, "AdmissionGated", id="observed")],
)
def test_a_gate_of_a_user(lab: Lab, observed: bool, reason: str) -> None:
    """Also without variants: a Workload preempts nothing while its preemption gate is closed."""
    lab.start(switched={**GATE, OBSERVED: observed})
    queue = lab.queue({"whole-gpus": 2}, preemption=LOWER)
    victim = queue.submit(CARDS)
    made = lab.written(a_workload(Pods(claims=(a_template(gpu(2)),)), priority=10), queue)
    made["spec"]["preemptionGates"] = [{"name": "example.com/later"}]

    job = lab.submit_manifest(made)

    assert lab.verdict(victim) == admitted({"whole-gpus": 2})
    assert lab.condition(job, "QuotaReserved") == ("False", reason)
    assert lab.message(job) == "Workload requires preemption, but it's gated"

    lab.delete(victim)

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("CONC-004", "CONC-013", "OBSERVE-009")
def test_observed_variants(lab: Lab) -> None:
    """A parent has no reason until it was evicted; then it is pending evaluation, and its variants have reasons."""
    contest = Contest.of(lab, 2, 1, gates={OBSERVED: True}, preemption=LOWER)
    job = contest.submit(CARDS)

    urgent = contest.submit(URGENT)

    waiting = contest.submit(a_job(pods=2, claims=[a_template(gpu())]))
    assert contest.admitted(urgent) == 0
    assert lab.condition(waiting, "QuotaReserved") is None
    assert lab.condition(job, "QuotaReserved") == ("False", "PendingEvaluation")
    reasons = [contest.condition(waiting, place, "QuotaReserved") for place in (0, 1)]
    assert reasons == [("False", "WaitingForQuota"), ("False", "ExceedsMaxQuota")]


@covers("CONC-002", "CONC-004")
def test_a_missing_template_is_reported_by_all(lab: Lab) -> None:
    """By the Workload and by each of its variants, and none of them is queued."""
    contest = Contest.of(lab, 2, 2)

    job = contest.submit(a_job(claims=[a_missing_template("devices")]))

    assert lab.verdict(job) == inadmissible(Reason.NO_TEMPLATE)
    said = [contest.condition(job, place, "Requeued") for place in (0, 1)]
    assert said == [lab.condition(job, "Requeued")] * 2
    assert contest.queue.figures.counts.pending == 0


@covers("CONC-005", "CONC-004", "CONC-030")
@pytest.mark.parametrize(
    ("work", "pending"), [pytest.param(CARDS, 3, id="devices"), pytest.param(CPUS, 4, id="ordinary")]
)
def test_a_starting_kueue_charges_variants_alone(lab: Lab, work: Work, pending: int) -> None:
    """It counts the quota of each work once, and queues the other variants."""
    contest = Contest.of(lab, 2, 2)
    first, job = contest.submit(work), contest.submit(work)
    waiting = contest.submit(work)

    lab.start(switched=GATE, mappings={"whole-gpus": ["gpu.example.com"], "more": ["more.example.com"]})

    assert contest.queue.figures.counts.reserving == 2
    assert contest.queue.figures.counts.pending == 3
    assert contest.queue.local_figures.counts.pending == pending
    assert contest.admitted(waiting) is None
    lab.finish(first)
    assert contest.admitted(job) == 0
    assert contest.admitted(waiting) == 1


@covers("CONC-020", "CONC-021", "CONC-022")
@pytest.mark.parametrize(
    ("flavors", "spec", "message"),
    [
        pytest.param(2, {}, "", id="complete"),
        pytest.param(16, {}, "", id="16-flavors"),
        pytest.param(17, {}, "cannot have more than 16 resource flavors in the ResourceGroup", id="17-flavors"),
        pytest.param(
            0, {}, "spec.resourceGroups: Invalid value: 0: must have exactly one ResourceGroup", id="no-group"
        ),
        pytest.param(
            2,
            {"queueingStrategy": "StrictFIFO"},
            "StrictFIFO queueing strategy cannot be used when ConcurrentAdmissionPolicy is defined",
            id="strict-order",
        ),
        pytest.param(
            2,
            {"concurrentAdmissionPolicy": a_policy(RETAIN, "f0")},
            'Forbidden: may only be set when migration.mode is "TryPreferredFlavors" (got "RetainFirstAdmission")',
            id="constraints-without-migration",
        ),
        pytest.param(
            2,
            {"concurrentAdmissionPolicy": a_policy(TRY, "f2")},
            'Invalid value: "f2": must be one of the flavors defined in the ClusterQueue',
            id="another-flavor",
        ),
        pytest.param(2, {"concurrentAdmissionPolicy": a_policy(TRY, "f1")}, "", id="last-acceptable-flavor"),
        pytest.param(
            2,
            {"concurrentAdmissionPolicy": a_policy("Stay")},
            'spec.concurrentAdmissionPolicy.migration.mode: Unsupported value: "Stay"',
            id="unknown-mode",
        ),
        pytest.param(
            2,
            {"concurrentAdmissionPolicy": {"migration": {"constraints": {}}}},
            "spec.concurrentAdmissionPolicy.migration.mode: Required value",
            id="no-mode",
        ),
        pytest.param(
            2,
            {"concurrentAdmissionPolicy": {}},
            "concurrentAdmissionPolicy.migration: Required value",
            id="no-migration",
        ),
    ],
)
def test_policies(lab: Lab, flavors: int, spec: dict[str, Any], message: str) -> None:
    """Variants need one resource group, an order in which none blocks the others, and known flavors."""
    lab.start(switched=GATE)
    group = {f"f{number}": {"whole-gpus": 1} for number in range(flavors)}
    groups = lab.groups([group]) if group else []
    made = a_cluster_queue(lab.name("cq"), groups, **{"concurrentAdmissionPolicy": a_policy(TRY), **spec})

    answer = lab.denied(made)

    assert bool(answer) is bool(message)
    assert message in answer


@covers("CONC-021", "CONC-022")
@pytest.mark.parametrize(
    ("names", "policy", "fault"),
    [
        pytest.param(["a"], None, "", id="17-flavors-without-a-policy"),
        pytest.param(["a", "b"], a_policy(TRY), "must have exactly one ResourceGroup", id="17-flavors-in-each-group"),
        pytest.param(["c"], a_policy(RETAIN, "f9"), "may only be set when migration.mode is", id="another-flavor"),
    ],
)
def test_policies_with_one_fault(lab: Lab, names: list[str], policy: dict[str, Any] | None, fault: str) -> None:
    """What is wrong already is not checked further, and neither are ClusterQueues without a policy."""
    lab.start(switched=GATE)
    resources = {"a": "whole-gpus", "b": "cpu", "c": "whole-gpus"}
    groups = []
    for name in names:
        flavors = 2 if name == "c" else 17
        groups.append({f"{name}{number}": {resources[name]: 1} for number in range(flavors)})
    made = a_cluster_queue(lab.name("cq"), lab.groups(groups), concurrentAdmissionPolicy=policy)

    answer = lab.denied(made)

    assert bool(answer) is bool(fault)
    assert fault in answer
    assert "cannot have more than 16" not in answer
    assert "must be one of the flavors" not in answer


@covers("CONC-021")
def test_a_policy_allows_one_resource_group(lab: Lab) -> None:
    """Another group would need variants for each pair of flavors."""
    lab.start(switched=GATE)
    groups = lab.groups([{"a": {"whole-gpus": 1}}, {"b": {"cpu": 1}}])
    made = a_cluster_queue(lab.name("cq"), groups, concurrentAdmissionPolicy=a_policy(TRY))

    assert "spec.resourceGroups: Invalid value: 2: must have exactly one ResourceGroup" in lab.denied(made)


@covers("CONC-023")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(a_policy(TRY), a_policy(RETAIN), id="another-mode"),
        pytest.param(a_policy(TRY), None, id="removed"),
        pytest.param(None, a_policy(TRY), id="added"),
    ],
)
def test_a_policy_does_not_change(lab: Lab, before: Any, after: Any) -> None:
    """A ClusterQueue keeps the policy that it was created with."""
    lab.start(switched=GATE)
    name = lab.name("cq")
    groups = lab.groups([{"a": {"whole-gpus": 1}}])
    lab.apply(a_cluster_queue(name, groups, concurrentAdmissionPolicy=before))

    answer = lab.denied(a_cluster_queue(name, groups, concurrentAdmissionPolicy=after))

    assert "spec.concurrentAdmissionPolicy: Invalid value" in answer
    assert "field is immutable" in answer
