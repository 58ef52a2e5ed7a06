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
    """Make the error of a missing field."""
    return FieldError(field=path, type="Required value", detail=detail)


def invalid(path: str, value: Any, detail: str) -> FieldError:
    """Make the error of an invalid value."""
    return invalid_as(path, shown(value), detail)


def invalid_word(path: str, value: str, detail: str) -> FieldError:
    """Make the error of an invalid text of a type of its own, which is printed as JSON."""
    return invalid_as(path, printed(value), detail)


def invalid_as(path: str, value: str, detail: str) -> FieldError:
    """Make the error of an invalid value that is printed already."""
    return FieldError(
        field=path,
        type="Invalid value",
        value=value,
        detail=detail,
    )


def forbidden(path: str, detail: str) -> FieldError:
    """Make the error of a value that is not allowed under the circumstances."""
    return FieldError(field=path, type="Forbidden", detail=detail)


def not_found(path: str, value: str, detail: str = "") -> FieldError:
    """Make the error of a field that names something that does not exist."""
    return FieldError(
        field=path,
        type="Not found",
        value=shown(value),
        detail=detail,
    )


def duplicate(path: str, value: str) -> FieldError:
    """Make the error of a value that is there twice."""
    return FieldError(field=path, type="Duplicate value", value=shown(value))


def unsupported(path: str, value: str, *supported: str) -> FieldError:
    """Make the error of a value outside an enumeration."""
    listed_values = ", ".join(map(shown, supported))
    return FieldError(
        field=path,
        type="Unsupported value",
        value=printed(value),
        detail=f"supported values: {listed_values}",
    )


def too_long(path: str, limit: int, k: Kubernetes) -> FieldError:
    """Make the error of a text with too many bytes."""
    return FieldError(field=path, type="Too long", detail=k.too_long.format(limit))


def too_many(path: str, count: int, limit: int, k: Kubernetes) -> FieldError:
    """Make the error of a list with too many items."""
    if k.minor == 31:
        return too_long(path, limit, k)
    return FieldError(
        field=path,
        type="Too many",
        value=str(count),
        detail=f"must have at most {limit} items",
    )


def shown(value: Any) -> str:
    """Print a value: a text in quotes as it is, everything else as Go's JSON."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return printed(value)


def listed(
    items: list[Any] | None,
    path: str,
    k: Kubernetes,
    check: Callable[[Any, str], Iterable[FieldError]],
    *,
    at_most: int | None = None,
) -> Errors:
    """Check the length of a list and each item; older minors stop at a list that is too long."""
    items = items or []
    count = len(items)
    is_too_long = at_most is not None and count > at_most
    if not is_too_long or not k.stops_at_sizes:
        for index, item in enumerate(items):
            yield from check(item, f"{path}[{index}]")
    if at_most is not None and is_too_long:
        yield too_many(path, count, at_most, k)


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
    items = items or []
    yield from listed(items, path, k, check, at_most=at_most)
    if at_most is not None and len(items) > at_most and k.stops_at_sizes:
        return
    ending = f".{named}" if named and k.names_duplicates else ""
    yield from _repeated(items, path, key, ending)


def _repeated(
    items: list[Any],
    path: str,
    key: Callable[[Any], str],
    ending: str,
) -> Errors:
    seen: set[str] = set()
    for index, item in enumerate(items):
        found = key(item)
        if found in seen:
            yield duplicate(f"{path}[{index}]{ending}", found)
        seen.add(found)
