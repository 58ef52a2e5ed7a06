"""Creates or replaces objects, and writes the status of Jobs and Workloads as their controllers would."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from kueue_dra_clusters.api_client import Answer, APIClient
from kueue_dra_clusters.ownership import Ownership
from kueue_dra_clusters.waiting import NotYet, TimedOut, eventually
from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.api.three_way_merge import merged_work
from kueue_dra_ref.api.train_jobs import TRAIN_JOB, runtime_of
from kueue_dra_ref.target import Manifest, Ref

CONFLICT = 409
NOT_FOUND = 404
RUNTIME_NOT_FOUND = re.compile(r"runtime '[^']*' not found$")
"""The end of Kueue's message for a TrainJob whose runtime its informer does not have (getChildJobSet)."""
OF_THE_SERVER = frozenset(
    {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyResult:
    """The result of a write."""

    answer: Answer
    created: bool
    changed: bool = True
    """Whether the write changed the object."""


def write(
    objects: APIClient, ownership: Ownership, manifest: Manifest, before: Manifest
) -> ApplyResult:
    """Create an object, or replace the spec, labels and annotations of what exists.

    ``before`` is the manifest of the last write: fields of a Job's spec that did not change since then keep the stored
    value.
    """
    labelled = ownership.labelled(manifest)
    ref = Ref.of(manifest)
    if not before:
        answer = _created(objects, _new(labelled))
        if answer.body.get("reason") != "AlreadyExists":
            return ApplyResult(answer=answer, created=True)
    ownership.insist_on(objects, ref)
    versions: list[str] = []

    def put(stored: Manifest) -> Answer:
        versions.append(stored["metadata"]["resourceVersion"])
        return objects.replace(overlaid(stored, labelled, before))

    answer = _until_no_conflict(objects, ref, put)
    if answer.code == NOT_FOUND and before:
        return write(objects, ownership, manifest, {})
    after = answer.body.get("metadata", {}).get("resourceVersion")
    return ApplyResult(answer=answer, created=False, changed=versions[-1:] != [after])


def write_status(objects: APIClient, ref: Ref, status: Manifest) -> Answer:
    """Merge a status into a stored Job or Workload, conditions by their type, as their controllers would write it."""

    def put(stored: Manifest) -> Answer:
        return objects.replace(
            {**stored, "status": merged_status(stored, status)}, subresource="status"
        )

    return _until_no_conflict(objects, ref, put)


def overlaid(stored: Manifest, manifest: Manifest, before: Manifest) -> Manifest:
    """Merge a manifest into a stored object: everything but identity and status comes from the manifest."""
    metadata = dict(stored["metadata"])
    for key in ("labels", "annotations"):
        if key in manifest["metadata"]:
            metadata[key] = manifest["metadata"][key]
    merged = {**manifest, "metadata": metadata}
    if manifest["kind"] in JOB_KINDS:
        return merged_work(stored, merged, before.get("spec") or {})
    return merged


def merged_status(stored: Manifest, status: Manifest) -> Manifest:
    """Merge a status into the stored one, with the fields that its controller always writes."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    old = stored.get("status") or {}
    conditions = {each["type"]: each for each in old.get("conditions") or []}
    for each in status.get("conditions") or []:
        conditions[each["type"]] = {
            "lastTransitionTime": now,
            "reason": each["type"],
            "message": "",
            **each,
        }
    merged = {**old, **status, "conditions": list(conditions.values())}
    if "admissionChecks" in status:
        checks = status["admissionChecks"]
        timed = [{"lastTransitionTime": now, "message": "", **each} for each in checks]
        merged["admissionChecks"] = timed
    return _finished_job(merged, now) if stored["kind"] == "Job" else merged


def _finished_job(status: Manifest, now: str) -> Manifest:
    """Add the fields that the API server requires of a finished Job."""
    types = [
        each["type"] for each in status["conditions"] if each.get("status") == "True"
    ]
    if not {"Complete", "Failed"} & set(types):
        return status
    target = "SuccessCriteriaMet" if "Complete" in types else "FailureTarget"
    extra = {
        "type": target,
        "status": "True",
        "reason": target,
        "message": "",
        "lastTransitionTime": now,
    }
    done = {"startTime": now} | ({"completionTime": now} if "Complete" in types else {})
    conditions = [*([] if target in types else [extra]), *status["conditions"]]
    return {**done, **status, "active": 0, "ready": 0, "conditions": conditions}


def _new(manifest: Manifest) -> Manifest:
    """Remove the fields that the API server rejects in a new object, if a case applies an object that it read."""
    metadata = {
        key: value
        for key, value in manifest["metadata"].items()
        if key not in OF_THE_SERVER
    }
    return {**manifest, "metadata": metadata}


def _created(objects: APIClient, manifest: Manifest) -> Answer:
    """Create an object; retry a TrainJob whose runtime is stored, but not yet in the informer of Kueue's webhook."""
    answers: list[Answer] = []

    def once() -> None:
        answers.append(objects.create(manifest))
        if _is_runtime_late(objects, manifest, answers[-1]):
            raise NotYet(answers[-1].message)

    with suppress(TimedOut):
        eventually(
            once, within=objects.limits.queues, what="Kueue to observe the runtime"
        )
    return answers[-1]


def _is_runtime_late(objects: APIClient, manifest: Manifest, answer: Answer) -> bool:
    if manifest["kind"] != TRAIN_JOB.name or not RUNTIME_NOT_FOUND.search(
        answer.message
    ):
        return False

    def find(kind: str, name: str, namespace: str) -> Manifest | None:
        version = manifest["apiVersion"]
        return objects.read(
            Ref(api_version=version, kind=kind, name=name, namespace=namespace)
        )

    return runtime_of(manifest, find) is not None


def _until_no_conflict(
    objects: APIClient, ref: Ref, put: Callable[[Manifest], Answer]
) -> Answer:
    def once() -> Answer:
        stored = objects.read(ref)
        if stored is None:
            return Answer(
                code=NOT_FOUND, body={"message": f"{ref} is not there any more"}
            )
        answer = put(stored)
        if answer.code == CONFLICT:
            raise NotYet(answer.message)
        return answer

    return eventually(once, within=objects.limits.request, what=f"{ref} to be written")
