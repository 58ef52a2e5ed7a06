"""The fields of ClusterQueues and Cohorts that set a quota: read, changed, and written as manifests.

No counterpart: changes of what-if and explain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.pods import printed
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.model.resource_node import FlavorResource
from kueue_dra_ref.target import Manifest

_WRITTEN = ("name", "namespace", "labels", "annotations")
"""The metadata that a user writes."""
NOMINAL, BORROWING, LENDING = "nominalQuota", "borrowingLimit", "lendingLimit"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class QuotaField:
    """One field of a resource in a flavor of a ClusterQueue or Cohort."""

    kind: str
    name: str
    flavor: str
    resource: str
    field: str = NOMINAL

    @property
    def title(self) -> str:
        """The field with its object, for messages."""
        place = f"{self.resource} in flavor {self.flavor}"
        return f"{self.field} of {place} of {self.kind} {self.name}"

    @property
    def of(self) -> FlavorResource:
        """The flavor and the resource."""
        return self.flavor, self.resource


def flavor_resources(owner: Manifest) -> Iterator[tuple[FlavorResource, Manifest]]:
    """Give each flavor and resource of a ClusterQueue or Cohort, with its quota."""
    spec = owner.get("spec") or {}
    for group in spec.get("resourceGroups") or ():
        for flavor in group.get("flavors") or ():
            for resource in flavor.get("resources") or ():
                yield (flavor["name"], resource["name"]), resource


def quota_of(store: Store, field: QuotaField) -> Manifest | None:
    """Give the quota of a field's flavor and resource; None where the object has none."""
    owner = store.find(field.kind, field.name)
    if owner is None:
        return None
    return dict(flavor_resources(owner)).get(field.of)


def shown(kueue: Kueue, resource: str, amount: int) -> str:
    """Print an amount of a resource as Kueue does."""
    return printed(resource, amount, kueue.in_bytes)


def with_quotas(store: Store, changes: dict[QuotaField, str]) -> list[Manifest]:
    """Give the ClusterQueues and Cohorts whose quotas change, as manifests to apply."""
    manifests: dict[tuple[str, str], Manifest] = {}
    for field, amount in changes.items():
        owner = (field.kind, field.name)
        if owner not in manifests:
            manifests[owner] = _manifest(store, field)
        quotas = dict(flavor_resources(manifests[owner]))
        quotas[field.of][field.field] = amount
    return list(manifests.values())


def _manifest(store: Store, field: QuotaField) -> Manifest:
    stored = store.find(field.kind, field.name)
    assert stored is not None
    return as_applied(stored)


def as_applied(stored: Manifest) -> Manifest:
    """Copy a stored object as a manifest that a user applies: without status and the server's metadata."""
    kept = copied(stored)
    kept.pop("status", None)
    meta = kept["metadata"]
    own = {}
    for name in _WRITTEN:
        if name in meta:
            own[name] = meta[name]
    kept["metadata"] = own
    return kept
