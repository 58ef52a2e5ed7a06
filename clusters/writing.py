"""Create or replace, and write the status of Jobs and Workloads as their controllers would (Kubernetes 1.36)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from datetime import UTC, datetime

from clusters.custody import Custody
from clusters.objects import Answer, Objects
from clusters.waiting import NotYet, eventually
from kueue_dra_ref.target import Manifest, Ref

CONFLICT = 409


def write(objects: Objects, custody: Custody, manifest: Manifest, before: Manifest) -> tuple[Answer, bool]:
    """Create an object, or replace the spec, labels and annotations of what exists; True says that it was created.

    ``before`` is the manifest that was written last: what did not change since then in a Job's spec stays as stored.
    """
    labelled = custody.labelled(manifest)
    answer = objects.create(labelled)
    if answer.code != CONFLICT or answer.body.get("reason") != "AlreadyExists":
        return answer, True

    def put(stored: Manifest) -> Answer:
        custody.insist(stored)
        return objects.replace(overlaid(stored, labelled, before))

    return _until_no_conflict(objects, Ref.of(manifest), put), False


def write_status(objects: Objects, ref: Ref, status: Manifest) -> Answer:
    """Merge a status into a stored Job or Workload, conditions by their type, as their controllers would write it."""

    def put(stored: Manifest) -> Answer:
        return objects.replace({**stored, "status": merged_status(stored, status)}, subresource="status")

    return _until_no_conflict(objects, ref, put)


def overlaid(stored: Manifest, manifest: Manifest, before: Manifest) -> Manifest:
    """Lay a manifest over what is stored: everything but identity and status comes from the manifest."""
    metadata = dict(stored["metadata"])
    for key in ("labels", "annotations"):
        if key in manifest["metadata"]:
            metadata[key] = manifest["metadata"][key]
    merged = {**manifest, "metadata": metadata}
    if manifest["kind"] == "Job":
        merged["spec"] = _job_spec(stored["spec"], manifest["spec"], before.get("spec") or {})
    return merged


def merged_status(stored: Manifest, status: Manifest) -> Manifest:
    """Merge a status into the stored one and fill in what its controller always writes."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    old = stored.get("status") or {}
    conditions = {each["type"]: each for each in old.get("conditions") or []}
    for each in status.get("conditions") or []:
        conditions[each["type"]] = {"lastTransitionTime": now, "reason": each["type"], "message": "", **each}
    merged = {**old, **status, "conditions": list(conditions.values())}
    return _finished_job(merged, now) if stored["kind"] == "Job" else merged


def _finished_job(status: Manifest, now: str) -> Manifest:
    """Fill in what the API server demands of a Job that is running or done."""
    types = [each["type"] for each in status["conditions"] if each.get("status") == "True"]
    if not {"Complete", "Failed"} & set(types):
        return status
    target = "SuccessCriteriaMet" if "Complete" in types else "FailureTarget"
    extra = {"type": target, "status": "True", "reason": target, "message": "", "lastTransitionTime": now}
    done = {"startTime": now} | ({"completionTime": now} if "Complete" in types else {})
    conditions = [*([] if target in types else [extra]), *status["conditions"]]
    return {**done, **status, "active": 0, "ready": 0, "conditions": conditions}


def _job_spec(stored: Manifest, wanted: Manifest, before: Manifest) -> Manifest:
    """Take over what changed since it was last written; all else Kueue or the API server may have rewritten since."""
    changed = {key: value for key, value in copy.deepcopy(wanted).items() if before.get(key) != value}
    changed.pop("suspend", None)  # that is Kueue's, once the Job is there
    if "template" in changed:
        labels = (stored["template"].get("metadata") or {}).get("labels") or {}
        metadata: Manifest = changed["template"].setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
    return {**stored, **changed}


def _until_no_conflict(objects: Objects, ref: Ref, put: Callable[[Manifest], Answer]) -> Answer:
    def once() -> Answer:
        stored = objects.read(ref)
        if stored is None:
            return Answer(code=404, body={"message": f"{ref} is not there any more"})
        answer = put(stored)
        if answer.code == CONFLICT:
            raise NotYet(answer.message)
        return answer

    return eventually(once, within=objects.limits.request, what=f"{ref} to be written")
