"""Kueue's validating webhook for ResourceFlavors (Kueue 0.19, pkg/webhooks/resourceflavor_webhook.go).

Kueue: pkg/webhooks/resourceflavor_webhook.go (ValidateResourceFlavor, validateNodeTaints);
    pkg/webhooks/workload_webhook.go (validateTolerations)
"""

from __future__ import annotations

import json

from kueue_dra_ref.api.crd_validation import Faults, places
from kueue_dra_ref.api.metav1_validation import key_faults, labels_faults, value_faults
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

_TAINT = "spec.nodeTaints[]"


@rule("OBJECT-033")
def node_labels_are_valid(write: AdmissionRequest) -> Faults:
    """The webhook denies a ResourceFlavor whose nodeLabels are not valid labels.

    Kueue: pkg/webhooks/resourceflavor_webhook.go (ValidateResourceFlavor)
    """
    spec = write.new["spec"]
    return labels_faults("spec.nodeLabels", spec.get("nodeLabels") or {})


@rule("OBJECT-034", "OBJECT-035")
def taints_are_valid_and_unique(write: AdmissionRequest) -> Faults:
    """The webhook denies an invalid taint of a ResourceFlavor, and two of the same key and effect.

    Kueue: pkg/webhooks/resourceflavor_webhook.go (validateNodeTaints)
    """
    seen: list[tuple[str, str]] = []
    for path, taint in places(write.new, _TAINT):
        key = taint.get("key", "")
        value = taint.get("value", "")
        yield from key_faults(f"{path}.key", key)
        yield from value_faults(f"{path}.value", value)
        pair = (key, taint.get("effect", ""))
        if pair in seen:
            yield _duplicate(path, taint)
        seen.append(pair)


def _duplicate(path: str, taint: Manifest) -> FieldError:
    fields = ("key", "value", "effect", "timeAdded")
    shown = {key: taint[key] for key in fields if key in taint}
    return FieldError(
        field=path,
        type="Duplicate value",
        value=json.dumps(shown, separators=(",", ":")),
        detail="taints must be unique by key and effect pair",
    )


@rule("OBJECT-036")
def toleration_key_is_a_label_key(write: AdmissionRequest) -> Faults:
    """The webhook denies a toleration of a ResourceFlavor whose key is not a label key.

    Kueue: pkg/webhooks/workload_webhook.go (validateTolerations)
    """
    for path, key in places(write.new, "spec.tolerations[].key"):
        if key:
            yield from key_faults(path, key)
