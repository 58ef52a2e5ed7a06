"""Names of mappings, classes, resources and labels with the messages of apimachinery 0.34 (Kueue 0.14 and 0.15).

Kueue 0.15: pkg/config/validation.go (validateDeviceClassMappings); pkg/webhooks/common.go (validateResourceName)
"""

from __future__ import annotations

from kueue_dra_ref.api.names import in_characters, printed, qualified_name_faults
from kueue_dra_ref.model.mapping_path import MappingPath
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError


@rule("MAP-002", "MAP-020")
def name_is_a_qualified_name(place: MappingPath) -> FieldError | None:
    """Kueue rejects a mapping whose name is not a label key, with a message about qualified names.

    Kueue 0.15: pkg/config/validation.go (validateDeviceClassMappings)
    """
    return _invalid(place.name_field, place.mapping.name)


@rule("MAP-007", "MAP-020")
def class_is_a_qualified_name(place: MappingPath) -> FieldError | None:
    """Kueue rejects a device class name that is not a label key, with a message about qualified names.

    Kueue 0.15: pkg/config/validation.go (validateDeviceClassMappings)
    """
    return _invalid(place.class_field, place.device_class)


@rule("OBJECT-049")
def qualified_name_messages(detail: str) -> str:
    """Kueue calls a label key a qualified name in webhook messages and measures its parts in characters.

    Kueue 0.15: pkg/webhooks/common.go (validateResourceName);
        pkg/webhooks/resourceflavor_webhook.go (validateNodeTaints);
        pkg/webhooks/workload_webhook.go (validateTolerations)
    """
    return in_characters(detail.replace("a valid label key", "a qualified name"))


def _invalid(field: str, name: str) -> FieldError | None:
    detail = "; ".join(qualified_name_faults(name))
    return (
        FieldError(
            field=field, type="Invalid value", value=printed(name), detail=detail
        )
        if detail
        else None
    )
