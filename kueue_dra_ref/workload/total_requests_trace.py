"""How `explain` shows the total of a pod set: what devices charge per pod, times pods, plus what pods share.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kueue_dra_ref.api.pods import printed, units
from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.api.types import PodSet
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.explain.step import TIMES, Step, named
from kueue_dra_ref.workload.dra_resources import DRAResources
from kueue_dra_ref.workload.total_requests import TotalRequests


def total_request_steps(
    behaviour: Behaviour,
    requests: Sequence[TotalRequests],
    dra: DRAResources,
) -> Iterator[Step]:
    """Explain how the devices of one pod become those of its pod set."""
    once = behaviour.charging.once_per_workload
    for each in requests:
        name = each.pod_set.name
        title = f"pod set {name}: " if len(requests) > 1 else ""
        for resource in dra.charges.get(name, {}):
            yield from _explain_resource(behaviour, each, dra, resource, title)
        shared = dra.shared.get(name, {})
        for resource, devices in shared.items():
            text = f"{title}{devices} {resource} of claims that exist once, whatever the number of pods"
            yield Step.by(text, *once.rules)


def _explain_resource(
    behaviour: Behaviour,
    requests: TotalRequests,
    dra: DRAResources,
    resource: str,
    title: str,
) -> Iterator[Step]:
    """Explain the total of one resource that devices charge: per pod, times pods, plus what pods share."""
    charging = behaviour.charging
    pod_set = requests.pod_set
    charges = dra.charges[pod_set.name]
    devices = charges[resource]
    per_pod = _format_devices(requests, resource, devices)
    requested = _requested_in_addition(pod_set, dra, resource)
    if requested:
        per_pod += f" + {requested}"
        text = f"{title}containers request {requested} {resource} in addition"
        yield Step.by(text, *charging.plus_pod_requests.rules)
    kept = _kept_in_addition(requests, dra, resource)
    if kept:
        per_pod += f" + {kept}"
        text = f"{title}pod overhead and transformations add {kept} {resource}"
        yield Step.by(text, *behaviour.extended.kept_natively.rules)
    pods = named(requests.count, "pod")
    product = f"{title}{per_pod} per pod {TIMES} {pods}"
    shared = dra.shared.get(pod_set.name, {})
    if resource in shared:
        product += f" + {shared[resource]}"
    amount = requests.amounts[resource]
    total = printed(resource, amount, requests.in_bytes)
    text = f"{product} = {total} {resource}"
    yield Step.by(text, *charging.pods.rules)


def _kept_in_addition(requests: TotalRequests, dra: DRAResources, resource: str) -> str:
    """Give what a pod is charged for a removed name apart from devices; empty if nothing."""
    name = requests.pod_set.name
    if resource not in dra.replaced.get(name, ()) or not requests.count:
        return ""
    shared = requests.shared.get(resource, 0)
    of_pods = requests.amounts[resource] - shared
    per_pod = of_pods // requests.count
    devices = parse(dra.charges[name][resource])
    kept = per_pod - units(resource, devices)
    if kept <= 0:
        return ""
    return printed(
        resource,
        kept,
        requests.in_bytes,
    )


def _format_devices(requests: TotalRequests, resource: str, devices: int) -> str:
    in_bytes = requests.in_bytes
    if resource in in_bytes and resource != "cpu":
        return printed(resource, devices, in_bytes)
    return str(devices)


def _requested_in_addition(
    pod_set: PodSet,
    dra: DRAResources,
    resource: str,
) -> str:
    """Give what containers request under the name of a resource that devices charge too; empty if nothing."""
    if resource in dra.replaced.get(pod_set.name, ()):
        return ""
    requested = pod_set.requests.get(resource)
    if not requested:
        return ""
    return str(requested)
