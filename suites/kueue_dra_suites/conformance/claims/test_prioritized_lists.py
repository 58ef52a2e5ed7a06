"""Kueue 0.20 (provisional), KueueDRAIntegrationPrioritizedList: charged once where all alternatives are alike."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.alternatives import SHARD, SPARE, a_list, an_alternative
from kueue_dra_fixtures.builders import GPU, a_job, a_missing_template, a_request, a_template, gpu
from kueue_dra_fixtures.containers import containers
from kueue_dra_fixtures.lab import Lab, Queue
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.sources import PARTITIONS, SOURCED, a_partition
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending
from kueue_dra_ref.verdict import Admitted, Verdict

pytestmark = owns_kueue

CARDS = "vendor.example.com/card"
LISTS = {"KueueDRAIntegrationPrioritizedList": True}
FIELD = "spec.podSets[0].template.spec.resourceClaims[0].devices.requests[0].firstAvailable"
ONE_OF_A_LIST = 'device.attributes["lab.example.com"].models.exists(m, m == "a100")'


@covers("LIST-001")
@pytest.mark.parametrize(
    ("alternatives", "verdict"),
    [
        pytest.param([an_alternative()], admitted({"shared-gpus": 1}), id="one"),
        pytest.param([an_alternative(), an_alternative(SPARE)], admitted({"shared-gpus": 1}), id="two-classes"),
        pytest.param(
            [an_alternative(count=3), an_alternative(SPARE, count=3)], admitted({"shared-gpus": 3}), id="three-each"
        ),
        pytest.param(
            [an_alternative(selectors=[{"cel": {"expression": "false"}}])],
            admitted({"shared-gpus": 1}),
            id="devices-are-not-looked-at",
        ),
    ],
)
def test_a_prioritized_list_is_charged_once(lab: Lab, alternatives: list[dict[str, Any]], verdict: Verdict) -> None:
    """Whichever alternative is allocated, it costs the same."""
    lab.start(gates=LISTS)
    queue = lab.queue({"shared-gpus": 3})
    job = queue.submit(a_job(claims=[a_template(a_list(*alternatives))]))

    assert lab.verdict(job) == verdict


@covers("LIST-001")
def test_a_prioritized_list_is_charged_beside_exact_requests(lab: Lab) -> None:
    """Requests of one claim add up."""
    lab.start(gates=LISTS)
    queue = lab.queue({"shared-gpus": 3, "whole-gpus": 2})
    job = queue.submit(a_job(claims=[a_template(gpu(2), a_list(an_alternative(), an_alternative(SPARE)))]))

    assert lab.verdict(job) == admitted({"shared-gpus": 1, "whole-gpus": 2})


@pytest.mark.parametrize(
    ("alternatives", "message", "reason"),
    [
        pytest.param(
            [an_alternative(), an_alternative(SPARE, allocationMode="All")],
            f'{FIELD}[1].allocationMode: Unsupported value: "All"',
            Reason.ALTERNATIVES,
            id="mode-all",
            marks=covers("LIST-002"),
        ),
        pytest.param(
            [an_alternative(selectors=[{"cel": {"expression": ONE_OF_A_LIST}}])],
            f"{FIELD}[0].selectors: Invalid value: null",
            Reason.BAD_SELECTOR,
            id="selector",
            marks=covers("LIST-003"),
        ),
        pytest.param(
            [an_alternative(), an_alternative("fpga.example.com")],
            f'{FIELD}[1].deviceClassName: Not found: "fpga.example.com"',
            Reason.UNMAPPED,
            id="unmapped",
            marks=covers("LIST-004"),
        ),
        pytest.param(
            [an_alternative(), an_alternative("gpu.example.com")],
            f'{FIELD}[1].deviceClassName: Invalid value: "gpu.example.com"',
            Reason.ALTERNATIVES,
            id="other-resource",
            marks=covers("LIST-006"),
        ),
        pytest.param(
            [an_alternative(count=2), an_alternative(SPARE, count=1)],
            f"{FIELD}[1].count: Invalid value: 1",
            Reason.ALTERNATIVES,
            id="other-count",
            marks=covers("LIST-007"),
        ),
        pytest.param(
            [an_alternative(count=2), an_alternative("gpu.example.com", count=1), an_alternative("fpga.example.com")],
            f'{FIELD}[1].deviceClassName: Invalid value: "gpu.example.com"',
            Reason.ALTERNATIVES,
            id="first-fault-of-the-first-alternative-at-fault",
            marks=covers("LIST-006"),
        ),
    ],
)
def test_alternatives_that_differ_are_refused(
    lab: Lab, alternatives: list[dict[str, Any]], message: str, reason: Reason
) -> None:
    """An alternative with another charge, or an unknown one, makes the workload inadmissible."""
    lab.start(gates=LISTS)
    queue = lab.queue({"shared-gpus": 4, "whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_list(*alternatives))]))

    assert lab.verdict(job) == inadmissible(reason)
    assert lab.message(job).startswith(message)


@covers("LIST-005")
def test_an_alternative_with_counters_is_refused(lab: Lab) -> None:
    """It would be charged nothing at all."""
    lab.start(resources=SOURCED["resources"], gates={**SOURCED["gates"](lab.behaviour), **LISTS})
    queue = lab.queue({"gpu-memory": 4})
    job = queue.submit(a_job(claims=[a_template(a_list(an_alternative(PARTITIONS)))]))

    assert lab.verdict(job) == inadmissible(Reason.ALTERNATIVES)


@covers("LIST-008")
@pytest.mark.parametrize(
    ("requests", "devices"),
    [
        pytest.param([a_list(an_alternative(), an_alternative(SPARE, count=2))], 2, id="fallback-is-larger"),
        pytest.param([a_list(an_alternative(count=3), an_alternative())], 3, id="first-choice-is-larger"),
        pytest.param(
            [a_list(an_alternative(), an_alternative(SPARE, count=2)), a_list(an_alternative())],
            3,
            id="two-lists-add-up",
        ),
        pytest.param(
            [a_list(an_alternative(), an_alternative(SPARE, count=2)), {"exactly": an_alternative()}],
            3,
            id="an-exact-request-adds",
        ),
    ],
)
@pytest.mark.parametrize("spare", [pytest.param(0, id="fits-exactly"), pytest.param(-1, id="one-too-many")])
def test_the_largest_alternative_is_charged(lab: Lab, requests: list[dict[str, Any]], devices: int, spare: int) -> None:
    """Kubernetes picks one alternative, so this is the most that a request can use."""
    lab.start(gates=LISTS)
    queue = lab.queue({"shared-gpus": devices + spare})
    job = queue.submit(a_job(claims=[a_template(*requests)]))

    fits = spare == 0
    assert lab.verdict(job) == (admitted({"shared-gpus": devices}) if fits else pending(Reason.NEVER_FITS))


def counters_and_a_list(lab: Lab) -> Queue:
    """A queue for a class with counters and for a list; Kueue charges both."""
    sourced = SOURCED["resources"](lab.behaviour)
    mappings = [*sourced["deviceClassMappings"], {"name": "shared-gpus", "deviceClassNames": [SHARD]}]
    lab.start(resources={"deviceClassMappings": mappings}, gates={**SOURCED["gates"](lab.behaviour), **LISTS})
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS)
    return lab.queue({"gpu-memory": "10Gi", "shared-gpus": 1})


@covers("LIST-009")
@pytest.mark.parametrize("first", [pytest.param(True, id="list-first"), pytest.param(False, id="list-last")])
def test_a_list_excludes_counters_in_the_workload(lab: Lab, first: bool) -> None:
    """In whichever order the pod names its claims."""
    queue = counters_and_a_list(lab)
    claims = [a_template(a_list(an_alternative())), a_template(a_request(PARTITIONS))]
    job = queue.submit(a_job(claims=claims if first else claims[::-1]))

    assert lab.verdict(job) == inadmissible(Reason.LIST_ALONE)


@covers("LIST-009")
def test_counters_are_charged_beside_exact_requests(lab: Lab) -> None:
    """Without a list in the workload nothing is refused."""
    queue = counters_and_a_list(lab)
    claims = [a_template({"exactly": an_alternative()}), a_template(a_request(PARTITIONS))]
    job = queue.submit(a_job(claims=claims))

    assert lab.verdict(job) == admitted({"gpu-memory": "10Gi", "shared-gpus": 1})


@covers("LIST-009")
def test_a_missing_template_has_no_list(lab: Lab) -> None:
    """The claim that lacks it is reported, not the counters before it."""
    queue = counters_and_a_list(lab)
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS)), a_missing_template("gpus")]))

    assert lab.verdict(job) == inadmissible(Reason.NO_TEMPLATE)


@covers("LIST-010")
@pytest.mark.parametrize(
    ("work", "transformations"),
    [
        pytest.param({"spec": {"containers": containers({CARDS: "1"})}}, [], id="a-container"),
        pytest.param({"requests": {"cpu": "1"}}, [{"input": "cpu", "outputs": {CARDS: "1"}}], id="a-transformation"),
    ],
)
def test_a_list_excludes_other_requests_for_its_resource(
    lab: Lab, work: dict[str, Any], transformations: list[dict[str, Any]]
) -> None:
    """The list is charged by itself, or not at all."""
    mappings = [{"name": "whole-gpus", "deviceClassNames": [GPU]}, {"name": CARDS, "deviceClassNames": [SHARD]}]
    lab.start(gates=LISTS, resources={"deviceClassMappings": mappings, "transformations": transformations})
    queue = lab.queue({CARDS: 4, "cpu": 4})
    job = queue.submit(a_job(claims=[a_template(a_list(an_alternative()))], **work))

    assert lab.verdict(job) == inadmissible(Reason.LIST_ALONE)


@covers("LIST-010")
@pytest.mark.parametrize(
    "transformation",
    [
        pytest.param({"input": "memory", "outputs": {CARDS: "1"}}, id="of-nothing-that-is-requested"),
        pytest.param({"input": "cpu", "outputs": {"example.com/credits": "1"}}, id="into-another-resource"),
    ],
)
def test_a_list_allows_requests_for_other_resources(lab: Lab, transformation: dict[str, Any]) -> None:
    """What is transformed into something else is none of its resource."""
    mapping = {"name": CARDS, "deviceClassNames": [SHARD]}
    transformations = [{"strategy": "Replace", **transformation}]
    lab.start(gates=LISTS, resources={"deviceClassMappings": [mapping], "transformations": transformations})
    queue = lab.queue({CARDS: 4, "cpu": 4, "example.com/credits": 4})
    job = queue.submit(a_job(cpu="1", claims=[a_template(a_list(an_alternative()))]))

    assert isinstance(lab.verdict(job), Admitted)
