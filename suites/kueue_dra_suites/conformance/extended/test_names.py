"""Extended resources: which names ask for devices (Kueue 0.19, extended resources)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import GPU, a_job, a_pod_set, a_request, a_template, a_workload
from kueue_dra_fixtures.containers import a_container, limited
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict

CARD = "vendor.example.com/card"


@covers("EXT-001", "EXT-008", "EXT-026")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(3, admitted({"whole-gpus": 2}), id="one-to-spare"),
        pytest.param(2, admitted({"whole-gpus": 2}), id="fits-exactly"),
        pytest.param(1, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_a_request_by_the_name_of_a_class_asks_for_devices(lab: Lab, quota: int, verdict: Verdict) -> None:
    """A container's request for the resource name of a class is charged to the resource that the class maps to."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": quota})
    job = queue.submit(a_job(requests={CARD: "2"}))

    assert lab.verdict(job) == verdict


@covers("EXT-023")
def test_a_name_without_a_class_is_an_ordinary_resource(lab: Lab) -> None:
    """Without a class that has it, a name with a domain is charged under its own name."""
    lab.stands_for("vendor.example.com/other-card", GPU)
    queue = lab.queue({"whole-gpus": 2, CARD: 2})
    job = queue.submit(a_job(requests={CARD: "2"}))

    assert lab.verdict(job) == admitted({CARD: 2})


@covers("EXT-002")
def test_a_name_like_huge_pages_is_an_ordinary_resource(lab: Lab) -> None:
    """A class may have such a name, but Kueue treats it as a huge pages size."""
    name = "hugepages-card.example.com/card"
    lab.stands_for(name, GPU)
    queue = lab.queue({"whole-gpus": 2, name: 2})
    job = queue.submit(a_workload(a_pod_set("main", requests={name: "2"})))

    assert lab.verdict(job) == admitted({name: 2})


@covers("EXT-024")
def test_the_implicit_name_of_a_class_is_an_ordinary_resource(lab: Lab) -> None:
    """Kueue finds a class only by the name in its spec."""
    name = f"deviceclass.resource.kubernetes.io/{GPU}"
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 2, name: 2})
    job = queue.submit(a_job(requests={name: "2"}))

    assert lab.verdict(job) == admitted({name: 2})


@covers("EXT-003")
def test_limits_alone_ask_for_an_ordinary_resource(lab: Lab) -> None:
    """Kueue detects devices from the requests of a workload, before it replaces missing requests by limits."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 2, CARD: 2})
    job = queue.submit(a_job(spec={"containers": limited(**{CARD: "2"})}))

    assert lab.verdict(job) == admitted({CARD: 2})


@covers("EXT-003")
def test_a_request_for_none_asks_for_no_devices(lab: Lab) -> None:
    """The limits of another container ask for an ordinary resource then, too."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 2, CARD: 2})
    none = a_container("none", requests={CARD: "0"}, limits={CARD: "0"})
    job = queue.submit(a_job(spec={"containers": [*limited(**{CARD: "2"}), none]}))

    assert lab.verdict(job) == admitted({CARD: 2})


@covers("EXT-004")
def test_limits_of_a_workload_with_devices_ask_for_devices(lab: Lab) -> None:
    """Once another request or a claim makes it one with devices, a limit counts like a request."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 2, "example.com/nics": 1})
    claim = a_template(a_request("nic.example.com"))
    job = queue.submit(a_job(claims=[claim], spec={"containers": limited(**{CARD: "2"})}))

    assert lab.verdict(job) == admitted({"whole-gpus": 2, "example.com/nics": 1})


@covers("EXT-005")
def test_a_request_of_none_asks_for_no_devices(lab: Lab) -> None:
    """A request of zero is not charged as devices, even together with a claim."""
    lab.stands_for(CARD, GPU)
    queue = lab.queue({CARD: 2, "example.com/nics": 1})
    claim = a_template(a_request("nic.example.com"))
    job = queue.submit(a_job(claims=[claim], requests={CARD: "0"}))

    assert lab.verdict(job) == admitted({"example.com/nics": 1, CARD: 0})


@owns_kueue
@covers("EXT-031")
def test_without_the_gate_the_name_is_an_ordinary_resource(lab: Lab) -> None:
    """With the gate off nothing is looked up, and the name is charged as it stands."""
    lab.start(gates=lambda behaviour: {behaviour.integration_gate: True, behaviour.dependent_gates[0]: False})
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 2, CARD: 2})
    job = queue.submit(a_job(requests={CARD: "2"}))

    assert lab.verdict(job) == admitted({CARD: 2})


@owns_kueue
@covers("EXT-042")
def test_the_gate_alone_changes_nothing(lab: Lab) -> None:
    """Kueue 0.17 checks what a gate needs before it sets any."""
    lab.start(gates=lambda behaviour: {behaviour.integration_gate: False, behaviour.dependent_gates[0]: True})
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 2, CARD: 2})
    job = queue.submit(a_job(requests={CARD: "2"}))

    assert lab.verdict(job) == admitted({CARD: 2})
