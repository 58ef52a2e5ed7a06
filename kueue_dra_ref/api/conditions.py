"""Conditions of an object's status: find, set and remove them as Kubernetes' meta helpers do."""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.target import Manifest

Condition = dict[str, Any]

_LONGEST = 32 * 1024
"""Bytes of a condition's message that the API keeps."""


def condition(obj: Manifest, kind: str) -> Condition | None:
    """Give the condition of a type, or None."""
    status = obj.get("status") or {}
    found: list[Condition] = status.get("conditions") or []
    for each in found:
        if each["type"] == kind:
            return each
    return None


def message_of(obj: Manifest, kind: str) -> str:
    """Give the message of a condition; empty without one."""
    found = condition(obj, kind) or {}
    return str(found.get("message", ""))


def reason_of(obj: Manifest, kind: str) -> str:
    """Give the reason of a condition; empty without one."""
    found = condition(obj, kind) or {}
    return str(found.get("reason", ""))


def is_true(obj: Manifest, kind: str) -> bool:
    """Tell whether a condition exists and is True."""
    found = condition(obj, kind)
    return found is not None and found["status"] == "True"


def is_false(obj: Manifest, kind: str) -> bool:
    """Tell whether a condition exists and is False."""
    found = condition(obj, kind)
    return found is not None and found["status"] == "False"


def set_condition(
    obj: Manifest,
    kind: str,
    value: bool | None,
    reason: str,
    message: str,
    now: str,
) -> bool:
    """Set a condition and tell whether it changed; only a new status moves the transition time."""
    status = "Unknown" if value is None else str(value)
    message = message[:_LONGEST]
    found = condition(obj, kind)
    if found is None:
        found = {"type": kind, "lastTransitionTime": now}
        kept = obj.setdefault("status", {})
        kept.setdefault("conditions", []).append(found)
    before = dict(found)
    if before.get("status") != status:
        found["lastTransitionTime"] = now
    found["status"] = status
    found["reason"] = reason
    found["message"] = message
    return before != found


def restore_condition(obj: Manifest, kind: str, before: Manifest) -> None:
    """Replace a condition by the one that an earlier version had, if it had one."""
    drop_condition(obj, kind)
    if found := condition(before, kind):
        obj["status"]["conditions"].append(found)


def drop_condition(obj: Manifest, kind: str) -> None:
    """Remove a condition if it exists."""
    status = obj.get("status") or {}
    if "conditions" not in status:
        return
    status["conditions"] = [
        each for each in status["conditions"] if each["type"] != kind
    ]
