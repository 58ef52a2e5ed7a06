"""The objects that own work: the controllers in its owner references, and the controllers of those in turn.

Kueue: pkg/controller/jobframework/reconciler.go (FindAncestorJobManagedByKueue)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.target import Manifest

Find = Callable[[str, str, str], Manifest | None]
"""Reads an object by kind, name and namespace; None if there is none."""
IsStale = Callable[[str, str], bool]
"""Whether an owner is not meant, by the UID in the reference and its own."""
MOST_OWNERS = 10
"""How many owners Kueue follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerChain:
    """The owners of work that are work themselves, the nearest first."""

    owners: tuple[Manifest, ...]
    missing: str = ""
    """Kind and name of an owner that does not exist."""


def owner_reference(api_version: str, kind: str, meta: Manifest) -> Manifest:
    """Give a reference to an owner with this metadata."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": meta["name"],
        "uid": meta["uid"],
    }


def is_owned_by(obj: Manifest, uid: str) -> bool:
    """Whether one of the owner references of an object has a UID."""
    owners = owners_of(obj)
    return any(each.get("uid") == uid for each in owners)


def controller_of(obj: Manifest) -> Manifest | None:
    """Give the reference to the controller of an object, if that is work of a kind that Kueue knows."""
    for each in owners_of(obj):
        if each.get("controller"):
            return each if _is_known(each) else None
    return None


def _is_known(reference: Manifest) -> bool:
    name = reference.get("kind", "")
    kind = JOB_KINDS.get(name)
    if kind is None:
        return False
    return kind.api_version == reference.get("apiVersion")


def owner_chain(job: Manifest, find: Find, is_stale: IsStale) -> OwnerChain:
    """Follow the controllers of work."""
    owners: list[Manifest] = []
    current = job
    namespace = job["metadata"].get("namespace", "")
    while len(owners) < MOST_OWNERS:
        reference = controller_of(current)
        if reference is None:
            break
        kind = reference["kind"]
        name = reference.get("name", "")
        owner = find(kind, name, namespace)
        if owner is None:
            missing = f"{kind} {name}"
            return OwnerChain(owners=tuple(owners), missing=missing)
        referenced = reference.get("uid", "")
        uid = owner["metadata"]["uid"]
        if is_stale(referenced, uid):
            break
        owners.append(owner)
        current = owner
    return OwnerChain(owners=tuple(owners))
