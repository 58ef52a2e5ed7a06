"""Ownership of objects by labels: an object without the labels of this run belongs to another client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_ref.api.metadata import labels_of, owners_of
from kueue_dra_ref.target import Manifest, Ref


class NotOwned(ClusterError):
    """An object that the run would write or delete belongs to another client."""

    def __init__(self, ref: Ref) -> None:
        super().__init__(
            f"{ref} exists and was not created by this run; nothing was changed: delete it, or use other names"
        )
        self.ref = ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """The labels of the objects of this run; without any, the whole cluster is ours."""

    labels: Mapping[str, str] = field(default_factory=dict)

    def labelled(self, manifest: Manifest) -> Manifest:
        """Give a manifest with our labels added; one whose labels are no map gets none."""
        own = labels_of(manifest)
        if not self.labels or not isinstance(own, dict):
            return manifest
        metadata = {**manifest["metadata"], "labels": {**own, **self.labels}}
        return {**manifest, "metadata": metadata}

    def covers(self, stored: Manifest) -> bool:
        """Whether a stored object is ours."""
        return self.labels.items() <= labels_of(stored).items()

    def insist(self, stored: Manifest) -> None:
        """Raise `NotOwned` for an object of another client."""
        if not self.covers(stored):
            raise NotOwned(Ref.of(stored))

    def insist_on(self, objects: APIClient, ref: Ref) -> None:
        """Raise `NotOwned` if an object exists and is not ours; for an object with an owner, its owner counts."""
        stored = objects.read(ref) if self.labels else None
        for owner in owners_of(stored or {}):
            self.insist_on(
                objects,
                Ref(
                    api_version=owner["apiVersion"],
                    kind=owner["kind"],
                    name=owner["name"],
                    namespace=ref.namespace,
                ),
            )
            return
        if stored:
            self.insist(stored)

    def holds(self, objects: APIClient, ref: Ref) -> bool:
        """Whether an object is ours, or does not exist."""
        try:
            self.insist_on(objects, ref)
        except NotOwned:
            return False
        return True
