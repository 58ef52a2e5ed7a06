"""What the status of a pod of a Job says: its index, and why it does not run or has failed."""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_clusters.errors import tail_of
from kueue_dra_ref.api.topologies import JOB_PODS
from kueue_dra_ref.target import Manifest

NO_IMAGE = ("ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName")


def index_of(pod: Manifest) -> int:
    """Give the completion index of a pod, from 0."""
    annotations = pod["metadata"]["annotations"]
    return int(annotations[JOB_PODS])


def image_errors(pod: Manifest) -> Iterator[str]:
    """Give the reason and the message of each container whose image does not arrive."""
    for state in _states(pod):
        waiting = state.get("waiting") or {}
        reason = waiting.get("reason", "")
        if reason in NO_IMAGE:
            message = waiting.get("message", "")
            yield f"{reason}: {message}".strip(": ")


def unschedulable(pod: Manifest) -> str:
    """Give the scheduler's message about a pod that fits on no node; empty for others."""
    conditions = pod["status"].get("conditions")
    for condition in conditions or []:
        if condition.get("reason") == "Unschedulable":
            message = condition.get("message", "")
            return str(message)
    return ""


def why_failed(pod: Manifest) -> str:
    """Say why a pod failed: the exit code and the last lines of its log, or the reason of the node."""
    name = pod["metadata"]["name"]
    status = pod["status"]
    for state in _states(pod):
        ended = state.get("terminated")
        if ended:
            text = str(ended.get("message", "")).strip()
            code = ended["exitCode"]
            return f"pod {name}: exit code {code}\n{tail_of(text)}"
    reason = status.get("message") or status.get("reason") or "no reason given"
    return f"pod {name}: {reason}"


def _states(pod: Manifest) -> Iterator[Manifest]:
    containers = pod["status"].get("containerStatuses")
    for status in containers or []:
        yield status["state"]
