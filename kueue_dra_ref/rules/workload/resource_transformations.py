"""Transformations of the Configuration: outputs that Kueue charges for the requests of containers (Kueue 0.19).

Kueue: pkg/workload/workload.go (applyResourceTransformations)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from kueue_dra_ref.api.configuration import Transformation
from kueue_dra_ref.api.pods import Amounts, add
from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.model.rule import rule

Transformations = Sequence[Transformation]


@rule("QUOTA-036", "QUOTA-038", "QUOTA-039")
def transformation_outputs_add_to_requests(
    amounts: Amounts, transformations: Transformations
) -> Amounts:
    """Kueue adds transformation outputs to requests; a negative sum of outputs reduces no request.

    Kueue: pkg/workload/workload.go (applyResourceTransformations)
    """
    kept, given = _untouched(amounts, transformations), Amounts()
    for each in _concerning(amounts, transformations):
        scale = amounts[each.multiply_by].amount if each.multiply_by in amounts else 1
        kept = add(kept, _retained(each, amounts[each.input]))
        given = add(given, _outputs(each, amounts[each.input].amount * scale))
    return add(
        kept,
        {
            name: _of(max(amount.amount, Fraction(0)), amount)
            for name, amount in given.items()
        },
    )


@rule("QUOTA-036", "QUOTA-040", "QUOTA-041")
def transformation_outputs_0_18(
    amounts: Amounts, transformations: Transformations
) -> Amounts:
    """Kueue sums outputs and requests, so negative outputs reduce requests; multiplyBy scales kept inputs.

    Kueue 0.18: pkg/workload/workload.go (applyResourceTransformations)
    """
    total = _untouched(amounts, transformations)
    for each in _concerning(amounts, transformations):
        scale = amounts[each.multiply_by].amount if each.multiply_by in amounts else 1
        given = _of(amounts[each.input].amount * scale, amounts[each.input])
        total = add(add(total, _retained(each, given)), _outputs(each, given.amount))
    return total


@rule("QUOTA-037", "QUOTA-040", "QUOTA-041")
def transformation_outputs_0_17(
    amounts: Amounts, transformations: Transformations
) -> Amounts:
    """Kueue rounds inputs and multiplyBy up to whole units before it computes transformation outputs.

    Kueue 0.17: pkg/workload/workload.go (applyResourceTransformations)
    """
    total = _untouched(amounts, transformations)
    for each in _concerning(amounts, transformations):
        scale = amounts[each.multiply_by].ceiling if each.multiply_by in amounts else 1
        given = _of(amounts[each.input].amount * scale, amounts[each.input])
        total = add(
            add(total, _retained(each, given)), _outputs(each, Fraction(given.ceiling))
        )
    return total


def _concerning(amounts: Amounts, transformations: Transformations) -> Transformations:
    by_input = {each.input: each for each in transformations}
    return [by_input[name] for name in amounts if name in by_input]


def _untouched(amounts: Amounts, transformations: Transformations) -> Amounts:
    inputs = {each.input for each in transformations}
    return {name: amount for name, amount in amounts.items() if name not in inputs}


def _retained(transformation: Transformation, amount: Quantity) -> Amounts:
    return {transformation.input: amount} if transformation.strategy == "Retain" else {}


def _outputs(transformation: Transformation, factor: Fraction) -> Amounts:
    return {
        name: _of(each.amount * factor, each)
        for name, each in transformation.outputs.items()
    }


def _of(amount: Fraction, like: Quantity) -> Quantity:
    return Quantity(amount=amount, format=like.format)
