"""Validation of pods, their containers aside (core: PodSpec): claims, resources as a whole, nodes, classes.

Kubernetes: pkg/apis/core/validation/validation.go (ValidatePodSpec, validatePodResourceClaims, validatePodResources)
"""

from __future__ import annotations

from kueue_dra_ref.api.crd_validation import places
from kueue_dra_ref.api.names import label_value_faults
from kueue_dra_ref.api.pods import REQUIRED
from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver import containers, nodes, resource_names, resources
from kueue_dra_ref.apiserver.fielderrors import (
    Errors,
    duplicate,
    invalid,
    invalid_as,
    invalid_word,
    required,
    unsupported,
)
from kueue_dra_ref.apiserver.go_json import internal
from kueue_dra_ref.apiserver.go_types import LAST
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.schema_claims import POD_CLAIM

_FROM = ("resourceClaimName", "resourceClaimTemplateName")
_BOTH = (
    "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
)
_NEITHER = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_RESTARTED = ("Always", "OnFailure", "Never")


def claims(pod: Object, path: str) -> Errors:
    """Check which claims a pod has."""
    names = [claim.get("name") or "" for claim in pod.get("resourceClaims") or ()]
    for index, claim in enumerate(pod.get("resourceClaims") or ()):
        yield from _claim(
            claim,
            f"{path}.resourceClaims[{index}]",
            is_again=names[index] in names[:index],
        )


def amounts(pod: Object, path: str, k: Kubernetes) -> Errors:
    """Check what a pod asks for as a whole."""
    if "resources" in pod and k.knows_pod_resources:
        yield from resources.of_pod(pod["resources"], f"{path}.resources", k)
        yield from containers.claims(
            pod["resources"], f"{path}.resources", containers.claims_of(pod)
        )
        yield from resources.of_containers_together(pod, f"{path}.resources")


def overhead(pod: Object, path: str, k: Kubernetes) -> Errors:
    """Check what it costs to run a pod at all."""
    yield from resources.of_container(
        {"limits": pod.get("overhead")}, f"{path}.overhead", k
    )


def restarted(pod: Object, path: str) -> Errors:
    """Check what a pod says of being started again."""
    policy = pod.get("restartPolicy") or "Always"
    if policy not in _RESTARTED:
        yield unsupported(f"{path}.restartPolicy", policy, *_RESTARTED)


def ended(pod: Object, path: str) -> Errors:
    """Check that a pod of a Job ends some time."""
    policy, least = pod.get("restartPolicy") or "Always", _RESTARTED[1:]
    if policy == "Always":
        yield required(f"{path}.restartPolicy", 'valid values: "OnFailure", "Never"')
    elif policy not in least:
        yield unsupported(f"{path}.restartPolicy", policy, *least)


def chosen_nodes(pod: Object, path: str, k: Kubernetes) -> Errors:
    """Check the labels by which a pod chooses nodes."""
    yield from resource_names.label_map(
        pod.get("nodeSelector"), f"{path}.nodeSelector", k
    )
    for at, selector in places(pod, REQUIRED):
        yield from nodes.selector(selector, f"{path}.{at}", k)


def tolerations(pod: Object, path: str, k: Kubernetes) -> Errors:
    """Check which taints a pod tolerates."""
    for index, toleration in enumerate(pod.get("tolerations") or ()):
        yield from _toleration(toleration, f"{path}.tolerations[{index}]", k)


def classes(pod: Object, path: str) -> Errors:
    """Check what names a class of priorities or a runtime."""
    for key in ("priorityClassName", "runtimeClassName"):
        if pod.get(key) or (key in pod and key == "runtimeClassName"):
            yield from resource_names.subdomain(pod[key], f"{path}.{key}")


def _claim(claim: Object, path: str, *, is_again: bool) -> Errors:
    name = claim.get("name") or ""
    if not name:
        yield required(f"{path}.name")
    elif is_again:
        yield duplicate(f"{path}.name", name)
    else:
        yield from resource_names.label(name, f"{path}.name")
    given = [key for key in _FROM if claim.get(key) is not None]
    if len(given) != 1:
        yield invalid_as(
            path, internal(claim, POD_CLAIM, LAST), _BOTH if given else _NEITHER
        )
    for key in given:
        yield from resource_names.subdomain(claim[key], f"{path}.{key}")


def _toleration(found: Object, path: str, k: Kubernetes) -> Errors:
    key, operator, effect = (
        found.get(part) or "" for part in ("key", "operator", "effect")
    )
    if key:
        yield from resource_names.label_key(key, f"{path}.key", k)
    elif operator != "Exists":
        words = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid_word(f"{path}.operator", operator, words)
    if "tolerationSeconds" in found and effect != "NoExecute":
        yield invalid_word(
            f"{path}.effect",
            effect,
            "effect must be 'NoExecute' when `tolerationSeconds` is set",
        )
    yield from _comparison(operator, found.get("value") or "", f"{path}.operator", k)
    if effect and effect not in _EFFECTS:
        yield unsupported(f"{path}.effect", effect, *_EFFECTS)


def _comparison(operator: str, value: str, path: str, k: Kubernetes) -> Errors:
    match operator:
        case "Equal" | "":
            if faults := label_value_faults(value):
                yield invalid(
                    path,
                    value,
                    ";".join(resource_names.counted(fault, k) for fault in faults),
                )
        case "Exists":
            if value:
                yield invalid(
                    path, value, "value must be empty when `operator` is 'Exists'"
                )
        case _:
            more = (
                ("Lt", "Gt")
                if k.knows_comparing_tolerations and operator in ("Lt", "Gt")
                else ()
            )
            yield unsupported(path, operator, "Equal", "Exists", *more)
