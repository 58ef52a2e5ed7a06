"""Validation of the Configuration: transformations, fair sharing, namespaces and quotaCheckStrategy (Kueue 0.19).

Kueue: pkg/config/validation.go (validateResourceTransformations, validateManagedJobsNamespaceSelector,
    validateAdmissionFairSharing, validateQuotaCheckStrategy)
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
_USAGE = "admissionFairSharing"
_NEGATIVE = "must be greater than or equal to 0"
_CHECK = "resources.quotaCheckStrategy"
_CHECKS = ("IgnoreUndeclared", "BlockUndeclared")


def _invalid_usage(configuration: Configuration, name: str, detail: str) -> FieldError:
    """Report a setting of admission fair sharing; for an interval, Kueue prints the half-life, too."""
    written = configuration.document[_USAGE]
    shown = "resourceWeights" if name.startswith("resource") else "usageHalfLifeTime"
    return invalid(f"{_USAGE}.{name}", detail, printed(written.get(shown, "0s")))


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


@rule("AFS-025")
def usage_half_life_is_not_negative(
    configuration: Configuration,
) -> Iterator[FieldError]:
    """Kueue rejects a negative usageHalfLifeTime.

    Kueue: pkg/config/validation.go (validateAdmissionFairSharing)
    """
    settings = configuration.admission_fair_sharing
    if settings is not None and settings.half_life < 0:
        yield _invalid_usage(configuration, "usageHalfLifeTime", _NEGATIVE)


@rule("AFS-026")
def usage_sampling_interval_is_positive(
    configuration: Configuration,
) -> Iterator[FieldError]:
    """Kueue rejects a negative usageSamplingInterval; 0 is the default.

    Kueue: pkg/config/validation.go (validateAdmissionFairSharing)
    """
    settings = configuration.admission_fair_sharing
    if settings is not None and settings.interval <= 0:
        found = "must be greater than 0"
        yield _invalid_usage(configuration, "usageSamplingInterval", found)


@rule("AFS-027")
def resource_weights_are_not_negative(
    configuration: Configuration,
) -> Iterator[FieldError]:
    """Kueue rejects a negative weight in resourceWeights.

    Kueue: pkg/config/validation.go (validateAdmissionFairSharing)
    """
    settings = configuration.admission_fair_sharing
    for name, weight in settings.weights.items() if settings else ():
        if weight < 0:
            field = f"resourceWeights[{name}]"
            yield _invalid_usage(configuration, field, _NEGATIVE)


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
