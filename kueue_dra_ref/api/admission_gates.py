"""Admission gates: the annotation by which another controller keeps work from admission until it removes its gate.

Kueue: pkg/constants/constants.go (AdmissionGatedByAnnotation); pkg/workload/workload.go (HasAdmissionGate);
    pkg/util/csv/csv.go (Parse)
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.target import Manifest

GATED_BY = "kueue.x-k8s.io/admission-gated-by"
"""The annotation of work and of Workloads."""
GATED = "AdmissionGated"
"""The reason of QuotaReserved while an admission gate is closed."""


def gates_of(obj: Manifest) -> str:
    """Give the admission gates of work or of a Workload as they are written; empty without any."""
    return annotations_of(obj).get(GATED_BY, "")


def gate_names(written: str) -> Sequence[str]:
    """Give the names of admission gates, which are separated by commas; none of a blank text."""
    return [each.strip() for each in written.split(",")] if written.strip() else []
