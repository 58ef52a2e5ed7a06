"""Changes of objects that others have created: the fields of a spec that differ, and the status."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kueue_dra_ref.target import Manifest, Ref, Target

NAMES = ("name", "namespace")
OWN = (*NAMES, "labels", "annotations")
"""The metadata that an object is applied with."""


def changed(target: Target, changes: Iterable[Manifest]) -> Iterator[Manifest]:
    """Give each object with its changes; one that is gone cannot be changed."""
    for change in changes:
        found = target.read(Ref.of(change))
        if found is not None:
            yield _changed(found, change)


def _changed(found: Manifest, change: Manifest) -> Manifest:
    meta = {**_own(found), **_own(change)}
    made = {**found, "metadata": meta}
    made.pop("status", None)
    if "spec" in change:
        made["spec"] = {**found["spec"], **change["spec"]}
    if "status" in change:
        made["status"] = change["status"]
    return made


def has_each_field(found: Manifest, applied: Manifest) -> bool:
    """Whether what is applied has each field of the spec of an object, so that a change can say it all."""
    before = found.get("spec") or {}
    after = applied.get("spec") or {}
    return before.keys() <= after.keys()


def change_of(found: Manifest, applied: Manifest) -> Manifest:
    """Give the change that makes of an object what is applied."""
    meta = _own(applied)
    marks = _differing(_own(found), meta)
    for key in NAMES:
        if key in meta:
            marks[key] = meta[key]
    change = {
        "apiVersion": applied["apiVersion"],
        "kind": applied["kind"],
        "metadata": marks,
    }
    spec = _differing(found.get("spec") or {}, applied.get("spec") or {})
    if spec:
        change["spec"] = spec
    if "status" in applied:
        change["status"] = applied["status"]
    return change


def _own(obj: Manifest) -> Manifest:
    meta = obj["metadata"]
    return {key: meta[key] for key in OWN if key in meta}


def _differing(before: Manifest, after: Manifest) -> Manifest:
    """Give the fields that have another value than before."""
    found = {}
    for key, value in after.items():
        if before.get(key) != value:
            found[key] = value
    return found
