"""Configurations for a local Kueue: what the surroundings fix in them, and how the real binary judges one alone."""

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
"""What holds where the author of a Configuration wrote nothing."""

CHECK_SECONDS = 30.0
"""Judging a Configuration takes Kueue about 40 ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerEnvironment:
    """Where a Kueue process lives: its kubeconfig, the directory of its webhook's certificate, its ports.

    ``etc`` is what it sees as its /etc, with a certificate for its metrics server; where that cannot be had it is
    None, and Kueue manages its certificates itself.
    """

    kubeconfig: Path
    certificates: Path
    etc: Path | None
    webhook: int
    health: int
    metrics: int

    def settings(self) -> Manifest:
        """Write what the surroundings fix in a Configuration, whatever its author wrote."""
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
            "featureGates": {
                "VisibilityOnDemand": False
            },  # its server wants certificates at /visibility
        }


def check(binary: Path, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
    """Have the real Kueue judge a Configuration: every fault that makes it exit, none when it would start.

    Kueue gets the document as it is, and nothing to connect to, so it ends by itself right after its judgement.  It
    takes one that names no version for one in its newest.
    Keys are sorted because it meets those of a YAML file so, and those of a JSON file as they stand.
    """
    run = _judged(binary, configuration)
    if (faults := verdict(run.stderr)) is None:
        raise ClusterError(
            f"{binary} exited with {run.returncode} and no judgement:\n{run.stderr[-2000:]}"
        )
    return faults


def version(binary: Path) -> str:
    """Ask a Kueue for its version, which it logs before anything else."""
    found = re.search(r'"gitVersion":\s*"([^"]+)"', _judged(binary, {}).stderr)
    return found[1] if found else "unknown"


def _judged(
    binary: Path, configuration: Mapping[str, Any]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [binary, "--config", "/dev/stdin"],
        input=json.dumps(configuration, default=str, sort_keys=True),
        capture_output=True,
        env={"HOME": "/nonexistent"},  # no kubeconfig to be found there
        text=True,
        timeout=CHECK_SECONDS,
        check=False,
    )


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> Manifest:
    """Lay one document over another; what is not a mapping in both is taken from ``over``."""
    result = {**under, **over}
    for key in under.keys() & over.keys():
        if isinstance(under[key], Mapping) and isinstance(over[key], Mapping):
            result[key] = merged(under[key], over[key])
    return result
