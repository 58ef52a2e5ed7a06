"""Validation of request policies of consumable capacities: what values a share may have.

Kubernetes: pkg/apis/resource/validation/validation.go (validateRequestPolicy, validateRequestPolicyRange,
    validateRequestPolicyValidValues)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from operator import attrgetter

from kueue_dra_ref.api.quantities import MAX_INT64, Quantity, parse
from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver.fielderrors import (
    Errors,
    forbidden,
    invalid,
    listed_once,
    required,
)
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes

MAX_VALUES = 10
_THOUSANDTHS = 1000
_exact, _ceiling = attrgetter("amount"), attrgetter("ceiling")
FRACTIONS = "DRAFractionalCapacityRange"
"""With this gate, an API server calculates with fractions of a unit; otherwise it rounds them up."""
_EITHER = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'


def request_policy(amount: str, policy: Object, path: str, k: Kubernetes) -> Errors:
    """Check a policy against the capacity that it shares out.

    Raises:
        ZeroDivisionError: an API server (up to 1.36) divides by a step of zero, and ends the connection.

    """
    values, bounds, default = (
        policy.get("validValues"),
        policy.get("validRange"),
        policy.get("default"),
    )
    if values and bounds is not None:
        yield forbidden(path, _EITHER)
    elif values and default is None:
        yield required(f"{path}.default", "required when validValues is defined")
    elif values:
        yield from _values(
            [parse(each) for each in values],
            parse(default),
            parse(amount),
            f"{path}.validValues",
            k,
        )
    elif bounds is not None and default is None:
        yield required(f"{path}.default", "required when validRange is defined")
    elif bounds is not None:
        yield from _range(
            bounds, parse(default), parse(amount), f"{path}.validRange", k
        )


def _values(
    values: list[Quantity], default: Quantity, most: Quantity, path: str, k: Kubernetes
) -> Errors:
    for index in range(1, len(values)):
        if values[index - 1].amount > values[index].amount:
            yield invalid(
                f"{path}[{index}]",
                str(values[index]),
                "values must be sorted in ascending order",
            )
    yield from listed_once(
        values,
        path,
        k,
        partial(_option, most),
        lambda each: str(each.amount if k.on(FRACTIONS) else each.ceiling),
        at_most=MAX_VALUES,
    )
    has_stopped = (
        len(values) > MAX_VALUES and k.stops_at_sizes
    )  # the default was not looked for, and so not found
    if has_stopped or default.amount not in [each.amount for each in values]:
        yield invalid(
            path,
            str(default),
            "default value is not valid according to the requestPolicy",
        )


def _option(most: Quantity, value: Quantity, path: str) -> Errors:
    if value.amount > most.amount:
        yield invalid(path, str(value), f"option is larger than capacity value: {most}")


def _range(
    bounds: Object, default: Quantity, most: Quantity, path: str, k: Kubernetes
) -> Errors:
    if "min" not in bounds:
        yield required(f"{path}.min", "required when validRange is defined")
        return
    low = parse(bounds["min"])
    if low.amount > most.amount:
        yield invalid(
            f"{path}.min", str(low), f"min is larger than capacity value: {most}"
        )
    if default.amount < low.amount:
        where = "default" if k.default_has_path else "min"
        yield invalid(
            f"{path}.{where}", str(default), f"default is less than min: {low}"
        )
    named = {"default": default}
    for key in ("min", "max", "step"):  # the order of their errors
        if key in bounds:
            named[key] = parse(bounds[key])
    if "max" in named:
        yield from _maximum(low, named["max"], default, most, path, k)
    yield from _steps(named, most, path, k)


def _steps(
    named: Mapping[str, Quantity], most: Quantity, path: str, k: Kubernetes
) -> Errors:
    """Check what the bounds, the step and the default are to each other."""
    in_thousandths = k.on(FRACTIONS) and any(
        value.amount % 1 for value in named.values()
    )
    if in_thousandths:
        fine = list(_too_fine(named, path))
        yield from fine
        if fine:
            return
    if "step" in named:
        yield from _step(named, most, path, k, in_thousandths=in_thousandths)


def _too_fine(named: Mapping[str, Quantity], path: str) -> Errors:
    """Check that a range with fractions is one of thousandths (from 1.37 on, with a gate)."""
    for key, value in named.items():
        if _THOUSANDTHS % value.amount.denominator:
            words = "value cannot be represented as a milli value"
            yield invalid(f"{path}.{key}", str(value), words)


def _one_step(low: Quantity, step: Quantity) -> Quantity:
    written = low if low.amount else step
    return Quantity(amount=low.amount + step.amount, format=written.format)


def _maximum(
    low: Quantity,
    high: Quantity,
    default: Quantity,
    most: Quantity,
    path: str,
    k: Kubernetes,
) -> Errors:
    if low.amount > high.amount:
        yield invalid(f"{path}.max", str(low), f"min is larger than max: {high}")
    if high.amount > most.amount:
        yield invalid(
            f"{path}.max", str(high), f"max is larger than capacity value: {most}"
        )
    if default.amount > high.amount:
        where = "default" if k.default_has_path else "max"
        yield invalid(
            f"{path}.{where}", str(default), f"default is more than max: {high}"
        )


def _step(
    named: Mapping[str, Quantity],
    most: Quantity,
    path: str,
    k: Kubernetes,
    *,
    in_thousandths: bool,
) -> Errors:
    step, low = named["step"], named["min"]
    at = f"{path}.step"
    if k.steps_are_checked and step.amount <= 0:
        yield invalid(at, str(step), "must be greater than zero")
        return
    first = _one_step(low, step)
    if first.amount > most.amount:
        words = f"one step {first} is larger than capacity value: {most}"
        yield invalid(at, str(step), words)
    if k.steps_are_checked and not in_thousandths:
        yield from _beyond(named, path)
    yield from _between_steps(named, at, _exact if in_thousandths else _ceiling)


def _between_steps(
    named: Mapping[str, Quantity], path: str, size: Callable[[Quantity], Fraction]
) -> Errors:
    step, low = named["step"], named["min"]
    for value in (named[key] for key in ("default", "max") if key in named):
        if (size(value) - size(low)) % size(step):
            words = f"value is not a multiple of a given step ({step}) from ({low})"
            yield invalid(path, str(value), words)


def _beyond(named: Mapping[str, Quantity], path: str) -> Errors:
    """Check that whole numbers can hold the bounds, the step and the default."""
    for key, value in named.items():
        if value.amount < 0:
            words = "must be greater than or equal to 0"
            yield invalid(f"{path}.{key}", str(value), words)
        if value.amount > MAX_INT64:
            words = f"must not be larger than {MAX_INT64}"
            yield invalid(f"{path}.{key}", str(value), words)
