"""Limits on the pods of a namespace: its LimitRanges, and the overhead of RuntimeClasses (Kubernetes).

Kueue: pkg/util/limitrange/limitrange.go (Summary, Summarize)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.api.pods import Amounts, larger, smaller
from kueue_dra_ref.api.unstructured import child, mappings, quantities
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRangeBounds:
    """What the LimitRanges of a namespace set for each container, or for each pod."""

    most: Amounts = field(default_factory=dict)
    least: Amounts = field(default_factory=dict)
    requests: Amounts = field(default_factory=dict)
    """Default requests."""
    limits: Amounts = field(default_factory=dict)
    """Default limits."""

    def also(self, item: Manifest, path: str) -> LimitRangeBounds:
        """Add one more item of a LimitRange: the narrowest bound applies, and the first default."""
        return LimitRangeBounds(
            most=smaller(self.most, quantities(item, "max", path)),
            least=larger(self.least, quantities(item, "min", path)),
            requests=quantities(item, "defaultRequest", path) | self.requests,
            limits=quantities(item, "default", path) | self.limits,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceLimits:
    """What applies to the pods of one namespace; ``overhead`` is by the name of the RuntimeClass."""

    container: LimitRangeBounds = LimitRangeBounds()
    pod: LimitRangeBounds = LimitRangeBounds()
    overhead: Mapping[str, Amounts] = field(default_factory=dict)


def surroundings_of(
    limit_ranges: Iterable[Manifest], runtime_classes: Iterable[Manifest]
) -> NamespaceLimits:
    """Summarize the LimitRanges of one namespace and the RuntimeClasses.

    Kueue: pkg/util/limitrange/limitrange.go (Summarize)

    Raises:
        ManifestFault: a field is of the wrong type, or an amount is no quantity.

    """
    bounds: dict[str, LimitRangeBounds] = {}
    for limit_range in limit_ranges:
        spec = child(limit_range, "spec", dict, {})
        for index, item in enumerate(mappings(spec, "limits", "spec")):
            type_ = child(item, "type", str, "")
            path = f"spec.limits[{index}]"
            bounds[type_] = bounds.get(type_, LimitRangeBounds()).also(item, path)
    overhead: dict[str, Amounts] = {}
    for runtime_class in runtime_classes:
        name = str(runtime_class["metadata"]["name"])
        found = child(runtime_class, "overhead", dict, {})
        overhead[name] = quantities(found, "podFixed", "overhead")
    return NamespaceLimits(
        container=bounds.get("Container", LimitRangeBounds()),
        pod=bounds.get("Pod", LimitRangeBounds()),
        overhead=overhead,
    )
