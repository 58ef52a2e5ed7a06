"""Pending Workloads: whether reason and message follow, from requests, quota, Configuration and release.

A message may be of an earlier moment, since Kueue evaluates a pending workload again only after some changes.  So a
message that another usage explains is no finding; one that nothing of now explains is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from kueue_dra_audit.causes import changed_since
from kueue_dra_audit.cluster import AuditedCluster, explain, key_of, title
from kueue_dra_audit.finding import Finding, Sure
from kueue_dra_ref.api.conditions import condition, is_true
from kueue_dra_ref.api.pods import printed, units
from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.dra.preprocess import preprocess_dra_resources
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.target import Manifest, NotQuiescent
from kueue_dra_ref.verdict import (
    Admitted,
    Inadmissible,
    Pending,
    Reason,
    Undecided,
    Unrecognised,
    Verdict,
    verdict,
)
from kueue_dra_ref.workload.total_requests import implicit_requests, total_requests

UNSETTLED = (
    "not checked: reasons of pending Workloads, as the reference does not settle here"
)
EARLIER = (
    "reasons of an earlier moment, which is no fault: "
    "Kueue evaluates a pending Workload again only after some changes"
)
STARVED = (
    "pending Workloads that Kueue would admit if it evaluated them again, "
    "as after a restart"
)
UNDECIDED = (
    "not checked: reasons that depend on selectors that the built-in engine leaves undecided; "
    "--cel kubernetes decides them"
)
MORE = (
    "not checked: reasons of evicted Workloads, "
    "and of those with admission checks or a topology"
)
_LACKS = re.compile(
    r"insufficient unused quota for (\S+) in flavor (\S+), (\S+) more needed"
)
_ASKS = re.compile(
    r"insufficient quota for (\S+) in flavor (\S+), previously considered podsets requests \(\S+\) "
    r"\+ current podset request \((\S+)\)"
)
_CONFIGURED = frozenset({Reason.GATE_OFF, Reason.UNMAPPED})
"""Reasons that follow from the Configuration; Kueue evaluates them again when it starts."""
_OTHER_CONFIGURATION = (
    "Kueue runs with another Configuration than this one, or has not restarted with it"
)
_EDITED = "the status was changed by hand"
_UNKNOWN = "the status was changed by hand, or the reference does not know this message of Kueue"
_REASONS = frozenset(
    {
        "Pending",
        "PendingEvaluation",
        "Inadmissible",
        "Misconfigured",
        "Suspended",
        "DRAResourcesUnresolved",
        "NoMatchingFlavor",
        "ExceedsMaxQuota",
        "WaitingForQuota",
        "WaitingForPreemptedWorkloads",
        "Waiting",
        "WaitingForPodsReady",
    }
)
"""The reasons of pending Workloads in the releases."""
_BY_USAGE = frozenset({"NoMatchingFlavor", "ExceedsMaxQuota", "WaitingForQuota"})
"""Reasons of the flavor search: which flavors it tries, and so which reason it gives, depends on the usage."""
_NOT_ASKED = "the status was changed by hand, or Kueue evaluated it with another mapping or template"


def pending(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find pending Workloads whose reason or message does not follow; the reference decides, so this comes last."""
    if not cluster.dumped.has_configuration:
        return
    requests = _requests(cluster)
    try:
        cluster.target.settle()
    except NotQuiescent:
        cluster.notes.add(UNSETTLED)
        return
    for workload in cluster.of("Workload"):
        if _is_pending(workload):
            asked = requests.get(key_of(workload))
            yield from _of_workload(cluster, workload, asked)


def _is_pending(workload: Manifest) -> bool:
    if is_true(workload, "Finished") or is_true(workload, "QuotaReserved"):
        return False
    if is_true(workload, "Evicted") and not is_true(workload, "Requeued"):
        return False
    return is_active(workload) and condition(workload, "QuotaReserved") is not None


def _requests(cluster: AuditedCluster) -> Mapping[Key, Mapping[str, int]]:
    """Compute what each pending Workload requests in total; nothing for one that is inadmissible for its devices."""
    found = {}
    for workload in cluster.of("Workload"):
        stored = cluster.kueue.store.get("Workload", key_of(workload))
        if stored is None or not _is_pending(workload):
            continue
        requests = _total(cluster.kueue, stored)
        if requests is not None:
            found[key_of(workload)] = requests
    return found


def _total(kueue: Kueue, stored: Manifest) -> Mapping[str, int] | None:
    """Sum what a Workload requests in its ClusterQueue; None if it depends on the flavor or is refused."""
    read = kueue.informers.workload(stored)
    resources = preprocess_dra_resources(kueue.behaviour, kueue.lister, read)
    if resources.refused or resources.choices:
        return None
    requests = total_requests(
        kueue.behaviour, kueue.configuration, kueue.adjusted(stored), resources, {}
    )
    _, managed = kueue.queue_of(stored)
    queue = kueue.informers.queue(managed.cluster_queue) if managed else None
    total: Counter[str] = Counter()
    for each in requests:
        rules = kueue.behaviour.assigning
        implicit = implicit_requests(rules, queue, each) if queue else {}
        total.update({**each.amounts, **implicit})
    return total


def _of_workload(
    cluster: AuditedCluster, workload: Manifest, asked: Mapping[str, int] | None
) -> Iterator[Finding]:
    derived = cluster.kueue.store.get("Workload", key_of(workload))
    if derived is None or _said(workload) == _said(derived):
        return
    theirs, ours = verdict(workload), verdict(derived)
    if isinstance(ours, Undecided):
        cluster.notes.add(UNDECIDED, title(workload))
    elif isinstance(theirs, Unrecognised):
        yield from _unknown(cluster, workload, derived)
    elif _is_configured(theirs) != _is_configured(ours):
        yield from _configured(cluster, workload, derived)
    elif wrong := _impossible(cluster, workload, asked):
        yield _finding(cluster, workload, wrong, _NOT_ASKED)
    elif _is_same(theirs, ours) and not _may_follow(workload, derived):
        yield _finding(cluster, workload, _shown(derived), _EDITED)
    else:
        remark = STARVED if isinstance(ours, Admitted) else EARLIER
        cluster.notes.add(remark, title(workload))


def _said(workload: Manifest) -> tuple[str, str, str]:
    found = condition(workload, "QuotaReserved") or {}
    return (
        str(found.get("status", "")),
        str(found.get("reason", "")),
        str(found.get("message", "")),
    )


def _shown(workload: Manifest) -> str:
    status, reason, message = _said(workload)
    return f"QuotaReserved={status}, {reason}: {message}" if status else "no condition"


def _is_configured(found: Verdict) -> bool:
    return isinstance(found, Inadmissible) and found.reason in _CONFIGURED


def _is_same(theirs: Verdict, ours: Verdict) -> bool:
    """Whether two verdicts give the same cause, so that the reasons of their conditions are the same too."""
    if not isinstance(theirs, Pending | Inadmissible):
        return False
    return theirs == ours


def _may_follow(workload: Manifest, derived: Manifest) -> bool:
    """Whether the reasons of two conditions with one cause are the same, or depend on the usage of the moment."""
    reasons = {_said(workload)[1], _said(derived)[1]}
    return len(reasons) == 1 or reasons <= _BY_USAGE


def _unknown(
    cluster: AuditedCluster, workload: Manifest, derived: Manifest
) -> Iterator[Finding]:
    """Find a message that Kueue gives no pending Workload, unless something that is not modelled may give it."""
    is_known = _said(workload)[1] in _REASONS
    if not is_known or condition(workload, "Evicted") or _may_differ(cluster, workload):
        cluster.notes.add(MORE, title(workload))
        return
    yield _finding(cluster, workload, _shown(derived), _UNKNOWN)


def _may_differ(cluster: AuditedCluster, workload: Manifest) -> bool:
    """Whether admission checks or a topology may give a Workload a message of their own."""
    status = workload.get("status") or {}
    if status.get("admissionChecks"):
        return True
    for queue in cluster.of("ClusterQueue"):
        spec = queue["spec"]
        if spec.get("admissionChecks") or spec.get("admissionChecksStrategy"):
            return True
    flavors = cluster.of("ResourceFlavor")
    return any(flavor["spec"].get("topologyName") for flavor in flavors)


def _configured(
    cluster: AuditedCluster, workload: Manifest, derived: Manifest
) -> Iterator[Finding]:
    """Find a Workload that is inadmissible for the Configuration on one side only."""
    kueue = cluster.kueue
    stored = kueue.store.get("Workload", key_of(workload)) or workload
    read = kueue.informers.workload(stored)
    for claim in read.claims:
        if claim.template and not kueue.lister.template(read.namespace, claim.template):
            cluster.notes.add(EARLIER, title(workload))
            return
    newer = changed_since(cluster, workload, read)
    sure, cause = newer or (Sure.CERTAIN, _OTHER_CONFIGURATION)
    if isinstance(verdict(derived), Inadmissible) and isinstance(
        verdict(workload), Inadmissible
    ):
        # One of two errors of the same Workload; which comes first may depend on what was there.
        cluster.notes.add(EARLIER, title(workload))
        return
    yield _finding(cluster, workload, _shown(derived), cause, sure)


def _impossible(
    cluster: AuditedCluster, workload: Manifest, asked: Mapping[str, int] | None
) -> str:
    """Say which part of a message no usage explains: more is lacking, or requested, than the Workload asks for."""
    if asked is None:
        return ""
    in_bytes = cluster.kueue.in_bytes
    message = _said(workload)[2]
    for pattern in (_LACKS, _ASKS):
        for resource, _, written in pattern.findall(message):
            most = asked.get(resource, 0)
            if _units(resource, written) > most:
                return f"it requests {printed(resource, most, in_bytes)} {resource} in total"
    return ""


def _units(resource: str, written: str) -> int:
    try:
        return units(resource, parse(written))
    except ValueError:
        return 0


def _finding(
    cluster: AuditedCluster,
    workload: Manifest,
    follows: str,
    cause: str,
    sure: Sure = Sure.CERTAIN,
) -> Finding:
    is_inadmissible = isinstance(verdict(workload), Inadmissible)
    requirement = "STATUS-008" if is_inadmissible else "STATUS-007"
    return Finding(
        requirement=requirement,
        subject=title(workload),
        field="status.conditions[QuotaReserved]",
        says=_shown(workload),
        follows=follows,
        cause=cause,
        sure=sure,
        look=explain(workload),
    )
