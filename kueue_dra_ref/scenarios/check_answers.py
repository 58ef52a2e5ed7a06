"""Acts as the controllers of admission checks: writes the state of a check in the Workload of some work.

No counterpart: the controllers of AdmissionChecks, which are not part of Kueue's scheduling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from kueue_dra_ref.api.admission_checks import check_states
from kueue_dra_ref.api.job_kinds import owner_of
from kueue_dra_ref.target import Manifest, Ref, Rejection, Target

WORKLOAD = "Workload"
STATE_FIELDS = ("message", "podSetUpdates", "requeueAfterSeconds", "retryCount")
"""What an answer may name in addition to the state of its check."""


def answered(target: Target, answers: Iterable[Manifest]) -> list[Rejection]:
    """Write the states of checks; work whose Workload does not list the check has nothing to answer.

    A rejection names the work of the answer, since the name of its Workload ends in a hash.
    """
    rejected = []
    for answer in answers:
        work = Ref.of(answer)
        for changed in _changed(target, work, answer):
            for fault in target.apply([changed]):
                rejected.append(replace(fault, ref=work))
    return rejected


def _changed(target: Target, work: Ref, answer: Manifest) -> Iterable[Manifest]:
    """Give the Workloads of the work that list the check, with its new state."""
    stored = target.list("kueue.x-k8s.io/v1beta2", WORKLOAD, work.namespace)
    for workload in stored:
        if not _is_of(work, workload):
            continue
        before = list(check_states(workload))
        states = []
        for each in before:
            is_meant = each["name"] == answer["check"]
            states.append(_state(answer) if is_meant else each)
        if states != before:
            yield {**workload, "status": {"admissionChecks": states}}


def _is_of(work: Ref, workload: Manifest) -> bool:
    """Whether a Workload is the one of an answer, or that of its work."""
    if work.kind == WORKLOAD:
        return bool(workload["metadata"]["name"] == work.name)
    return owner_of(workload) == (work.kind, work.name)


def _state(answer: Mapping[str, Any]) -> Manifest:
    found = {
        "name": answer["check"],
        "state": answer["state"],
        "message": "",
    }
    for field in STATE_FIELDS:
        if field in answer:
            found[field] = answer[field]
    return found
