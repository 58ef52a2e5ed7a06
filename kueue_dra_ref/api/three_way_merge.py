"""A Job that is written once more: what its writer changed is taken over, what Kueue changed since stays."""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.deepcopy import copied

Spec = dict[str, Any]


def job_spec(stored: Spec, wanted: Spec, before: Spec) -> Spec:
    """Give the spec to store, by what is stored, what is wanted, and what was wanted the last time.

    Whether the Job is suspended is Kueue's to say, once the Job is there.
    """
    changed = {
        key: value for key, value in copied(wanted).items() if before.get(key) != value
    }
    changed.pop("suspend", None)
    if "template" in changed:
        labels = ((stored.get("template") or {}).get("metadata") or {}).get(
            "labels"
        ) or {}
        metadata = changed["template"].setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
    return {**stored, **changed}
