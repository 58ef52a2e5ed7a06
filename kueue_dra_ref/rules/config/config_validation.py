"""Validation of the Configuration: transformations, fair sharing, namespaces and quotaCheckStrategy (Kueue 0.19).

Kueue: pkg/config/validation.go (validateResourceTransformations, validateManagedJobsNamespaceSelector,
    validateQuotaCheckStrategy)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.crd_validation import invalid
from kueue_dra_ref.api.labels import NAME_LABEL, selects
from kueue_dra_ref.api.metav1_validation import selector_faults
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError

_FINAL, _INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
_PREEMPTION = "fairSharing.preemptionStrategies"
_MANAGED = "managedJobsNamespaceSelector"
_CHECK = "resources.quotaCheckStrategy"
_CHECKS = ("IgnoreUndeclared", "BlockUndeclared")


@rule("CFG-014")
def fair_sharing_strategies_are_valid(
    configuration: Configuration,
) -> Iterator[FieldError]:
    """Kueue accepts one preemption strategy, or LessThanOrEqualToFinalShare and then LessThanInitialShare.

    Kueue: pkg/config/validation.go (validateFairSharing, validStrategySets)
    """
    strategies = configuration.fair_sharing
    if strategies is not None and strategies not in (
        (_FINAL,),
        (_INITIAL,),
        (_FINAL, _INITIAL),
    ):
        yield _unsupported(
            _PREEMPTION, list(strategies), (_FINAL, _INITIAL, f"{_FINAL},{_INITIAL}")
        )


@rule("CFG-015")
def transformation_strategy_is_known(
    configuration: Configuration, index: int
) -> FieldError | None:
    """Kueue rejects a resource transformation whose strategy is neither Retain nor Replace.

    Kueue: pkg/config/validation.go (validateResourceTransformations)
    """
    strategy = configuration.transformations[index].strategy
    if strategy in ("Retain", "Replace"):
        return None
    return _unsupported(
        f"resources.transformations[{index}].strategy", strategy, ("Retain", "Replace")
    )


@rule("CFG-016")
def transformation_input_is_unique(
    configuration: Configuration, index: int
) -> FieldError | None:
    """Kueue rejects a transformation whose input an earlier transformation already has.

    Kueue: pkg/config/validation.go (validateResourceTransformations)
    """
    found = [each.input for each in configuration.transformations]
    if found[index] not in found[:index]:
        return None
    field = f"resources.transformations[{index}].input"
    return FieldError(field=field, type="Duplicate value", value=printed(found[index]))


@rule("CFG-019")
def managed_jobs_namespace_selector_is_valid(
    configuration: Configuration,
) -> Iterator[FieldError]:
    """Kueue rejects a managedJobsNamespaceSelector that is not a valid label selector.

    Kueue: pkg/config/validation.go (validateManagedJobsNamespaceSelector)
    """
    yield from selector_faults(_MANAGED, configuration.managed_jobs_namespace_selector)


@rule("CFG-020")
def system_namespaces_are_not_selected(
    configuration: Configuration,
) -> Iterator[FieldError]:
    """Kueue rejects a managedJobsNamespaceSelector that selects kube-system or the namespace of Kueue.

    Kueue: pkg/config/validation.go (validateManagedJobsNamespaceSelector)
    """
    selector = configuration.managed_jobs_namespace_selector
    if any(selector_faults(_MANAGED, selector)):
        return
    for name in ("kube-system", configuration.namespace):
        if selects(selector, {NAME_LABEL: name}):
            yield invalid(
                _MANAGED, f'should not match the "{name}" namespace', printed(selector)
            )


@rule("CFG-017")
def exclusions_conflict_with_ignore_undeclared(
    configuration: Configuration,
) -> Iterator[FieldError]:
    """Kueue rejects quotaCheckStrategy IgnoreUndeclared together with excludeResourcePrefixes.

    Kueue: pkg/config/validation.go (validateQuotaCheckStrategy)
    """
    strategy = configuration.quota_check_strategy
    if strategy == "IgnoreUndeclared" and configuration.exclude_resource_prefixes:
        detail = "excludeResourcePrefixes is not allowed when quotaCheckStrategy is IgnoreUndeclared"
        yield FieldError(
            field=_CHECK, type="Invalid value", value=printed(strategy), detail=detail
        )


@rule("CFG-018")
def quota_check_strategy_is_known(
    configuration: Configuration,
) -> Iterator[FieldError]:
    """Kueue rejects a quotaCheckStrategy other than IgnoreUndeclared and BlockUndeclared.

    Kueue: pkg/config/validation.go (validateQuotaCheckStrategy)
    """
    if configuration.quota_check_strategy not in _CHECKS:
        yield _unsupported(_CHECK, configuration.quota_check_strategy, _CHECKS)


def _unsupported(
    field: str, found: str | list[str], supported: Sequence[str]
) -> FieldError:
    detail = ", ".join(f'"{each}"' for each in supported)
    return FieldError(
        field=field,
        type="Unsupported value",
        value=printed(found),
        detail=f"supported values: {detail}",
    )
