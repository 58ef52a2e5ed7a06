"""Compares two observations of one step: reasons exactly, quantities by value, messages without UIDs and hashes.

Objects inside a message compare by their fields in any order: a webhook prints them in the order of a Go struct.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.quantities import BadQuantity, parse
from kueue_dra_ref.scenarios.families import VARIANTS, without_history
from kueue_dra_ref.scenarios.roll_out import DELETED

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NAME_OF_A_JOBS_WORKLOAD = re.compile(
    r"\b([a-z]*(?:job|jobset|pod|set|cluster|service|wrapper|application)"
    r"-[a-z0-9.-]+)-[0-9a-f]{5}\b"
)
"""Ends in a hash of the UID of its work; Kueue 0.14 names Workloads in messages about their devices."""

_NAME_OF_A_VARIANT = re.compile(r"(-variant-[a-z0-9.-]+)-[0-9a-f]{5}\b")
"""Ends in a hash of the UID of its parent."""

_REPLACED = re.compile(
    r"(Replaced to accommodate) a (?:workload \(.*\) due to workload slice aggregation|new workload slice)"
)
"""From 0.19 on, the scheduler or the reconciler of the work finishes a replaced Workload first: that is chance."""

_LATE = frozenset(
    {"checks", "kept", "parents", "places", "pods", "podsReady", "variants"}
)
"""Parts of an observation that earlier recordings do not have."""

_WRITTEN_FIRST = frozenset({"QuotaReserved", "requests"})
"""What one write of the scheduler carries."""

_GONE = {None, DELETED}
"""Which of several pods of a group Kueue lets go when another one takes its place is left to chance."""

_ENGINE_DETAILS = re.compile(
    r"(CEL compilation failed:|has invalid CEL selector:|CEL evaluation failed[^:]*:).*",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first place in which two observations differ."""

    path: str
    ours: Any
    recorded: Any

    def __str__(self) -> str:
        ours = json.dumps(self.ours)
        recorded = json.dumps(self.recorded)
        return f"{self.path}: ours {ours}, recorded {recorded}"


def difference(
    ours: Any,
    theirs: Any,
    path: str = "",
) -> Difference | None:
    """Find the first place in which two observations differ, keys in alphabetical order."""
    if not path:
        ours = _without_lost(ours, theirs)
        ours, theirs = _without_past(ours, theirs)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return _in_objects(ours, theirs, path)
    if _are_lists(ours, theirs):
        return _in_lists(ours, theirs, path)
    if ours == theirs or _is_equivalent(ours, theirs, path):
        return None
    where = path or "(the whole observation)"
    return Difference(path=where, ours=ours, recorded=theirs)


def _without_past(ours: Any, theirs: Any) -> tuple[Any, Any]:
    """Leave out how variants came to be as they are, where both show variants."""
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return ours, theirs
    if VARIANTS not in ours or VARIANTS not in theirs:
        return ours, theirs
    return without_history(ours), without_history(theirs)


def _without_lost(ours: Any, theirs: Any) -> Any:
    """Leave out the first condition, and the requests with it, where the other observation has lost both.

    Kueue writes the admission checks of a new Workload, or PodsReady, while its scheduler writes that condition. If
    that write fails with a conflict, the scheduler repeats it only when it tries the workload again: that is chance.
    On a worker the manager creates the Workload, and its webhook and its own controllers change it at once.
    """
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return ours
    found = _without_lost_of(ours, theirs, _written_at_once(theirs))
    recorded = theirs.get("workers") or {}
    if not recorded or not ours.get("workers"):
        return found
    workers = {}
    for name, part in ours["workers"].items():
        other = recorded.get(name) or {}
        copies = other.get("workloads") or {}
        workers[name] = _without_lost_of(part, other, copies)
    return {**found, "workers": workers}


def _written_at_once(shown: dict[str, Any]) -> Iterator[str]:
    """Name the Workloads that have something that Kueue writes at the same time as the first condition."""
    for each in ("checks", "podsReady"):
        yield from shown.get(each) or ()


def _without_lost_of(
    ours: dict[str, Any], theirs: dict[str, Any], names: Iterable[str]
) -> dict[str, Any]:
    """Leave out what the scheduler writes first to some Workloads of a cluster."""
    before = theirs.get("workloads") or {}
    workloads = dict(ours.get("workloads") or {})
    for name in names:
        shown = before.get(name, {})
        if name in workloads and "QuotaReserved" not in shown:
            lost = _WRITTEN_FIRST - shown.keys()
            found = workloads[name].items()
            workloads[name] = {key: value for key, value in found if key not in lost}
    return {**ours, "workloads": workloads} if workloads else ours


def _in_objects(
    ours: dict[str, Any], theirs: dict[str, Any], path: str
) -> Difference | None:
    keys = {*ours, *theirs}
    if not path and not keys <= ours.keys() & theirs.keys():
        keys -= _LATE
    for key in sorted(keys):
        below = f"{path}.{key}" if path else key
        found = difference(
            ours.get(key),
            theirs.get(key),
            below,
        )
        if found:
            return found
    return None


def _are_lists(ours: Any, theirs: Any) -> bool:
    """Whether both are lists of the same length."""
    if not isinstance(ours, list) or not isinstance(theirs, list):
        return False
    return len(ours) == len(theirs)


def _in_lists(
    ours: list[Any],
    theirs: list[Any],
    path: str,
) -> Difference | None:
    pairs = zip(ours, theirs, strict=True)
    for index, (own, other) in enumerate(pairs):
        found = difference(own, other, f"{path}[{index}]")
        if found:
            return found
    return None


def _is_equivalent(
    ours: Any,
    theirs: Any,
    path: str,
) -> bool:
    if path.startswith("pods.") and ours in _GONE and theirs in _GONE:
        return True
    if path.endswith(".message"):
        return _normalized(ours or "") == _normalized(theirs or "")
    if not isinstance(ours, str) or not isinstance(theirs, str):
        return False
    try:
        own, other = parse(ours), parse(theirs)
        return own.amount == other.amount
    except BadQuantity:
        return False


def _normalized(message: str) -> str:
    """Replace UIDs and hashes in a message, and drop the details of a CEL engine."""
    without_uids = _UID.sub("UID", message)
    without_hashes = _NAME_OF_A_JOBS_WORKLOAD.sub(r"\1-UID", without_uids)
    without_variants = _NAME_OF_A_VARIANT.sub(r"\1-UID", without_hashes)
    without_chance = _REPLACED.sub(r"\1", without_variants)
    return _ENGINE_DETAILS.sub(r"\1", _in_order(without_chance))


def _in_order(message: str) -> str:
    """Sort the fields of each object in a message, and drop its empty fields."""
    before, opening, rest = message.partition('{"')
    text = opening + rest
    try:
        found, end = json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError:
        return message
    kept = _without_empty(found)
    printed = json.dumps(kept, sort_keys=True)
    rest = _in_order(text[end:])
    return f"{before}{printed}{rest}"


def _without_empty(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_empty(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, each in value.items():
        each = _without_empty(each)
        if each not in ({}, None):
            kept[key] = each
    return kept
