"""Mapping: the gates that a Configuration may set while there was one for devices (Kueue up to 0.16, feature gates)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.config_documents import a_document, a_mapping
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.rejections import ACCEPTED, refused
from kueue_dra_fixtures.verdicts import admitted

pytestmark = owns_kueue

PLAIN = refused(": Not decoded")
"""A fault that names no field."""


@covers("GATE-018")
def test_devices_are_not_charged_without_a_word_about_gates(lab: Lab) -> None:
    """Devices are charged only where the gate is switched on."""
    lab.start(integration=None)
    queue = lab.queue({"cpu": 4, "whole-gpus": 0})
    job = queue.submit(a_job(cpu="1", claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"cpu": 1})


@pytest.mark.parametrize(
    ("gates", "verdict"),
    [
        pytest.param({"DynamicResourceAllocation": True}, ACCEPTED, id="on", marks=covers("GATE-019")),
        pytest.param({"DynamicResourceAllocation": False}, ACCEPTED, id="off", marks=covers("GATE-019")),
        pytest.param({"KueueDRAIntegration": True}, PLAIN, id="later-name", marks=covers("GATE-019")),
        pytest.param({"NoSuchGate": True, "NorThisOne": True}, PLAIN, id="first-one-only", marks=covers("GATE-019")),
        pytest.param({"ConsistentListFromCache": True}, ACCEPTED, id="locked-on", marks=covers("GATE-020")),
        pytest.param({"ConsistentListFromCache": False}, PLAIN, id="locked-off", marks=covers("GATE-020")),
    ],
)
def test_gates_are_refused_in_plain_words(lab: Lab, gates: dict[str, bool], verdict: object) -> None:
    """A gate that is unknown, or locked to another value, keeps Kueue from starting."""
    assert lab.check(a_document(gates=gates)) == verdict


@covers("GATE-021")
def test_mappings_are_validated_before_gates_are_set(lab: Lab) -> None:
    """If both have errors, Kueue reports those of the mappings first."""
    document = a_document(a_mapping("not a name", "gpu.example.com"), gates={"NoSuchGate": True})

    assert lab.check(document) == refused("resources.deviceClassMappings[0].name: Invalid value")
