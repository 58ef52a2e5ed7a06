"""Validation of the attribute that names a partition's type (resource.k8s.io since Kubernetes 1.37).

No counterpart: seen in Kubernetes 1.37, which no pinned module has.
"""

from __future__ import annotations

from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid, invalid_as, required
from kueue_dra_ref.apiserver.go_json import internal
from kueue_dra_ref.apiserver.kubernetes_versions import KUBERNETES_1_37
from kueue_dra_ref.apiserver.resource_names import fully_qualified
from kueue_dra_ref.apiserver.schema_slices import attribute


def partition_type(spec: Object, path: str) -> Errors:
    """Check that each device that consumes counters carries the attribute that names its type, as a string.

    None can carry an attribute of a malformed name.
    """
    name = spec.get("partitionTypeAttribute")
    if name is None:
        return
    consuming = [
        (i, each)
        for i, each in enumerate(spec.get("devices") or ())
        if each.get("consumesCounters")
    ]
    at = f"{path}.partitionTypeAttribute"
    malformed = list(fully_qualified(name, at, KUBERNETES_1_37))
    yield from malformed
    if not consuming:
        words = (
            "may only be set on a slice which declares devices that consume counters"
        )
        yield invalid(at, name, words)
    if malformed:
        return
    own = name.removeprefix(f"{spec.get('driver') or ''}/")
    for index, device in consuming:
        where = f"{path}.devices[{index}].attributes[{name}]"
        yield from _carried((device.get("attributes") or {}), name, own, where)


def _carried(attributes: Object, name: str, own: str, path: str) -> Errors:
    found = attributes.get(name, attributes.get(own))
    if found is None:
        words = "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set"
        yield required(path, words)
    elif "string" not in found:
        shown = internal(found, attribute("v1"), KUBERNETES_1_37.minor)
        yield invalid_as(
            path,
            shown,
            "must be a string value because `partitionTypeAttribute` names this attribute",
        )
