"""Configurations for a local Kueue: the settings of its environment, and checks with the real binary."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.manifests import Manifest
from kueue_dra_clusters.ports import LOOPBACK
from kueue_dra_clusters.startup_errors import verdict
from kueue_dra_ref.target import FieldError

DEFAULTS: Manifest = {
    "metrics": {"enableClusterQueueResources": True},
    "clientConnection": {"qps": 1000, "burst": 2000},
    "integrations": {"frameworks": ["batch/job"]},
}
"""The values of fields that a Configuration does not set."""

CHECK_SECONDS = 30.0
"""The timeout of a check, which takes Kueue about 40 ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerEnvironment:
    """The environment of a Kueue process: its kubeconfig, the directory of its webhook's certificate, its ports.

    ``etc`` is mounted as its /etc, with a certificate for its metrics server; if that is not possible it is None, and
    Kueue manages its certificates itself.
    """

    kubeconfig: Path
    certificates: Path
    etc: Path | None
    webhook: int
    health: int
    metrics: int

    def settings(self) -> Manifest:
        """Give the settings of the environment, which override a Configuration."""
        return {
            "health": {"healthProbeBindAddress": f"{LOOPBACK}:{self.health}"},
            "metrics": {"bindAddress": f"{LOOPBACK}:{self.metrics}"},
            "webhook": {
                "host": LOOPBACK,
                "port": self.webhook,
                "certDir": str(self.certificates),
            },
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": self.etc is None},
            # The visibility server needs certificates at /visibility.
            "featureGates": {"VisibilityOnDemand": False},
        }


def check(binary: Path, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
    """Check a Configuration with the real Kueue: every error that makes it exit, none if it would start.

    Kueue gets the document unchanged, and no cluster, so it exits right after its validation.  It reads a document
    without a version in its newest one.  Keys are sorted because Kueue reads the keys of a YAML file sorted, and those
    of a JSON file in their order.
    """
    run = _run(binary, configuration)
    if (faults := verdict(run.stderr)) is None:
        raise ClusterError(
            f"{binary} exited with {run.returncode} and no verdict in its log:\n{run.stderr[-2000:]}"
        )
    return faults


def version(binary: Path) -> str:
    """Read the version that Kueue logs first."""
    found = re.search(r'"gitVersion":\s*"([^"]+)"', _run(binary, {}).stderr)
    return found[1] if found else "unknown"


def _run(
    binary: Path, configuration: Mapping[str, Any]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [binary, "--config", "/dev/stdin"],
        input=json.dumps(configuration, default=str, sort_keys=True),
        capture_output=True,
        env={"HOME": "/nonexistent"},  # without a kubeconfig
        text=True,
        timeout=CHECK_SECONDS,
        check=False,
    )


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> Manifest:
    """Merge one document into another; values that are not mappings in both come from ``over``."""
    result = {**under, **over}
    for key in under.keys() & over.keys():
        if isinstance(under[key], Mapping) and isinstance(over[key], Mapping):
            result[key] = merged(under[key], over[key])
    return result
