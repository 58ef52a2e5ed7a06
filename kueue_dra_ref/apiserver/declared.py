"""What is said last: each error once, with the paths and words of the minor that says it.

Up to 1.32 the paths are those of the flat shape.  From 1.33 to 1.36 they are v1's, whatever version was written.  In
1.37 what the types of the API declare is said by the declarations: after all else, in their words, and with the paths
of the version that was written.
"""

from __future__ import annotations

import re
from dataclasses import replace

from kueue_dra_ref.apiserver.kubernetes import Kubernetes
from kueue_dra_ref.apiserver.schema_claims import is_flat
from kueue_dra_ref.target import FieldError

_REQUEST = r"(devices\.requests\[\d+\])\.exactly\b"
_DEVICE = r"(^spec\.devices\[\d+\])(?!\.name\b|\.basic\b)(?=\.|$)"
_UNSET = "must specify one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
_SIZED = r"(requests|constraints|config|selectors|firstAvailable|\w+Conditions|consumesCounters|sharedCounters)$"
_UNIQUE = r"(requests|firstAvailable|consumesCounters|sharedCounters)\[\d+\]$"
_NAMES = r"(firstAvailable\[\d+\]\.deviceClassName|sharedCounters\[\d+\]\.(name|counters)|counterSet|\.counters)$"
_WORDS = (
    r"(matchAttribute|distinctAttribute|opaque\.driver|allocationMode|\.operator|tolerations\[\d+\]\.key|\.effect)$"
)
_DECLARED = (
    (_SIZED, "Too many"),
    (_UNIQUE, "Duplicate value"),
    (f"{_NAMES}|{_WORDS}", "Required value|Invalid value|Unsupported value"),
    (r"attributes\[[^]]*\]$", "Invalid value"),
    (r"^spec$", "Invalid value"),
    (r"^metadata\.name$", "Invalid value"),
)


def said(errors: list[FieldError], version: str, k: Kubernetes) -> tuple[FieldError, ...]:
    """Order, word and place errors as a minor does, and tell each once."""
    if k.is_declarative:
        plain = [error for error in errors if not _is_declared(error)]
        declared = [_reworded(error) for error in errors if _is_declared(error)]
        errors = [*plain, *([_flat(each) for each in declared] if is_flat(version) else declared)]
    elif k.has_flat_paths:
        errors = [_flat(each) for each in errors]
    return tuple(dict.fromkeys(errors))


def _flat(error: FieldError) -> FieldError:
    path = re.sub(_DEVICE, r"\1.basic", re.sub(_REQUEST, r"\1", error.field))
    return replace(error, field=path)


def _is_declared(error: FieldError) -> bool:
    if error.field == "spec":
        return error.detail == "field is immutable"
    return any(re.search(path, error.field) and re.fullmatch(kinds, error.type) for path, kinds in _DECLARED)


def _reworded(error: FieldError) -> FieldError:
    """Say an error in the words of its declaration, where they differ."""
    if error.detail == "exactly one value must be specified" and error.value == '""':
        return replace(error, detail=_UNSET)
    if error.field == "spec":
        return replace(error, value="null")
    return error
