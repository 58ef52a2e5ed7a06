"""The verdict on a workload: one pure function reads it from the status, which any target may have written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from kueue_dra_ref.api.admission_checks import READY, check_states
from kueue_dra_ref.api.conditions import condition, is_true
from kueue_dra_ref.api.pods import printed, units
from kueue_dra_ref.api.quantities import Format, parse
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.target import Manifest


class Reason(StrEnum):
    """Why a workload is pending or inadmissible, in the terms of the texts."""

    NO_QUOTA = "not enough quota is left"
    NEVER_FITS = "the request exceeds the maximum capacity"
    OUTRUN = "another workload of the same cycle uses the quota or preempts for it"
    NOT_COVERED = "the ClusterQueue does not cover the resource"
    NO_FLAVOR = "no flavor matches the pods"
    NO_ROOM = "no nodes of the topology have room for the pods"
    PODS_NOT_READY = "the pods of all workloads with quota have to be ready first"
    CHECK_FAILED = "an admission check says Retry or Rejected"
    NAMESPACE = "the ClusterQueue does not select the namespace"
    OVER_ITS_LIMIT = "a container requests more than its limit"
    LIMIT_RANGE = "a LimitRange of the namespace forbids it"
    QUEUE_STOPPED = "the queue is stopped or inactive"
    QUEUE_MISSING = "the queue does not exist"
    DIRECT_CLAIM = "the pod names a ResourceClaim directly"
    NO_TEMPLATE = "the ResourceClaimTemplate does not exist"
    NO_CLAIM = "the ResourceClaim does not exist"
    FIRST_AVAILABLE = "firstAvailable is not supported"
    ALTERNATIVES = "the subrequests of firstAvailable have different charges"
    LIST_ALONE = "firstAvailable excludes other requests of the workload"
    MODE_ALL = "allocation mode All is not supported"
    CONSTRAINTS = "device constraints are not supported"
    DEVICE_CONFIG = "device configuration is not supported"
    SELECTORS = "CEL selectors are not supported"
    ADMIN_ACCESS = "adminAccess is not supported"
    BAD_SELECTOR = "a selector does not compile"
    SELECTOR_ERROR = "a selector fails to evaluate on a device"
    TOO_FEW_DEVICES = "too few published devices match"
    NO_CLASS = "the DeviceClass does not exist"
    NO_COUNTER = "no matching device consumes the counter"
    NO_CAPACITY = "no matching device has the capacity"
    BAD_SHARE = "no matching device can provide the requested capacity"
    UNMAPPED = "no mapping lists the device class"
    NOT_WHOLE = "a container requests a fraction of a device"
    TOO_MANY = "the pod requests more devices than 64 bits can hold"
    NOT_BY_NAME = "the class of an extended resource has counters or capacities"
    GATE_OFF = "device integration is off"
    GATED = "another controller has to open its admission gates"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Admitted:
    """Quota is reserved and the workload may run; ``usage`` is the total of all pod sets, as printed.

    How an amount is printed makes no difference between two of them: 1Gi is 1073741824.
    """

    usage: Mapping[str, str]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Admitted) and _amounts(self.usage) == _amounts(
            other.usage
        )

    def __hash__(self) -> int:
        return hash(tuple(sorted(_amounts(self.usage).items())))


def _amounts(usage: Mapping[str, str]) -> Mapping[str, Fraction]:
    return {name: parse(amount).amount for name, amount in usage.items()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reserved:
    """Quota is reserved, and the workload waits for admission checks, which are named."""

    usage: Mapping[str, str]
    checks: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Reserved)
            and self.checks == other.checks
            and _amounts(self.usage) == _amounts(other.usage)
        )

    def __hash__(self) -> int:
        return hash((self.checks, tuple(sorted(_amounts(self.usage).items()))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """The workload is pending in its queue."""

    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """The scheduler has not evaluated the workload: it is behind another one, or skipped with an equal one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inadmissible:
    """Kueue cannot admit the workload as it is."""

    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Evicted:
    """The workload has lost its quota; ``reason`` is that of the condition."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The workload has finished; ``reason`` is that of the condition."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """The reference cannot decide; ``why`` says what it cannot evaluate."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Unrecognised:
    """A status that no pattern below matches; it equals nothing, not even itself."""

    conditions: tuple[str, ...]


Verdict = (
    Admitted
    | Reserved
    | Pending
    | Unseen
    | Inadmissible
    | Evicted
    | Finished
    | Undecided
    | Unrecognised
)

_PENDING = {
    Reason.NEVER_FITS: r"insufficient quota for \S+ in flavor",
    Reason.NO_QUOTA: r"insufficient unused quota for \S+ in flavor",
    Reason.NOT_COVERED: r"resource \S+ unavailable in ClusterQueue",
    Reason.NO_ROOM: r"topology \S+ (doesn't allow to fit|allows to fit only)|topology domains at level",
    Reason.NO_FLAVOR: r"untolerated taint|doesn't match node affinity|flavor \S+ not found|^failed to assign flavors"
    r"|TopologyAwareScheduling|contain the requested level",
    Reason.OUTRUN: r"^Workload (no longer fits after|has overlapping preemption targets)",
    Reason.PODS_NOT_READY: r"^waiting for all admitted workloads to be in PodsReady condition$",
    Reason.CHECK_FAILED: r"^The workload has failed admission checks$",
    Reason.NAMESPACE: r"namespace doesn't match ClusterQueue selector",
    Reason.OVER_ITS_LIMIT: r"^resources validation failed: ",
    Reason.LIMIT_RANGE: r"^resources didn't satisfy LimitRange constraints: ",
}
_MISCONFIGURED = {
    key: _PENDING[key]
    for key in (Reason.NAMESPACE, Reason.OVER_ITS_LIMIT, Reason.LIMIT_RANGE)
}
"""Results of the scheduler whose reason is Misconfigured with UnadmittedWorkloadsObservability."""
_NOT_EVALUATED = r"^(Bypassed scheduling evaluation|Workload is pending evaluation|AdmissionGatedBy cleared,) "
"""The messages of a workload that the scheduler has not evaluated, most with UnadmittedWorkloadsObservability."""
_OBSERVED = (
    "NoMatchingFlavor",
    "ExceedsMaxQuota",
    "WaitingForQuota",
    "WaitingForPreemptedWorkloads",
    "TopologyPlacementFailed",
)
_BLOCKED = ("Waiting", "WaitingForPodsReady")
"""The reasons while the scheduler waits for the pods of admitted workloads."""
_SCHEDULED = frozenset({"Pending", "PendingEvaluation", *_OBSERVED, *_BLOCKED})
_INADMISSIBLE_REASONS = frozenset(
    {
        "AdmissionGated",
        "DRAResourcesUnresolved",
        "Inadmissible",
        "Misconfigured",
        "Suspended",
    }
)
_STOPPED = {Reason.QUEUE_STOPPED: r"^ClusterQueue \S+ is inactive$"}
"""The message of the scheduler for a ClusterQueue below a cycle of cohorts."""
_INADMISSIBLE = {
    Reason.QUEUE_MISSING: r"^(Local|Cluster)Queue \S* doesn't exist$",
    Reason.QUEUE_STOPPED: r"^(Local|Cluster)Queue \S+ is (inactive|stopped)$",
    Reason.GATED: r"^Admission is gated by: ",
    Reason.DIRECT_CLAIM: r"does not support use of resource claims",
    Reason.GATE_OFF: r"feature gate is not enabled",
    Reason.NO_TEMPLATE: r"failed to get claim spec for ResourceClaimTemplate",
    Reason.NO_CLAIM: r"failed to get claim spec for ResourceClaim \S",
    Reason.FIRST_AVAILABLE: r"FirstAvailable device selection is not supported",
    Reason.ADMIN_ACCESS: r"AdminAccess is not supported",
    Reason.MODE_ALL: r"AllocationMode 'All' is not supported",
    Reason.CONSTRAINTS: r"device constraints \(MatchAttribute\) are not supported",
    Reason.DEVICE_CONFIG: r"device config is not supported",
    Reason.SELECTORS: r"CEL selectors are not supported",
    Reason.BAD_SELECTOR: r"CEL compilation failed|has invalid CEL selector",
    Reason.SELECTOR_ERROR: r"CEL evaluation (failed|error)",
    Reason.TOO_FEW_DEVICES: r"insufficient matching devices",
    Reason.NO_CLASS: r"failed to get DeviceClass",
    Reason.NO_COUNTER: r"have no consumesCounters entry",
    Reason.NO_CAPACITY: r"have no capacity dimension",
    Reason.BAD_SHARE: r"cannot be satisfied by any matched device's RequestPolicy",
    Reason.UNMAPPED: r"is not mapped in DRA configuration|deviceClassName: Not found",
    Reason.LIST_ALONE: r"in a workload with firstAvailable|\.firstAvailable: Invalid value: null",
    Reason.ALTERNATIVES: r"\.firstAvailable\[\d+\]\.",
    Reason.NOT_WHOLE: r"extended resource quantity must be an integer",
    Reason.TOO_MANY: r"total extended resource quantity overflows int64",
    Reason.NOT_BY_NAME: r"extended resource \S+ resolves to DeviceClass",
}
"""Messages of Kueue 0.19, the first match decides; by default its conditions carry one reason for all of them."""


def verdict(workload: Manifest) -> Verdict:
    """Read the verdict from a Workload's status."""
    reserved = condition(workload, "QuotaReserved")
    if found := _ended(workload):
        return found
    if reserved is None:
        return Unseen()
    match reserved["status"], reserved["reason"]:
        case "True", _ if is_true(workload, "Admitted"):
            return Admitted(usage=usage(workload))
        case "True", _ if waiting := _unready(workload):
            return Reserved(usage=usage(workload), checks=waiting)
        case "Unknown", "Undecided":
            return Undecided(why=reserved["message"])
        case "False", reason:
            return _unreserved(reason, reserved["message"]) or _unrecognised(workload)
    return _unrecognised(workload)


def _unreserved(reason: str, message: str) -> Verdict | None:
    """Read the verdict on a workload without quota from reason and message; the message alone is not enough."""
    if reason in _SCHEDULED and re.search(_NOT_EVALUATED, message):
        return Unseen()
    if reason in _SCHEDULED:
        return _read(_PENDING | _STOPPED, message, Pending)
    if reason == "Misconfigured" and (found := _read(_MISCONFIGURED, message, Pending)):
        return found
    return (
        _read(_INADMISSIBLE, message, Inadmissible)
        if reason in _INADMISSIBLE_REASONS
        else None
    )


def _unready(workload: Manifest) -> tuple[str, ...]:
    """Name the admission checks of a workload that are not Ready."""
    states = check_states(workload)
    return tuple(each["name"] for each in states if each["state"] != READY)


def usage(workload: Manifest) -> Mapping[str, str]:
    """Give the usage of an admitted workload by resource, all pod sets together, as Kueue prints amounts."""
    total: dict[str, int] = {}
    in_bytes: set[str] = set()
    for pod_set in workload["status"]["admission"]["podSetAssignments"]:
        for name, amount in (pod_set.get("resourceUsage") or {}).items():
            total[name] = total.get(name, 0) + units(name, parse(amount))
            in_bytes |= {name} if parse(amount).format is Format.BINARY else set()
    return {
        name: printed(name, amount, frozenset(in_bytes))
        for name, amount in sorted(total.items())
    }


def _ended(workload: Manifest) -> Verdict | None:
    finished, evicted = condition(workload, "Finished"), condition(workload, "Evicted")
    if finished and finished["status"] == "True":
        return Finished(reason=finished["reason"])
    out = (
        evicted is not None
        and evicted["status"] == "True"
        and not is_true(workload, "QuotaReserved")
    )
    if (
        evicted
        and out
        and not is_true(workload, "Requeued")
        and not _is_pending_again(workload)
    ):
        return Evicted(reason=evicted["reason"])
    return None


def _is_pending_again(workload: Manifest) -> bool:
    """Whether the scheduler has evaluated an evicted workload again; device workloads lose their Requeued condition."""
    reserved = condition(workload, "QuotaReserved")
    return (
        is_active(workload)
        and reserved is not None
        and _read(_PENDING, reserved["message"], Pending) is not None
    )


def _read(table: Mapping[Reason, str], message: str, kind: Any) -> Verdict | None:
    found = next(
        (reason for reason, pattern in table.items() if re.search(pattern, message)),
        None,
    )
    verdict_: Verdict | None = kind(reason=found) if found else None
    return verdict_


def _unrecognised(workload: Manifest) -> Unrecognised:
    conditions = (workload.get("status") or {}).get("conditions") or ()
    return Unrecognised(
        conditions=tuple(
            f"{c['type']}={c['status']} {c['reason']}: {c['message']}"
            for c in conditions
        )
    )
