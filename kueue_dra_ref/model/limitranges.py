"""Limits on the pods of a namespace: its LimitRanges, and the overhead of RuntimeClasses (Kubernetes).

Kueue: pkg/util/limitrange/limitrange.go (Summary, Summarize)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.api.pods import ResourceList, larger, smaller
from kueue_dra_ref.api.unstructured import child, mappings, quantities
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRangeBounds:
    """What the LimitRanges of a namespace set for each container, or for each pod."""

    most: ResourceList = field(default_factory=dict)
    least: ResourceList = field(default_factory=dict)
    requests: ResourceList = field(default_factory=dict)
    """Default requests."""
    limits: ResourceList = field(default_factory=dict)
    """Default limits."""

    def also(self, item: Manifest, path: str) -> LimitRangeBounds:
        """Add one more item of a LimitRange: the narrowest bound applies, and the first default."""
        most = quantities(item, "max", path)
        least = quantities(item, "min", path)
        requests = quantities(item, "defaultRequest", path)
        limits = quantities(item, "default", path)
        return LimitRangeBounds(
            most=smaller(self.most, most),
            least=larger(self.least, least),
            requests=requests | self.requests,
            limits=limits | self.limits,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceLimits:
    """What applies to the pods of one namespace; ``overhead`` is by the name of the RuntimeClass."""

    container: LimitRangeBounds = LimitRangeBounds()
    pod: LimitRangeBounds = LimitRangeBounds()
    overhead: Mapping[str, ResourceList] = field(default_factory=dict)


def summarize(
    limit_ranges: Iterable[Manifest],
    runtime_classes: Iterable[Manifest],
) -> NamespaceLimits:
    """Summarize the LimitRanges of one namespace and the RuntimeClasses.

    Raises:
        ManifestFault: a field is of the wrong type, or an amount is no quantity.

    """
    no_bounds = LimitRangeBounds()
    bounds: dict[str, LimitRangeBounds] = {}
    for limit_range in limit_ranges:
        for type_, item, path in _items(limit_range):
            before = bounds.get(type_, no_bounds)
            bounds[type_] = before.also(item, path)
    overhead: dict[str, ResourceList] = {}
    for runtime_class in runtime_classes:
        meta = runtime_class["metadata"]
        name = meta["name"]
        overhead[name] = _overhead(runtime_class)
    return NamespaceLimits(
        container=bounds.get("Container", no_bounds),
        pod=bounds.get("Pod", no_bounds),
        overhead=overhead,
    )


def _items(limit_range: Manifest) -> Iterator[tuple[str, Manifest, str]]:
    """Give the type, the item and the path of each limit."""
    spec = child(limit_range, "spec", dict, {})
    items = mappings(spec, "limits", "spec")
    for index, item in enumerate(items):
        type_ = child(item, "type", str, "")
        path = f"spec.limits[{index}]"
        yield type_, item, path


def _overhead(runtime_class: Manifest) -> ResourceList:
    overhead = child(runtime_class, "overhead", dict, {})
    return quantities(overhead, "podFixed", "overhead")
