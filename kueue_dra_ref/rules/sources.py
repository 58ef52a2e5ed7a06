"""Kueue 0.19, sources of a mapping: charging counters or capacity instead of devices, and what may not go together."""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.place import ROOT, Place
from kueue_dra_ref.rule import rule
from kueue_dra_ref.target import FieldError

_ONE = "exactly one source type must be set per entry"


@rule("SOURCE-001")
def a_source_has_a_type(place: Place) -> Iterator[FieldError]:
    """Refuse a source that is neither a counter nor a capacity."""
    for index, source in enumerate(place.mapping.sources):
        if not source.get("counter") and not source.get("capacity"):
            yield FieldError(field=f"{ROOT}[{place.index}].sources[{index}]", type="Required value", detail=_ONE)


@rule("SOURCE-002")
def a_source_has_one_type(place: Place) -> Iterator[FieldError]:
    """Refuse a source that is a counter and a capacity at once."""
    for index, source in enumerate(place.mapping.sources):
        if source.get("counter") and source.get("capacity"):
            field = f"{ROOT}[{place.index}].sources[{index}]"
            yield FieldError(field=field, type="Invalid value", value='"counter+capacity"', detail=_ONE)


@rule("SOURCE-003")
def sources_of_a_mapping_are_of_one_type(place: Place) -> Iterator[FieldError]:
    """Refuse counters beside capacities in one mapping."""
    sources = place.mapping.sources
    if any(each.get("counter") for each in sources) and any(each.get("capacity") for each in sources):
        detail = "cannot mix counter and capacity sources in the same mapping"
        yield FieldError(
            field=f"{ROOT}[{place.index}].sources", type="Invalid value", value=str(len(sources)), detail=detail
        )
