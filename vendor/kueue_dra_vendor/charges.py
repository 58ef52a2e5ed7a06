"""What the reference of Kueue charges for one pod of each class and each template of a vendor, under a mapping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.api.documents import parse, written
from kueue_dra_ref.api.jobs import QUEUE_LABEL
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.apiserver import Kubernetes
from kueue_dra_ref.behaviours import behaviour as behaviour_of
from kueue_dra_ref.controlplane.apiserver import ApiServer
from kueue_dra_ref.simulation.explanation import Explanation, explained, outcome
from kueue_dra_ref.simulation.inputs import given
from kueue_dra_ref.simulation.run import SimulationResult, simulate
from kueue_dra_ref.target import FieldError, Manifest
from kueue_dra_vendor.files import VendorFiles, VendorObject
from kueue_dra_vendor.mapping import KUEUE, an_object

QUEUE = "charged"
"""The name of the queue, the flavor and the namespace of generated objects."""
ENOUGH = "4Ei"
"""A quota that no pod exceeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one pod is charged, or why it is not admitted."""

    verdict: str
    message: str = ""
    amounts: Mapping[str, str] = field(default_factory=dict)
    """By resource."""

    def __str__(self) -> str:
        if self.verdict != "admitted":
            return f"{self.verdict}: {self.message}" if self.message else self.verdict
        pairs = self.amounts.items()
        parts = [f"{amount} {resource}" for resource, amount in pairs]
        return " and ".join(parts) or "nothing"


def charges(
    files: VendorFiles, configuration: Manifest, kubernetes: Kubernetes
) -> dict[str, Charge]:
    """Give by class and template what Kueue 0.19 charges a pod with one such claim.

    A class is requested without selectors, one device. Quota never runs out here, so a workload that is not admitted
    is one that Kueue rejects.

    Raises:
        ValueError: Kueue does not start with the Configuration.

    """
    pods = dict(_pods(files))
    manifests = [*_queues(configuration, pods.values()), *_stored(files), *_extra(pods)]
    result = _simulated(manifests, configuration, kubernetes)
    found = [explained(result.target, each) for each in result.workloads]
    by_job = {(each.namespace, each.job): _charge(each) for each in found}
    none = Charge(verdict="not created")
    return {
        subject: by_job.get((pod.namespace, pod.job), none)
        for subject, pod in pods.items()
    }


def _charge(found: Explanation) -> Charge:
    word, reason = outcome(found.verdict)
    message = found.message or reason
    return Charge(verdict=word, message=message, amounts=found.devices)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pod:
    """A pod with one claim from a template."""

    namespace: str
    job: str
    template: str
    made_of: Manifest | None = None
    """The template, where it is generated."""


def _pods(files: VendorFiles) -> Iterator[tuple[str, _Pod]]:
    for index, each in enumerate(files.classes):
        name = f"class-{index}"
        template = _template(name, each.name)
        yield (
            each.title,
            _Pod(namespace=QUEUE, job=name, template=name, made_of=template),
        )
    for index, each in enumerate(files.of("ResourceClaimTemplate")):
        namespace = _namespace_of(each)
        title = f"{each.kind} {namespace}/{each.name}"
        job = f"template-{index}"
        yield title, _Pod(namespace=namespace, job=job, template=each.name)


def _namespace_of(each: VendorObject) -> str:
    metadata = part(each.manifest, "metadata")
    return str(metadata.get("namespace") or "default")


def _stored(files: VendorFiles) -> Iterator[Manifest]:
    for kind in ("DeviceClass", "ResourceSlice", "ResourceClaimTemplate"):
        for each in files.of(kind):
            if not each.rejected and each.name:
                yield each.document.manifest


def _extra(pods: Mapping[str, _Pod]) -> Iterator[Manifest]:
    for pod in pods.values():
        if pod.made_of:
            yield pod.made_of
    for pod in pods.values():
        yield _job(pod)


def _queues(configuration: Manifest, pods: Iterable[_Pod]) -> list[Manifest]:
    resources = configuration.get("resources") or {}
    mappings = resources.get("deviceClassMappings") or ()
    names = list(dict.fromkeys(each["name"] for each in mappings))
    namespaces = dict.fromkeys(each.namespace for each in pods)
    return [
        *(an_object("v1", "Namespace", name) for name in namespaces),
        an_object(KUEUE, "ResourceFlavor", QUEUE),
        {**an_object(KUEUE, "ClusterQueue", QUEUE), "spec": _cluster_queue(names)},
        *(_local_queue(name) for name in namespaces),
    ]


def _cluster_queue(names: Sequence[str]) -> Manifest:
    quotas = [{"name": name, "nominalQuota": ENOUGH} for name in names]
    flavor = {"name": QUEUE, "resources": quotas}
    group = {"coveredResources": list(names), "flavors": [flavor]}
    groups = [group] if names else []
    return {"namespaceSelector": {}, "resourceGroups": groups}


def _local_queue(namespace: str) -> Manifest:
    spec = {"clusterQueue": QUEUE}
    return {**an_object(KUEUE, "LocalQueue", QUEUE, namespace), "spec": spec}


def _template(name: str, device_class: str) -> Manifest:
    request = {"name": "device", "exactly": {"deviceClassName": device_class}}
    spec = {"spec": {"devices": {"requests": [request]}}}
    kind = "ResourceClaimTemplate"
    return {**an_object("resource.k8s.io/v1", kind, name, QUEUE), "spec": spec}


def _job(pod: _Pod) -> Manifest:
    claim = {"name": "claim", "resourceClaimTemplateName": pod.template}
    spec = {
        "restartPolicy": "Never",
        "containers": [{"name": "main", "image": "image"}],
        "resourceClaims": [claim],
    }
    found = an_object("batch/v1", "Job", pod.job, pod.namespace)
    found["metadata"]["labels"] = {QUEUE_LABEL: QUEUE}
    return {**found, "spec": {"template": {"spec": spec}}}


def _simulated(
    manifests: Sequence[Manifest], configuration: Manifest, kubernetes: Kubernetes
) -> SimulationResult:
    documents = parse(written(manifests), "(generated)")
    api_server = ApiServer(kubernetes=kubernetes)
    result = simulate(behaviour_of(), configuration, given(documents), api_server)
    if isinstance(result, SimulationResult):
        return result
    raise ValueError("; ".join(_worded(result)))


def _worded(errors: Sequence[FieldError]) -> Iterator[str]:
    for each in errors:
        yield str(each)
