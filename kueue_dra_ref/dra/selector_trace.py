"""How `explain` shows selectors of a claim that fail or match too few devices: which selector, which device, how many.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kueue_dra_ref.cel import Device, EvaluationError
from kueue_dra_ref.explain.step import Step, named
from kueue_dra_ref.model.lister import DeviceRequestContext, Trial, class_selectors
from kueue_dra_ref.rules.dra.device_matching import Candidate, DeviceMatchingRules


@dataclass(frozen=True, slots=True, kw_only=True)
class _Selector:
    """One selector, and where it is."""

    title: str
    of_class: tuple[str, ...] = ()
    of_request: tuple[str, ...] = ()


def selector_steps(
    rules: DeviceMatchingRules,
    requests: Sequence[DeviceRequestContext],
    devices: Sequence[Device],
) -> Iterator[Step]:
    """Explain how many devices are left after each selector of a request; nothing without devices."""
    if not devices:
        return
    for context in requests:
        request = context.checked
        if not request.selectors:
            continue
        left = list(devices)
        for selector in _selectors(context, request.selectors):
            outcome, left = _outcome(rules, selector, left)
            yield Step.by(f"{context.title}: {selector.title} {outcome}")
            if not left:
                break


def _selectors(
    context: DeviceRequestContext, of_request: Sequence[str]
) -> Iterator[_Selector]:
    """Give the selectors that are evaluated, in this order: those of the DeviceClass, then those of the request."""
    name = context.checked.device_class
    of_class = class_selectors(context.lister, name) or ()
    for index, expression in enumerate(of_class):
        title = f"selector {index} of DeviceClass {name}"
        yield _Selector(title=title, of_class=(expression,))
    for index, expression in enumerate(of_request):
        title = f"selector {index} of the request"
        yield _Selector(title=title, of_request=(expression,))


def _outcome(
    rules: DeviceMatchingRules, selector: _Selector, devices: Sequence[Device]
) -> tuple[str, list[Device]]:
    """Say for how many devices a selector holds, or on which it fails first; give those for which it holds."""
    holding = []
    for device in devices:
        result = _evaluated(rules, selector, device)
        if isinstance(result, EvaluationError):
            text = f"fails on device {device.pool}/{device.name}: {result.detail}"
            return text, []
        if result is True:
            holding.append(device)
    text = f"holds for {len(holding)} of {named(len(devices), 'device')}"
    return text, holding


def _evaluated(
    rules: DeviceMatchingRules, selector: _Selector, device: Device
) -> Trial:
    candidate = Candidate(
        device=device,
        place=0,
        taken=frozenset(),
        class_selectors=selector.of_class,
        request_selectors=selector.of_request,
    )
    failed = rules.eligible.failed(candidate)
    return True if failed is None else failed.value
