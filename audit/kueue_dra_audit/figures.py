"""Figures of queues: the conservation laws of the cases, each with its requirement, on the objects of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kueue_dra_audit.cluster import JOBS, AuditedCluster, key_of, shown, title
from kueue_dra_audit.finding import Finding, Sure
from kueue_dra_fixtures.cluster_state import ClusterState
from kueue_dra_fixtures.cluster_state import figures as amounts
from kueue_dra_fixtures.invariants import (
    Law,
    Violation,
    charges_are_reserved,
    charges_are_used,
    holders_are_counted,
    nothing_runs_unreserved,
    waiting_are_counted,
)
from kueue_dra_fixtures.pending import is_in_line
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.pods import printed
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.target import Manifest

_FIGURES: tuple[Law, ...] = (
    charges_are_reserved,
    charges_are_used,
    holders_are_counted,
    waiting_are_counted,
)
_OF_CLUSTER_QUEUE: Mapping[str, str] = {
    "charges are reservations": "STATUS-016",
    "charges are usage": "STATUS-017",
    "holders are counted": "STATUS-015",
    "waiting are counted": "STATUS-013",
    "flavors are listed": "STATUS-016",
}
_OF_LOCAL_QUEUE: Mapping[str, str] = {
    "charges are reservations": "STATUS-019",
    "charges are usage": "STATUS-019",
    "holders are counted": "STATUS-018",
    "waiting are counted": "STATUS-018",
}
"""The requirement of each law; the laws themselves are those that every case is checked against."""
_LATE = "Kueue writes the status of a queue after its decisions; one that stays wrong was not written"
_NO_STATUS = "not checked: figures of queues that have no status"
_NO_WORKLOADS = (
    "not checked: figures of queues that count more Workloads than the input has: "
    "kubectl get workloads -A -o yaml prints all"
)
_PARENTS_THAT_QUEUE = frozenset({"", "CronJob"})
"""Owners of a Job that are no work that Kueue queues as a whole."""


def figures(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find figures of ClusterQueues and LocalQueues that are not the sums of their Workloads."""
    state = _state(cluster)
    for law in (*_FIGURES, *_MORE_FIGURES):
        for violation in law(state):
            found = _of_queue(cluster, violation)
            if _lacks_workloads(cluster, found.subject):
                cluster.notes.add(_NO_WORKLOADS, found.subject)
            else:
                yield found


def flavors_are_listed(state: ClusterState) -> Iterator[Violation]:
    """The status of a ClusterQueue lists each flavor and resource of its quota, zeros included."""
    for queue in state.cluster_queues:
        status = queue["status"]
        for key in ("flavorsReservation", "flavorsUsage"):
            listed = {of for of, _ in amounts(status.get(key) or ())}
            for flavor, resource in sorted(_quotas(queue) - listed):
                yield Violation(
                    law="flavors are listed",
                    where=f"{title(queue)}, flavor {flavor}, resource {resource}",
                    says=f"status.{key} is absent",
                    but="the ClusterQueue has quota for it",
                )


def _quotas(queue: Manifest) -> set[tuple[str, str]]:
    found = set()
    for group in queue["spec"].get("resourceGroups") or ():
        for flavor in group["flavors"]:
            for resource in flavor["resources"]:
                found.add((flavor["name"], resource["name"]))
    return found


def waiting_are_counted_locally(state: ClusterState) -> Iterator[Violation]:
    """A LocalQueue counts its pending Workloads; it need not count an inadmissible one or one without condition."""
    waiting = _waiting(state)
    for queue in state.of("LocalQueue"):
        pending = waiting.get(key_of(queue), ())
        # Kueue counts nothing in a LocalQueue that is stopped, or whose ClusterQueue is missing.
        is_active = is_true(queue, "Active")
        least = sum(is_in_line(each) for each in pending) if is_active else 0
        counted = queue["status"].get("pendingWorkloads", 0)
        if not least <= counted <= len(pending):
            yield Violation(
                law="waiting are counted",
                where=title(queue),
                says=f"status.pendingWorkloads is {counted}",
                but=f"at least {least} and at most {len(pending)} Workloads wait",
            )


def _waiting(state: ClusterState) -> Mapping[Key, list[Manifest]]:
    """Give the Workloads that are active and hold no quota, by the LocalQueue that they name."""
    found: dict[Key, list[Manifest]] = {}
    for workload in state.of("Workload"):
        spec = workload["spec"]
        if is_true(workload, "Finished") or is_true(workload, "QuotaReserved"):
            continue
        if spec.get("active", True):
            queue = key_of(workload)[0], spec.get("queueName", "")
            found.setdefault(queue, []).append(workload)
    return found


_MORE_FIGURES: tuple[Law, ...] = (flavors_are_listed, waiting_are_counted_locally)


def _lacks_workloads(cluster: AuditedCluster, subject: str) -> bool:
    """Whether the input may have some Workloads of a queue only: no dump says that it has all."""
    if cluster.is_complete("Workload"):
        return False
    queue = _queue(cluster, subject)
    known = sum(_holds_in(each, queue) for each in cluster.holders)
    return bool(queue["status"].get("reservingWorkloads", 0) > known)


def _queue(cluster: AuditedCluster, subject: str) -> Manifest:
    kind = subject.partition(" ")[0]
    return next(each for each in cluster.of(kind) if title(each) == subject)


def _holds_in(workload: Manifest, queue: Manifest) -> bool:
    """Whether a Workload that holds quota names a LocalQueue, or holds it in a ClusterQueue."""
    namespace, name = key_of(queue)
    if namespace:
        own = key_of(workload)[0], workload["spec"].get("queueName")
        return own == (namespace, name)
    return bool(workload["status"]["admission"]["clusterQueue"] == name)


def unreserved(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find queued Jobs that are not suspended although no quota is reserved for them."""
    if not cluster.was_read("Workload"):
        return
    for violation in nothing_runs_unreserved(_state(cluster)):
        yield Finding(
            requirement="STATUS-024",
            subject=violation.where,
            field="spec.suspend",
            says=violation.says,
            follows=violation.but,
            cause="it was resumed by hand, or Kueue does not manage it",
            sure=Sure.CERTAIN,
            look=_look(cluster, violation.where),
        )


def _state(cluster: AuditedCluster) -> ClusterState:
    jobs = [job for job in cluster.of("Job") if _is_managed(cluster, job)]
    objects = [*cluster.of("Workload"), *jobs]
    for kind in ("ClusterQueue", "LocalQueue"):
        for queue in cluster.of(kind):
            if queue.get("status"):
                objects.append(queue)
            else:
                cluster.notes.add(_NO_STATUS, title(queue))
    return ClusterState(objects=objects, given=objects)


def _is_managed(cluster: AuditedCluster, job: Manifest) -> bool:
    """Whether Kueue queues a Job itself, and not the work that it is a part of."""
    owners = owners_of(job)
    kinds = {each.get("kind", "") for each in owners if each.get("controller")}
    if not kinds <= _PARENTS_THAT_QUEUE:
        return False
    return cluster.manages(JOBS) and not cluster.objection(job)


def _of_queue(cluster: AuditedCluster, violation: Violation) -> Finding:
    subject, _, where = violation.where.partition(", ")
    ids = _OF_LOCAL_QUEUE if subject.startswith("LocalQueue") else _OF_CLUSTER_QUEUE
    field, _, figure = violation.says.partition(" is ")
    resource = where.rpartition(" ")[2]
    return Finding(
        requirement=ids[violation.law],
        subject=subject,
        field=f"{field}{', ' if where else ''}{where}",
        says=_as_written(cluster, resource, figure),
        follows=_as_written(cluster, resource, violation.but),
        cause=_LATE,
        sure=Sure.LAG,
        look=_look(cluster, subject),
    )


def _as_written(cluster: AuditedCluster, resource: str, text: str) -> str:
    """Give a text that ends in an amount of a resource with the amount as Kueue writes it."""
    before, space, last = text.rpartition(" ")
    if not resource or not last.isdigit():
        return text
    return f"{before}{space}{printed(resource, int(last), cluster.kueue.in_bytes)}"


def _look(cluster: AuditedCluster, subject: str) -> str:
    return shown(_queue(cluster, subject))
