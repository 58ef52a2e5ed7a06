"""Reads the errors of a Configuration from Kueue's start-up log (Kueue 0.14 to 0.19)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kueue_dra_ref.target import FieldError

TAKEN = "Initializing"
"""Kueue's first log message after decoding, feature gates and validation."""

UNREADABLE = "Unable to load the configuration"
REFUSED = frozenset(
    {
        UNREADABLE,
        "conflicting feature gates detected",
        "Unable to set flag gates for known features",  # up to 0.16
        "Unable to validate the configuration",
    }
)

VALUELESS = frozenset({"Required value", "Forbidden", "Too long", "Internal error"})
"""The types after which Kubernetes prints no value."""

TYPES = VALUELESS | {
    "Duplicate value",
    "Invalid value",
    "Not found",
    "Too few",
    "Too many",
    "Unsupported value",
}
UNKNOWN_FIELD = "Unknown field"
WRONG_TYPE = "Wrong type"
NOT_DECODED = "Not decoded"

_TYPED = re.compile(
    rf"^(?P<field>.*?): (?P<type>{'|'.join(sorted(TYPES))})(?:: (?P<rest>.*))?$",
    re.DOTALL,
)
_UNKNOWN = re.compile(r'^unknown field "(?P<field>.*)"$', re.DOTALL)
_MISMATCH = re.compile(
    r"^json: cannot unmarshal .+ into Go struct field \w+\.(?P<field>\S+) of type .+$",
    re.DOTALL,
)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def verdict(log: str) -> Sequence[FieldError] | None:
    """Read the errors from a log, none if Kueue accepts the Configuration; None if the log shows neither."""
    for line in _entries(log):
        if line.get("msg") == TAKEN:
            return ()
        if line.get("msg") in REFUSED:
            return tuple(_fault(cause) for cause in _causes(line))
    return None


def _entries(log: str) -> Iterator[Mapping[str, Any]]:
    """Read the lines of a structured log, without others (a partly written line, a crash)."""
    for line in log.split("\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry


def _causes(entry: Mapping[str, Any]) -> Iterable[str]:
    """List an error's causes in order.

    The log carries the members of an aggregate one by one, so that its text, where a value or a detail may hold
    ``, `` itself, need not be taken apart.
    """
    causes = entry.get("errorCauses") or [entry]
    return [str(cause["error"]) for cause in causes]


def _fault(text: str) -> FieldError:
    """Parse one error."""
    if found := _UNKNOWN.match(text):
        return FieldError(field=found["field"], type=UNKNOWN_FIELD)
    if found := _MISMATCH.match(text):
        return FieldError(field=found["field"], type=WRONG_TYPE, detail=text)
    if not (found := _TYPED.match(text)):
        return FieldError(field="", type=NOT_DECODED, detail=text)
    rest = found["rest"] or ""
    if found["type"] in VALUELESS:
        return FieldError(field=found["field"], type=found["type"], detail=rest)
    value, detail = _value_and_detail(rest)
    return FieldError(
        field=found["field"], type=found["type"], value=value, detail=detail
    )


def _value_and_detail(rest: str) -> tuple[str, str]:
    """Separate a printed value (a quoted string, JSON, or a bare word) from the detail after it."""
    end = _end_of_value(rest)
    return rest[:end], rest[end:].removeprefix(": ")


def _end_of_value(rest: str) -> int:
    """Find where the value ends."""
    if quoted := _QUOTED.match(rest):
        return quoted.end()
    if rest.startswith(("{", "[")):
        try:
            return json.JSONDecoder().raw_decode(rest)[1]
        except ValueError:
            pass  # printed by Go, not JSON
    return rest.find(": ") if ": " in rest else len(rest)
