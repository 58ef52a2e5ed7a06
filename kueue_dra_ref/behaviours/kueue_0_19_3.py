"""Kueue 0.19.3, provisional: what it changes in Kueue 0.19.2, by its change notes; it could not be run.

The Configuration may not name a resource pods, and the name of a capacity has one slash at most.

Kueue 0.19.3 charges as 0.19.2 does: the number of devices, by selectors that are evaluated on published devices,
counters and extended resources by default, and capacities with a gate that is off by default. Phases: configuration.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_19 import kueue_0_19
from kueue_dra_ref.features.kube_features import kueue_0_19_3_gates
from kueue_dra_ref.rules.config import mapping_names_0_19_3
from kueue_dra_ref.rules.config.device_class_mappings import MappingRules


def kueue_0_19_3() -> Behaviour:
    """Kueue 0.19.3 as a value."""
    earlier = kueue_0_19()
    return replace(
        earlier,
        name="kueue-0.19.3",
        title="Kueue 0.19.3 (provisional)",
        # Alpha gates are new.
        gates=kueue_0_19_3_gates(),
        mapping=_mapping(earlier.mapping),
    )


def _mapping(earlier: MappingRules) -> MappingRules:
    return replace(
        earlier,
        # "pods" is the implicit resource, so a mapping cannot have that name.
        name=earlier.name.add(mapping_names_0_19_3.name_is_not_pods),
        # The name of a capacity has one slash at most.
        source=earlier.source.add(
            mapping_names_0_19_3.capacity_name_has_at_most_one_slash
        ),
    )
