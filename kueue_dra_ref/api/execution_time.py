"""The label of work that limits how long its Workload may be admitted, and the fields of the Workload.

Kueue: pkg/controller/constants/constants.go (MaxExecTimeSecondsLabel)
"""

from __future__ import annotations

from collections.abc import Mapping

from kueue_dra_ref.api.metadata import labels_of
from kueue_dra_ref.target import Manifest

LIMIT_LABEL = "kueue.x-k8s.io/max-exec-time-seconds"
LIMIT = "maximumExecutionTimeSeconds"
"""The field of a Workload's spec that limits it."""
BEFORE = "accumulatedPastExecutionTimeSeconds"
"""The field of its status that counts earlier admissions."""


def limit_label_of(work: Manifest) -> str | None:
    """Give the label as it is written; None without one."""
    labels: Mapping[str, str] = labels_of(work)
    return labels.get(LIMIT_LABEL)
