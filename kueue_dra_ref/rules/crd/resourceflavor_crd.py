"""CRD validation of ResourceFlavors by the API server (resourceflavor_types.go).

Kueue: apis/kueue/v1beta2/resourceflavor_types.go (ResourceFlavorSpec)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kueue_dra_ref.api.crd_validation import Faults, at_most, invalid, missing
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

_TAINTS, _TOLERATIONS = "spec.nodeTaints", "spec.tolerations"
_NODES = {"nodeLabels": "are", "tolerations": "are", "topologyName": "is"}
"""What of a ResourceFlavor decides on its nodes, with the verb."""
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_EFFECTS_WORDS = (
    "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'"
)


@rule("OBJECT-026")
def at_most_8_labels_taints_and_tolerations(
    write: AdmissionRequest,
) -> Faults:
    """The API server rejects a ResourceFlavor with more than 8 nodeLabels, nodeTaints or tolerations.

    Kueue: apis/kueue/v1beta2/resourceflavor_types.go (ResourceFlavorSpec)
    """
    for path in ("spec.nodeLabels", _TAINTS, _TOLERATIONS):
        yield from at_most(write.new, path, 8)


@rule("OBJECT-027")
def taint_key_and_effect_are_required(write: AdmissionRequest) -> Faults:
    """The API server rejects a taint of a ResourceFlavor without a key or an effect.

    Kueue: apis/kueue/v1beta2/resourceflavor_types.go (ResourceFlavorSpec)
    """
    return missing(write.new, f"{_TAINTS}[]", "key", "effect")


@rule("OBJECT-028")
def taint_effect_is_known(write: AdmissionRequest) -> Faults:
    """The API server rejects a taint of a ResourceFlavor with an unknown effect.

    Kueue: apis/kueue/v1beta2/resourceflavor_types.go (ResourceFlavorSpec)
    """
    if any(
        taint.get("effect") not in _EFFECTS
        for taint in write.new["spec"].get("nodeTaints") or ()
    ):
        yield invalid(_TAINTS, _EFFECTS_WORDS)


@rule("OBJECT-029")
def toleration_without_key_needs_exists(write: AdmissionRequest) -> Faults:
    """The API server rejects a toleration of a ResourceFlavor with neither a key nor the operator Exists.

    Kueue: apis/kueue/v1beta2/resourceflavor_types.go (ResourceFlavorSpec)
    """
    detail = "operator must be Exists when 'key' is empty, which means 'match all values and all keys'"
    return _each(
        write, detail, lambda each: "key" in each or each["operator"] == "Exists"
    )


@rule("OBJECT-030")
def toleration_seconds_needs_no_execute(write: AdmissionRequest) -> Faults:
    """The API server rejects tolerationSeconds of a ResourceFlavor unless the effect is NoExecute.

    Kueue: apis/kueue/v1beta2/resourceflavor_types.go (ResourceFlavorSpec)
    """
    detail = "effect must be 'NoExecute' when 'tolerationSeconds' is set"
    return _each(
        write,
        detail,
        lambda each: "tolerationSeconds" not in each or each["effect"] == "NoExecute",
    )


@rule("OBJECT-031")
def toleration_operator_is_known(write: AdmissionRequest) -> Faults:
    """The API server rejects a toleration of a ResourceFlavor unless the operator is Equal or Exists.

    Kueue: apis/kueue/v1beta2/resourceflavor_types.go (ResourceFlavorSpec)
    """
    detail = "supported toleration values: 'Equal'(default), 'Exists'"
    return _each(
        write, detail, lambda each: each.get("operator", "Equal") in ("Equal", "Exists")
    )


@rule("OBJECT-032")
def exists_operator_takes_no_value(write: AdmissionRequest) -> Faults:
    """The API server rejects a toleration of a ResourceFlavor with operator Exists and a value.

    Kueue: apis/kueue/v1beta2/resourceflavor_types.go (ResourceFlavorSpec)
    """
    detail = "a value must be empty when 'operator' is 'Exists'"
    return _each(
        write,
        detail,
        lambda each: each.get("operator") != "Exists" or "value" not in each,
    )


@rule("OBJECT-028")
def toleration_effect_is_known(write: AdmissionRequest) -> Faults:
    """The API server rejects a toleration of a ResourceFlavor with an unknown effect.

    Kueue: apis/kueue/v1beta2/resourceflavor_types.go (ResourceFlavorSpec)
    """
    return _each(
        write,
        _EFFECTS_WORDS,
        lambda each: "effect" not in each or each["effect"] in _EFFECTS,
    )


@rule("OBJECT-063")
def topology_needs_node_labels(write: AdmissionRequest) -> Faults:
    """The API server rejects a ResourceFlavor with a topologyName and without node labels.

    Kueue: apis/kueue/v1beta2/resourceflavor_types.go (ResourceFlavorSpec)
    """
    detail = "at least one nodeLabel is required when topology is set"
    spec = write.new["spec"]
    if "topologyName" in spec and "nodeLabels" not in spec:
        absent = f"no such key: nodeLabels evaluating rule: {detail}"
        yield invalid("spec", absent, '"object"')
    elif "topologyName" in spec and not spec["nodeLabels"]:
        yield invalid("spec", detail)


@rule("OBJECT-064")
def nodes_of_topology_are_immutable(write: AdmissionRequest) -> Faults:
    """The API server rejects other node labels, tolerations or another topologyName once there is a topologyName.

    Kueue: apis/kueue/v1beta2/resourceflavor_types.go (ResourceFlavorSpec)
    """
    before = write.before["spec"]
    if "topologyName" in before:
        for field, verb in _NODES.items():
            if before.get(field) != write.new["spec"].get(field):
                yield invalid(
                    "spec", f"{field} {verb} immutable when topologyName is set"
                )


@rule("OBJECT-065")
def flavor_with_topology_is_immutable(write: AdmissionRequest) -> Faults:
    """The API server rejects any change of a ResourceFlavor with a topologyName.

    Kueue 0.16: apis/kueue/v1beta2/resourceflavor_types.go (ResourceFlavorSpec)
    """
    before = write.before["spec"]
    if "topologyName" in before and before != write.new["spec"]:
        detail = "resourceFlavorSpec are immutable when topologyName is set"
        yield invalid("spec", detail)


def _each(
    write: AdmissionRequest, detail: str, holds: Callable[[Manifest], bool]
) -> Iterator[FieldError]:
    """Refuse that something does not hold of each toleration; a field that is not there to be compared is an error."""
    absent = ""
    for toleration in write.new["spec"].get("tolerations") or ():
        try:
            if not holds(toleration):
                yield invalid(_TOLERATIONS, detail)
                return
        except KeyError as error:
            (absent,) = error.args
    if absent:
        yield invalid(
            _TOLERATIONS, f"no such key: {absent} evaluating rule: {detail}", '"array"'
        )
