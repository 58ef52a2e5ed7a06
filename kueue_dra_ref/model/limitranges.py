"""What surrounds a pod and bears on its requests: LimitRanges of its namespace, RuntimeClasses (Kubernetes).

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
    """What the LimitRanges of a namespace say of each container, or of each pod."""

    most: Amounts = field(default_factory=dict)
    least: Amounts = field(default_factory=dict)
    requests: Amounts = field(default_factory=dict)
    """What stands for a request that is absent."""
    limits: Amounts = field(default_factory=dict)
    """What stands for a limit that is absent."""

    def also(self, item: Manifest, path: str) -> LimitRangeBounds:
        """The same with one more item of a LimitRange: the narrowest bound counts, and the first default."""
        return LimitRangeBounds(
            most=smaller(self.most, quantities(item, "max", path)),
            least=larger(self.least, quantities(item, "min", path)),
            requests=quantities(item, "defaultRequest", path) | self.requests,
            limits=quantities(item, "default", path) | self.limits,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceLimits:
    """What bears on the pods of one namespace; ``overhead`` is by the name of the RuntimeClass."""

    container: LimitRangeBounds = LimitRangeBounds()
    pod: LimitRangeBounds = LimitRangeBounds()
    overhead: Mapping[str, Amounts] = field(default_factory=dict)


def surroundings_of(
    limit_ranges: Iterable[Manifest], runtime_classes: Iterable[Manifest]
) -> NamespaceLimits:
    """Read the LimitRanges of one namespace and the RuntimeClasses.

    Raises:
        ManifestFault: a field is of the wrong type, or an amount is no quantity.

    """
    found: dict[str, LimitRangeBounds] = {}
    for each in limit_ranges:
        for index, item in enumerate(
            mappings(child(each, "spec", dict, {}), "limits", "spec")
        ):
            type_ = child(item, "type", str, "")
            found[type_] = found.get(type_, LimitRangeBounds()).also(
                item, f"spec.limits[{index}]"
            )
    overhead = {
        str(each["metadata"]["name"]): quantities(
            child(each, "overhead", dict, {}), "podFixed", "overhead"
        )
        for each in runtime_classes
    }
    return NamespaceLimits(
        container=found.get("Container", LimitRangeBounds()),
        pod=found.get("Pod", LimitRangeBounds()),
        overhead=overhead,
    )
