"""Why the reference decided about each Workload as it did: its steps, from the claims to the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kueue_dra_ref.api.job_kinds import owner_of
from kueue_dra_ref.api.workloads import is_active, requeue_at, workload_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.requirements.catalogue import catalogue
from kueue_dra_ref.simulation.charged_devices import charged_devices
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.verdict import (
    Admitted,
    Evicted,
    Finished,
    Inadmissible,
    Pending,
    Reserved,
    Undecided,
    Unrecognised,
    Unseen,
    Verdict,
    verdict,
)

_UNCHARGED = ("GATE-003", "GATE-005")
"""Requirements about claims while the DRA integration is off; each behaviour has one of them."""
_WORDS: Mapping[type[Verdict], str] = {
    Admitted: "admitted",
    Reserved: "reserved",
    Pending: "pending",
    Unseen: "pending",
    Inadmissible: "inadmissible",
    Evicted: "evicted",
    Finished: "finished",
    Undecided: "undecided",
    Unrecognised: "unrecognised",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One Workload, the decision about it, and its steps; ``kind`` and ``job`` name the owner, empty without one."""

    namespace: str
    workload: str
    kind: str
    job: str
    queue: str
    cluster_queue: str
    verdict: Verdict
    message: str
    devices: Mapping[str, str]
    """What its claims charge for all pods of all pod sets, by resource, in the words of its status."""
    steps: tuple[Step, ...]


def explained(target: ReferenceTarget, workload: Manifest) -> Explanation:
    """Explain what the reference decided about a Workload."""
    meta = workload["metadata"]
    kind, job = owner_of(workload) or ("", "")
    queue = workload["spec"].get("queueName", "")
    local_queue = target.store.find("LocalQueue", queue, meta["namespace"]) or {}
    spec = local_queue.get("spec") or {}
    return Explanation(
        namespace=meta["namespace"],
        workload=meta["name"],
        kind=kind,
        job=job,
        queue=queue,
        cluster_queue=spec.get("clusterQueue", ""),
        verdict=verdict(workload),
        message=_message_of(workload, "QuotaReserved"),
        devices=charged_devices(target, workload),
        steps=_steps(target, workload),
    )


def _message_of(workload: Manifest, type_: str) -> str:
    status = workload.get("status") or {}
    message = ""
    for condition in status.get("conditions") or ():
        if condition["type"] == type_:
            message = str(condition.get("message", ""))
    return message


def outcome(found: Verdict) -> tuple[str, str]:
    """Give a verdict as a short text, and its reason."""
    word = _WORDS[type(found)]
    match found:
        case (
            Pending(reason=reason)
            | Inadmissible(reason=reason)
            | Evicted(reason=reason)
            | Finished(reason=reason)
        ):
            return word, str(reason)
        case Reserved(checks=checks):
            return word, f"it waits for admission checks: {', '.join(checks)}"
        case Undecided(why=why):
            return word, why
        case Unrecognised(conditions=conditions):
            return word, "; ".join(conditions)
        case _:
            return word, ""


def _steps(target: ReferenceTarget, workload: Manifest) -> tuple[Step, ...]:
    meta = workload["metadata"]
    key = (meta["namespace"], meta["name"])
    decision = target.decision(*key) or _untried(target, workload, key)
    return (*_claims(target, workload, key), *decision)


def _untried(
    target: ReferenceTarget,
    workload: Manifest,
    key: tuple[str, str],
) -> tuple[Step, ...]:
    """Explain a Workload that the scheduler has not tried yet."""
    if not is_active(workload):
        return (Step(requirements=("QUEUE-020",), text="the workload is not active"),)
    queues = target.manager.kueue.pending.values() if target.manager else ()
    for queue in queues:
        if key in queue.heap:
            text = "it is pending behind another workload"
            behind = Step(requirements=("QUEUE-004",), text=text)
            return (*queue.heap[key].steps, behind)
    for queue in queues:
        if key in queue.inadmissible:
            step = Step(requirements=(), text=_inadmissible(workload))
            return (*queue.inadmissible[key].steps, step)
    return ()


def _inadmissible(workload: Manifest) -> str:
    """Say why a workload is not tried although its ClusterQueue has it."""
    if until := requeue_at(workload):
        return f"it was evicted and backs off: Kueue does not try it before {until}"
    return "it is inadmissible until the cluster changes: an equivalent workload did not fit"


def _claims(
    target: ReferenceTarget,
    workload: Manifest,
    key: tuple[str, str],
) -> tuple[Step, ...]:
    """Explain why no device is charged: no pod requests one, or the DRA integration is off."""
    kueue = target.manager.kueue if target.manager else None
    is_dra_workload = kueue is not None and kueue.asks_for_devices(workload)
    if is_dra_workload:
        return ()
    if not workload_of(workload).claims:
        return (Step(requirements=("DET-003",), text="no pod requests a device"),)
    dra = target.derivation(*key)
    if kueue is None or (dra and dra.refused):
        return ()
    if kueue.behaviour.processing.is_dra_workload:
        text = "no container lists a claim of its pod, so no claim is charged"
        return (Step(requirements=("KIND-014",), text=text),)
    return (_integration_is_off(target.behaviour),)


def _integration_is_off(behaviour: Behaviour) -> Step:
    gate = behaviour.integration_gate
    cites = [one for one in _UNCHARGED if behaviour.name in catalogue()[one].holds]
    text = f"the gate {gate} is off, so claims are not charged"
    return Step(requirements=tuple(cites), text=text)
