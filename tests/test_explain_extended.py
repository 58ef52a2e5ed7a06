"""``kueue-dra explain`` of extended resources: which of several classes stands for a name, and which rule says so."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from kueue_dra_fixtures.builders import GPU
from kueue_dra_fixtures.builders import a_job as a_built_job
from kueue_dra_fixtures.lab import Lab
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.explanation import explained
from tests.commands import kueue_dra
from tests.contended import a_queue, of

CARD, SHARED = "example.com/gpu", "ts-shard-gpus.example.com"
MADE = "(created 2025-09-17T12:00:00Z)"


def a_class(name: str) -> dict[str, Any]:
    """A DeviceClass that stands for the resource."""
    spec = {"extendedResourceName": CARD}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def steps(*classes: str, amount: str = "2", minor: str = "kueue-0.19") -> list[str]:
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
    ("minor", "counts", "why"),
    [
        pytest.param("kueue-0.19", "b", "the smallest name breaks a tie of classes   [EXT-007]", id="by-name"),
        pytest.param("kueue-0.18", "z", "a mapped class stands for a resource   [EXT-037]", id="mapped"),
    ],
)
def test_which_class_stands_for_a_name_is_told(minor: str, counts: str, why: str) -> None:
    """With those that it was chosen from, in the words of each release."""
    assert steps("z", "b", minor=minor)[0] == (
        f"{CARD} is in DeviceClass b.example.com {MADE}, DeviceClass z.example.com {MADE}; "
        f"what counts is DeviceClass {counts}.example.com {MADE}: {why}"
    )


def test_a_single_class_is_not_chosen() -> None:
    """Nothing is said of a choice that there was not."""
    assert steps("z")[0].startswith(f"pod set main: a pod requests 2 \N{MULTIPLICATION SIGN} {CARD}, for which ")


def test_the_class_is_told_of_what_is_refused_too() -> None:
    """The choice comes before the amount is looked at."""
    found = steps("z", "b", amount="500m")

    assert "the smallest name breaks a tie of classes" in found[0]
    assert found[1].endswith('"500m": extended resource quantity must be an integer   [EXT-017]')


def test_the_newest_class_is_told() -> None:
    """With the times at which they were made."""
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
    assert first.text.endswith(": the newest class stands for a resource")
    assert f"; what counts is DeviceClass {SHARED}" in first.text
