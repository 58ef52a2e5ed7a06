"""The pods of one Workload: a pod alone, or all pods of a group.

Kueue: pkg/controller/jobs/pod/pod_controller.go (Pod, Load, IsSuspended, partitionPods)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kueue_dra_ref.api.metadata import annotations_of, labels_of
from kueue_dra_ref.api.queued_pods import (
    FAST,
    INDEX,
    PARENT,
    RETRIABLE,
    SERVING,
    TOTAL,
    is_held,
    is_usable,
    phase_of,
    prebuilt_name,
)
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class PodGroup:
    """A pod alone, or a group of pods with its name."""

    pods: Sequence[Manifest]
    name: str = ""
    """The name of the group; empty for a pod alone."""

    @property
    def first(self) -> Manifest:
        """The pod whose labels and annotations count for all."""
        return self.pods[0]

    @property
    def total(self) -> int:
        """The number of pods that the group announces; 0 if that is no number."""
        return total_of(self.first)

    @property
    def is_numbered(self) -> bool:
        """Whether the pod whose labels count has no index, or one below the total."""
        index = labels_of(self.first).get(INDEX)
        if index is None:
            return True
        return re.fullmatch("[0-9]+", index) is not None and int(index) < self.total

    @property
    def is_fast(self) -> bool:
        """Whether the group is admitted as soon as it has one pod."""
        return annotations_of(self.first).get(FAST) == "true"

    @property
    def is_prebuilt(self) -> bool:
        """Whether the Workload of the group was created before its pods."""
        return bool(prebuilt_name(self.first))

    @property
    def is_made(self) -> bool:
        """Whether a StatefulSet or a LeaderWorkerSet has made the group, and its Workload."""
        return bool(self.name) and PARENT in annotations_of(self.first)

    @property
    def is_serving(self) -> bool:
        """Whether the group serves, so that it never finishes."""
        return bool(self.name) and annotations_of(self.first).get(SERVING) == "true"

    @property
    def ends(self) -> bool:
        """Whether this is a group that finishes one day."""
        return bool(self.name) and not self.is_serving

    @property
    def is_unretriable(self) -> bool:
        """Whether a pod says that failed pods of the group are not replaced."""
        return any(annotations_of(pod).get(RETRIABLE) == "false" for pod in self.pods)

    @property
    def is_held(self) -> bool:
        """Whether any pod is gated or has ended."""
        return any(map(is_held, self.pods))

    @property
    def usable(self) -> list[Manifest]:
        """The pods that run, may still run, or have succeeded."""
        return list(filter(is_usable, self.pods))

    @property
    def unusable(self) -> list[Manifest]:
        """The pods that have failed, or were deleted before they ran."""
        return [pod for pod in self.pods if not is_usable(pod)]

    @property
    def succeeded(self) -> list[Manifest]:
        """The pods that have succeeded."""
        return [pod for pod in self.pods if phase_of(pod) == "Succeeded"]


def total_of(pod: Manifest) -> int:
    """Give the number of pods that a pod says its group has; 0 if that is no number."""
    written = annotations_of(pod).get(TOTAL, "")
    return int(written) if written.isdecimal() else 0
