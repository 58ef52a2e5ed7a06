"""The keys of the Configuration in Kueue's earlier minors, each as what it lacks of the next one (apis/config)."""

from __future__ import annotations

from collections.abc import Iterable

from kueue_dra_ref.api.schema_config import (
    KUEUE_0_19_VERSIONS,
    Keys,
    ListKey,
    Shape,
    Versions,
)


def lacking(keys: Keys, *paths: str) -> Keys:
    """The same keys without some: ``tls.curvePreferences`` is a key below a key, or below each element of a list.

    Raises:
        KeyError: there is no such key.

    """
    for path in paths:
        keys = _without(keys, path.split("."))
    return keys


def _without(keys: Keys, path: Iterable[str]) -> Keys:
    first, *rest = path
    shape = keys[first]
    if not rest:
        return {key: each for key, each in keys.items() if key != first}
    return {**keys, first: _below(shape, rest)}


def _below(shape: Shape, rest: list[str]) -> Shape:
    match shape:
        case ListKey(element=dict() as element):
            return ListKey(_without(element, rest))
        case dict():
            return _without(shape, rest)
        case _:
            raise KeyError(rest[0])


def _each(versions: Versions, *paths: str) -> Versions:
    """All versions without the same keys."""
    return {version: lacking(keys, *paths) for version, keys in versions.items()}


def _newest(versions: Versions, *paths: str) -> Versions:
    """The newest version without some keys, the others as they are."""
    newest = next(iter(versions))
    return {
        version: lacking(keys, *paths) if version == newest else keys
        for version, keys in versions.items()
    }


KUEUE_0_18_VERSIONS: Versions = _newest(
    _each(KUEUE_0_19_VERSIONS, "tls.curvePreferences"),
    "metrics.customLabels.sourceKind",
    "metrics.customLabels.trackedValues",
    "multiKueue.clusterProfile.accessProviders",
    "multiKueue.incrementalDispatcherConfig",
    "resources.deviceClassMappings.sources.capacity",
)
"""Without capacities, and without what other features have brought since."""

KUEUE_0_17_VERSIONS: Versions = _newest(
    KUEUE_0_18_VERSIONS,
    "resources.quotaCheckStrategy",
    "resources.deviceClassMappings.sources",
)
"""Without sources of any kind."""

KUEUE_0_16_VERSIONS: Versions = _newest(
    _each(KUEUE_0_17_VERSIONS, "metrics.customLabels", "metrics.localQueueMetrics"),
    "visibilityServer",
)
"""Without what other features have brought since."""

KUEUE_0_15_VERSIONS: Versions = _each(
    KUEUE_0_16_VERSIONS, "tls", "resources.transformations.multiplyBy"
)
"""Without settings of TLS, and without amounts that are multiplied by others."""

KUEUE_0_14_VERSIONS: Versions = {
    version: keys
    for version, keys in KUEUE_0_15_VERSIONS.items()
    if version.endswith("/v1beta1")
}
"""Before there was a v1beta2."""
