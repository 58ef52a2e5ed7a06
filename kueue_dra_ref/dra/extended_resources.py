"""Extended resources of a workload: which names classes stand for, and what they are charged, or what is refused.

Kueue: pkg/dra/extended_resources.go (ResolveExtendedResourceQuota, NeedsDRAReconcile)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.types import PodSet, Workload
from kueue_dra_ref.behaviours.phases_dra import ExtendedResources
from kueue_dra_ref.explain.step import TIMES, Step, cited, listed
from kueue_dra_ref.model.device_checks import DeviceClassSelection
from kueue_dra_ref.model.extended_resources import ExtendedResourceRequest, amounts
from kueue_dra_ref.model.lister import Lister
from kueue_dra_ref.target import FieldError, Manifest
from kueue_dra_ref.workload.map_order import MapOrderDraw


@dataclass(slots=True, kw_only=True)
class ResolvedExtendedResources:
    """What the extended resources of a workload come to; shares are devices of one pod, by pod set and resource."""

    shares: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    replaced: dict[str, frozenset[str]] = field(default_factory=dict)
    """The names that are not ordinary requests any more, by pod set."""
    faults: list[FieldError] = field(default_factory=list)
    cites: list[str] = field(default_factory=list)
    """The requirements that the faults follow from."""
    steps: list[Step] = field(default_factory=list)


def stands_for_devices(
    rules: ExtendedResources, world: Lister, workload: Workload
) -> bool:
    """Whether a workload asks for devices by a name that a class stands for."""
    names = dict.fromkeys(name for rule in rules.detected for name in rule(workload))
    return any(_class_of(rules, world, name, ())[0] for name in names)


def extended_resources(
    rules: ExtendedResources,
    world: Lister,
    workload: Workload,
    mappings: Sequence[DeviceClassMapping],
    draw: MapOrderDraw,
) -> ResolvedExtendedResources:
    """Charge every pod set for its extended resources; everything that is wrong with any of them is told."""
    found = ResolvedExtendedResources()
    for pod_set in workload.pod_sets:
        each = list(_wanted(rules, world, pod_set, mappings, draw, found.steps))
        _refuse_containers(rules, pod_set, each, found)
        for resource, together in _charged(
            rules, [wanted for wanted in each if not _refused(rules, wanted, found)]
        ):
            _charge(rules, resource, together, found)
    return found


def _wanted(
    rules: ExtendedResources,
    world: Lister,
    pod_set: PodSet,
    mappings: Sequence[DeviceClassMapping],
    draw: MapOrderDraw,
    steps: list[Step],
) -> Iterator[ExtendedResourceRequest]:
    names = dict.fromkeys(name for rule in rules.asked for name in rule(pod_set))
    for name in draw.names(names):
        device_class, chosen = _class_of(rules, world, name, mappings)
        steps += chosen
        if device_class:
            yield ExtendedResourceRequest(
                pod_set=pod_set, name=name, device_class=device_class, mappings=mappings
            )


def _class_of(
    rules: ExtendedResources,
    world: Lister,
    name: str,
    mappings: Sequence[DeviceClassMapping],
) -> tuple[str, tuple[Step, ...]]:
    """The class that stands for a name, and how it was chosen; empty for a resource that is none of devices."""
    if not any(rule(name) for rule in rules.named):
        return "", ()
    classes, steps = world.classes_for(name), list[Step]()
    selection = DeviceClassSelection(classes=classes, mappings=mappings)
    for rule, selected in rules.chosen.steps(selection):
        left = selected.classes if selected else classes
        if len(left) < len(classes):
            text = f"{name} is in {_shown(classes)}; what counts is {_shown(left) or 'none'}: {rule.sentence}"
            steps.append(Step(requirements=cited([rule]), text=text))
        classes = left
    return str(classes[0]["metadata"]["name"]) if classes else "", tuple(steps)


def _shown(classes: Sequence[Manifest]) -> str:
    found = sorted(
        (each["metadata"]["name"], each["metadata"]["creationTimestamp"])
        for each in classes
    )
    return listed(
        [f"DeviceClass {name} (created {created})" for name, created in found]
    )


def _refuse_containers(
    rules: ExtendedResources,
    pod_set: PodSet,
    each: Sequence[ExtendedResourceRequest],
    found: ResolvedExtendedResources,
) -> None:
    """Tell what is wrong with each container, initial ones first, and there with each resource."""
    for container in sorted(
        pod_set.containers, key=lambda container: not container.initial
    ):
        for wanted in (wanted for wanted in each if container in wanted.asking):
            told = (
                (rule, fault)
                for rule in rules.in_container
                if (fault := rule(wanted, container))
            )
            for rule, fault in list(told)[:1]:
                found.faults.append(fault)
                found.cites += cited([rule])


def _refused(
    rules: ExtendedResources,
    wanted: ExtendedResourceRequest,
    found: ResolvedExtendedResources,
) -> bool:
    for rule in rules.refused:
        if faults := list(rule(wanted)):
            found.faults += faults
            found.cites += cited([rule])
            return True
    return False


def _charged(
    rules: ExtendedResources, each: Iterable[ExtendedResourceRequest]
) -> list[tuple[str, list[ExtendedResourceRequest]]]:
    """Part what is wanted by the resource that it charges; what is compared apart is so there."""
    parts: dict[tuple[str, ...], list[ExtendedResourceRequest]] = {}
    for wanted in each:
        resource = next((rule(wanted) for rule in rules.charged), "")
        parts.setdefault(
            (resource, *(rule(wanted) for rule in rules.per_name)), []
        ).append(wanted)
    return [(resource, together) for (resource, *_), together in parts.items()]


def _charge(
    rules: ExtendedResources,
    resource: str,
    together: Sequence[ExtendedResourceRequest],
    found: ResolvedExtendedResources,
) -> None:
    pod_set = together[0].pod_set
    initial, regular = (amounts(together, initial=initial) for initial in (True, False))
    amount = next(
        (rule(initial, regular) for rule in rules.in_pod), (*initial, *regular)[-1]
    )
    if resource:
        found.shares.setdefault(pod_set.name, {}).setdefault(resource, []).append(
            amount
        )
        _explain(rules, together, found, amount, resource)
    names = {
        wanted.name
        for wanted in together
        if any(rule(wanted.name) for rule in rules.not_charged_natively)
    }
    if names:
        found.replaced[pod_set.name] = (
            found.replaced.get(pod_set.name, frozenset()) | names
        )


def _explain(
    rules: ExtendedResources,
    together: Sequence[ExtendedResourceRequest],
    found: ResolvedExtendedResources,
    amount: int,
    resource: str,
) -> None:
    names, classes = (
        listed([one.name for one in together]),
        listed([one.device_class for one in together]),
    )
    stands = f"for which DeviceClass {classes} stands"
    text = f"pod set {together[0].pod_set.name}: a pod requests {amount} {TIMES} {names}, {stands}"
    found.steps.append(Step(requirements=cited(rules.detected), text=text))
    mapped = resource not in {wanted.name for wanted in together}
    told = (
        f"mapped to {resource}"
        if mapped
        else f"not mapped to another resource: {resource} is charged"
    )
    cites = tuple(one for rule in rules.charged for one in rule.requirements)
    found.steps.append(
        Step(requirements=cites[: 1 if mapped else 2][-1:], text=f"{classes} is {told}")
    )


def merged(
    one: Mapping[str, Iterable[int]], other: Mapping[str, Iterable[int]]
) -> dict[str, list[int]]:
    """The shares of one pod from two sources, by resource."""
    return {
        name: [*one.get(name, ()), *other.get(name, ())]
        for name in (*one, *(n for n in other if n not in one))
    }
