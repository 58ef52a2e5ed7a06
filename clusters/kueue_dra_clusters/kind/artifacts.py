"""What the reader of a failure needs, gathered before anything is removed: objects, events, logs; secrets left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from kueue_dra_clusters.api_client import RequestRejected
from kueue_dra_clusters.kind.charts import (
    DRIVER_DAEMONSET,
    DRIVER_NAMESPACE,
    KUEUE_DEPLOYMENT,
    KUEUE_NAMESPACE,
)
from kueue_dra_clusters.kind.cluster import NodeCluster
from kueue_dra_clusters.kind.failure_summary import summary
from kueue_dra_clusters.kind.provider import ProviderError
from kueue_dra_clusters.waiting import TimedOut
from kueue_dra_ref.target import Manifest

LOCAL = "jobs,pods,resourceclaims,resourceclaimtemplates,workloads,localqueues,events"
GLOBAL = "clusterqueues,resourceflavors,deviceclasses,resourceslices,nodes"
LOGS = {
    "kueue": (KUEUE_NAMESPACE, f"deployment/{KUEUE_DEPLOYMENT}"),
    "driver": (DRIVER_NAMESPACE, f"daemonset/{DRIVER_DAEMONSET}"),
}
STATIC = ("kube-scheduler", "kube-apiserver", "kube-controller-manager")
LINES = 400
SECRET_WORDS = ("token", "password", "secret", "authorization")


def gather(cluster: NodeCluster, namespace: str, folder: Path) -> None:
    """Write one folder about a case that failed; what cannot be had is said in its file instead."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "summary.txt", partial(summary, cluster, namespace))
    _write(
        folder / "objects.yaml",
        partial(_objects, cluster, "-n", namespace, "get", LOCAL),
    )
    _write(folder / "cluster.yaml", partial(_objects, cluster, "get", GLOBAL))
    for name, (place, what) in LOGS.items():
        _write(folder / f"{name}.log", partial(_log, cluster, place, what))
    for name in STATIC:
        _write(
            folder / f"{name}.log",
            partial(_log, cluster, "kube-system", "-l", f"component={name}"),
        )


def export(cluster: NodeCluster, folder: Path) -> None:
    """Have kind export the logs of its nodes."""
    folder.mkdir(parents=True, exist_ok=True)
    words = ("export", "logs", str(folder), "--name", cluster.record.name)
    _write(folder.with_suffix(".txt"), partial(cluster.kind, *words))


def redacted(found: Any) -> Any:
    """Give a document with what may be secret blacked out."""
    if isinstance(found, dict):
        return {
            key: "REDACTED" if _is_secret(key, each) else redacted(each)
            for key, each in found.items()
        }
    return [redacted(each) for each in found] if isinstance(found, list) else found


def _is_secret(key: str, value: Any) -> bool:
    return isinstance(value, str) and any(word in key.lower() for word in SECRET_WORDS)


def _objects(cluster: NodeCluster, *words: str) -> str:
    found: list[Manifest] = json.loads(cluster.kubectl(*words, "-o", "json"))["items"]
    for each in found:
        each["metadata"].pop("managedFields", None)
    return yaml.safe_dump_all(map(redacted, found), sort_keys=False)


def _log(cluster: NodeCluster, namespace: str, *what: str) -> str:
    lines = cluster.kubectl(
        "-n", namespace, "logs", *what, f"--tail={LINES}", "--prefix"
    ).splitlines()
    return "\n".join(
        "(left out)"
        if any(f"{word}=" in line.lower() for word in SECRET_WORDS)
        else line
        for line in lines
    )


def _write(file: Path, text: Callable[[], str]) -> None:
    try:
        file.write_text(text(), encoding="utf-8")
    except (ProviderError, RequestRejected, TimedOut) as trouble:
        file.write_text(f"{trouble}\n", encoding="utf-8")
