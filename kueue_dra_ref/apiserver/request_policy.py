"""Validation of request policies of consumable capacities: what values a share may have.

Kubernetes: pkg/apis/resource/validation/validation.go (validateRequestPolicy, validateRequestPolicyRange,
    validateRequestPolicyValidValues)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

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
    for key in ("min", "max", "step"):
        if key in bounds:
            named[key] = parse(bounds[key])
    if "max" in named:
        yield from _maximum(low, named["max"], default, most, path, k)
    yield from _steps(named, most, path, k)


def _steps(
    named: Mapping[str, Quantity], most: Quantity, path: str, k: Kubernetes
) -> Errors:
    """Check what the bounds, the step and the default are to each other."""
    if k.on(FRACTIONS) and any(value.amount % 1 for value in named.values()):
        yield from _fractions(named, most, path)
    elif "step" in named:
        values = [named[key] for key in ("default", "max") if key in named]
        yield from _step(named["step"], named["min"], values, most, path, k)


def _fractions(named: Mapping[str, Quantity], most: Quantity, path: str) -> Errors:
    """Check a range with fractions in thousandths (from 1.37 on, with a gate)."""
    fine = True
    for key, value in named.items():
        if (value.amount * 1000).denominator != 1:
            fine = False
            words = "value cannot be represented as a milli value"
            yield invalid(f"{path}.{key}", str(value), words)
    if fine and "step" in named:
        yield from _fractional_step(named, most, f"{path}.step")


def _fractional_step(
    named: Mapping[str, Quantity], most: Quantity, path: str
) -> Errors:
    step, low = named["step"], named["min"]
    if step.amount <= 0:
        yield invalid(path, str(step), "must be greater than zero")
        return
    first = _one_step(low, step)
    if first.amount > most.amount:
        words = f"one step {first} is larger than capacity value: {most}"
        yield invalid(path, str(step), words)
    for key in ("default", "max"):
        value = named.get(key)
        if value is not None and (value.amount - low.amount) % step.amount:
            words = f"value is not a multiple of a given step ({step}) from ({low})"
            yield invalid(path, str(value), words)


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
    step: Quantity,
    low: Quantity,
    values: list[Quantity],
    most: Quantity,
    path: str,
    k: Kubernetes,
) -> Errors:
    if k.steps_are_checked and step.amount <= 0:
        yield invalid(f"{path}.step", str(step), "must be greater than zero")
        return
    first = _one_step(low, step)
    if first.amount > most.amount:
        words = f"one step {first} is larger than capacity value: {most}"
        yield invalid(f"{path}.step", str(step), words)
    if k.steps_are_checked:
        yield from _beyond(
            {"min": low, "step": step}
            | dict(zip(("default", "max"), values, strict=False)),
            path,
        )
    for value in values:
        if (value.ceiling - low.ceiling) % step.ceiling:
            words = f"value is not a multiple of a given step ({step}) from ({low})"
            yield invalid(f"{path}.step", str(value), words)


def _beyond(values: dict[str, Quantity], path: str) -> Errors:
    for key in (key for key in ("default", "min", "max", "step") if key in values):
        if values[key].amount < 0:
            yield invalid(
                f"{path}.{key}", str(values[key]), "must be greater than or equal to 0"
            )
        if values[key].amount > MAX_INT64:
            yield invalid(
                f"{path}.{key}",
                str(values[key]),
                f"must not be larger than {MAX_INT64}",
            )
