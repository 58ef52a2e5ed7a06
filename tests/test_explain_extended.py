"""``kueue-dra explain`` of extended resources: which DeviceClass of several Kueue selects, and by which rule."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from kueue_dra_fixtures.builders import GPU
from kueue_dra_fixtures.builders import a_job as a_built_job
from kueue_dra_fixtures.lab import Lab
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.rules.dra import devices_0_18, extended_resource_requests
from kueue_dra_ref.simulation.explanation import explained
from tests.commands import kueue_dra
from tests.contended import a_queue, of

CARD, SHARED = "example.com/gpu", "ts-shard-gpus.example.com"
MADE = "(created 2025-09-17T12:00:00Z)"


def a_class(name: str) -> dict[str, Any]:
    """A DeviceClass that provides the resource."""
    spec = {"extendedResourceName": CARD}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def steps(*classes: str, amount: str = "2", minor: str = "kueue-0.19.2") -> list[str]:
    """Explain a Workload that requests the resource; the class z is mapped."""
    mappings = [{"name": "gpus", "deviceClassNames": ["z.example.com"]}]
    gates = {"KueueDRAIntegrationExtendedResource": True}
    configuration = {
        "kind": "Configuration",
        "featureGates": gates,
        "resources": {"deviceClassMappings": mappings},
    }
    flavor = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "a"}}
    pod = {"containers": [{"name": "c", "resources": {"requests": {CARD: amount}}}]}
    workload = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "new"},
        "spec": {"queueName": "q", "podSets": [{"name": "main", "count": 1, "template": {"spec": pod}}]},
    }
    world = [
        configuration,
        flavor,
        *a_queue("q", of(4)),
        *(a_class(f"{name}.example.com") for name in classes),
        workload,
    ]
    result = kueue_dra("explain", "-f", "-", "--behaviour", minor, stdin=yaml.safe_dump_all(world))
    return [line.partition(". ")[2] for line in result.stdout.splitlines()[1:]]


@pytest.mark.parametrize(
    ("minor", "selected", "rule"),
    [
        pytest.param("kueue-0.19.2", "b", extended_resource_requests.name_breaks_tie, id="by-name"),
        pytest.param("kueue-0.18.3", "z", devices_0_18.mapped_device_class_wins, id="mapped"),
    ],
)
def test_the_selected_class_is_explained(minor: str, selected: str, rule: Rule[..., Any]) -> None:
    """With the classes that Kueue selects it from, and the rule of the release."""
    assert steps("z", "b", minor=minor)[0] == (
        f"{CARD} is in DeviceClass b.example.com {MADE}, DeviceClass z.example.com {MADE}; "
        f"Kueue selects DeviceClass {selected}.example.com {MADE}: {rule.sentence}   [{rule.requirements[0]}]"
    )


def test_a_single_class_is_not_explained() -> None:
    """Without a choice there is no step about it."""
    assert steps("z")[0].startswith(f"pod set main: a pod requests 2 \N{MULTIPLICATION SIGN} {CARD}, provided by ")


@pytest.mark.parametrize(
    ("selected", "expected"),
    [
        pytest.param("z", "z.example.com is mapped to gpus   [EXT-008]", id="mapped"),
        pytest.param(
            "b", f"b.example.com is not mapped to another resource: {CARD} is charged   [EXT-009]", id="not-mapped"
        ),
    ],
)
def test_what_a_class_is_mapped_to_is_explained(selected: str, expected: str) -> None:
    """With the requirement about a mapped class, or the one about another."""
    assert steps(selected)[1] == expected


def test_the_class_of_a_rejected_request_is_explained() -> None:
    """Kueue selects the class before it validates the amount."""
    found = steps("z", "b", amount="500m")

    assert extended_resource_requests.name_breaks_tie.sentence in found[0]
    assert found[1].endswith('"500m": extended resource quantity must be an integer   [EXT-017]')


def test_the_newest_class_is_explained() -> None:
    """With the creation timestamps."""
    found = behaviour()
    target = ReferenceTarget(found)
    lab = Lab(target=target, behaviour=found, suffix="explained")
    lab.start(gates={"KueueDRAIntegrationExtendedResource": True})
    lab.stands_for(CARD, GPU)
    queue = lab.queue({"whole-gpus": 4, "shared-gpus": 4})
    queue.submit(a_built_job(requests={CARD: "1"}))
    queue.submit(a_built_job(requests={CARD: "1"}))
    lab.stands_for(CARD, SHARED)
    queue.submit(a_built_job(requests={CARD: "1"}))
    *_, workload = target.store.every("Workload")

    first = explained(target, workload).steps[0]

    assert first.requirements == ("EXT-006",)
    assert first.text.endswith(f": {extended_resource_requests.newest_device_class_wins.sentence}")
    assert f"; Kueue selects DeviceClass {SHARED}" in first.text
