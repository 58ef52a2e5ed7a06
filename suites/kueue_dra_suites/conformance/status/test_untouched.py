"""Changes after which Kueue tries no workload again (Kueue 0.19, event handlers of the queues)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab, Queue
from kueue_dra_fixtures.marks import covers, owns_kueue

TEAM = {"team": "a"}
Change = Callable[[Lab, Queue, str], None]


def relabel(lab: Lab, queue: Queue, flavor: str) -> None:
    """The namespace gets a label more, and is selected as before."""
    del flavor
    lab.label(queue.namespace, **TEAM, more="b")


def delete_flavor(lab: Lab, queue: Queue, flavor: str) -> None:
    """The flavor is terminating, which it stays while the queue names it."""
    del queue
    lab.remove(lab.flavor_ref(flavor))
    lab.settle()


def create_topology(lab: Lab, queue: Queue, flavor: str) -> None:
    """A topology comes that the flavor does not name."""
    del queue, flavor
    lab.topology()
    lab.settle()


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(relabel, id="a-namespace-is-selected-as-before", marks=covers("QUEUE-016")),
        pytest.param(delete_flavor, id="a-flavor-is-terminating", marks=covers("QUEUE-054")),
        pytest.param(create_topology, id="a-topology-of-others", marks=[covers("TAS-024"), owns_kueue]),
    ],
)
def test_what_has_no_workload_tried_again(lab: Lab, change: Change) -> None:
    """A Job lacked one of three devices; by now it lacks two, which only its next message would show."""
    flavor, namespace = lab.flavor(), lab.namespace(**TEAM)
    selector = {"matchLabels": TEAM}
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 3}}], namespace=namespace, namespaceSelector=selector)
    queue.submit(a_job(claims=[a_template(gpu())]))
    waiting = queue.submit(a_job(claims=[a_template(gpu(3))]))
    queue.submit(a_job(claims=[a_template(gpu())]))

    change(lab, queue, flavor)

    assert lab.message(waiting).endswith(f"insufficient unused quota for whole-gpus in flavor {flavor}, 1 more needed")
