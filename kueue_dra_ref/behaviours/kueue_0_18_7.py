"""Kueue 0.18.7, provisional: what it changes in Kueue 0.18.6, by its change notes; it could not be run.

The Configuration may not name a resource pods.

Kueue 0.18.7 charges as 0.18.6 does: the number of devices, by selectors that are evaluated on published devices;
counters and extended resources have gates that are off by default, and no capacities are read. Phases: configuration.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_18_6 import kueue_0_18_6
from kueue_dra_ref.rules.config import mapping_names_0_19_3
from kueue_dra_ref.rules.config.device_class_mappings import MappingRules


def kueue_0_18_7() -> Behaviour:
    """Kueue 0.18.7 as a value."""
    earlier = kueue_0_18_6()
    return replace(
        earlier,
        name="kueue-0.18.7",
        title="Kueue 0.18.7 (provisional)",
        mapping=_mapping(earlier.mapping),
    )


def _mapping(earlier: MappingRules) -> MappingRules:
    return replace(
        earlier,
        # "pods" is the implicit resource, so a mapping cannot have that name.
        name=earlier.name.add(mapping_names_0_19_3.name_is_not_pods),
    )
