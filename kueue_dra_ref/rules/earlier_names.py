"""Kueue 0.15, config validation: names of mappings and classes, in the words of apimachinery 0.34."""

from __future__ import annotations

from kueue_dra_ref.api.names import printed, qualified_name_faults
from kueue_dra_ref.place import Place
from kueue_dra_ref.rule import rule
from kueue_dra_ref.target import FieldError


@rule("MAP-002", "MAP-020")
def name_is_a_qualified_name(place: Place) -> FieldError | None:
    """Refuse a resource name that is no label key, which was called a qualified name."""
    return _invalid(place.name_field, place.mapping.name)


@rule("MAP-007", "MAP-020")
def class_is_a_qualified_name(place: Place) -> FieldError | None:
    """Refuse a class name that is no label key, which was called a qualified name."""
    return _invalid(place.class_field, place.device_class)


def _invalid(field: str, name: str) -> FieldError | None:
    detail = "; ".join(qualified_name_faults(name))
    return FieldError(field=field, type="Invalid value", value=printed(name), detail=detail) if detail else None
