"""Gathers the evidence of a failed case before anything is deleted: objects, events and logs, without secrets."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from kueue_dra_clusters.api_client import RequestRejected
from kueue_dra_clusters.kind.charts import (
    KUEUE_DEPLOYMENT,
    KUEUE_NAMESPACE,
)
from kueue_dra_clusters.kind.cluster import NodeCluster
from kueue_dra_clusters.kind.driver import Driver
from kueue_dra_clusters.kind.failure_summary import summary
from kueue_dra_clusters.kind.provider import ProviderError
from kueue_dra_clusters.waiting import TimedOut
from kueue_dra_ref.target import Manifest

LOCAL = "jobs,pods,resourceclaims,resourceclaimtemplates,workloads,localqueues,events"
GLOBAL = "clusterqueues,resourceflavors,deviceclasses,resourceslices,nodes"
LOGS = {
    "kueue": (KUEUE_NAMESPACE, f"deployment/{KUEUE_DEPLOYMENT}"),
}
STATIC = ("kube-scheduler", "kube-apiserver", "kube-controller-manager")
LINES = 400
SECRET_WORDS = ("token", "password", "secret", "authorization")


def gather(cluster: NodeCluster, namespace: str, folder: Path) -> None:
    """Write one folder about a failed case; if something is not available, its file has the error instead."""
    folder.mkdir(parents=True, exist_ok=True)
    objects = partial(_objects, cluster)
    log = partial(_log, cluster)
    sources = {
        "summary.txt": partial(summary, cluster, namespace),
        "objects.yaml": partial(objects, "-n", namespace, "get", LOCAL),
        "cluster.yaml": partial(objects, "get", GLOBAL),
    }
    for name, (place, what) in (LOGS | _logs_of_driver(cluster)).items():
        file = f"{name}.log"
        sources[file] = partial(log, place, what)
    for name in STATIC:
        file = f"{name}.log"
        sources[file] = partial(log, "kube-system", "-l", f"component={name}")
    for file, source in sources.items():
        _write(folder / file, source)


def _logs_of_driver(cluster: NodeCluster) -> dict[str, tuple[str, str]]:
    """Give namespace and name of the driver's DaemonSets; the first is ``driver``, others follow with a number."""
    found = {}
    for index, each in enumerate(Driver(cluster=cluster).daemon_sets()):
        name = f"driver-{index}" if index else "driver"
        place = str(each["metadata"]["namespace"])
        found[name] = (place, f"daemonset/{each['metadata']['name']}")
    return found


def export(cluster: NodeCluster, folder: Path) -> None:
    """Export the logs of the nodes with kind."""
    folder.mkdir(parents=True, exist_ok=True)
    words = ("export", "logs", str(folder), "--name", cluster.record.name)
    _write(folder.with_suffix(".txt"), partial(cluster.kind, *words))


def redacted(found: Any) -> Any:
    """Give a document with possible secrets redacted."""
    if isinstance(found, list):
        return [redacted(each) for each in found]
    if not isinstance(found, dict):
        return found
    copied = {}
    for key, value in found.items():
        if _is_secret(key, value):
            copied[key] = "REDACTED"
        else:
            copied[key] = redacted(value)
    return copied


def _is_secret(key: str, value: Any) -> bool:
    if not isinstance(value, str):
        return False
    lower = key.lower()
    return any(word in lower for word in SECRET_WORDS)


def _objects(cluster: NodeCluster, *words: str) -> str:
    text = cluster.kubectl(*words, "-o", "json")
    found: list[Manifest] = json.loads(text)["items"]
    for each in found:
        each["metadata"].pop("managedFields", None)
    return yaml.safe_dump_all(map(redacted, found), sort_keys=False)


def _log(cluster: NodeCluster, namespace: str, *what: str) -> str:
    options = (f"--tail={LINES}", "--prefix")
    text = cluster.kubectl("-n", namespace, "logs", *what, *options)
    lines = text.splitlines()
    return "\n".join(map(_without_secret, lines))


def _without_secret(line: str) -> str:
    lower = line.lower()
    if any(f"{word}=" in lower for word in SECRET_WORDS):
        return "(left out)"
    return line


def _write(file: Path, text: Callable[[], str]) -> None:
    try:
        file.write_text(text(), encoding="utf-8")
    except (ProviderError, RequestRejected, TimedOut) as trouble:
        file.write_text(f"{trouble}\n", encoding="utf-8")
