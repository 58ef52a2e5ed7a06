"""The check waits for late figures, reports wrong ones, and reads the metrics last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kubernetes.client import ApiClient

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.applied_objects import AppliedObjects
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.invariant_checks import InvariantChecks
from kueue_dra_clusters.waiting import WaitLimits
from kueue_dra_ref.target import Manifest

LIMITS = WaitLimits(disagreement=0.3)


@dataclass(slots=True)
class Meter:
    """Counts how often it was read."""

    read: int = 0

    def metrics(self) -> str:
        """Give one line."""
        self.read += 1
        return "kueue_pending_workloads 1"


@dataclass(slots=True)
class Answers:
    """A check that says one thing after another, and the last of them for good."""

    expected: list[Sequence[str]]
    seen: list[str] = field(default_factory=list)

    def __call__(self, objects: Sequence[Manifest], metrics: str) -> Sequence[str]:
        """Say the next thing."""
        self.seen.append(metrics)
        return self.expected.pop(0) if len(self.expected) > 1 else self.expected[0]


def _auditing(meter: Meter) -> InvariantChecks:
    objects = APIClient(api=ApiClient(), limits=LIMITS)
    return InvariantChecks(
        objects=objects, informers=InformerCache(objects=objects), applied=AppliedObjects(), kueue=meter, limits=LIMITS
    )


def test_a_world_that_is_right_is_looked_at_once_and_once_with_metrics() -> None:
    """Nothing is waited for."""
    check, meter = Answers([[]]), Meter()

    assert _auditing(meter).audit(check) == []
    assert (check.seen, meter.read) == (["", "kueue_pending_workloads 1"], 1)


def test_a_figure_that_comes_late_is_waited_for() -> None:
    """Wrong at first, and right a moment later."""
    assert _auditing(Meter()).audit(Answers([["wrong"], ["wrong"], []])) == []


def test_a_figure_that_stays_wrong_is_told_and_no_metrics_are_asked_for() -> None:
    """In the end the last words of the check are the answer."""
    meter = Meter()

    assert _auditing(meter).audit(Answers([["wrong"]])) == ["wrong"]
    assert meter.read == 0


def test_metrics_that_stay_wrong_are_told() -> None:
    """Once all else is right they are read until they are, too."""
    assert _auditing(Meter()).audit(Answers([[], ["the metric is wrong"]])) == ["the metric is wrong"]
