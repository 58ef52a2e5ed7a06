"""Three-way merge of a Job that is written again: changes of its writer apply, changes of Kueue stay."""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.job_kind import part_at, replaced
from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.api.metadata import labels_of
from kueue_dra_ref.target import Manifest

Spec = dict[str, Any]


def merged_work(stored: Manifest, wanted: Manifest, before: Spec) -> Manifest:
    """Give work with what its writer changed since an earlier spec, and the rest of its spec as it is stored.

    Kueue alone decides whether existing work is suspended, also where a field says so that its writer changes.
    """
    spec = _merged(stored["spec"], wanted.get("spec") or {}, before)
    work = {**wanted, "spec": spec}
    path = JOB_KINDS[work["kind"]].suspend
    suspended = part_at(stored, path)
    if suspended is None:
        return work
    merged: Manifest = replaced(work, path, suspended)
    return merged


def _merged(stored: Spec, wanted: Spec, before: Spec) -> Spec:
    merged = dict(stored)
    for key, value in wanted.items():
        if key == "suspend":
            continue
        if before.get(key) == value:
            continue
        merged[key] = copied(value)
        if key == "template":
            _keep_labels(stored, merged)
    return merged


def _keep_labels(stored: Spec, merged: Spec) -> None:
    """Keep the labels of the stored pod template."""
    before = stored.get("template") or {}
    kept = labels_of(before)
    template = merged["template"]
    changed = template.setdefault("metadata", {})
    labels = dict(labels_of(template))
    labels.update(kept)
    changed["labels"] = labels
