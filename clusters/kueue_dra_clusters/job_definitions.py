"""Installs CRDs from the modules that Kueue pins: of the work that a Configuration names, and ProvisioningRequests.

Their own controllers do not run: the cases report what those would, as they do for Jobs.  Without the CRD of
ProvisioningRequests Kueue does not start the controller of their checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kueue_dra_clusters.build_cache import parts
from kueue_dra_clusters.go_tool import PINNED, Component
from kueue_dra_clusters.manifests import Manifest, documents
from kueue_dra_ref.api.job_kinds import JOB_SET, TRAINING, WRAPPER
from kueue_dra_ref.api.pod_owners import LEADER_WORKER_SET
from kueue_dra_ref.api.provisioning import AUTOSCALING
from kueue_dra_ref.api.ray_kinds import RAY_KINDS
from kueue_dra_ref.api.spark_application import SPARK_APPLICATION
from kueue_dra_ref.api.train_jobs import TRAIN_JOB


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionSource:
    """The module with the CRD of a kind, and where it is in it."""

    name: str
    module: str
    folder: str
    files: Sequence[str]


PROVISIONING = AUTOSCALING
"""Names the CRD of ProvisioningRequests among those of work."""
SOURCES: Mapping[str, DefinitionSource] = {
    PROVISIONING: DefinitionSource(
        name="cluster-autoscaler-apis",
        module="k8s.io/autoscaler/cluster-autoscaler/apis",
        folder="config/crd",
        files=["autoscaling.x-k8s.io_provisioningrequests.yaml"],
    ),
    JOB_SET.framework: DefinitionSource(
        name="jobset",
        module="sigs.k8s.io/jobset",
        folder="config/components/crd/bases",
        files=["jobset.x-k8s.io_jobsets.yaml"],
    ),
    **{
        kind.framework: DefinitionSource(
            name="training-operator",
            module="github.com/kubeflow/training-operator",
            folder="manifests/base/crds",
            files=[f"kubeflow.org_{kind.plural}.yaml"],
        )
        for kind in TRAINING
    },
    "kubeflow.org/mpijob": DefinitionSource(
        name="mpi-operator",
        module="github.com/kubeflow/mpi-operator",
        folder="manifests/base",
        files=["kubeflow.org_mpijobs.yaml"],
    ),
    LEADER_WORKER_SET.framework: DefinitionSource(
        name="lws",
        module="sigs.k8s.io/lws",
        folder="config/crd/bases",
        files=["leaderworkerset.x-k8s.io_leaderworkersets.yaml"],
    ),
    TRAIN_JOB.framework: DefinitionSource(
        name="trainer",
        module="github.com/kubeflow/trainer/v2",
        folder="manifests/base/crds",
        files=[
            f"trainer.kubeflow.org_{plural}.yaml"
            for plural in ("trainjobs", "trainingruntimes", "clustertrainingruntimes")
        ],
    ),
    SPARK_APPLICATION.framework: DefinitionSource(
        name="spark-operator",
        module="github.com/kubeflow/spark-operator/v2",
        folder="config/crd/bases",
        files=["sparkoperator.k8s.io_sparkapplications.yaml"],
    ),
    WRAPPER.framework: DefinitionSource(
        name="appwrapper",
        module="github.com/project-codeflare/appwrapper",
        folder="config/crd/bases",
        files=["workload.codeflare.dev_appwrappers.yaml"],
    ),
    **{
        kind.framework: DefinitionSource(
            name="ray-operator",
            module="github.com/ray-project/kuberay/ray-operator",
            folder="config/crd/bases",
            files=[f"ray.io_{kind.plural}.yaml"],
        )
        for kind in RAY_KINDS
    },
}
"""By framework, where the CRD of its kind is; Jobs have none, and ProvisioningRequests are no framework."""


@dataclass(slots=True, kw_only=True)
class JobDefinitions:
    """The CRDs of work in one control plane; each is installed when a Configuration first names its framework."""

    folder: str
    """The folder of the release with the go.mod that pins the modules."""
    install: Callable[[Sequence[Manifest]], None]
    """Creates CRDs, and waits until the API server serves them."""
    _installed: set[str] = field(default_factory=set)

    def ensure(self, frameworks: Iterable[str]) -> None:
        """Install the CRDs of some frameworks that are not installed yet.

        Raises:
            MissingTool: a module is not in the cache, and Go cannot fetch it.

        """
        missing = [
            each
            for each in frameworks
            if each in SOURCES and each not in self._installed
        ]
        if not missing:
            return
        found: list[Manifest] = []
        for framework in missing:
            found += self._definitions(SOURCES[framework])
        self.install(found)
        self._installed.update(missing)

    def _definitions(self, source: DefinitionSource) -> list[Manifest]:
        module = _module(source, self.folder)
        found: list[Manifest] = []
        for file in source.files:
            found += documents(module / source.folder / file)
        return found


def definition_folders(folder: str) -> list[Path]:
    """Give the cached folder of every module with CRDs that a release pins; fetch those that are missing."""
    pinned = (PINNED / folder / "go.mod").read_text(encoding="utf-8")
    found = []
    for source in SOURCES.values():
        if f"{source.module} v" in pinned:
            module = _module(source, folder)
            found.append(module)
    return found


def _module(source: DefinitionSource, folder: str) -> Path:
    """Give the folder with the CRDs of a kind, as the go.mod in ``folder`` pins its module."""
    component = Component(
        name=source.name, folder=folder, module=source.module, package=""
    )
    return parts(component, "definitions", [source.folder])
