"""What the controllers of admission checks answer in generated scenarios, as objects of steps."""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_differential.admission_checks import UPDATES
from kueue_dra_differential.events import Answer
from kueue_dra_differential.queue_events_manifests import named
from kueue_dra_ref.api.admission_checks import READY
from kueue_dra_ref.target import Manifest


def answer(event: Answer, work: Manifest, check: str) -> Manifest:
    """Give the answer for some work as the object of a step."""
    found: Manifest = {
        **named(work),
        "check": check,
        "state": event.state,
    }
    if event.message:
        found["message"] = event.message
    update = UPDATES[event.update]
    names = _pod_sets(work)
    is_ready = event.state == READY
    if update and is_ready and names:
        found["podSetUpdates"] = [{"name": name, **update} for name in names]
    return found


def _pod_sets(work: Manifest) -> Sequence[str]:
    """Name the pod sets of a Job or a Workload; those of other kinds get no updates."""
    if work["kind"] == "Job":
        return ("main",)
    if work["kind"] != "Workload":
        return ()
    return [each["name"] for each in work["spec"]["podSets"]]
