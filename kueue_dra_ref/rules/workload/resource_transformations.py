"""Transformations of the Configuration: outputs that Kueue charges for the requests of containers (Kueue 0.19).

Kueue: pkg/workload/workload.go (applyResourceTransformations)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from kueue_dra_ref.api.configuration import Transformation
from kueue_dra_ref.api.pods import ResourceList, add
from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.model.rule import rule

Transformations = Sequence[Transformation]


@rule("QUOTA-036", "QUOTA-038", "QUOTA-039")
def transformation_outputs_add_to_requests(
    amounts: ResourceList, transformations: Transformations
) -> ResourceList:
    """Kueue adds transformation outputs to requests; a negative sum of outputs reduces no request.

    Kueue: pkg/workload/workload.go (applyResourceTransformations)
    """
    kept = _untouched(amounts, transformations)
    outputs = ResourceList()
    for each in _applicable(amounts, transformations):
        requested = amounts[each.input]
        scale = _multiplier(each, amounts)
        kept = add(kept, _retained(each, requested))
        scaled = requested.amount * scale
        outputs = add(outputs, _outputs(each, scaled))
    for name, output in outputs.items():
        outputs[name] = _of(max(output.amount, Fraction(0)), output)
    return add(kept, outputs)


@rule("QUOTA-036", "QUOTA-040", "QUOTA-041")
def transformation_outputs_0_18(
    amounts: ResourceList, transformations: Transformations
) -> ResourceList:
    """Kueue sums outputs and requests, so negative outputs reduce requests; multiplyBy scales kept inputs.

    Kueue 0.18: pkg/workload/workload.go (applyResourceTransformations)
    """
    total = _untouched(amounts, transformations)
    for each in _applicable(amounts, transformations):
        requested = amounts[each.input]
        scale = _multiplier(each, amounts)
        scaled = _of(requested.amount * scale, requested)
        total = add(total, _retained(each, scaled))
        outputs = _outputs(each, scaled.amount)
        total = add(total, outputs)
    return total


@rule("QUOTA-037", "QUOTA-040", "QUOTA-041")
def transformation_outputs_0_17(
    amounts: ResourceList, transformations: Transformations
) -> ResourceList:
    """Kueue rounds inputs and multiplyBy up to whole units before it computes transformation outputs.

    Kueue 0.17: pkg/workload/workload.go (applyResourceTransformations)
    """
    total = _untouched(amounts, transformations)
    for each in _applicable(amounts, transformations):
        requested = amounts[each.input]
        scale = math.ceil(_multiplier(each, amounts))
        scaled = _of(requested.amount * scale, requested)
        total = add(total, _retained(each, scaled))
        whole_units = Fraction(scaled.ceiling)
        outputs = _outputs(each, whole_units)
        total = add(total, outputs)
    return total


def _multiplier(transformation: Transformation, amounts: ResourceList) -> Fraction:
    """Give the request that multiplyBy names; 1 without one."""
    if transformation.multiply_by not in amounts:
        return Fraction(1)
    return amounts[transformation.multiply_by].amount


def _applicable(
    amounts: ResourceList, transformations: Transformations
) -> Transformations:
    """Give the transformation of each requested resource that has one."""
    by_input = {each.input: each for each in transformations}
    applicable = []
    for name in amounts:
        if name in by_input:
            applicable.append(by_input[name])
    return applicable


def _untouched(amounts: ResourceList, transformations: Transformations) -> ResourceList:
    inputs = {each.input for each in transformations}
    untouched = ResourceList()
    for name, amount in amounts.items():
        if name not in inputs:
            untouched[name] = amount
    return untouched


def _retained(transformation: Transformation, amount: Quantity) -> ResourceList:
    if transformation.strategy != "Retain":
        return {}
    return {transformation.input: amount}


def _outputs(transformation: Transformation, factor: Fraction) -> ResourceList:
    outputs = {}
    for name, output in transformation.outputs.items():
        scaled = output.amount * factor
        outputs[name] = _of(scaled, output)
    return outputs


def _of(amount: Fraction, like: Quantity) -> Quantity:
    return Quantity(amount=amount, format=like.format)
