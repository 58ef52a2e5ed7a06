"""Field errors, built as Kubernetes builds them: the path, the kind of fault, the value as Go prints it, the detail.

Kubernetes: k8s.io/apimachinery/pkg/util/validation/field/errors.go (Error, ErrorBody)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kueue_dra_ref.api.names import printed
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.target import FieldError

Errors = Iterator[FieldError]


def required(path: str, detail: str = "") -> FieldError:
    """Say that a field is missing."""
    return FieldError(field=path, type="Required value", detail=detail)


def invalid(path: str, value: Any, detail: str) -> FieldError:
    """Say that a value is not what it must be."""
    return FieldError(
        field=path, type="Invalid value", value=shown(value), detail=detail
    )


def invalid_word(path: str, value: str, detail: str) -> FieldError:
    """Say that a text of a type of its own, which is printed as JSON, is not what it must be."""
    return invalid_as(path, printed(value), detail)


def invalid_as(path: str, value: str, detail: str) -> FieldError:
    """Say that a value, already printed, is not what it must be."""
    return FieldError(field=path, type="Invalid value", value=value, detail=detail)


def forbidden(path: str, detail: str) -> FieldError:
    """Say that a value is not allowed under the circumstances."""
    return FieldError(field=path, type="Forbidden", detail=detail)


def not_found(path: str, value: str, detail: str = "") -> FieldError:
    """Say that what a field names does not exist."""
    return FieldError(field=path, type="Not found", value=shown(value), detail=detail)


def duplicate(path: str, value: str) -> FieldError:
    """Say that a value is there twice."""
    return FieldError(field=path, type="Duplicate value", value=shown(value))


def unsupported(path: str, value: str, *supported: str) -> FieldError:
    """Say that a value is none of those that there are."""
    detail = f"supported values: {', '.join(map(shown, supported))}"
    return FieldError(
        field=path, type="Unsupported value", value=printed(value), detail=detail
    )


def too_long(path: str, limit: int, k: Kubernetes) -> FieldError:
    """Say that a text has more bytes than it may."""
    return FieldError(field=path, type="Too long", detail=k.too_long.format(limit))


def too_many(path: str, count: int, limit: int, k: Kubernetes) -> FieldError:
    """Say that a list is longer than it may be."""
    if k.minor == 31:
        return too_long(path, limit, k)
    return FieldError(
        field=path,
        type="Too many",
        value=str(count),
        detail=f"must have at most {limit} item{'s' * (limit != 1)}",
    )


def shown(value: Any) -> str:
    """Print a value: a text in quotes as it is, everything else as Go's JSON."""
    return (
        json.dumps(value, ensure_ascii=False)
        if isinstance(value, str)
        else printed(value)
    )


def listed(
    items: list[Any] | None,
    path: str,
    k: Kubernetes,
    check: Callable[[Any, str], Iterable[FieldError]],
    *,
    at_most: int | None = None,
) -> Errors:
    """Check the length of a list and each item; the length first, since it ends the matter."""
    items = items or []
    excess = (
        [too_many(path, len(items), at_most, k)]
        if at_most is not None and len(items) > at_most
        else []
    )
    if k.stops_at_sizes and excess:
        yield from excess
        return
    for index, item in enumerate(items):
        yield from check(item, f"{path}[{index}]")
    yield from excess


def listed_once(
    items: list[Any] | None,
    path: str,
    k: Kubernetes,
    check: Callable[[Any, str], Iterable[FieldError]],
    key: Callable[[Any], str],
    *,
    named: str = "",
    at_most: int | None = None,
) -> Errors:
    """Check a list as `listed` does, and that no key (of the field ``named``) is there twice."""
    yield from listed(items, path, k, check, at_most=at_most)
    if at_most is None or not k.stops_at_sizes or len(items or []) <= at_most:
        yield from _repeated(
            items or [], path, key, named if k.names_duplicates else ""
        )


def _repeated(
    items: list[Any], path: str, key: Callable[[Any], str], named: str
) -> Errors:
    seen: set[str] = set()
    for index, item in enumerate(items):
        if key(item) in seen:
            yield duplicate(f"{path}[{index}]{named and '.' + named}", key(item))
        seen.add(key(item))
