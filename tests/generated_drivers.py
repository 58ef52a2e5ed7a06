"""Drivers of a seed: classes, slices with counters or shares, templates and Jobs; most are sound, some are not."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.target import Manifest

NAMESPACE, QUEUE = "demo", "main"
MODELS = ("a", "b")
SIZES = ("80Gi", "40Gi", "10Gi", "1500Mi", "24G", "7", "1500m")
RARELY, SOMETIMES, OFTEN = 0.07, 0.3, 0.6
Manifests = list[Manifest]


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedDriver:
    """What one driver publishes, and how each class is declared to be charged."""

    classes: Manifests
    slices: Manifests
    templates: Manifests
    jobs: Manifests
    declared: dict[str, tuple[str, str]]
    """By class: count, counter or capacity, with its name; a class that is not here is inferred."""

    @property
    def manifests(self) -> Manifests:
        """Everything in the order of a file."""
        return [*self.classes, *self.slices, *self.templates, *self.jobs]


def a_generated_driver(source: random.Random, prefix: str = "", times: int = 1) -> GeneratedDriver:
    """Generate a driver of whole devices, of parts that consume counters, or of shares.

    A prefix begins all names; there are so many ``times`` the usual two to five demos.
    """
    return _Generator(source=source, prefix=prefix, times=times).driver()


@dataclass(slots=True, kw_only=True)
class _Generator:
    source: random.Random
    prefix: str = ""
    times: int = 1
    kind: str = ""
    name: str = ""
    classes: list[str] = field(default_factory=list)
    extended: dict[str, str] = field(default_factory=dict)

    def driver(self) -> GeneratedDriver:
        self.kind = self.source.choice(("whole", "parts", "parts", "shares", "shares"))
        name, domain = self.source.choice(("gpu", "nic", "npu")), self.source.choice(("example.com", "vendor.org"))
        self.name = f"{self.prefix}{name}.{domain}"
        slices = [each for node in range(self.source.randint(1, 4)) for each in self._node(f"{self.prefix}node-{node}")]
        classes = [self._class(number) for number in range(self.source.randint(1, 3))]
        templates = [self._template(number) for number in range(self.times * self.source.randint(2, 5))]
        jobs = [self._job(each["metadata"]["name"], number) for number, each in enumerate(templates)]
        jobs += [self._by_name(name) for name in self.extended.values()]
        return GeneratedDriver(
            classes=classes, slices=slices, templates=templates, jobs=jobs, declared=self._declared()
        )

    def _is(self, chance: float) -> bool:
        return self.source.random() < chance

    def _node(self, node: str) -> Manifests:
        """Give the slices of a node: its devices, and in front of them their counter sets."""
        count = self.source.randint(1, 5)
        devices = [self._device(index) for index in range(count)]
        has_counters = self.kind == "parts"
        pool: dict[str, Any] = {"name": node, "generation": 1, "resourceSliceCount": 2 if has_counters else 1}
        head = {"driver": self.name, "nodeName": node, "pool": pool}
        found = []
        if has_counters:
            sets = [self._counter_set(index) for index in range((count + 1) // 2)]
            found.append(_object("ResourceSlice", f"{node}-counters", {**head, "sharedCounters": sets}))
        found.append(_object("ResourceSlice", f"{node}-devices", {**head, "devices": devices}))
        if self._is(RARELY):
            pool["resourceSliceCount"] += 1
        return found

    def _counter_set(self, index: int) -> Manifest:
        return {"name": f"set-{index}", "counters": {"memory": {"value": "80Gi"}, "parts": {"value": "7"}}}

    def _device(self, index: int) -> Manifest:
        attributes: dict[str, Any] = {"model": {"string": self.source.choice(MODELS)}, "index": {"int": index}}
        if self._is(SOMETIMES):
            attributes["label"] = {"string": "x"}
        device: dict[str, Any] = {"name": f"device-{index}", "attributes": attributes}
        if self.kind == "parts" and not self._is(RARELY):
            device["consumesCounters"] = [self._consumption(index // 2)]
        device["capacity"] = {"memory": self._capacity()}
        if self.kind == "shares" and not self._is(RARELY):
            device["allowMultipleAllocations"] = True
            if self._is(SOMETIMES):
                device["capacity"]["cores"] = {"value": "100"}
        else:
            device["capacity"]["memory"].pop("requestPolicy", None)
        return device

    def _consumption(self, index: int) -> Manifest:
        memory = self.source.choice(SIZES[:5])
        counters = {"memory": {"value": memory}, "parts": {"value": str(self.source.randint(0, 4))}}
        if self._is(RARELY):
            del counters["parts"]
        return {"counterSet": f"set-{index}", "counters": counters}

    def _capacity(self) -> Manifest:
        capacity: dict[str, Any] = {"value": self.source.choice(SIZES) if self._is(SOMETIMES) else "80Gi"}
        if self.kind == "shares" and capacity["value"] == "80Gi":
            policy = self.source.choice((None, self._range(), {"default": "20Gi", "validValues": ["10Gi", "20Gi"]}))
            if policy:
                capacity["requestPolicy"] = policy
        return capacity

    def _range(self) -> Manifest:
        default = self.source.choice(("10Gi", "20Gi", "0"))
        valid = {"min": "0" if default == "0" else "10Gi", "max": "80Gi", "step": "10Gi"}
        return {"default": default, "validRange": valid}

    def _class(self, number: int) -> Manifest:
        name = self.name if number == 0 else f"{self.source.choice(MODELS)}{number}.{self.name}"
        self.classes.append(name)
        selectors = [_cel(f"device.driver == '{self.name}'")]
        if number and self._is(OFTEN):
            selectors.append(_cel(f"device.attributes['{self.name}'].model == '{name[0]}'"))
        if self._is(RARELY):
            selectors.append(_cel(f"device.attributes['{self.name}'].label == 'x'"))
        spec: dict[str, Any] = {"selectors": selectors}
        if self._is(SOMETIMES):
            self.extended[name] = f"{self.name}/{number}"
            spec["extendedResourceName"] = self.extended[name]
        return _object("DeviceClass", name, spec)

    def _template(self, number: int) -> Manifest:
        requests = [self._request(index) for index in range(2 if self._is(SOMETIMES) else 1)]
        spec = {"spec": {"devices": {"requests": requests}}}
        return _object("ResourceClaimTemplate", f"{self.prefix}template-{number}", spec, NAMESPACE)

    def _request(self, index: int) -> Manifest:
        body: dict[str, Any] = {"deviceClassName": self.source.choice(self.classes)}
        if self._is(RARELY):
            return {"name": f"r-{index}", "firstAvailable": [{"name": "one", **body}]}
        if self._is(RARELY):
            return {"name": f"r-{index}", "exactly": {**body, "allocationMode": "All"}}
        if self._is(OFTEN):
            body["count"] = self.source.randint(1, 3)
        if self._is(SOMETIMES):
            body["selectors"] = [_cel(self._selector())]
        if self.kind == "shares" and self._is(OFTEN):
            amount = self.source.choice(("1", "5Gi", "10Gi", "25Gi", "80Gi", "90Gi"))
            body["capacity"] = {"requests": {"memory": amount}}
        return {"name": f"r-{index}", "exactly": body}

    def _selector(self) -> str:
        attributes = f"device.attributes['{self.name}']"
        return self.source.choice(
            (
                f"{attributes}.model == '{self.source.choice(MODELS)}'",
                f"{attributes}.index < 2",
                f"has({attributes}.label)",
                f"{attributes}.label == 'x'",
                f"device.capacity['{self.name}'].memory.compareTo(quantity('20Gi')) >= 0",
            )
        )

    def _job(self, template: str, number: int) -> Manifest:
        claims = [{"name": "one", "resourceClaimTemplateName": template}]
        if self._is(RARELY):
            claims.append({"name": "two", "resourceClaimTemplateName": template})
        container: dict[str, Any] = {"name": "main", "image": "image"}
        if self._is(SOMETIMES):
            container["resources"] = {"requests": {"cpu": "100m"}}
        return self._a_job(f"{self.prefix}job-{number}", container, claims)

    def _by_name(self, resource: str) -> Manifest:
        amount = str(self.source.randint(1, 2))
        resources = {"requests": {resource: amount}, "limits": {resource: amount}}
        container = {"name": "main", "image": "image", "resources": resources}
        return self._a_job(f"{self.prefix}by-name-{resource.rpartition('/')[2]}", container, [])

    def _a_job(self, name: str, container: Manifest, claims: Manifests) -> Manifest:
        pod: dict[str, Any] = {"restartPolicy": "Never", "containers": [container]}
        if claims:
            pod["resourceClaims"] = claims
        pods = self.source.randint(1, 3) if self._is(SOMETIMES) else 1
        spec = {"parallelism": pods, "completions": pods, "template": {"spec": pod}}
        labels = {"kueue.x-k8s.io/queue-name": QUEUE}
        meta = {"name": name, "namespace": NAMESPACE, "labels": labels}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}

    def _declared(self) -> dict[str, tuple[str, str]]:
        """Declare some classes to be charged otherwise than the devices suggest."""
        ways = {"whole": [("count", "")], "parts": [("counter", "memory"), ("counter", "parts"), ("count", "")]}
        ways["shares"] = [("capacity", "memory"), ("count", "")]
        return {name: self.source.choice(ways[self.kind]) for name in self.classes if self._is(OFTEN)}


def _cel(expression: str) -> Manifest:
    return {"cel": {"expression": expression}}


def _object(kind: str, name: str, spec: Manifest, namespace: str = "") -> Manifest:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name, **place}, "spec": spec}
