"""The kinds that the reference knows: their group, the versions it reads, and whether they live in a namespace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kueue_dra_ref.api.job_kind import JobKind
from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.api.pod_owners import POD_OWNERS, PodOwner
from kueue_dra_ref.api.provisioning import AUTOSCALING, CONFIG, POD_TEMPLATE, REQUEST
from kueue_dra_ref.api.status_errors import invalid, required
from kueue_dra_ref.api.topologies import NODE, TOPOLOGY
from kueue_dra_ref.api.train_jobs import RUNTIME_KINDS, TRAIN_JOB
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceKind:
    """One kind; ``versions`` is newest first, and the first is the one that the store keeps."""

    name: str
    group: str
    versions: Sequence[str]
    namespaced: bool = False
    optional: bool = False
    """Whether only behaviours that serve it have it."""

    @property
    def storage(self) -> str:
        """The apiVersion in which the store keeps the kind."""
        return f"{self.group}/{self.versions[0]}" if self.group else self.versions[0]


KUEUE = "kueue.x-k8s.io"
"""The group of Kueue's kinds."""


def _kueue(name: str, *, namespaced: bool = False) -> ResourceKind:
    return ResourceKind(
        name=name, group=KUEUE, versions=("v1beta2", "v1beta1"), namespaced=namespaced
    )


def _devices(name: str, *, namespaced: bool = False) -> ResourceKind:
    versions = ("v1", "v1beta2", "v1beta1", "v1alpha3")
    return ResourceKind(
        name=name, group="resource.k8s.io", versions=versions, namespaced=namespaced
    )


def _work(kind: JobKind | PodOwner) -> ResourceKind:
    return ResourceKind(
        name=kind.name, group=kind.group, versions=(kind.version,), namespaced=True
    )


def _runtime(name: str) -> ResourceKind:
    return ResourceKind(
        name=name,
        group=TRAIN_JOB.group,
        versions=(TRAIN_JOB.version,),
        namespaced=name == "TrainingRuntime",
    )


DRA_CONFIG = "DynamicResourceAllocationConfig"
"""The kind that the text of July 2025 adds."""

KINDS = {
    kind.name: kind
    for kind in (
        ResourceKind(name="Namespace", group="", versions=("v1",)),
        ResourceKind(name=NODE, group="", versions=("v1",)),
        ResourceKind(name="PriorityClass", group="scheduling.k8s.io", versions=("v1",)),
        ResourceKind(
            name="ClusterRole", group="rbac.authorization.k8s.io", versions=("v1",)
        ),
        ResourceKind(name="RuntimeClass", group="node.k8s.io", versions=("v1",)),
        ResourceKind(name="LimitRange", group="", versions=("v1",), namespaced=True),
        ResourceKind(name=POD_TEMPLATE, group="", versions=("v1",), namespaced=True),
        ResourceKind(name="Secret", group="", versions=("v1",), namespaced=True),
        *map(_work, JOB_KINDS.values()),
        *map(_work, POD_OWNERS.values()),
        *map(_runtime, RUNTIME_KINDS),
        _kueue("ResourceFlavor"),
        _kueue("Cohort"),
        _kueue("ClusterQueue"),
        _kueue("WorkloadPriorityClass"),
        _kueue("AdmissionCheck"),
        _kueue("MultiKueueConfig"),
        _kueue("MultiKueueCluster"),
        _kueue(CONFIG),
        ResourceKind(
            name=REQUEST,
            group=AUTOSCALING,
            versions=("v1", "v1beta1"),
            namespaced=True,
        ),
        _kueue(TOPOLOGY),
        _kueue("LocalQueue", namespaced=True),
        _kueue("Workload", namespaced=True),
        ResourceKind(
            name=DRA_CONFIG,
            group=KUEUE,
            versions=("v1alpha1",),
            namespaced=True,
            optional=True,
        ),
        _devices("DeviceClass"),
        _devices("ResourceSlice"),
        _devices("ResourceClaim", namespaced=True),
        _devices("ResourceClaimTemplate", namespaced=True),
    )
}


def version_of(manifest: Manifest) -> str:
    """The version in which a manifest is written, without its group."""
    return str(manifest["apiVersion"]).rpartition("/")[2]


def kind_of(manifest: Manifest) -> ResourceKind:
    """The kind of a manifest.

    Raises:
        ManifestError: apiVersion, kind or metadata.name is missing, or the kind or version is not known.

    """
    for key in ("apiVersion", "kind"):
        if not isinstance(manifest.get(key), str):
            raise required(key)
    kind = KINDS.get(manifest["kind"])
    if kind is None:
        raise invalid(
            "kind", manifest["kind"], f"unknown kind; known: {', '.join(sorted(KINDS))}"
        )
    group, _, version = manifest["apiVersion"].rpartition("/")
    if group != kind.group or version not in kind.versions:
        served = ", ".join(f"{kind.group}/{v}".lstrip("/") for v in kind.versions)
        raise invalid(
            "apiVersion", manifest["apiVersion"], f"{kind.name} is served as {served}"
        )
    return kind
