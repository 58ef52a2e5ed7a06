"""Why each Workload was decided as it was: the reference's steps, from the claims to the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kueue_dra_ref.api.workloads import is_active, workload_of
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.requirements.catalogue import catalogue
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.verdict import (
    Admitted,
    Evicted,
    Finished,
    Inadmissible,
    Pending,
    Undecided,
    Unrecognised,
    Unseen,
    Verdict,
    verdict,
)

_UNCHARGED = ("GATE-003", "GATE-005")
"""What the texts say of claims while device integration is off; each behaviour has one of them."""
_WORDS: Mapping[type[Verdict], str] = {
    Admitted: "admitted",
    Pending: "waits",
    Unseen: "waits",
    Inadmissible: "inadmissible",
    Evicted: "evicted",
    Finished: "finished",
    Undecided: "undecided",
    Unrecognised: "unrecognised",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One Workload, what was decided about it and how that came about; ``job`` is empty without one."""

    namespace: str
    workload: str
    job: str
    queue: str
    cluster_queue: str
    verdict: Verdict
    message: str
    devices: Mapping[str, int]
    """What its claims charge, all pods of all pod sets together, by resource."""
    steps: tuple[Step, ...]


def explained(target: ReferenceTarget, workload: Manifest) -> Explanation:
    """Explain what the reference decided about a Workload."""
    meta = workload["metadata"]
    queue = workload["spec"].get("queueName", "")
    local = target.store.find("LocalQueue", queue, meta["namespace"]) or {}
    conditions = {
        each["type"]: each
        for each in (workload.get("status") or {}).get("conditions") or ()
    }
    return Explanation(
        namespace=meta["namespace"],
        workload=meta["name"],
        job=job_of(workload),
        queue=queue,
        cluster_queue=(local.get("spec") or {}).get("clusterQueue", ""),
        verdict=verdict(workload),
        message=conditions.get("QuotaReserved", {}).get("message", ""),
        devices=_devices(target, workload),
        steps=_steps(target, workload),
    )


def job_of(workload: Manifest) -> str:
    """The name of the Job that owns a Workload; empty without one."""
    owners = workload["metadata"].get("ownerReferences") or ()
    return str(
        next(
            (owner.get("name", "") for owner in owners if owner.get("kind") == "Job"),
            "",
        )
    )


def outcome(found: Verdict) -> tuple[str, str]:
    """A verdict in a word, and its reason."""
    word = _WORDS[type(found)]
    match found:
        case (
            Pending(reason=reason)
            | Inadmissible(reason=reason)
            | Evicted(reason=reason)
            | Finished(reason=reason)
        ):
            return word, str(reason)
        case Undecided(why=why):
            return word, why
        case Unrecognised(conditions=conditions):
            return word, "; ".join(conditions)
        case _:
            return word, ""


def _devices(target: ReferenceTarget, workload: Manifest) -> Mapping[str, int]:
    done = target.derivation(
        workload["metadata"]["namespace"], workload["metadata"]["name"]
    )
    total: dict[str, int] = {}
    for pod_set in workload_of(workload).pod_sets if done else ():
        assert done is not None
        for charges, times in ((done.charges, pod_set.count), (done.shared, 1)):
            for charged, amount in charges.get(pod_set.name, {}).items():
                resource = _chosen(
                    workload, pod_set.name, charged, done.choices.get(charged, ())
                )
                total[resource] = total.get(resource, 0) + amount * times
    return dict(sorted(total.items()))


def _chosen(
    workload: Manifest, pod_set: str, charged: str, choices: Sequence[str]
) -> str:
    """The resource that a charge turned out to be; the charge itself while that is open."""
    admission = (workload.get("status") or {}).get("admission") or {}
    mine = (
        each
        for each in admission.get("podSetAssignments") or ()
        if each["name"] == pod_set
    )
    return next(
        (
            name
            for each in mine
            for name in choices
            if name in (each.get("flavors") or {})
        ),
        charged,
    )


def _steps(target: ReferenceTarget, workload: Manifest) -> tuple[Step, ...]:
    key = (workload["metadata"]["namespace"], workload["metadata"]["name"])
    found = target.decision(*key) or _untried(target, workload, key)
    return (*_claims(target, workload, key), *found)


def _untried(
    target: ReferenceTarget, workload: Manifest, key: tuple[str, str]
) -> tuple[Step, ...]:
    """What is known of a Workload that the scheduler has not looked at."""
    if not is_active(workload):
        return (Step(requirements=("QUEUE-020",), text="it is not active"),)
    lines = target.manager.kueue.pending.values() if target.manager else ()
    for line in (line for line in lines if key in line.heap):
        return (
            *line.heap[key].steps,
            Step(requirements=("QUEUE-004",), text="it waits behind another workload"),
        )
    for line in (line for line in lines if key in line.inadmissible):
        text = "it is not tried before something changes: an equal workload did not fit"
        return (*line.inadmissible[key].steps, Step(requirements=(), text=text))
    return ()


def _claims(
    target: ReferenceTarget, workload: Manifest, key: tuple[str, str]
) -> tuple[Step, ...]:
    """Say first when no device is charged: none is asked for, or the integration is off."""
    found, done = workload_of(workload), target.derivation(*key)
    kueue = target.manager.kueue if target.manager else None
    asks = kueue is not None and kueue.asks_for_devices(workload)
    if not found.claims and not asks:
        return (Step(requirements=("DET-003",), text="no pod asks for a device"),)
    if kueue is None or asks or (done and done.refused):
        return ()
    behaviour = target.behaviour
    if kueue.behaviour.processing.is_dra_workload:
        return (
            Step(
                requirements=("KIND-014",),
                text="no container lists a claim of its pod: none is charged",
            ),
        )
    cites = tuple(one for one in _UNCHARGED if behaviour.name in catalogue()[one].holds)
    return (
        Step(
            requirements=cites,
            text=f"the gate {behaviour.integration_gate} is off: its claims are not charged",
        ),
    )
