"""Where two observations of one step differ: reasons exactly, quantities by value, messages without UIDs and hashes.

An object inside a message counts by its fields, in whatever order: a webhook prints them in that of Go's structs.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.quantities import BadQuantity, parse

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NAME_OF_A_JOBS_WORKLOAD = re.compile(r"\b(job-[a-z0-9.-]+)-[0-9a-f]{5}\b")
"""Ends in a hash of the Job's UID; Kueue 0.14 names Workloads in what it tells of their devices."""

_ENGINE_WORDS = re.compile(
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
        return f"{self.path}: ours {json.dumps(self.ours)}, recorded {json.dumps(self.recorded)}"


def difference(ours: Any, theirs: Any, path: str = "") -> Difference | None:
    """The first place in which two observations differ, keys in alphabetical order."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            if found := difference(
                ours.get(key), theirs.get(key), f"{path}.{key}" if path else key
            ):
                return found
        return None
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return next(
            (d for i, (a, b) in pairs if (d := difference(a, b, f"{path}[{i}]"))), None
        )
    if ours == theirs or _alike(ours, theirs, path):
        return None
    return Difference(
        path=path or "(the whole observation)", ours=ours, recorded=theirs
    )


def _alike(ours: Any, theirs: Any, path: str) -> bool:
    if not isinstance(ours, str) or not isinstance(theirs, str):
        return False
    if path.endswith(".message"):
        return _told(ours) == _told(theirs)
    try:
        return parse(ours).amount == parse(theirs).amount
    except BadQuantity:
        return False


def _told(message: str) -> str:
    named = _NAME_OF_A_JOBS_WORKLOAD.sub(r"\1-UID", _UID.sub("UID", message))
    return _ENGINE_WORDS.sub(r"\1", _in_order(named))


def _in_order(message: str) -> str:
    """Bring the fields of each object in a message into one order, without those that say nothing."""
    before, opening, rest = message.partition('{"')
    try:
        found, end = json.JSONDecoder().raw_decode(opening + rest)
    except json.JSONDecodeError:
        return message
    printed = json.dumps(_saying(found), sort_keys=True)
    return f"{before}{printed}{_in_order((opening + rest)[end:])}"


def _saying(value: Any) -> Any:
    if isinstance(value, list):
        return [_saying(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: said
        for key, each in value.items()
        if (said := _saying(each)) not in ({}, None)
    }
