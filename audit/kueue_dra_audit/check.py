"""All checks of an audit, in the order in which they print."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kueue_dra_audit.charges import charges
from kueue_dra_audit.cluster import AuditedCluster
from kueue_dra_audit.figures import figures, unreserved
from kueue_dra_audit.finding import Finding
from kueue_dra_audit.quota import quota
from kueue_dra_audit.references import classes, devices, gates
from kueue_dra_audit.running import running

Check = Callable[[AuditedCluster], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (
    charges,
    gates,
    quota,
    unreserved,
    running,
    devices,
    classes,
    figures,
)


def findings(cluster: AuditedCluster) -> list[Finding]:
    """Run every check."""
    return [found for check in CHECKS for found in check(cluster)]


def confirmed(first: Iterable[Finding], second: Iterable[Finding]) -> list[Finding]:
    """Give the findings of the second of two moments that the first had as well."""
    known = {each.key for each in first}
    return [each for each in second if each.key in known]
