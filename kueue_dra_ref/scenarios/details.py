"""What the record of a case shows in addition: the rest of each status, and what Kueue has made of the work."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kueue_dra_ref.api.admission_checks import check_states
from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.api.job_kind import template_of
from kueue_dra_ref.api.job_kinds import (
    JOB_KINDS,
    POD,
    is_suspended,
    pod_set_places,
)
from kueue_dra_ref.scenarios.observation import (
    CONDITIONS,
    KUEUE,
    ObservedState,
    by_name,
)
from kueue_dra_ref.scenarios.renaming import unhashed
from kueue_dra_ref.scenarios.scenario import Observation
from kueue_dra_ref.target import Manifest, Ref, Target

DETAILS = "details"
"""The part of an observation."""
PREFIX = "kueue.x-k8s.io/"
"""Of the labels and annotations that Kueue writes."""
UNKNOWN = frozenset(
    {f"{PREFIX}raycluster-generation", f"{PREFIX}raycluster-podset-replica-sizes"}
)
"""What Kueue writes and the reference does not."""
_QUEUES = ("ClusterQueue", "LocalQueue")
_COUNTS = ("pendingWorkloads", "reservingWorkloads", "admittedWorkloads")
_SHOWN = ("status", "reason", "message")
_STATUS = ("reclaimablePods", "clusterName", "nominatedClusterNames")
_SPEC = ("priority", "queueName", "active")
_POD_SET = ("name", "count", "minCount")
_CHECK = ("name", "state", "requeueAfterSeconds", "podSetUpdates")
_TEMPLATE = ("nodeSelector", "tolerations", "schedulingGates")


def details(target: Target, state: ObservedState, refs: Collection[Ref]) -> Observation:
    """Give the details of Workloads by name, and of some queues and work by key; of what is gone there are none."""
    found = {"workloads": by_name(state, refs, _workload)}
    for kind in _QUEUES:
        listed = target.list(KUEUE, kind)
        for each in _among(listed, refs):
            found[_key(each)] = _queue(each)
    for api_version, kind in _kinds(refs):
        listed = target.list(api_version, kind)
        for each in _among(listed, refs):
            found[_key(each)] = _work(each)
    return found


def _kinds(refs: Iterable[Ref]) -> Sequence[tuple[str, str]]:
    """Give the kinds of work among some objects; pods are observed as such."""
    found = set()
    for ref in refs:
        if ref.kind in JOB_KINDS and ref.kind != POD.name:
            found.add((ref.api_version, ref.kind))
    return sorted(found)


def _among(objects: Iterable[Manifest], refs: Collection[Ref]) -> Iterator[Manifest]:
    names = {(ref.kind, ref.namespace, ref.name) for ref in refs}
    for each in objects:
        if _identity(each) in names:
            yield each


def _identity(obj: Manifest) -> tuple[str, str, str]:
    meta = obj["metadata"]
    namespace = meta.get("namespace", "")
    return obj["kind"], namespace, meta["name"]


def _key(obj: Manifest) -> str:
    parts = filter(None, _identity(obj))
    return "/".join(parts)


def _queue(queue: Manifest) -> Manifest:
    status = queue.get("status") or {}
    active = condition(queue, "Active")
    found: Manifest = {
        "counts": _of(status, _COUNTS),
        "Active": _of(active or {}, _SHOWN),
        "used": _totals(status, "flavorsUsage"),
        "reserved": _totals(status, "flavorsReservation"),
    }
    if queue["kind"] == "ClusterQueue":
        found["share"] = (status.get("fairSharing") or {}).get("weightedShare")
    return found


def _totals(status: Manifest, field: str) -> Manifest:
    found = {}
    for flavor in status.get(field) or ():
        totals = {}
        for each in flavor["resources"]:
            totals[each["name"]] = each["total"]
        found[flavor["name"]] = totals
    return found


def _of(obj: Mapping[str, Any], fields: Iterable[str]) -> Manifest:
    """Give some fields of an object, without those that are unset or empty lists."""
    found = {}
    for field in fields:
        value = obj.get(field)
        if value not in (None, []):
            found[field] = value
    return found


def _workload(workload: Manifest) -> Manifest:
    spec = workload["spec"]
    status = workload.get("status") or {}
    conditions = {}
    for each in status.get("conditions") or ():
        if each["type"] not in CONDITIONS:
            conditions[each["type"]] = _of(each, _SHOWN)
    requeue_state = status.get("requeueState") or {}
    return {
        **_of(spec, _SPEC),
        **_of(status, _STATUS),
        "podSets": _each(spec["podSets"], _POD_SET),
        "conditions": conditions,
        "checks": unhashed(_each(check_states(workload), _CHECK)),
        "requeues": requeue_state.get("count"),
    }


def _each(objects: Iterable[Manifest], fields: Sequence[str]) -> Sequence[Manifest]:
    return [_of(each, fields) for each in objects]


def _work(work: Manifest) -> Manifest:
    pod_sets = []
    for place in pod_set_places(work):
        template = template_of(work, place)
        shown = _of(template.get("spec") or {}, _TEMPLATE)
        pod_sets.append({"name": place.name, "count": place.count, **shown})
    return {
        "suspended": is_suspended(work),
        "podSets": pod_sets,
        "marks": _marks(work["metadata"]),
    }


def _marks(meta: Manifest) -> Manifest:
    """Give the labels and annotations of Kueue."""
    found = {}
    for field in ("labels", "annotations"):
        written = meta.get(field) or {}
        for key, value in written.items():
            if key.startswith(PREFIX) and key not in UNKNOWN:
                found[key] = value
    return found
