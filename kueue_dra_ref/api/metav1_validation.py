"""Validation of labels and label selectors, in the words of apimachinery (metav1 validation)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kueue_dra_ref.api.crd_validation import invalid
from kueue_dra_ref.api.names import label_key_faults, label_value_faults, printed
from kueue_dra_ref.target import FieldError, Manifest

_LISTED = ("In", "NotIn")
_UNLISTED = ("Exists", "DoesNotExist")


def key_faults(field: str, key: str) -> Iterator[FieldError]:
    """Report why a key is no label key."""
    shown = printed(key)
    for fault in label_key_faults(key):
        yield invalid(field, fault, shown)


def value_faults(field: str, value: str) -> Iterator[FieldError]:
    """Report why a value is no label value."""
    shown = printed(value)
    for fault in label_value_faults(value):
        yield invalid(field, fault, shown)


def labels_faults(field: str, labels: Mapping[str, str]) -> Iterator[FieldError]:
    """Report the faults of labels; a Go map leaves their order open."""
    for key, value in labels.items():
        yield from key_faults(field, key)
        yield from value_faults(field, value)


def selector_faults(field: str, selector: Manifest) -> Iterator[FieldError]:
    """Report the faults of a label selector."""
    labels = selector.get("matchLabels") or {}
    yield from labels_faults(f"{field}.matchLabels", labels)
    expressions = selector.get("matchExpressions") or ()
    for index, expression in enumerate(expressions):
        path = f"{field}.matchExpressions[{index}]"
        yield from _expression_faults(path, expression)


def _expression_faults(field: str, expression: Manifest) -> Iterator[FieldError]:
    operator = expression.get("operator", "")
    values = expression.get("values") or ()
    yield from _operator_faults(field, operator, bool(values))
    key = expression.get("key", "")
    yield from key_faults(f"{field}.key", key)
    for index, value in enumerate(values):
        path = f"{field}.values[{index}]"
        yield from value_faults(path, value)


def _operator_faults(
    field: str, operator: str, has_values: bool
) -> Iterator[FieldError]:
    if operator in _LISTED and not has_values:
        yield FieldError(
            field=f"{field}.values",
            type="Required value",
            detail="must be specified when `operator` is 'In' or 'NotIn'",
        )
    if operator in _UNLISTED and has_values:
        yield FieldError(
            field=f"{field}.values",
            type="Forbidden",
            detail="may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        )
    known = (*_LISTED, *_UNLISTED)
    if operator not in known:
        yield FieldError(
            field=f"{field}.operator",
            type="Invalid value",
            value=printed(operator),
            detail="not a valid selector operator",
        )
