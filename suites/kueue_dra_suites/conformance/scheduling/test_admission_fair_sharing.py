"""Admission fair sharing: the LocalQueue that has used fewer devices over time is next (KEP-4136; text silent)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kueue_dra_fixtures.builders import Pods, Work, a_job, a_template, a_workload, gpu
from kueue_dra_fixtures.cohorts import a_cohort
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.lab.usage import UsageSample
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.profiles import a_configuration
from kueue_dra_fixtures.verdicts import admitted

pytestmark = owns_kueue

GATE = "AdmissionFairSharing"
BY_USAGE: dict[str, Any] = {"admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"}}
BY_AGE: dict[str, Any] = {"admissionScope": {"admissionMode": "NoAdmissionFairSharing"}}
SUMMED = {"usageHalfLifeTime": "1000h", "usageSamplingInterval": "1000h"}
"""Each admission adds half of what it requests, and nothing of it decays."""
PRESENT = {"usageHalfLifeTime": "1ms", "usageSamplingInterval": "1s"}
"""After the next sample, the usage is what the LocalQueue uses at that time."""


def start(lab: Lab, times: dict[str, str], weights: dict[str, float] | None = None, gate: bool = True) -> None:
    """Run Kueue with admission fair sharing."""
    settings: dict[str, Any] = {**times, "resourceWeights": weights or {}}
    switched = {GATE: gate} if GATE in lab.behaviour.gates.table else {}
    lab.start(switched=switched, admissionFairSharing=settings)


def cards(thousands: int, **shape: Any) -> Work:
    """A Job that requests thousands of devices: so many that a Kueue that loses thousandths of one loses nothing."""
    return a_job(claims=[a_template(gpu(1000 * thousands))], **shape)


def use(queue: Queue, work: Work) -> None:
    """Run work to its end."""
    job = queue.submit(work)
    assert queue.lab.admission(job) is not None
    queue.lab.delete(job)


def contest(older: Queue, younger: Queue, all_cards: int = 4, priority: int = 0) -> tuple[Job, Job]:
    """Two Jobs that wait for all devices of one ClusterQueue, which are released then; the first is the older one."""
    lab = older.lab
    blocking = older.beside().submit(cards(all_cards))
    jobs = older.submit(cards(all_cards, priority=priority)), younger.submit(cards(all_cards))
    lab.delete(blocking)
    return jobs


def next_of(older: Queue, younger: Queue, **options: int) -> str:
    """Which of two LocalQueues gets the devices for which both wait; the older Job is that of the first."""
    first, second = contest(older, younger, **options)
    admissions = [older.lab.admission(job) is not None for job in (first, second)]
    assert sorted(admissions) == [False, True]
    return older.local if admissions[0] else younger.local


@covers("AFS-001")
@pytest.mark.parametrize("strategy", ["BestEffortFIFO", "StrictFIFO"])
def test_the_queue_that_has_used_fewer_devices_is_next(lab: Lab, strategy: str) -> None:
    """Its Job gets the released devices, though it is younger."""
    start(lab, SUMMED)
    greedy = lab.queue({"whole-gpus": 4000}, queueingStrategy=strategy, **BY_USAGE)
    modest = greedy.beside()
    use(greedy, cards(2))
    use(modest, cards(1))

    waiting, first = contest(greedy, modest)

    assert lab.verdict(first) == admitted({"whole-gpus": 4000})
    assert lab.admission(waiting) is None


@covers("AFS-001")
def test_of_unused_queues_the_older_job_is_next(lab: Lab) -> None:
    """Usage decides nothing between LocalQueues that have used nothing."""
    start(lab, SUMMED)
    one = lab.queue({"whole-gpus": 4000}, **BY_USAGE)

    assert next_of(one, one.beside()) == one.local


@covers("AFS-001", "AFS-014")
def test_usage_of_work_that_runs_counts(lab: Lab) -> None:
    """A LocalQueue that holds devices waits behind one that holds none."""
    start(lab, SUMMED)
    holding = lab.queue({"whole-gpus": 4000}, **BY_USAGE)
    holding.submit(cards(1))

    assert next_of(holding, other := holding.beside(), all_cards=3) == other.local


@covers("AFS-002")
@pytest.mark.parametrize(
    ("configured", "gate", "scope"),
    [
        pytest.param(False, True, BY_USAGE, id="without-settings"),
        pytest.param(True, False, BY_USAGE, id="gate-off"),
        pytest.param(True, True, BY_AGE, id="other-mode"),
        pytest.param(True, True, {}, id="without-mode"),
    ],
)
def test_usage_decides_nothing_without_all_of_its_conditions(
    lab: Lab, configured: bool, gate: bool, scope: dict[str, Any]
) -> None:
    """The older Job is next, though its LocalQueue has used more."""
    if configured:
        start(lab, SUMMED, gate=gate)
    elif GATE in lab.behaviour.gates.table:
        lab.start(switched={GATE: True})
    greedy = lab.queue({"whole-gpus": 4000}, **scope)
    use(greedy, cards(2))

    assert next_of(greedy, greedy.beside()) == greedy.local


@covers("AFS-002", "AFS-019")
@pytest.mark.parametrize("configured", [pytest.param(False, id="without-settings"), pytest.param(True, id="gate-off")])
def test_no_usage_is_shown_without_the_feature(lab: Lab, configured: bool) -> None:
    """The status of the LocalQueue shows no consumed resources."""
    if configured and GATE in lab.behaviour.gates.table:
        start(lab, PRESENT, gate=False)
    else:
        lab.start()
    queue = lab.queue({"whole-gpus": 4000}, **BY_USAGE)
    queue.submit(cards(2))

    assert queue.usage is None


@covers("AFS-005")
def test_usage_goes_before_priority(lab: Lab) -> None:
    """The Job of the LocalQueue that has used less is next, though the other one has a higher priority."""
    start(lab, SUMMED)
    greedy = lab.queue({"whole-gpus": 4000}, **BY_USAGE)
    modest = greedy.beside()
    use(greedy, cards(1))

    assert next_of(greedy, modest, priority=100) == modest.local


@covers("AFS-003")
@pytest.mark.parametrize(
    ("weights", "cards_are_less"),
    [
        pytest.param({}, True, id="without"),
        pytest.param({"whole-gpus": 5.0}, False, id="devices-5"),
        pytest.param({"whole-gpus": 5.0, "cpu": 2.0}, True, id="devices-5-cpu-2"),
        pytest.param({"whole-gpus": 0.5, "cpu": 0.1}, False, id="fractions"),
        pytest.param({"whole-gpus": 0.0}, True, id="devices-0"),
        pytest.param({"cpu": 0.0}, False, id="cpu-0"),
    ],
)
def test_a_resource_counts_with_its_weight(lab: Lab, weights: dict[str, float], cards_are_less: bool) -> None:
    """One LocalQueue has used a thousand devices, the other three thousand cpus."""
    start(lab, SUMMED, weights)
    queue = lab.queue({"whole-gpus": 4000, "cpu": 4000}, **BY_USAGE)
    used_cpu = queue.beside()
    use(queue, cards(1))
    use(used_cpu, a_job(cpu="3000"))

    if cards_are_less:
        assert next_of(used_cpu, queue) == queue.local
    else:
        assert next_of(queue, used_cpu) == used_cpu.local


@covers("AFS-003", "AFS-004")
@pytest.mark.parametrize(
    ("weights", "memory_is_less"),
    [pytest.param({}, False, id="unweighted"), pytest.param({"memory": 1e-10}, True, id="weighted")],
)
def test_a_byte_counts_as_much_as_a_device(lab: Lab, weights: dict[str, float], memory_is_less: bool) -> None:
    """10Gi of memory are more than four thousand devices, unless memory has a small weight."""
    start(lab, SUMMED, weights)
    queue = lab.queue({"whole-gpus": 4000, "memory": "10Gi"}, **BY_USAGE)
    used_memory = queue.beside()
    use(queue, cards(4))
    use(used_memory, a_job(requests={"memory": "10Gi"}))

    if memory_is_less:
        assert next_of(queue, used_memory) == used_memory.local
    else:
        assert next_of(used_memory, queue) == queue.local


@covers("AFS-006")
@pytest.mark.parametrize(
    ("weight", "heavier_is_next"),
    [pytest.param("3", True, id="3"), pytest.param("1500m", False, id="1.5")],
)
def test_usage_is_divided_by_the_weight_of_the_queue(lab: Lab, weight: str, heavier_is_next: bool) -> None:
    """It has used two devices, the other one a single device, and has no weight."""
    start(lab, SUMMED)
    light = lab.queue({"whole-gpus": 4000}, **BY_USAGE)
    heavy = light.beside(fairSharing={"weight": weight})
    use(heavy, cards(2))
    use(light, cards(1))

    assert next_of(light, heavy) == (heavy if heavier_is_next else light).local


@covers("AFS-007")
@pytest.mark.parametrize(
    ("weight", "used"),
    [
        pytest.param("0", 0, id="unused"),
        pytest.param("0", 1, id="used"),
        pytest.param("-1", 1, id="less-than-zero"),
    ],
)
def test_a_queue_with_weight_zero_is_last(lab: Lab, weight: str, used: int) -> None:
    """The other LocalQueue is next, however much it has used."""
    start(lab, SUMMED)
    weightless = lab.queue({"whole-gpus": 4000}, local={"fairSharing": {"weight": weight}}, **BY_USAGE)
    greedy = weightless.beside()
    use(greedy, cards(4))
    if used:
        use(weightless, cards(used))

    assert next_of(weightless, greedy) == greedy.local


@covers("AFS-008")
def test_an_unused_queue_with_weight_zero_is_first(lab: Lab) -> None:
    """It comes before one that has used nothing either, and last once it has used something."""
    start(lab, SUMMED)
    other = lab.queue({"whole-gpus": 4000}, **BY_USAGE)
    weightless = other.beside(fairSharing={"weight": "0"})

    first, second = contest(other, weightless)

    assert lab.admission(second) is not None
    lab.delete(first)
    lab.delete(second)
    assert next_of(weightless, other) == other.local


@covers("AFS-006", "AFS-008")
def test_a_queue_with_a_weight_below_zero_is_first(lab: Lab) -> None:
    """What it has used is divided by its weight as well, and so less than nothing."""
    start(lab, SUMMED)
    other = lab.queue({"whole-gpus": 4000}, **BY_USAGE)
    negative = other.beside(fairSharing={"weight": "-1"})
    use(negative, cards(1))

    assert next_of(other, negative) == negative.local


@covers("AFS-009")
def test_another_mode_orders_after_a_restart(lab: Lab) -> None:
    """A ClusterQueue that gets another mode keeps the order that it had."""
    start(lab, SUMMED)
    greedy = lab.queue({"whole-gpus": 4000}, **BY_USAGE)
    modest = greedy.beside()
    use(greedy, cards(2))
    greedy.change(**BY_AGE)

    waiting, first = contest(greedy, modest)
    assert lab.admission(first) is not None
    lab.delete(first)
    assert lab.admission(waiting) is not None
    lab.delete(waiting)

    start(lab, SUMMED, {"unused": 1.0})
    use(greedy, cards(2))
    assert next_of(greedy, modest) == greedy.local


@covers("AFS-014")
def test_quota_that_is_released_at_once_goes_round(lab: Lab) -> None:
    """The first Job of a LocalQueue puts its second one behind that of another LocalQueue, though it is older."""
    start(lab, SUMMED)
    one = lab.queue({"whole-gpus": 4000}, **BY_USAGE)
    other = one.beside()
    blocking = one.beside().submit(cards(4))
    first, second, third = one.submit(cards(2)), one.submit(cards(2)), other.submit(cards(2))

    lab.delete(blocking)

    assert lab.admission(first) is not None
    assert lab.admission(third) is not None
    assert lab.admission(second) is None


@covers("AFS-011")
def test_without_a_half_life_nothing_counts(lab: Lab) -> None:
    """The older Job is next, though its LocalQueue holds devices and has used more."""
    start(lab, {"usageHalfLifeTime": "0s", "usageSamplingInterval": "1s"})
    greedy = lab.queue({"whole-gpus": 4000}, **BY_USAGE)
    use(greedy, cards(4))
    greedy.submit(cards(1))
    sample = greedy.await_usage(lambda _: True)
    later = greedy.await_usage(lambda shown: shown.updated > sample.updated)

    assert later.consumed == {}
    assert next_of(greedy, greedy.beside(), all_cards=3) == greedy.local


def shows(**amounts: float) -> Any:
    """Whether a sample has these amounts, to a hundredth of them."""
    wanted = {name.replace("_", "-"): amount for name, amount in amounts.items()}

    def is_shown(sample: UsageSample) -> bool:
        shown = {name: amount for name, amount in sample.consumed.items() if amount > 1}
        return shown == pytest.approx(wanted, rel=0.01)

    return is_shown


@covers("AFS-019", "AFS-010")
@pytest.mark.parametrize("scope", [pytest.param(BY_USAGE, id="by-usage"), pytest.param({}, id="without-mode")])
def test_the_status_shows_what_a_queue_has_consumed(lab: Lab, scope: dict[str, Any]) -> None:
    """With a short half-life that is what it uses: devices and cpu while a Job runs, nothing after it."""
    start(lab, PRESENT)
    queue = lab.queue({"whole-gpus": 4000, "cpu": 4000}, **scope)
    assert queue.await_usage(shows()).consumed == {}
    job = queue.submit(cards(2, cpu="500"))

    queue.await_usage(shows(whole_gpus=2000, cpu=500))
    lab.delete(job)
    queue.await_usage(shows())


@covers("AFS-019")
def test_a_queue_is_sampled_once_in_an_interval(lab: Lab) -> None:
    """Another Job in the queue brings its status up to date, but not what it shows of its usage."""
    start(lab, SUMMED)
    queue = lab.queue({"whole-gpus": 0}, **BY_USAGE)
    before = queue.await_usage(lambda _: True)

    queue.submit(cards(1))

    assert queue.local_figures.counts.pending == 1
    assert queue.usage == before


@covers("AFS-010")
def test_half_of_the_usage_is_left_after_a_half_life(lab: Lab) -> None:
    """Between two samples of a LocalQueue that uses nothing, the usage decays by the time between them."""
    start(lab, {"usageHalfLifeTime": "2s", "usageSamplingInterval": "1s"})
    queue = lab.queue({"whole-gpus": 4000}, **BY_USAGE)
    job = queue.submit(cards(4))
    queue.await_usage(lambda shown: shown.consumed.get("whole-gpus", 0) > 1000)
    lab.delete(job)
    before = queue.await_usage(lambda _: True)
    first = queue.await_usage(lambda shown: shown.updated > before.updated)

    second = queue.await_usage(lambda shown: shown.updated >= first.updated + 2)

    left = second.consumed["whole-gpus"] / first.consumed["whole-gpus"]
    passed = second.updated - first.updated
    assert 0.5 ** ((passed + 1) / 2) <= left <= 0.5 ** ((passed - 1) / 2)


@covers("AFS-015")
def test_an_entry_penalty_does_not_stay_beside_the_usage(lab: Lab) -> None:
    """Two devices that are in use are less than three, although both LocalQueues had an entry penalty."""
    start(lab, PRESENT)
    less = lab.queue({"whole-gpus": 9000}, **BY_USAGE)
    more = less.beside()
    less.submit(cards(2))
    more.submit(cards(3))
    less.await_usage(shows(whole_gpus=2000))
    more.await_usage(shows(whole_gpus=3000))

    assert next_of(more, less) == less.local


@covers("AFS-012")
def test_a_thousandth_of_a_cpu_counts(lab: Lab) -> None:
    """Half of it is kept, so the other LocalQueue is next."""
    start(lab, SUMMED)
    used = lab.queue({"whole-gpus": 4000, "cpu": 4000}, **BY_USAGE)
    use(used, a_job(cpu="1m"))

    assert next_of(used, other := used.beside()) == other.local


@covers("AFS-012")
@pytest.mark.parametrize(
    ("interval", "counts"), [pytest.param("1h", False, id="1h"), pytest.param("2h", True, id="2h")]
)
def test_less_than_a_billionth_of_a_cpu_is_lost(lab: Lab, interval: str, counts: bool) -> None:
    """In one hour of a million, a thousandth of a cpu adds 0.69 billionths, in two hours 1.39."""
    start(lab, {"usageHalfLifeTime": "1000000h", "usageSamplingInterval": interval})
    used = lab.queue({"whole-gpus": 4000, "cpu": 4000}, **BY_USAGE)
    use(used, a_job(cpu="1m"))
    other = used.beside()

    assert next_of(used, other) == (other if counts else used).local


@covers("AFS-013")
@pytest.mark.parametrize(("cpu", "counts"), [pytest.param("1m", False, id="1m"), pytest.param("1000", True, id="1000")])
def test_half_a_thousandth_is_lost(lab: Lab, cpu: str, counts: bool) -> None:
    """Half of a thousandth of a cpu is nothing, so the older Job is next."""
    start(lab, SUMMED)
    used = lab.queue({"whole-gpus": 4000, "cpu": 4000}, **BY_USAGE)
    use(used, a_job(cpu=cpu))
    other = used.beside()

    assert next_of(used, other) == (other if counts else used).local


@covers("AFS-013", "AFS-031")
def test_what_is_shown_has_three_decimal_places(lab: Lab) -> None:
    """Half of three cpus has lost a few thousandths by then, and a penalty of one cpu has not."""
    start(lab, SUMMED)
    queue = lab.queue({"cpu": 8}, **BY_USAGE)
    use(queue, a_job(cpu="3"))
    check = lab.admission_check()
    queue.change(admissionChecksStrategy={"admissionChecks": [{"name": check}]})
    queue.submit(a_job(cpu="2"))

    sample = queue.await_usage(lambda shown: shown.consumed.get("cpu", 0) > 1)

    thousandths = sample.consumed["cpu"] * 1000
    assert thousandths == pytest.approx(round(thousandths), abs=1e-6)
    assert 2400 < thousandths < 2500


def checked_queues(lab: Lab, **spec: Any) -> tuple[str, Queue, Queue]:
    """A check, and two LocalQueues of a ClusterQueue that has it."""
    check = lab.admission_check()
    checks: dict[str, Any] = {"admissionChecksStrategy": {"admissionChecks": [{"name": check}]}}
    queue = lab.queue({"whole-gpus": 4000}, **BY_USAGE, **checks, **spec)
    return check, queue, queue.beside()


def use_checked(queue: Queue, check: str, work: Work) -> None:
    """Run work to its end once its check is ready."""
    job = queue.submit(work)
    queue.lab.answer_check(job, check, "Ready")
    queue.lab.delete(job)


@covers("AFS-014")
def test_work_that_waits_for_checks_counts_as_well(lab: Lab) -> None:
    """A LocalQueue whose Job has only reserved devices waits behind one that holds none."""
    start(lab, SUMMED)
    _, holding, other = checked_queues(lab)
    holding.submit(cards(1))

    assert next_of(holding, other, all_cards=3) == other.local


@covers("AFS-028")
def test_a_penalty_is_settled_when_checks_admit(lab: Lab) -> None:
    """Two devices in use are less than three: the penalty is no longer there in addition."""
    less, more = settled_by_checks(lab)

    assert next_of(more, less) == less.local


@covers("AFS-029")
def test_a_penalty_is_not_settled_when_checks_admit(lab: Lab) -> None:
    """Two devices in use count as four, and the LocalQueue waits behind one with three that had no checks."""
    less, more = settled_by_checks(lab)

    assert next_of(less, more) == more.local


def settled_by_checks(lab: Lab) -> tuple[Queue, Queue]:
    """A LocalQueue with two devices that a check admitted, and one with three that were admitted without checks."""
    start(lab, PRESENT)
    check = lab.admission_check()
    more = lab.queue({"whole-gpus": 9000}, **BY_USAGE)
    less = more.beside()
    more.submit(cards(3))
    more.change(admissionChecksStrategy={"admissionChecks": [{"name": check}]})
    job = less.submit(cards(2))
    lab.answer_check(job, check, "Ready")
    less.await_usage(shows(whole_gpus=2000))
    return less, more


def retried(lab: Lab) -> tuple[Queue, Queue]:
    """A LocalQueue that reserved two devices twice before it was admitted, and one that used three."""
    start(lab, SUMMED)
    check, twice, other = checked_queues(lab)
    job = twice.submit(cards(2))
    lab.answer_check(job, check, "Retry")
    assert lab.admission(job) is not None
    lab.answer_check(job, check, "Ready")
    lab.delete(job)
    use_checked(other, check, cards(3))
    return twice, other


@covers("AFS-016")
def test_a_retried_workload_counts_once(lab: Lab) -> None:
    """Two devices that were reserved twice are less than three."""
    twice, other = retried(lab)

    assert next_of(other, twice) == twice.local


@covers("AFS-030")
def test_a_retried_workload_counts_twice(lab: Lab) -> None:
    """Two devices that were reserved twice count as four."""
    twice, other = retried(lab)

    assert next_of(twice, other) == other.local


@covers("AFS-017")
def test_the_penalty_of_a_deleted_workload_goes(lab: Lab) -> None:
    """A Job that is deleted while it waits for its check leaves nothing behind."""
    start(lab, SUMMED)
    check, queue, other = checked_queues(lab)
    job = queue.submit(cards(4))
    lab.delete(job)
    use_checked(other, check, cards(1))

    assert next_of(other, queue) == queue.local


@covers("AFS-018")
def test_the_penalty_of_a_deactivated_workload_goes(lab: Lab) -> None:
    """A Job that is deactivated while it waits for its check leaves nothing behind."""
    start(lab, SUMMED)
    check, queue, other = checked_queues(lab)
    job = queue.submit(cards(4))
    lab.activate(job, False)
    assert lab.admission(job) is None
    use_checked(other, check, cards(1))

    assert next_of(other, queue) == queue.local


@covers("AFS-014", "AFS-018")
def test_the_penalty_of_a_deactivated_workload_that_holds_devices_stays(lab: Lab) -> None:
    """No work belongs to it that would release them, so its LocalQueue waits behind one that holds none."""
    start(lab, SUMMED)
    _, holding, other = checked_queues(lab)
    job = holding.submit(a_workload(Pods(claims=(a_template(gpu(1000)),))))
    lab.activate(job, False)
    assert lab.condition(job, "Evicted") == ("True", "Deactivated")
    assert lab.admission(job) is not None

    assert next_of(holding, other, all_cards=3) == other.local


@covers("AFS-018")
def test_the_penalty_of_a_finished_workload_goes(lab: Lab) -> None:
    """A Job whose Workload finishes while it waits for its check leaves nothing behind."""
    start(lab, SUMMED)
    check, queue, other = checked_queues(lab)
    job = queue.submit(cards(4))
    lab.end(job)
    use_checked(other, check, cards(1))

    assert next_of(other, queue) == queue.local


@covers("AFS-024")
def test_the_penalty_of_a_workload_that_moves_goes(lab: Lab) -> None:
    """A Job that lost its devices before they were admitted moves to another LocalQueue, and leaves nothing behind."""
    start(lab, SUMMED)
    check, queue, other = checked_queues(lab, preemption={"withinClusterQueue": "LowerPriority"})
    job = queue.submit(cards(4))
    preemptor = queue.beside().submit(cards(4, priority=1))
    assert lab.admission(job) is None
    lab.move(job, queue.beside().local)
    lab.delete(job)
    lab.delete(preemptor)
    use_checked(other, check, cards(1))

    assert next_of(other, queue) == queue.local


def with_a_history(lab: Lab) -> tuple[Queue, Queue]:
    """A LocalQueue whose status shows that it has consumed, and that uses nothing, and one without a history."""
    queue, waiting = with_shown_usage(lab)
    queue.await_usage(lambda shown: shown.consumed.get("whole-gpus", 0) > 1000)
    lab.delete(waiting)
    return queue, queue.beside()


def with_shown_usage(lab: Lab) -> tuple[Queue, Job]:
    """A LocalQueue that has used four devices, and its Job that waits for its check, so that the status is updated."""
    start(lab, SUMMED)
    queue = lab.queue({"whole-gpus": 4000}, **BY_USAGE)
    use(queue, cards(4))
    check = lab.admission_check()
    queue.change(admissionChecksStrategy={"admissionChecks": [{"name": check}]})
    return queue, queue.submit(cards(1))


@covers("AFS-032")
def test_the_status_shows_settled_usage_and_no_penalties(lab: Lab) -> None:
    """Half of the four devices that were used count as consumed; one that waits for its check is not among them."""
    queue, _ = with_shown_usage(lab)

    queue.await_usage(shows(whole_gpus=2000))


@covers("AFS-031", "AFS-019")
def test_the_status_shows_penalties_as_well(lab: Lab) -> None:
    """Half of the four devices that were used count as consumed, and half of one that waits for its check."""
    queue, _ = with_shown_usage(lab)

    queue.await_usage(shows(whole_gpus=2500))


@covers("AFS-020", "AFS-033")
def test_a_restart_keeps_the_history(lab: Lab) -> None:
    """The LocalQueue waits behind another one as before."""
    queue, other = with_a_history(lab)

    start(lab, SUMMED, {"unused": 1.0})

    assert next_of(queue, other) == other.local


@covers("AFS-021", "AFS-033")
def test_a_restart_forgets_the_history(lab: Lab) -> None:
    """The older Job is next."""
    queue, other = with_a_history(lab)

    start(lab, SUMMED, {"unused": 1.0})

    assert next_of(queue, other) == queue.local


@covers("AFS-021")
def test_a_restart_takes_what_is_in_use(lab: Lab) -> None:
    """A device that is in use counts in full then, and so more than one that another LocalQueue uses afterwards."""
    start(lab, SUMMED)
    queue = lab.queue({"whole-gpus": 4000}, **BY_USAGE)
    other = queue.beside()
    queue.submit(cards(1))

    start(lab, SUMMED, {"unused": 1.0})
    use(other, cards(1))

    assert next_of(queue, other, all_cards=3) == other.local


@covers("AFS-011", "AFS-033")
def test_without_a_half_life_the_history_is_forgotten(lab: Lab) -> None:
    """Another Configuration forgets what was consumed before, and the older Job is next."""
    queue, other = with_a_history(lab)

    start(lab, {"usageHalfLifeTime": "0s", "usageSamplingInterval": "1s"})
    queue.await_usage(shows())

    assert next_of(queue, other) == queue.local


@covers("AFS-034")
def test_a_deleted_queue_leaves_no_usage(lab: Lab) -> None:
    """The next LocalQueue of its name has used nothing, though work of the deleted one ran on for a while."""
    start(lab, SUMMED)
    queue = lab.queue({"whole-gpus": 4000}, **BY_USAGE)
    other = queue.beside()
    use(other, cards(1))
    use(queue, cards(2))
    job = queue.submit(cards(1))
    lab.remove(queue.local_ref)
    lab.delete(job)

    lab.local_queue(queue.cluster, queue.namespace, name=queue.local)

    assert next_of(other, queue) == queue.local


@covers("AFS-001")
def test_a_queue_that_was_stopped_has_used_what_it_has_used(lab: Lab) -> None:
    """Neither a stop nor its end forgets anything."""
    start(lab, SUMMED)
    greedy = lab.queue({"whole-gpus": 4000}, **BY_USAGE)
    other = greedy.beside()
    use(greedy, cards(2))

    greedy.change_local(stopPolicy="Hold")
    greedy.change_local(stopPolicy="None")

    assert next_of(greedy, other) == other.local


@covers("AFS-019")
@pytest.mark.parametrize("change", [Queue.change, Queue.change_local], ids=["cluster-queue", "local-queue"])
def test_the_usage_of_a_queue_that_is_stopped_is_not_sampled(lab: Lab, change: Callable[..., None]) -> None:
    """It shows what it had used before, though that has decayed by the next sample of another queue."""
    start(lab, PRESENT)
    queue, other = (lab.queue({"whole-gpus": 4000}, **BY_USAGE) for _ in range(2))
    job = queue.submit(cards(2))
    before = queue.await_usage(shows(whole_gpus=2000))
    change(queue, stopPolicy="Hold")

    lab.delete(job)
    other.await_usage(lambda shown: shown.updated > before.updated + 2)

    assert queue.usage is not None
    assert queue.usage.consumed == before.consumed


@covers("AFS-022")
def test_usage_decides_nothing_between_cluster_queues(lab: Lab) -> None:
    """Of two ClusterQueues that borrow from one cohort, the one with the older Job is next."""
    start(lab, SUMMED)
    cohort = a_cohort(lab)
    lender = cohort.queue({"whole-gpus": 4000})
    greedy = cohort.queue({"whole-gpus": 0}, **BY_USAGE)
    modest = cohort.queue({"whole-gpus": 0}, **BY_USAGE)
    use(greedy, cards(4))
    blocking = lender.submit(cards(4))
    older, younger = greedy.submit(cards(4)), modest.submit(cards(4))

    lab.delete(blocking)

    assert lab.admission(older) is not None
    assert lab.admission(younger) is None


@covers("AFS-023")
@pytest.mark.parametrize(
    ("scope", "preemptions"), [pytest.param(BY_USAGE, [1, 0], id="by-usage"), pytest.param({}, [0, 1], id="by-age")]
)
def test_the_queue_that_has_used_more_is_preempted_first(
    lab: Lab, scope: dict[str, Any], preemptions: list[int]
) -> None:
    """Its workload is preempted, though that of the other LocalQueue is newer."""
    start(lab, SUMMED)
    greedy = lab.queue({"whole-gpus": 4000}, preemption={"withinClusterQueue": "LowerPriority"}, **scope)
    modest = greedy.beside()
    use(greedy, cards(4))
    running = greedy.submit(cards(2)), modest.submit(cards(2))

    preemptor = greedy.beside().submit(cards(2, priority=1))

    assert lab.admission(preemptor) is not None
    assert [lab.preemptions(job) for job in running] == preemptions


@covers("AFS-023")
@pytest.mark.parametrize(
    ("scope", "preemptions"),
    [pytest.param(BY_USAGE, [1, 0], id="by-usage"), pytest.param({}, [0, 1], id="by-priority")],
)
def test_quota_is_reclaimed_from_the_queue_that_has_used_more(
    lab: Lab, scope: dict[str, Any], preemptions: list[int]
) -> None:
    """Another ClusterQueue takes its devices back from it, though the other LocalQueue has the lower priority."""
    start(lab, SUMMED)
    cohort = a_cohort(lab)
    owner = cohort.queue({"whole-gpus": 2000}, preemption={"reclaimWithinCohort": "Any"})
    greedy = cohort.queue({"whole-gpus": 2000}, **scope)
    modest = greedy.beside()
    use(greedy, cards(4))
    running = greedy.submit(cards(2, priority=1)), modest.submit(cards(2))

    job = owner.submit(cards(2))

    assert lab.verdict(job) == admitted({"whole-gpus": 2000})
    assert [lab.preemptions(job) for job in running] == preemptions


@covers("AFS-025", "AFS-026", "AFS-027")
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        pytest.param(
            {"usageHalfLifeTime": "-1s"},
            'usageHalfLifeTime: Invalid value: "-1s"',
            id="half-life",
            marks=covers("AFS-025"),
        ),
        pytest.param(
            {"usageHalfLifeTime": "3s", "usageSamplingInterval": "-1s"},
            'usageSamplingInterval: Invalid value: "3s"',  # the other setting, a fault of Kueue
            id="interval",
            marks=covers("AFS-026"),
        ),
        pytest.param({"usageSamplingInterval": "0s"}, "", id="default-interval", marks=covers("AFS-026")),
        pytest.param(
            {"resourceWeights": {"whole-gpus": -1}},
            'resourceWeights[whole-gpus]: Invalid value: {"whole-gpus":-1}',
            id="weight",
            marks=covers("AFS-027"),
        ),
        pytest.param({"resourceWeights": {"whole-gpus": 0}}, "", id="weight-0", marks=covers("AFS-027")),
    ],
)
def test_times_and_weights_are_not_negative(lab: Lab, settings: dict[str, Any], words: str) -> None:
    """Kueue names the setting, and does not start."""
    configuration = a_configuration(lab.behaviour, admissionFairSharing=settings)

    found = lab.refusal_text(configuration)

    assert found.startswith(f"admissionFairSharing.{words}") if words else found == ""
