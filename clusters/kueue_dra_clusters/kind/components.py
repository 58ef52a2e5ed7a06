"""The programs of a kind cluster, each pinned by a go.mod and built once."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

from kueue_dra_clusters.binaries import API_SERVER, ETCD, named
from kueue_dra_clusters.build_cache import parts, program
from kueue_dra_clusters.go_tool import Component

KIND_VARIABLE = "KIND_BIN"
HELM_VARIABLE = "HELM_BIN"
KUBECTL_VARIABLE = "KUBECTL_BIN"

KIND = Component(
    name="kind", folder="kind", module="sigs.k8s.io/kind", package="sigs.k8s.io/kind"
)
HELM = Component(
    name="helm",
    folder="helm",
    module="helm.sh/helm/v3",
    package="helm.sh/helm/v3/cmd/helm",
)
DRIVER = Component(
    name="dra-example-kubeletplugin",
    folder="dra-example-driver",
    module="sigs.k8s.io/dra-example-driver",
    package="sigs.k8s.io/dra-example-driver/cmd/dra-example-kubeletplugin",
)
JOBSET = Component(
    name="jobset",
    folder="jobset",
    module="sigs.k8s.io/jobset",
    package="sigs.k8s.io/jobset",
)
"""The controller of JobSets, of the module that Kueue pins."""
COREDNS = Component(
    name="coredns",
    folder="node-addons",
    module="github.com/coredns/coredns",
    package="./coredns",
    sources=("coredns/main.go",),
)
PAUSE = dataclasses.replace(
    COREDNS, name="pause", package="./pause", sources=("pause/main.go",)
)


def of_kubernetes(name: str) -> Component:
    """Give another program of the same Kubernetes as the API server."""
    return dataclasses.replace(
        API_SERVER, name=name, package=f"k8s.io/kubernetes/cmd/{name}"
    )


KUBECTL = of_kubernetes("kubectl")
ON_THE_NODE = (of_kubernetes("kubeadm"), of_kubernetes("kubelet"), KUBECTL)
"""The programs in the node's own file system."""

AS_IMAGES = {
    "kube-apiserver": API_SERVER,
    "kube-controller-manager": of_kubernetes("kube-controller-manager"),
    "kube-scheduler": of_kubernetes("kube-scheduler"),
    "kube-proxy": of_kubernetes("kube-proxy"),
    "etcd": ETCD,
    "coredns": COREDNS,
    "pause": PAUSE,
}
"""The programs that kubeadm runs as containers, by the last part of the image's name."""


def tool(component: Component, variable: str) -> Path:
    """Find a program: by its environment variable, else in PATH, else build it; never download it."""
    return named(variable) or _in_path(component.name) or program(component)


def _in_path(name: str) -> Path | None:
    found = shutil.which(name)
    return Path(found) if found else None


def kind_files() -> Path:
    """Give the files that kind adds to a node image."""
    return parts(KIND, "base-files", ["images/base/files"]) / "images/base/files"


def jobset_chart() -> Path:
    """Give the chart of the controller of JobSets."""
    return parts(JOBSET, "chart", ["charts/jobset"]) / "charts/jobset"


def kueue_chart(component: Component) -> Path:
    """Give Kueue's chart of a release."""
    return parts(component, "chart", ["charts/kueue"]) / "charts/kueue"
