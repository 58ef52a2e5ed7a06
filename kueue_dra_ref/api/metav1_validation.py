"""What is wrong with labels, and with what selects by them, in the words of apimachinery (metav1 validation)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kueue_dra_ref.api.crd_validation import invalid
from kueue_dra_ref.api.names import label_key_faults, label_value_faults, printed
from kueue_dra_ref.target import FieldError, Manifest

_LISTED, _UNLISTED = ("In", "NotIn"), ("Exists", "DoesNotExist")


def key_faults(field: str, key: str) -> Iterator[FieldError]:
    """Say why a key is no label key."""
    yield from (invalid(field, fault, printed(key)) for fault in label_key_faults(key))


def value_faults(field: str, value: str) -> Iterator[FieldError]:
    """Say why a value is no label value."""
    yield from (
        invalid(field, fault, printed(value)) for fault in label_value_faults(value)
    )


def labels_faults(field: str, labels: Mapping[str, str]) -> Iterator[FieldError]:
    """Say what is wrong with labels; which comes first is left to a Go map."""
    for key, value in labels.items():
        yield from key_faults(field, key)
        yield from value_faults(field, value)


def selector_faults(field: str, selector: Manifest) -> Iterator[FieldError]:
    """Say what is wrong with a label selector."""
    yield from labels_faults(f"{field}.matchLabels", selector.get("matchLabels") or {})
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        yield from _expression_faults(f"{field}.matchExpressions[{index}]", expression)


def _expression_faults(field: str, expression: Manifest) -> Iterator[FieldError]:
    operator, values = expression.get("operator", ""), expression.get("values") or ()
    if operator in _LISTED and not values:
        detail = "must be specified when `operator` is 'In' or 'NotIn'"
        yield FieldError(field=f"{field}.values", type="Required value", detail=detail)
    if operator in _UNLISTED and values:
        detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield FieldError(field=f"{field}.values", type="Forbidden", detail=detail)
    if operator not in (*_LISTED, *_UNLISTED):
        yield invalid(
            f"{field}.operator", "not a valid selector operator", printed(operator)
        )
    yield from key_faults(f"{field}.key", expression.get("key", ""))
    for index, value in enumerate(values):
        yield from value_faults(f"{field}.values[{index}]", value)
