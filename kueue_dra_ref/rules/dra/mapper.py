"""The resource that a device class is charged to (Workload Processing Flow, step 4).

Kueue: pkg/dra/mapper.go (PopulateFromConfiguration, Lookup)
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.model.device_checks import MappingLookup
from kueue_dra_ref.model.rule import rule


@rule("CLASS-001", "CFG-001", "CFG-009", "CFG-010")
def mappings_from_configuration(lookup: MappingLookup) -> Sequence[DeviceClassMapping]:
    """Kueue reads the device class mappings from its Configuration.

    Kueue: pkg/dra/mapper.go (PopulateFromConfiguration)
    """
    return lookup.lister.configured()


@rule("CLASS-001", "CLASS-003", "CLASS-004", "CFG-001", "MAP-014", "MAP-015", "MAP-018")
def lookup_first_mapping_of_class(
    mappings: Sequence[DeviceClassMapping], device_class: str
) -> tuple[str, ...]:
    """Kueue maps a device class to the resource of the first mapping that lists it by its full name.

    Kueue: pkg/dra/mapper.go (Lookup)
    """
    for mapping in mappings:
        if device_class in mapping.device_classes:
            return (mapping.name,)
    return ()
