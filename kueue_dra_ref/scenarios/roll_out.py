"""Acts as the controllers of work, and as the kubelet, on any target.

No counterpart: the controllers of Kubernetes and of LeaderWorkerSets, and the kubelet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TypeVar, cast

from kueue_dra_ref.api.job_kinds import POD, is_suspended
from kueue_dra_ref.api.pod_owners import is_pod_of, made_pods
from kueue_dra_ref.api.queued_pods import is_gated, is_leaving, is_terminated
from kueue_dra_ref.target import Manifest, Ref, Rejection, Target

T = TypeVar("T")
_NONE = object()
_COUNTS = frozenset({"active", "ready"})
GATED, RUNNING, OVER, DELETED = "gated", "running", "over", "deleted"


def rolled_out(target: Target, refs: Iterable[Ref]) -> list[Rejection]:
    """Delete the pods of stored objects that are over or too many, and create those that they lack.

    A pod that is over has its replacement the next time.
    """
    missing = []
    surplus: list[Ref] = []
    for ref in refs:
        owner = target.read(ref)
        if owner is None:
            continue
        wanted = {pod["metadata"]["name"]: pod for pod in made_pods(owner)}
        for pod in target.list("v1", POD.name, ref.namespace):
            found = wanted.pop(pod["metadata"]["name"], None)
            if is_pod_of(owner, pod) and (found is None or is_terminated(pod)):
                surplus.append(Ref.of(pod))
        missing.append(list(wanted.values()))
    target.delete(surplus)
    return list(target.apply(in_turns(missing)))


def in_turns(lists: Sequence[Iterable[T]]) -> list[T]:
    """Give the first elements of some lists, then the second ones, and so on.

    A real Kueue orders work by the second of its creation, so work of one scenario is created a second apart; that of
    several scenarios need not wait for each other.
    """
    found = []
    for turn in zip_longest(*lists, fillvalue=_NONE):
        for each in turn:
            if each is not _NONE:
                found.append(cast(T, each))
    return found


def reported(target: Target, reports: Iterable[Manifest]) -> None:
    """Write the phase of pods, as the kubelet does, and the status of work, as its controller does."""
    for report in reports:
        found = target.read(Ref.of(report))
        if found is None:
            continue
        if found["kind"] != POD.name:
            _report_work(target, found, report["status"])
        elif state_of(found) == RUNNING:
            _write(target, found, {"phase": report["phase"]})


def _report_work(target: Target, work: Manifest, status: Manifest) -> None:
    """Write the status of work; suspended work reports nothing but that no pod is active."""
    if not is_suspended(work) or _says_no_pods(status):
        _write(target, work, status)


def _says_no_pods(status: Manifest) -> bool:
    """Whether a status says nothing but that no pod is active, and none is ready."""
    if "active" not in status:
        return False
    others = status.keys() - _COUNTS
    return not others and not any(status.values())


def _write(target: Target, found: Manifest, status: Manifest) -> None:
    target.apply([{**found, "status": status}])


def state_of(pod: Manifest) -> str:
    """Say whether a pod is gated, may run, is over, or is deleted and not gone yet."""
    if is_leaving(pod):
        return DELETED
    if is_terminated(pod):
        return OVER
    return GATED if is_gated(pod) else RUNNING
