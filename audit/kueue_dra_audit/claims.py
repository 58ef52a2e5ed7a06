"""What claims name: the DeviceClasses of a Workload's templates, and the devices that a ResourceClaim has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kueue_dra_ref.api.devices import requests_of
from kueue_dra_ref.api.types import Workload
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.model.lister import Lister
from kueue_dra_ref.target import Manifest


def classes_of(lister: Lister, workload: Workload) -> set[str]:
    """Name the DeviceClasses that the claims of a Workload request, as far as their templates are there."""
    found: set[str] = set()
    for claim in workload.claims:
        template = lister.template(workload.namespace, claim.template)
        if template is not None:
            found.update(_classes(template))
    return found


def _classes(template: Manifest) -> Iterator[str]:
    for request in requests_of(template):
        for each in (request, *request.alternatives):
            if each.device_class:
                yield each.device_class


def allocated(claim: Manifest) -> list[Mapping[str, Any]]:
    """Give the devices that a ResourceClaim has, without those of administrators."""
    allocation = part(part(claim, "status"), "allocation")
    results = part(allocation, "devices").get("results")
    if not isinstance(results, list):
        return []
    devices = [each for each in results if isinstance(each, dict)]
    return [each for each in devices if not each.get("adminAccess")]


def class_of_result(claim: Manifest, result: Mapping[str, Any]) -> str:
    """Name the DeviceClass of the request, or of its alternative, that an allocated device is for."""
    wanted, _, alternative = str(result.get("request", "")).partition("/")
    for request in requests_of({"spec": {"spec": claim["spec"]}}):
        if request.name != wanted:
            continue
        for each in request.alternatives:
            if each.name == alternative:
                return each.device_class
        return request.device_class
    return ""
