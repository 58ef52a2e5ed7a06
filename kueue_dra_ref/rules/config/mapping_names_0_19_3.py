"""Names in the Configuration that Kueue rejects from 0.18.7 and 0.19.3 on, and accepts before (provisional).

No counterpart: in the change notes of Kueue 0.19.3, in no pinned release.
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.names import printed
from kueue_dra_ref.apiserver.fielderrors import invalid
from kueue_dra_ref.model.mapping_path import MappingPath
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError


@rule("MAP-021")
def name_is_not_pods(place: MappingPath) -> FieldError | None:
    """Kueue rejects a mapping named pods, the resource under which Kueue itself counts pods.

    No counterpart: in the change notes of Kueue 0.19.3, in no pinned release.
    """
    if place.mapping.name != "pods":
        return None
    detail = "pods is counted by Kueue itself"
    return FieldError(
        field=place.name_field,
        type="Invalid value",
        value=printed("pods"),
        detail=detail,
    )


@rule("SOURCE-017")
def capacity_name_has_at_most_one_slash(place: MappingPath) -> Iterator[FieldError]:
    """Kueue rejects a capacity source whose name has more than one slash.

    No counterpart: in the change notes of Kueue 0.19.3, in no pinned release.
    """
    name = str((place.source.get("capacity") or {}).get("name") or "")
    if name.count("/") > 1:
        yield invalid(
            f"{place.source_field}.capacity.name", name, "must have one slash at most"
        )
