"""All checks of an audit, by name, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kueue_dra_audit.admissions import admissions
from kueue_dra_audit.charges import charges
from kueue_dra_audit.cluster import AuditedCluster
from kueue_dra_audit.figures import figures, unreserved
from kueue_dra_audit.finding import Finding
from kueue_dra_audit.pending import pending
from kueue_dra_audit.quota import quota
from kueue_dra_audit.references import classes, devices, gates
from kueue_dra_audit.retention import retention
from kueue_dra_audit.running import running

Check = Callable[[AuditedCluster], Iterator[Finding]]
CHECKS: Mapping[str, Check] = {
    "the status of each Workload agrees with itself": admissions,
    "the charge of each admitted Workload follows from its templates": charges,
    "the devices of admitted Workloads are charged": gates,
    "no quota is exceeded": quota,
    "no Job runs without quota": unreserved,
    "no pod and no other work runs without quota": running,
    "allocated devices are charged and published": devices,
    "the DeviceClasses of the mapping exist": classes,
    "the figures of queues are the sums of their Workloads": figures,
    "nothing is kept for longer than its retention": retention,
    "the reason of each pending Workload follows": pending,
}
"""The last one lets the reference decide, which changes its objects."""

Findings = Mapping[str, Sequence[Finding]]
"""The findings of each check, by its name."""


def findings(
    cluster: AuditedCluster, progress: Callable[[str], None] = lambda name: None
) -> Findings:
    """Run every check; ``progress`` gets the name of each before it runs."""
    found = {}
    for name, check in CHECKS.items():
        progress(name)
        found[name] = list(check(cluster))
    return found


def confirmed(first: Findings, second: Findings) -> Findings:
    """Give the findings of the second of two moments that the first one had as well."""
    return {
        name: [each for each in found if _is_confirmed(each, first[name])]
        for name, found in second.items()
    }


def _is_confirmed(found: Finding, first: Sequence[Finding]) -> bool:
    return any(each.key == found.key for each in first)
