"""MultiKueue with clusters that differ: templates, classes and mappings that a worker or the manager lacks."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import GPU, a_job, a_template, first_available, gpu
from kueue_dra_fixtures.lab.fleet import Fleet
from kueue_dra_fixtures.mappings import USUAL
from kueue_dra_fixtures.marks import covers, needs_workers, owns_kueue
from kueue_dra_fixtures.multikueue import waiting
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending
from kueue_dra_ref.verdict import Verdict

pytestmark = [needs_workers, owns_kueue]
CARD = a_job(claims=[a_template(gpu())])
SHARD = "ts-shard-gpus.example.com"
NAMED = "vendor.example.com/card"
NONE, ONE = {"whole-gpus": 0}, {"whole-gpus": 1}
LIST = a_template(first_available(GPU))
MISSING = inadmissible(Reason.NO_TEMPLATE)
FULL = pending(Reason.NEVER_FITS)


@covers("MK-011")
def test_the_worker_with_the_template_runs_the_job(fleet: Fleet) -> None:
    """The other one has no such template."""
    fleet.join(ONE, ONE, ONE)
    job = fleet.submit(CARD, None, a_template(gpu()))

    fleet.expect_placed(job, admitted(ONE), None, admitted(ONE), worker=2)


@covers("MK-011")
@pytest.mark.parametrize(
    ("templates", "copies"),
    [
        pytest.param([None, None], [MISSING, MISSING], id="on-no-worker"),
        pytest.param([None, a_template(gpu())], [MISSING, FULL], id="on-a-full-worker"),
    ],
)
def test_without_the_template_no_worker_runs_the_job(
    fleet: Fleet, templates: list[object], copies: list[Verdict]
) -> None:
    """The copy is inadmissible; the manager keeps its quota and waits."""
    fleet.join(ONE, ONE if templates[1] is None else NONE, NONE)
    job = fleet.submit(CARD, *templates)

    fleet.expect_placed(job, waiting(ONE, fleet.check), *copies)
    fleet.expect(fleet.reserved, ["1", "0", "0"])


@covers("MK-011", "MK-003")
def test_a_template_that_arrives_later_is_used(fleet: Fleet) -> None:
    """The worker retries its copy, admits it, and the manager follows."""
    fleet.join(ONE, ONE, NONE)
    job = fleet.submit(CARD, None, None)
    fleet.expect_placed(job, waiting(ONE, fleet.check), MISSING, MISSING)

    fleet.give_template(1, job, a_template(gpu()))

    fleet.expect_placed(job, admitted(ONE), admitted(ONE), None, worker=1)


@covers("MK-011")
def test_the_worker_that_maps_the_class_runs_the_job(fleet: Fleet) -> None:
    """The mapping of the other one does not list it."""
    fleet.start(USUAL, {"shared-gpus": [SHARD]}, USUAL)
    fleet.join(ONE, ONE, ONE)
    job = fleet.submit(CARD)

    fleet.expect_placed(job, admitted(ONE), None, admitted(ONE), worker=2)


@covers("MK-011")
def test_a_class_that_a_worker_does_not_map_is_inadmissible_there(fleet: Fleet) -> None:
    """The other worker is full, so none runs the Job."""
    fleet.start(USUAL, {"shared-gpus": [SHARD]}, USUAL)
    fleet.join(ONE, ONE, NONE)
    job = fleet.submit(CARD)

    fleet.expect_placed(job, waiting(ONE, fleet.check), inadmissible(Reason.UNMAPPED), FULL)


@covers("MK-003")
def test_a_worker_charges_the_resource_that_it_maps(fleet: Fleet) -> None:
    """The manager charges whole-gpus, the worker calls the same class cards."""
    fleet.start(USUAL, USUAL, {"cards": [GPU]})
    fleet.join(ONE, NONE, {"cards": 1})
    job = fleet.submit(CARD)

    fleet.expect_placed(job, admitted(ONE), None, admitted({"cards": 1}), worker=2)


@covers("MK-003", "MK-001")
def test_without_a_mapping_on_the_manager_nothing_is_dispatched(fleet: Fleet) -> None:
    """The workload is inadmissible there, although each worker could run it."""
    fleet.start({"shared-gpus": [SHARD]}, USUAL, USUAL)
    fleet.join({"shared-gpus": 1}, ONE, ONE)
    job = fleet.submit(CARD)

    fleet.expect_placed(job, inadmissible(Reason.UNMAPPED), None, None)


@covers("MK-003", "MK-001")
def test_without_a_template_on_the_manager_nothing_is_dispatched(fleet: Fleet) -> None:
    """The manager has to have the template too, although it runs no pod."""
    fleet.join(ONE, ONE, ONE)
    job = fleet.submit_with_missing_template(a_template(gpu()))

    fleet.expect_placed(job, MISSING, None, None)


@covers("MK-003", "EXT-001")
def test_a_class_that_a_worker_lacks_is_charged_by_its_name(fleet: Fleet) -> None:
    """The extended resource of a DeviceClass: the first worker has no such class, and no quota for the name."""
    fleet.join(ONE, ONE, ONE)
    for lab in (fleet.manager, fleet.workers[1]):
        lab.stands_for(NAMED, GPU)
    job = fleet.submit(a_job(requests={NAMED: "1"}))

    fleet.expect_placed(job, admitted(ONE), None, admitted(ONE), worker=2)


@covers("MK-011", "CLAIM-008")
@pytest.mark.parametrize(
    ("templates", "manager", "copies"),
    [
        pytest.param([LIST, gpu, gpu], inadmissible(Reason.FIRST_AVAILABLE), [None, None], id="on-the-manager"),
        pytest.param([gpu, LIST, LIST], None, [inadmissible(Reason.FIRST_AVAILABLE)] * 2, id="on-the-workers"),
    ],
)
def test_a_prioritized_list_is_refused_where_it_is(
    fleet: Fleet, templates: list[object], manager: Verdict | None, copies: list[Verdict | None]
) -> None:
    """MultiKueue does not look at it: the manager refuses its own template, each worker its own."""
    fleet.join(ONE, ONE, ONE)
    own, *others = [each if each is LIST else a_template(gpu()) for each in templates]
    job = fleet.submit(a_job(claims=[own]), *others)

    fleet.expect_placed(job, manager or waiting(ONE, fleet.check), *copies)


@covers("MK-021")
def test_a_prioritized_list_is_dispatched(fleet: Fleet) -> None:
    """Kueue 0.20 (provisional) charges it once, on the manager as on each worker."""
    fleet.start(everywhere={"gates": {"KueueDRAIntegrationPrioritizedList": True}})
    fleet.join(ONE, NONE, ONE)
    job = fleet.submit(a_job(claims=[LIST]))

    fleet.expect_placed(job, admitted(ONE), None, admitted(ONE), worker=2)
