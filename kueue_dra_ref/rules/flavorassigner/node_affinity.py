"""Node selectors and required node affinity: which flavors match (Queue Admission, step 6).

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets, flavorSelector)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.labels import expression_holds, integer
from kueue_dra_ref.api.names import aggregated, label_value_faults
from kueue_dra_ref.api.types import PodSet
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid, unsupported
from kueue_dra_ref.model.flavor_check import FlavorCheck
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError

Labels = dict[str, str]
Expression = dict[str, Any]
Term = list[Expression]
Keys = Collection[str]
Values = list[str] | None
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


@dataclass(frozen=True, slots=True)
class UnparsableLabel:
    """Why Kueue cannot parse the node affinity of the pods, which ends the flavor search."""

    message: str


@rule("QUOTA-018")
def node_affinity_matches(check: FlavorCheck) -> str | None:
    """Kueue skips a flavor whose nodeLabels contradict the node selector or required node affinity.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets, flavorSelector)
    """
    return _mismatch(check, check.node_labels)


@rule("QUOTA-018", "QUOTA-024")
def node_affinity_matches_in_group(check: FlavorCheck) -> str | None:
    """Kueue skips a flavor that lacks a selected label when another flavor of its group has the label key.

    Kueue 0.17: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets, flavorSelector);
        pkg/cache/scheduler/clusterqueue.go (updateLabelKeys)
    """
    return _mismatch(check, check.group_label_keys)


@rule("QUOTA-031", "QUOTA-047")
def affinity_operand_is_integer(check: FlavorCheck) -> UnparsableLabel | None:
    """Kueue ends the flavor search at required node affinity that does not match and cannot be parsed.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets)
    """
    return _unparsable(check, check.node_labels)


@rule("QUOTA-031", "QUOTA-047")
def affinity_operand_is_integer_in_group(check: FlavorCheck) -> UnparsableLabel | None:
    """Kueue ends the flavor search at unparsable node affinity on label keys of any flavor of the group.

    Kueue 0.17: pkg/scheduler/flavorassigner/flavorassigner.go (checkFlavorForPodSets, flavorSelector);
        pkg/cache/scheduler/clusterqueue.go (updateLabelKeys)
    """
    return _unparsable(check, check.group_label_keys)


def _mismatch(check: FlavorCheck, keys: Keys) -> str | None:
    """Report a flavor that contradicts what pods select by labels of some keys; other keys do not matter."""
    pod_set = check.pod_set
    labels = check.node_labels
    selected = _selector_matches(pod_set, labels, keys)
    if selected and _affinity_matches(pod_set, labels, keys):
        return None
    return f"flavor {check.name} doesn't match node affinity"


def _unparsable(check: FlavorCheck, keys: Keys) -> UnparsableLabel | None:
    pod_set = check.pod_set
    labels = check.node_labels
    if not _selector_matches(pod_set, labels, keys):
        return None
    if _affinity_matches(pod_set, labels, keys):
        return None
    faults = list(_faults(_terms(pod_set, keys)))
    return UnparsableLabel(aggregated(faults)) if faults else None


def _selector_matches(pod_set: PodSet, labels: Labels, keys: Keys) -> bool:
    for key, value in pod_set.node_selector.items():
        is_about = key in keys
        if is_about and labels.get(key) != value:
            return False
    return True


def _terms(pod_set: PodSet, keys: Keys) -> list[Term]:
    """Give the required terms as far as they are about some keys; one that is only about other keys matches."""
    terms = []
    for term in pod_set.affinity_terms:
        about = [each for each in term if each.get("key") in keys]
        terms.append(about)
    return terms


def _affinity_matches(pod_set: PodSet, labels: Labels, keys: Keys) -> bool:
    terms = _terms(pod_set, keys)
    if not terms:
        return True
    return any(_term_matches(term, labels) for term in terms)


def _term_matches(term: Term, labels: Labels) -> bool:
    if any(_errors(expression) for expression in term):
        return False
    return all(expression_holds(expression, labels) for expression in term)


def _faults(terms: list[Term]) -> Iterator[str]:
    """Give the errors of each expression as one text."""
    for index, term in enumerate(terms):
        for number, expression in enumerate(term):
            path = f"nodeSelectorTerms[{index}].matchExpressions[{number}]"
            errors = [str(error) for error in _errors(expression, path)]
            if errors:
                yield aggregated(errors)


def _errors(expression: Expression, path: str = "") -> tuple[FieldError, ...]:
    """Give the errors of an expression; for the pods of a Job, the API server already rejects most of them."""
    operator = expression.get("operator") or ""
    if operator not in _OPERATORS:
        return (unsupported(f"{path}.operator", operator, *_OPERATORS),)
    values = expression.get("values")
    path = f"{path}.values"
    key = expression.get("key", "")
    return (
        *_errors_of_values(operator, values, path),
        *_errors_of_labels(values or [], key, path),
    )


def _errors_of_values(operator: str, written: Values, path: str) -> Errors:
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
            yield from _errors_of_bound(written, path)


def _errors_of_bound(written: Values, path: str) -> Errors:
    values = written or []
    if len(values) != 1:
        detail = "for 'Gt', 'Lt' operators, exactly one value is required"
        yield invalid(path, written, detail)
    for index, value in enumerate(values):
        if integer(value) is None:
            detail = "for 'Gt', 'Lt' operators, the value must be an integer"
            at = f"{path}[{index}]"
            yield invalid(at, value, detail)


def _errors_of_labels(values: list[str], key: str, path: str) -> Errors:
    for index, value in enumerate(values):
        faults = label_value_faults(value)
        if faults:
            detail = "; ".join(faults)
            at = f"{path}[{index}][{key}]"
            yield invalid(at, value, detail)
