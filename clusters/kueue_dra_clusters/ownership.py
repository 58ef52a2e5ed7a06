"""Whose an object is: what carries our labels we made, everything else in a cluster belongs to somebody else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_ref.target import Manifest, Ref


class NotOwned(ClusterError):
    """An object of the name that we would write or delete exists, and somebody else made it."""

    def __init__(self, ref: Ref) -> None:
        super().__init__(
            f"{ref} exists and was not made by this run; nothing was changed: remove it, or choose others"
        )
        self.ref = ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """The labels that mark what is ours; without any, the whole cluster is ours."""

    labels: Mapping[str, str] = field(default_factory=dict)

    def labelled(self, manifest: Manifest) -> Manifest:
        """Give a manifest with our labels added."""
        if not self.labels:
            return manifest
        metadata = {
            **manifest["metadata"],
            "labels": {**(manifest["metadata"].get("labels") or {}), **self.labels},
        }
        return {**manifest, "metadata": metadata}

    def covers(self, stored: Manifest) -> bool:
        """Whether a stored object is ours."""
        return self.labels.items() <= (stored["metadata"].get("labels") or {}).items()

    def insist(self, stored: Manifest) -> None:
        """Raise `NotOurs` for an object that somebody else made."""
        if not self.covers(stored):
            raise NotOwned(Ref.of(stored))

    def insist_on(self, objects: APIClient, ref: Ref) -> None:
        """Raise `NotOurs` if what a reference names exists and is not ours; what has an owner is its owner's."""
        stored = objects.read(ref) if self.labels else None
        for owner in (stored or {}).get("metadata", {}).get("ownerReferences") or []:
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
        """Whether what a reference names is ours, or is not there."""
        try:
            self.insist_on(objects, ref)
        except NotOwned:
            return False
        return True
