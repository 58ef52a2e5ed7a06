"""Work that waits until other controllers have opened its admission gates (Kueue 0.17, gate AdmissionGatedBy)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.builders import Work, a_job, a_pod_set, a_template, a_workload, gpu, work_of
from kueue_dra_fixtures.lab import Job, Lab, bare
from kueue_dra_fixtures.manifests import marked, with_spec
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.pod_groups import a_group_of
from kueue_dra_fixtures.pod_owners import PodOwner, a_written_owner
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, unseen
from kueue_dra_ref.api.admission_gates import GATED_BY
from kueue_dra_ref.api.elastic_work import ELASTIC
from kueue_dra_ref.target import Manifest

pytestmark = owns_kueue

SWITCH = {"AdmissionGatedBy": True}
BUDGET, LICENCE = "example.com/budget", "example.com/licence"
CARDS = a_job(claims=[a_template(gpu(2))])
KINDS = [pytest.param(CARDS, id="devices"), pytest.param(a_job(cpu="2"), id="ordinary")]


def gated(made: Manifest, *gates: str) -> Manifest:
    """Work or a Workload with these admission gates only."""
    return marked(made, annotations={GATED_BY: ",".join(gates)})


def a_denial(detail: str) -> str:
    """The end of the message that denies admission gates."""
    return f"metadata.annotations[{GATED_BY}]: {detail}"


@covers("GATED-001", "GATED-002", "GATED-004")
@pytest.mark.parametrize("work", KINDS)
def test_gated_work_takes_no_quota(lab: Lab, work: Work) -> None:
    """It waits outside the queue, and work that comes later is admitted."""
    lab.start(switched=SWITCH)
    queue = lab.queue({"cpu": 2, "whole-gpus": 2})
    job = lab.submit_manifest(gated(lab.written(work, queue), BUDGET, LICENCE))

    later = queue.submit(work)

    assert lab.verdict(job) == inadmissible(Reason.GATED)
    assert lab.condition(job, "QuotaReserved") == ("False", "AdmissionGated")
    assert lab.message(job) == f"Admission is gated by: {BUDGET},{LICENCE}"
    assert lab.is_suspended(job)
    assert not lab.is_suspended(later)


@covers("GATED-002")
def test_gated_work_has_admission_checks(lab: Lab) -> None:
    """They are there before it is queued."""
    lab.start(switched=SWITCH)
    check = lab.admission_check()
    queue = lab.queue({"cpu": 2}, admissionChecksStrategy={"admissionChecks": [{"name": check}]})

    job = lab.submit_manifest(gated(lab.written(a_job(cpu="2"), queue), BUDGET))

    assert lab.verdict(job) == inadmissible(Reason.GATED)
    assert lab.checks(job) == {check: "Pending"}


@covers("GATED-001")
def test_an_empty_gate_is_none(lab: Lab) -> None:
    """The annotation is there, and names nothing."""
    lab.start(switched=SWITCH)
    queue = lab.queue({"whole-gpus": 2})

    job = lab.submit_manifest(gated(lab.written(CARDS, queue)))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("GATED-001", "GATED-006")
def test_without_the_feature_gates_are_annotations(lab: Lab) -> None:
    """The feature gate is off: work with them is admitted, and they may be added."""
    lab.start(switched={"AdmissionGatedBy": False})
    queue = lab.queue({"whole-gpus": 2})
    job = lab.submit_manifest(gated(lab.written(CARDS, queue), BUDGET))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})
    assert lab.denied(gated(lab.read(job.ref), BUDGET, LICENCE)) == ""


@covers("GATED-001", "GATED-005")
@pytest.mark.parametrize(
    ("work", "usage"),
    [
        pytest.param(CARDS, {"whole-gpus": 2}, id="devices"),
        pytest.param(a_job(cpu="2"), {"cpu": "2"}, id="ordinary"),
    ],
)
def test_work_is_admitted_after_its_last_gate(lab: Lab, work: Work, usage: dict[str, str | int]) -> None:
    """Each controller removes its own gate."""
    lab.start(switched=SWITCH)
    job = lab.submit_manifest(gated(lab.written(work, lab.queue({"cpu": 2, "whole-gpus": 2})), BUDGET, LICENCE))

    open_gates(lab, job, LICENCE)
    assert lab.verdict(job) == inadmissible(Reason.GATED)
    assert gates_of_workload(lab, job) == LICENCE

    open_gates(lab, job)
    assert lab.verdict(job) == admitted(usage)
    assert gates_of_workload(lab, job) is None


@covers("GATED-013")
def test_the_gates_of_elastic_work_are_not_opened(lab: Lab) -> None:
    """Its controller has removed the gate, and the work waits on."""
    lab.start(switched={**SWITCH, "ElasticJobsViaWorkloadSlices": True})
    made = marked(lab.written(a_job(cpu="1"), lab.queue({"cpu": 1})), annotations={ELASTIC: "true"})
    job = lab.submit_manifest(gated(made, BUDGET))

    open_gates(lab, job)

    assert gates_of_workload(lab, job) == BUDGET
    assert lab.verdict(job) == inadmissible(Reason.GATED)


@covers("GATED-003")
def test_a_workload_says_that_its_gates_are_gone(lab: Lab) -> None:
    """It waits behind another one, which does not fit, so that the scheduler does not try it."""
    lab.start(switched=SWITCH)
    queue = lab.queue({"cpu": 2}, queueingStrategy="StrictFIFO")
    queue.submit(a_job(cpu="3"))
    job = lab.submit_manifest(gated(lab.written(a_job(cpu="2"), queue), BUDGET))

    open_gates(lab, job)

    assert lab.verdict(job) == unseen()
    assert lab.condition(job, "QuotaReserved") == ("False", "Pending")
    assert lab.message(job) == "AdmissionGatedBy cleared, waiting for quota reservation"


@covers("GATED-012")
@pytest.mark.parametrize("work", KINDS)
def test_the_gates_are_the_reason_that_is_observed(lab: Lab, work: Work) -> None:
    """The condition does not change any more."""
    lab.start(switched={**SWITCH, "UnadmittedWorkloadsObservability": True})
    queue = lab.queue({"cpu": 2, "whole-gpus": 2})

    job = lab.submit_manifest(gated(lab.written(work, queue), BUDGET))

    assert lab.condition(job, "QuotaReserved") == ("False", "AdmissionGated")
    assert lab.message(job) == f"Admission is gated by: {BUDGET}"


NAMES = [
    pytest.param("example.com/budget, example.org/a:b(c)", "", id="valid", marks=covers("GATED-008", "GATED-010")),
    pytest.param(
        f"{BUDGET},,{LICENCE}",
        f'Invalid value: "{BUDGET},,{LICENCE}": cannot contain empty gate names',
        id="without-a-name",
        marks=covers("GATED-008"),
    ),
    pytest.param(
        f"{BUDGET}, {BUDGET}",
        f'Invalid value: "{BUDGET}, {BUDGET}": duplicate gate name: {BUDGET}',
        id="twice",
        marks=covers("GATED-009"),
    ),
    pytest.param(
        "budget",
        'Invalid value: "budget": must be a domain-prefixed path (such as "acme.io/foo")',
        id="no-domain",
        marks=covers("GATED-010"),
    ),
    pytest.param(
        "example.com/",
        'Invalid value: "example.com/": must be a domain-prefixed path (such as "acme.io/foo")',
        id="no-path",
        marks=covers("GATED-010"),
    ),
    pytest.param(
        "example_com/budget",
        'Invalid value: "example_com": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric '
        "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
        "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        id="bad-domain",
        marks=covers("GATED-010"),
    ),
    pytest.param(
        "example.com/a b",
        "Invalid value: \"a b\": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')",
        id="bad-path",
        marks=covers("GATED-010"),
    ),
    pytest.param("example.com/" + 51 * "x", "", id="longest", marks=covers("GATED-011")),
    pytest.param(
        "example.com/" + 52 * "x", "Too long: may not be more than 63 bytes", id="too-long", marks=covers("GATED-011")
    ),
]
"""Admission gates, and the end of the message that denies them."""


@pytest.mark.parametrize(("gates", "detail"), NAMES)
@pytest.mark.parametrize(
    "work", [pytest.param(CARDS, id="job"), pytest.param(a_workload(a_pod_set("main", cpu="1")), id="workload")]
)
def test_the_names_of_new_gates(lab: Lab, work: Work, gates: str, detail: str) -> None:
    """Those of a Job, and of a Workload that a client creates."""
    lab.start(switched=SWITCH)
    made = lab.written(work, lab.queue({"cpu": 2, "whole-gpus": 2}))

    denied = lab.denied(gated(made, gates))

    assert denied.endswith(a_denial(detail) if detail else "")
    assert bool(denied) is bool(detail)


@pytest.mark.parametrize(
    ("before", "after", "detail"),
    [
        pytest.param("", BUDGET, "cannot add admission gate after creation", id="first", marks=covers("GATED-006")),
        pytest.param(
            BUDGET,
            f"{BUDGET},{LICENCE}",
            "can only remove gates, not add new ones",
            id="another",
            marks=covers("GATED-007"),
        ),
        pytest.param(
            BUDGET, LICENCE, "can only remove gates, not add new ones", id="instead", marks=covers("GATED-007")
        ),
        pytest.param(f"{BUDGET},{LICENCE}", f" {LICENCE}", "", id="fewer", marks=covers("GATED-006", "GATED-007")),
        pytest.param(BUDGET, "", "", id="none", marks=covers("GATED-006", "GATED-007")),
    ],
)
@pytest.mark.parametrize("kind", ["Job", "Workload", "Pod", "Deployment", "StatefulSet", "LeaderWorkerSet"])
def test_gates_that_are_there_may_only_go(
    lab: Lab, every_kind: None, kind: str, before: str, after: str, detail: str
) -> None:
    """Of work of any kind, and of a Workload."""
    lab.start(integrations=frameworks.WITH_PODS, switched=SWITCH)
    made = of_kind(lab, kind)
    lab.apply(gated(made, before))
    lab.settle()

    denied = lab.denied(gated(made, after))

    assert denied.endswith(a_denial(f"Forbidden: {detail}") if detail else "")
    assert bool(denied) is bool(detail)


@covers("GATED-004", "GATED-005")
@pytest.mark.parametrize("kind", ["StatefulSet", "LeaderWorkerSet"])
def test_the_gates_of_what_makes_pods(lab: Lab, every_kind: None, kind: str) -> None:
    """The Workload of its group has them, and not those of its pods, which have none."""
    lab.start(integrations=frameworks.WITH_PODS, switched=SWITCH)
    owner = PodOwner(lab=lab, written=gated(of_kind(lab, kind), BUDGET))
    lab.apply(owner.written)
    lab.settle()

    owner.roll_out()

    assert owner.verdicts == [inadmissible(Reason.GATED)]
    assert owner.gated == [True]

    lab.apply(gated(owner.written))
    lab.settle()

    assert owner.verdicts == [admitted({"cpu": "1"})]
    assert owner.gated == [False]


@covers("GATED-004", "GATED-005")
def test_the_gates_of_a_pod(lab: Lab, every_kind: None) -> None:
    """Its Workload has them while the pod has."""
    lab.start(integrations=frameworks.WITH_PODS, switched=SWITCH)
    made = of_kind(lab, "Pod")
    job = lab.submit_manifest(gated(made, BUDGET))
    assert lab.verdict(job) == inadmissible(Reason.GATED)

    open_gates(lab, job)

    assert lab.verdict(job) == admitted({"cpu": "1"})


@covers("GATED-004", "GATED-005")
def test_the_gates_of_the_pods_of_a_deployment(lab: Lab, every_kind: None) -> None:
    """Its template has them; each pod has a Workload of its own."""
    lab.start(integrations=frameworks.WITH_PODS, switched=SWITCH)
    made = of_kind(lab, "Deployment")
    template = made["spec"]["template"]
    owner = PodOwner(lab=lab, written=with_spec(made, template=gated(template, BUDGET)))
    lab.apply(owner.written)
    owner.roll_out()
    assert owner.verdicts == [inadmissible(Reason.GATED)]

    open_gates(lab, Job.of(lab.read(owner.pods[0])))

    assert owner.verdicts == [admitted({"cpu": "1"})]


@covers("GATED-004", "GATED-005")
def test_the_gates_of_a_group_of_pods(lab: Lab, every_kind: None) -> None:
    """Its Workload has those of its pods."""
    lab.start(integrations=frameworks.WITH_PODS, switched=SWITCH)
    pods = a_pod_set("main", pods=2, cpu="1")

    group = a_group_of(lab, lab.queue({"cpu": 2}), pods, annotations={GATED_BY: BUDGET})

    assert group.verdict == inadmissible(Reason.GATED)

    for pod in group.pods:
        open_gates(lab, Job.of(pod))

    assert group.verdict == admitted({"cpu": "2"})


def of_kind(lab: Lab, kind: str) -> Manifest:
    """Work of a kind, or a Workload, that asks for one CPU in a queue with room for it."""
    queue = lab.queue({"cpu": 1})
    pods = a_pod_set("main", cpu="1")
    match kind:
        case "Job":
            return lab.written(a_job(cpu="1"), queue)
        case "Workload":
            return lab.written(a_workload(pods), queue)
        case "Pod":
            return lab.written(work_of("Pod", pods), queue)
        case _:
            return a_written_owner(lab, queue, kind, pods)


def open_gates(lab: Lab, job: Job, *left: str) -> None:
    """Leave work only these admission gates, without any not even the annotation, and settle."""
    found = bare(lab.read(job.ref))
    del found["metadata"]["annotations"][GATED_BY]
    lab.apply(gated(found, *left) if left else found)
    lab.settle()


def gates_of_workload(lab: Lab, job: Job) -> str | None:
    """The admission gates of the Workload of work; None without the annotation."""
    annotations = lab.workload(job)["metadata"].get("annotations") or {}
    return annotations.get(GATED_BY)
