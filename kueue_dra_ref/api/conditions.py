"""Conditions of an object's status: found, told apart and set as Kubernetes' meta helpers do."""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.target import Manifest

Condition = dict[str, Any]

_LONGEST = 32 * 1024
"""Bytes of a condition's message that the API keeps."""


def condition(obj: Manifest, kind: str) -> Condition | None:
    """The condition of a type, or None."""
    found: list[Condition] = (obj.get("status") or {}).get("conditions") or []
    for each in found:
        if each["type"] == kind:
            return each
    return None


def is_true(obj: Manifest, kind: str) -> bool:
    """Whether a condition is there and True."""
    found = condition(obj, kind)
    return found is not None and found["status"] == "True"


def is_false(obj: Manifest, kind: str) -> bool:
    """Whether a condition is there and False."""
    found = condition(obj, kind)
    return found is not None and found["status"] == "False"


def set_condition(
    obj: Manifest, kind: str, value: bool | None, reason: str, message: str, now: str
) -> bool:
    """Set a condition and say whether anything changed; the transition time moves with the status only."""
    status = "Unknown" if value is None else str(value)
    message = message[:_LONGEST]
    found = condition(obj, kind)
    if found is None:
        found = {"type": kind, "lastTransitionTime": now}
        obj.setdefault("status", {}).setdefault("conditions", []).append(found)
    before = (found.get("status"), found.get("reason"), found.get("message"))
    if found.get("status") != status:
        found["lastTransitionTime"] = now
    found.update(status=status, reason=reason, message=message)
    return before != (status, reason, message)


def drop_condition(obj: Manifest, kind: str) -> None:
    """Remove a condition if it is there."""
    status = obj.get("status") or {}
    if "conditions" in status:
        status["conditions"] = [c for c in status["conditions"] if c["type"] != kind]
