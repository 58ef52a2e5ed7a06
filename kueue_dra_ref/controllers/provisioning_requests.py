"""The pods of a ProvisioningRequest: which pod sets it has, merged or not, and the PodTemplates that it names.

Kueue: pkg/controller/admissionchecks/provisioning/controller.go (syncOwnedProvisionRequest, mergePodSets,
    createPodTemplate)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.api.ownership import owner_reference
from kueue_dra_ref.api.provisioning import (
    AUTOSCALING,
    PARAMETER,
    POD_TEMPLATE,
    REQUEST,
    ProvisioningConfig,
    container_resources,
    request_name,
    template_name,
)
from kueue_dra_ref.api.queued_pods import MANAGED
from kueue_dra_ref.controllers.job_pods import flavors_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.rules.workload.provisioning import PodSetPair, PodUse
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.pod_set_info import of_flavors


@dataclass(slots=True, kw_only=True)
class AskedPods:
    """A pod set of a request: the first of the pod sets that are merged in it, its assignment, and all pods."""

    pod_set: Manifest
    assignment: Manifest
    count: int


class RequestedPods:
    """Makes the requests of workloads."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour.provisioning

    def needed(self, workload: Manifest, config: ProvisioningConfig) -> bool:
        """Whether any pod set gets into a request."""
        return any(self._asked(workload, config))

    def _asked(
        self, workload: Manifest, config: ProvisioningConfig
    ) -> Iterator[AskedPods]:
        assignments = workload["status"]["admission"]["podSetAssignments"]
        by_name = {each["name"]: each for each in assignments}
        for pod_set in workload["spec"]["podSets"]:
            assignment = by_name[pod_set["name"]]
            count = assignment.get("count", pod_set["count"])
            use = PodUse(
                count=count,
                resources=container_resources(pod_set["template"]),
                managed=config.managed,
            )
            if self.rules.ask(use) and not self.rules.skip(use):
                yield AskedPods(pod_set=pod_set, assignment=assignment, count=count)

    def _merged(
        self, workload: Manifest, config: ProvisioningConfig
    ) -> list[AskedPods]:
        """Give the pod sets of a request; each is merged into the first one like it."""
        found: list[AskedPods] = []
        for asked in self._asked(workload, config):
            same = [each for each in found if self._is_same(config, each, asked)]
            if same:
                same[0].count += asked.count
            else:
                found.append(asked)
        return found

    def _is_same(
        self, config: ProvisioningConfig, one: AskedPods, other: AskedPods
    ) -> bool:
        pair = PodSetPair(
            policy=config.merge_policy,
            first=one.pod_set["template"],
            second=other.pod_set["template"],
        )
        return self.rules.merge(pair)

    def names(self, workload: Manifest, request: Manifest) -> list[str]:
        """Name the pod sets of a request."""
        own = request["metadata"]["name"]
        by_template = {}
        for pod_set in workload["spec"]["podSets"]:
            by_template[template_name(own, pod_set["name"])] = pod_set["name"]
        asked = request["spec"]["podSets"]
        return [by_template[each["podTemplateRef"]["name"]] for each in asked]

    def request(
        self, workload: Manifest, check: str, config: ProvisioningConfig, number: int
    ) -> list[str]:
        """Create a request and its PodTemplates; give the names of its pod sets."""
        meta = workload["metadata"]
        name = request_name(meta["name"], check, number)
        merged = self._merged(workload, config)
        made = self.store.put(
            {
                "apiVersion": f"{AUTOSCALING}/v1",
                "kind": REQUEST,
                "metadata": _meta(name, workload),
                "spec": {
                    "podSets": [_reference(name, each) for each in merged],
                    "provisioningClassName": config.class_name,
                    "parameters": {**config.parameters, **self._passed_on(workload)},
                },
            }
        )
        for each in merged:
            self._create_template(made, each)
        return [each.pod_set["name"] for each in merged]

    def _passed_on(self, workload: Manifest) -> dict[str, str]:
        annotations = annotations_of(workload)
        passed = self.rules.parameters.or_else({}, annotations)
        return {key.removeprefix(PARAMETER): value for key, value in passed.items()}

    def _create_template(self, request: Manifest, asked: AskedPods) -> None:
        name = template_name(request["metadata"]["name"], asked.pod_set["name"])
        template = copied(asked.pod_set["template"])
        flavors = flavors_of(self.store, asked.assignment)
        of_flavors(flavors).add_to(template)
        _fill_requests(template["spec"])
        self.store.put(
            {
                "apiVersion": "v1",
                "kind": POD_TEMPLATE,
                "metadata": _meta(name, request),
                "template": template,
            }
        )


def _reference(request: str, asked: AskedPods) -> dict[str, Any]:
    name = template_name(request, asked.pod_set["name"])
    return {"podTemplateRef": {"name": name}, "count": asked.count}


def _fill_requests(spec: Manifest) -> None:
    """Give containers the limits as requests that they lack."""
    for holder in ("initContainers", "containers"):
        for container in spec.get(holder) or ():
            resources = container.get("resources") or {}
            limits = resources.get("limits")
            if limits:
                requests = {**limits, **(resources.get("requests") or {})}
                container["resources"] = {**resources, "requests": requests}


def _meta(name: str, owner: Manifest) -> Manifest:
    meta = owner["metadata"]
    reference = owner_reference(owner["apiVersion"], owner["kind"], meta)
    return {
        "name": name,
        "namespace": meta["namespace"],
        "labels": {MANAGED: "true"},
        "ownerReferences": [{**reference, "controller": True}],
    }
