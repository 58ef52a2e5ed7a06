"""Node selectors and required node affinity: which flavors match (Queue Admission, step 6).

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets, flavorSelector)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.labels import expression_holds, integer
from kueue_dra_ref.api.names import label_value_faults
from kueue_dra_ref.api.types import PodSet
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid, unsupported
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


@dataclass(frozen=True, slots=True)
class UnparsableLabel:
    """Why Kueue cannot parse the node affinity of the pods, which ends the flavor search."""

    message: str


@rule("QUOTA-018")
def node_affinity_matches(
    pod_set: PodSet, name: str, flavor: Mapping[str, Any]
) -> str | None:
    """Kueue skips a flavor whose nodeLabels contradict the node selector or required node affinity.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets, flavorSelector)
    """
    return _doubts_about_labels(pod_set, name, flavor, flavor.get("nodeLabels") or ())


@rule("QUOTA-018", "QUOTA-024")
def node_affinity_matches_in_group(
    pod_set: PodSet, name: str, flavor: Mapping[str, Any], keys: Collection[str]
) -> str | None:
    """Kueue skips a flavor that lacks a selected label when another flavor of its group has the label key.

    Kueue 0.17: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets, flavorSelector);
        pkg/cache/scheduler/clusterqueue.go (updateLabelKeys)
    """
    return _doubts_about_labels(pod_set, name, flavor, keys)


@rule("QUOTA-031", "QUOTA-047")
def affinity_operand_is_integer(
    pod_set: PodSet, name: str, flavor: Mapping[str, Any]
) -> UnparsableLabel | None:
    """Kueue ends the flavor search at required node affinity that does not match and cannot be parsed.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets)
    """
    del name
    return _unreadable(pod_set, flavor, flavor.get("nodeLabels") or ())


@rule("QUOTA-031", "QUOTA-047")
def affinity_operand_is_integer_in_group(
    pod_set: PodSet, name: str, flavor: Mapping[str, Any], keys: Collection[str]
) -> UnparsableLabel | None:
    """Kueue ends the flavor search at unparsable node affinity on label keys of any flavor of the group.

    Kueue 0.17: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets, flavorSelector);
        pkg/cache/scheduler/clusterqueue.go (updateLabelKeys)
    """
    del name
    return _unreadable(pod_set, flavor, keys)


def _doubts_about_labels(
    pod_set: PodSet, name: str, flavor: Mapping[str, Any], keys: Collection[str]
) -> str | None:
    """Report a flavor that contradicts what pods select by labels of some keys; other keys do not matter."""
    labels: dict[str, str] = flavor.get("nodeLabels") or {}
    if _selector_holds(pod_set, labels, keys) and _affinity_holds(
        pod_set, labels, keys
    ):
        return None
    return f"flavor {name} doesn't match node affinity"


def _unreadable(
    pod_set: PodSet, flavor: Mapping[str, Any], keys: Collection[str]
) -> UnparsableLabel | None:
    labels: dict[str, str] = flavor.get("nodeLabels") or {}
    if not _selector_holds(pod_set, labels, keys) or _affinity_holds(
        pod_set, labels, keys
    ):
        return None
    faults = list(_faults(_terms(pod_set, keys)))
    message = faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
    return UnparsableLabel(message) if faults else None


def _selector_holds(
    pod_set: PodSet, labels: dict[str, str], keys: Collection[str]
) -> bool:
    return all(
        labels.get(key) == value
        for key, value in pod_set.node_selector.items()
        if key in keys
    )


def _terms(pod_set: PodSet, keys: Collection[str]) -> list[list[dict[str, Any]]]:
    """What is required by labels of some keys; a term that speaks of others only holds anywhere, and with it all do."""
    terms = [
        [e for e in term if e.get("key") in keys] for term in pod_set.affinity_terms
    ]
    return terms if all(terms) else []


def _affinity_holds(
    pod_set: PodSet, labels: dict[str, str], keys: Collection[str]
) -> bool:
    terms = _terms(pod_set, keys)
    return not terms or any(
        not any(map(_wrong, term)) and all(expression_holds(e, labels) for e in term)
        for term in terms
    )


def _faults(terms: list[list[dict[str, Any]]]) -> Iterator[str]:
    for index, term in enumerate(terms):
        for place, expression in enumerate(term):
            found = [
                str(fault)
                for fault in _wrong(
                    expression, f"nodeSelectorTerms[{index}].matchExpressions[{place}]"
                )
            ]
            yield from (
                [found[0] if len(found) == 1 else f"[{', '.join(found)}]"]
                if found
                else []
            )


def _wrong(expression: dict[str, Any], path: str = "") -> tuple[FieldError, ...]:
    """Say why a comparison cannot be made: of a Job's pods an API server has seen to all but what is compared."""
    operator, values = expression.get("operator") or "", expression.get("values") or []
    if operator not in _OPERATORS:
        return (unsupported(f"{path}.operator", operator, *_OPERATORS),)
    no_labels = _no_labels(values, expression.get("key", ""), f"{path}.values")
    return (
        *_misnumbered(operator, expression.get("values"), f"{path}.values"),
        *no_labels,
    )


def _misnumbered(operator: str, written: list[str] | None, path: str) -> Errors:
    values = written or []
    match operator:
        case "In" | "NotIn" if not values:
            yield invalid(
                path, written, "for 'in', 'notin' operators, values set can't be empty"
            )
        case "Exists" | "DoesNotExist" if values:
            yield invalid(
                path, values, "values set must be empty for exists and does not exist"
            )
        case "Gt" | "Lt":
            if len(values) != 1:
                yield invalid(
                    path,
                    written,
                    "for 'Gt', 'Lt' operators, exactly one value is required",
                )
            for index, value in enumerate(values):
                if integer(value) is None:
                    detail = "for 'Gt', 'Lt' operators, the value must be an integer"
                    yield invalid(f"{path}[{index}]", value, detail)


def _no_labels(values: list[str], key: str, path: str) -> Errors:
    for index, value in enumerate(values):
        if faults := label_value_faults(value):
            yield invalid(f"{path}[{index}][{key}]", value, "; ".join(faults))
