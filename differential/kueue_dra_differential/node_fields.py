"""Node constraints of pods and flavors in generated scenarios, and the overhead of a pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kueue_dra_fixtures.builders import on_nodes_where
from kueue_dra_fixtures.limitranges import a_runtime_class

PLAIN, LATE = "plain", "late"
FLAVORS: Mapping[str, Mapping[str, Any]] = {
    PLAIN: {},
    "tainted": {
        "nodeTaints": [{"key": "spot", "value": "true", "effect": "NoSchedule"}]
    },
    "zone-a": {"nodeLabels": {"zone": "a"}},
    LATE: {},
}
"""The kinds of flavors, as the spec of a ResourceFlavor; a late one does not exist at first."""
ANYWHERE = "anywhere"
PLACES: Mapping[str, Mapping[str, Any]] = {
    ANYWHERE: {},
    "tolerant": {"tolerations": [{"key": "spot", "operator": "Exists"}]},
    "zone-a": {"nodeSelector": {"zone": "a"}},
    "zone-b": {"nodeSelector": {"zone": "b"}},
    "some-zone": on_nodes_where(
        {"key": "zone", "operator": "In", "values": ["a", "c"]}
    ),
}
"""The node constraints of pods, as fields of a pod spec."""
HEAVY = a_runtime_class("heavy", {"cpu": "500m"})
"""A RuntimeClass whose pods have an overhead."""
