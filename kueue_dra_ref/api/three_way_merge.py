"""Three-way merge of a Job that is written again: changes of its writer apply, changes of Kueue stay."""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.metadata import labels_of

Spec = dict[str, Any]


def job_spec(stored: Spec, wanted: Spec, before: Spec) -> Spec:
    """Merge into the stored spec of a Job what its writer changed since the last wanted spec.

    Kueue alone decides whether an existing Job is suspended.
    """
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
