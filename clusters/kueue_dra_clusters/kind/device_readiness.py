"""Checks that nodes serve devices: with a small pod with a claim on each, replaced if it gets no device at once."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from kueue_dra_clusters.api_client import APIClient, RequestRejected
from kueue_dra_clusters.kind.charts import KUEUE_NAMESPACE
from kueue_dra_clusters.kind.driver_description import Ask, DriverDescription
from kueue_dra_clusters.waiting import NotYet, TimedOut, eventually
from kueue_dra_ref.target import Manifest, Ref

NAMESPACE = KUEUE_NAMESPACE
"""A namespace whose pods Kueue's webhook ignores: Kueue may be starting meanwhile."""
RESOURCE = "resource.k8s.io/v1"
TRY_SECONDS = 8.0
"""The timeout of one pod; it takes about two seconds if the kubelet knows the driver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A pod that asks for one device of a driver."""

    driver: DriverDescription
    ask: Ask
    image: str


def each_served(
    objects: APIClient, nodes: Sequence[str], probe: Probe, *, within: float
) -> None:
    """Wait until a pod has got a device on each node; `TimedOut` names the nodes without one."""
    left = list(nodes)

    def tried() -> None:
        probes = {node: _made(objects, node, probe) for node in left}
        try:
            eventually(
                lambda: _see(objects, probes, left),
                within=TRY_SECONDS,
                every=0.2,
                at_most=0.5,
                what="probes",
            )
        except TimedOut as trouble:
            raise NotYet(trouble.seen) from None
        finally:
            for ref in probes.values():
                _remove(objects, ref)

    eventually(
        tried, within=within, every=0.2, what="a pod on each node to get a device"
    )


def asked(driver: DriverDescription, ask: Ask) -> Manifest:
    """Give an exact request for a device of a driver."""
    found: Manifest = {"deviceClassName": driver.device_class}
    if selectors := (*driver.selectors, *ask.selectors):
        found["selectors"] = [{"cel": {"expression": each}} for each in selectors]
    if ask.capacity:
        found["capacity"] = {"requests": dict(ask.capacity)}
    return found


def _remove(objects: APIClient, pod: Ref) -> None:
    for ref in (
        pod,
        Ref(
            api_version=RESOURCE,
            kind="ResourceClaimTemplate",
            name=pod.name,
            namespace=NAMESPACE,
        ),
    ):
        objects.delete(ref)


def _see(objects: APIClient, probes: dict[str, Ref], left: list[str]) -> None:
    """Remove the nodes whose pod has succeeded."""
    left[:] = [node for node in left if _phase(objects, probes[node]) != "Succeeded"]
    if left:
        raise NotYet("no device for a pod on " + ", ".join(left))


def _phase(objects: APIClient, ref: Ref) -> str:
    return str(((objects.read(ref) or {}).get("status") or {}).get("phase"))


def _made(objects: APIClient, node: str, probe: Probe) -> Ref:
    """Create a pod with a claim of its own, which is deleted with it."""
    made = list(_manifests(f"kueue-dra-probe-{secrets.token_hex(3)}", node, probe))
    for each in made:
        answer = objects.create(each)
        # A conflict means that an earlier try without an answer has created it.
        if not answer.ok and answer.code != HTTPStatus.CONFLICT:
            raise RequestRejected(did=f"create {Ref.of(each)}", answer=answer)
    return Ref.of(made[-1])


def _manifests(name: str, node: str, probe: Probe) -> Iterator[Manifest]:
    """Give the template, then the pod."""
    meta = {"name": name, "namespace": NAMESPACE}
    request = {"name": "any", "exactly": asked(probe.driver, probe.ask)}
    spec = {"spec": {"devices": {"requests": [request]}}}
    yield {
        "apiVersion": RESOURCE,
        "kind": "ResourceClaimTemplate",
        "metadata": meta,
        "spec": spec,
    }
    container = {
        "name": "main",
        "image": probe.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["true"],
        "resources": {"claims": [{"name": "device"}]},
    }
    pod = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "nodeSelector": {"kubernetes.io/hostname": node},
        "containers": [container],
        "resourceClaims": [{"name": "device", "resourceClaimTemplateName": name}],
    }
    yield {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod}
