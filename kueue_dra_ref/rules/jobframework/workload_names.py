"""The names of Workloads.

Kueue: pkg/controller/jobframework/workload_names.go (maxWorkloadNameLength)
"""

from __future__ import annotations

from kueue_dra_ref.model.rule import rule


@rule("WORK-050")
def workload_names_can_be_labels() -> int:
    """The name of a Workload has at most 63 characters, as many as the value of a label.

    Kueue: pkg/controller/jobframework/workload_names.go (maxWorkloadNameLength)
    """
    return 63
