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
    """Check the claims of a pod."""
    before: set[str] = set()
    for index, claim in enumerate(pod.get("resourceClaims") or ()):
        name = claim.get("name") or ""
        at = f"{path}.resourceClaims[{index}]"
        yield from _claim(claim, at, is_again=name in before)
        before.add(name)


def amounts(pod: Object, path: str, k: Kubernetes) -> Errors:
    """Check the resources that a pod requests as a whole."""
    if "resources" not in pod or not k.knows_pod_resources:
        return
    whole = pod["resources"]
    path = f"{path}.resources"
    known = containers.claims_of(pod)
    yield from resources.of_pod(whole, path, k)
    yield from containers.claims(whole, path, known)
    yield from resources.of_containers_together(pod, path)


def overhead(pod: Object, path: str, k: Kubernetes) -> Errors:
    """Check the overhead of a pod."""
    amounts = {"limits": pod.get("overhead")}
    yield from resources.of_container(amounts, f"{path}.overhead", k)


def restarted(pod: Object, path: str) -> Errors:
    """Check the restart policy of a pod."""
    policy = pod.get("restartPolicy") or "Always"
    if policy not in _RESTARTED:
        yield unsupported(f"{path}.restartPolicy", policy, *_RESTARTED)


def ended(pod: Object, path: str) -> Errors:
    """Check that the pods of a Job end: they are not always restarted."""
    policy = pod.get("restartPolicy") or "Always"
    at = f"{path}.restartPolicy"
    ends = _RESTARTED[1:]
    if policy == "Always":
        yield required(at, 'valid values: "OnFailure", "Never"')
    elif policy not in ends:
        yield unsupported(at, policy, *ends)


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
    """Check the names of the priority class and of the runtime class."""
    priority = pod.get("priorityClassName")
    runtime = pod.get("runtimeClassName")
    if priority:
        at = f"{path}.priorityClassName"
        yield from resource_names.subdomain(priority, at)
    if runtime is not None:
        at = f"{path}.runtimeClassName"
        yield from resource_names.subdomain(runtime, at)


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
        shown = internal(claim, POD_CLAIM, LAST)
        detail = _BOTH if given else _NEITHER
        yield invalid_as(path, shown, detail)
    for key in given:
        yield from resource_names.subdomain(claim[key], f"{path}.{key}")


def _toleration(found: Object, path: str, k: Kubernetes) -> Errors:
    key = found.get("key") or ""
    operator = found.get("operator") or ""
    value = found.get("value") or ""
    at_operator = f"{path}.operator"
    if key:
        yield from resource_names.label_key(key, f"{path}.key", k)
    elif operator != "Exists":
        words = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid_word(at_operator, operator, words)
    effect = found.get("effect") or ""
    at_effect = f"{path}.effect"
    if "tolerationSeconds" in found and effect != "NoExecute":
        words = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield invalid_word(at_effect, effect, words)
    yield from _comparison(operator, value, at_operator, k)
    yield from _effect(effect, at_effect)


def _effect(effect: str, path: str) -> Errors:
    if effect and effect not in _EFFECTS:
        yield unsupported(path, effect, *_EFFECTS)


def _comparison(operator: str, value: str, path: str, k: Kubernetes) -> Errors:
    match operator:
        case "Equal" | "":
            faults = label_value_faults(value)
            if faults:
                counted = [resource_names.counted(each, k) for each in faults]
                yield invalid(path, value, ";".join(counted))
        case "Exists":
            if value:
                detail = "value must be empty when `operator` is 'Exists'"
                yield invalid(path, value, detail)
        case "Lt" | "Gt" if k.knows_comparing_tolerations:
            yield unsupported(path, operator, "Equal", "Exists", "Lt", "Gt")
        case _:
            yield unsupported(path, operator, "Equal", "Exists")
