"""The fence proves how far a real Kueue has got: each use of it changes what it then waits for."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.fence import Fence
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.waiting import limits_of, moment_now
from kueue_dra_ref.target import Ref
from tests.clusters_live.manifests import CONFIGURATION

pytestmark = pytest.mark.live


@pytest.mark.parametrize("cycles", [0, 1, 2])
def test_each_pass_of_the_queues_is_one_of_its_own(target: LiveTarget, plane: ControlPlane, cycles: int) -> None:
    """Anything that came between two passes: Kueue updates the status of the fence's own queues for each."""
    objects = plane.objects(limits_of({}))
    fence = Fence(objects=objects, informers=(informers := InformerCache(objects=objects)), run=f"passes-{cycles}")
    own = [
        Ref(api_version=KUEUE, kind="ClusterQueue", name=fence.name),
        Ref(api_version=KUEUE, kind="LocalQueue", name="status", namespace=fence.name),
    ]
    generations = []
    for _ in range(4):
        fence.pass_queues((), ())
        generations.append([(objects.read(ref) or {})["metadata"]["generation"] for ref in own])
        fence.pass_cycles(cycles)
    target.delete(fence.refs())
    informers.close()

    assert generations == [[2, 2], [3, 3], [4, 4], [5, 5]]


def test_a_sweep_passes_where_cpus_are_turned_into_something_else(target: LiveTarget, plane: ControlPlane) -> None:
    """The fence asks for what no Configuration turns into a resource that its own queues know nothing of."""
    turned = {"input": "cpu", "strategy": "Replace", "outputs": {"example.com/credits": "1"}}
    resources = CONFIGURATION["resources"] | {"transformations": [turned]}
    assert target.start(CONFIGURATION | {"resources": resources}) == ()
    objects = plane.objects(limits_of({}))
    fence = Fence(objects=objects, informers=(informers := InformerCache(objects=objects)), run="turned")
    fence.pass_sweep(since=moment_now())
    fence.pass_cycles(2)
    target.delete(fence.refs())
    informers.close()
