"""Creates and deletes clusters with pytest-kind's `KindCluster`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from kueue_dra_clusters.errors import MissingTool
from kueue_dra_clusters.kind.provider import ProviderError


@contextlib.contextmanager
def _environment(environment: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for kind, which inherits ours."""
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def create(
    name: str,
    *,
    folder: Path,
    image: str,
    config: Path,
    kind: Path,
    kubectl: Path,
    environment: Mapping[str, str],
) -> Path:
    """Create a cluster, or use the one of that name; give its kubeconfig.

    Raises:
        ProviderError: kind fails; its output is on the terminal.

    """
    cluster = _cluster(name, folder, image, kind, kubectl)
    with _environment(environment):
        try:
            cluster.create(config_file=config)
        except CalledProcessError as trouble:
            raise ProviderError(
                f"kind create cluster {name}: exit code {trouble.returncode}"
            ) from None
    return folder / "kubeconfig"


def delete(
    name: str,
    *,
    folder: Path,
    kind: Path,
    kubectl: Path,
    environment: Mapping[str, str],
) -> None:
    """Delete a cluster, even an unfinished one."""
    with _environment(environment):
        try:
            _cluster(name, folder, "", kind, kubectl).delete()
        except CalledProcessError as trouble:
            raise ProviderError(
                f"kind delete cluster {name}: exit code {trouble.returncode}"
            ) from None


def _cluster(name: str, folder: Path, image: str, kind: Path, kubectl: Path) -> Any:
    try:
        from pytest_kind import (
            KindCluster,
        )  # imported here: it is only in the e2e extra
    except ImportError:
        raise MissingTool(
            "pytest-kind is missing: pip install 'kueue-dra-conformance[e2e]'"
        ) from None
    with contextlib.chdir(folder):  # it creates a folder in the working directory
        return KindCluster(
            name,
            folder / "kubeconfig",
            image=image or None,
            kind_path=kind,
            kubectl_path=kubectl,
        )
