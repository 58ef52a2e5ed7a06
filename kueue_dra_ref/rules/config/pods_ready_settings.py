"""Validation of waitForPodsReady in a Configuration.

Kueue: pkg/config/validation.go (validateWaitForPodsReady)
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.crd_validation import invalid
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.pods_ready import CREATION, EVICTION
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

_SECTION = "waitForPodsReady"
_STRATEGY = f"{_SECTION}.requeuingStrategy"
_NEGATIVE = "must be greater than or equal to 0"
_NUMBERS = ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds")


@rule("READY-030")
def timeout_is_specified(configuration: Configuration) -> Iterator[FieldError]:
    """Kueue rejects a waitForPodsReady of version v1beta2 without a timeout.

    Kueue 0.15: pkg/config/validation.go (validateWaitForPodsReady)
    """
    waiting = configuration.waiting
    if waiting.is_in_force and not waiting.is_first_version and not waiting.timeout:
        yield _without_timeout()


@rule("READY-031")
def first_timeout_is_not_zero(configuration: Configuration) -> Iterator[FieldError]:
    """Kueue rejects a timeout of zero in a Configuration of version v1beta1.

    Kueue: pkg/config/validation.go (validateWaitForPodsReady)
    """
    waiting = configuration.waiting
    if waiting.is_in_force and waiting.is_first_version and waiting.timeout == 0:
        yield _without_timeout()


@rule("READY-029")
def waiting_times_are_not_negative(
    configuration: Configuration,
) -> Iterator[FieldError]:
    """Kueue rejects a negative timeout or recoveryTimeout.

    Kueue: pkg/config/validation.go (validateWaitForPodsReady)
    """
    waiting = configuration.waiting
    if not waiting.is_in_force:
        return
    times = {"timeout": waiting.timeout, "recoveryTimeout": waiting.recovery_timeout}
    for name, seconds in times.items():
        if seconds is not None and seconds < 0:
            written = configuration.document[_SECTION][name]
            yield invalid(f"{_SECTION}.{name}", _NEGATIVE, printed(written))


@rule("READY-029")
def requeuing_timestamp_is_known(configuration: Configuration) -> Iterator[FieldError]:
    """Kueue rejects a requeuingStrategy whose timestamp is neither Creation nor Eviction.

    Kueue: pkg/config/validation.go (validateWaitForPodsReady)
    """
    waiting = configuration.waiting
    if waiting.is_in_force and waiting.timestamp not in (CREATION, EVICTION):
        yield FieldError(
            field=f"{_STRATEGY}.timestamp",
            type="Unsupported value",
            value=printed(waiting.timestamp),
            detail=f'supported values: "{CREATION}", "{EVICTION}"',
        )


@rule("READY-029")
def requeuing_numbers_are_not_negative(
    configuration: Configuration,
) -> Iterator[FieldError]:
    """Kueue rejects a requeuingStrategy with a negative number.

    Kueue: pkg/config/validation.go (validateWaitForPodsReady)
    """
    if not configuration.waiting.is_in_force:
        return
    strategy: Manifest = configuration.document[_SECTION].get("requeuingStrategy") or {}
    for name in _NUMBERS:
        number = strategy.get(name)
        if number is not None and number < 0:
            yield invalid(f"{_STRATEGY}.{name}", _NEGATIVE, printed(number))


def _without_timeout() -> FieldError:
    field = f"{_SECTION}.timeout"
    return FieldError(field=field, type="Required value", detail="must be specified")
