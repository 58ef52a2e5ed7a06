"""What a scenario with workers has in addition: kubeconfigs of workers, copies, and what a manager dispatches.

No counterpart: recorded scenarios of MultiKueue.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kueue_dra_ref.api.conditions import condition, is_true
from kueue_dra_ref.api.job_kinds import JOB_KINDS, is_suspended, owner_of
from kueue_dra_ref.api.multikueue import CLUSTER, MANAGED_BY, SECRET, managed_by
from kueue_dra_ref.scenarios.check_answers import WORKLOAD
from kueue_dra_ref.scenarios.observation import KUEUE, namespaces_of
from kueue_dra_ref.scenarios.scenario import Observation
from kueue_dra_ref.target import Manifest, Ref, Target

KUBECONFIG = "kubeconfig"


def with_kubeconfig(
    step: Mapping[str, Any], kubeconfigs: Mapping[str, str]
) -> Mapping[str, Any]:
    """Give a step whose Secrets have the kubeconfig of the worker that they name in ``stringData``."""
    applied = []
    for manifest in step.get("apply") or ():
        named = str((manifest.get("stringData") or {}).get(KUBECONFIG))
        if manifest["kind"] == SECRET and named in kubeconfigs:
            manifest = _with_data(manifest, kubeconfigs[named])
        applied.append(manifest)
    return {**step, "apply": applied}


def _with_data(secret: Manifest, kubeconfig: str) -> Manifest:
    encoded = base64.b64encode(kubeconfig.encode()).decode()
    found = {**secret, "data": {KUBECONFIG: encoded}}
    del found["stringData"]
    return found


def copies_of(manager: Target, refs: Iterable[Manifest]) -> Iterator[Manifest]:
    """Name the copies of the Workloads of some work: they have the names of those on the manager."""
    for ref in refs:
        work = Ref.of(ref)
        for workload in manager.list(KUEUE, WORKLOAD, work.namespace):
            if owner_of(workload) == (work.kind, work.name):
                name = workload["metadata"]["name"]
                copy = {"apiVersion": KUEUE, "kind": WORKLOAD, "name": name}
                yield {**ref, **copy}


def observed_dispatch(
    target: Target, known: Sequence[Collection[Ref]], *, manager: bool
) -> list[Observation]:
    """Observe the work of each scenario on a cluster and, on the manager, what is dispatched and what is connected."""
    work = [*_work(target)]
    found = []
    for refs in known:
        seen: Observation = {"work": _shown(work, namespaces_of(refs))}
        found.append(seen)
    if not manager:
        return found
    workloads = target.list(KUEUE, WORKLOAD)
    clusters = target.list(KUEUE, CLUSTER)
    for seen, refs in zip(found, known, strict=True):
        connections = _connections(clusters, refs)
        seen["connections"] = connections
        seen["dispatched"] = _dispatched(workloads, namespaces_of(refs), connections)
    return found


def _work(target: Target) -> Iterator[Manifest]:
    """List the work of the kinds that a manager dispatches."""
    for name in MANAGED_BY:
        yield from target.list(JOB_KINDS[name].api_version, name)


def _shown(work: Iterable[Manifest], namespaces: set[str]) -> Observation:
    """Give of work whether it is suspended and what manages it, its counts, and its conditions that hold."""
    found: Observation = {}
    for each in work:
        meta = each["metadata"]
        if meta["namespace"] not in namespaces:
            continue
        found[meta["name"]] = {
            "suspended": is_suspended(each),
            "managedBy": managed_by(each),
            "counts": _counts(each),
            "conditions": _true_conditions(each),
        }
    return found


def _counts(work: Manifest) -> dict[str, int]:
    """Give the numbers in the status of work that are not zero."""
    found = {}
    for key, value in (work.get("status") or {}).items():
        if isinstance(value, int) and value:
            found[key] = value
    return found


def _true_conditions(work: Manifest) -> list[str]:
    status = work.get("status") or {}
    kinds = [each["type"] for each in status.get("conditions") or ()]
    return sorted(kind for kind in kinds if is_true(work, kind))


def _dispatched(
    workloads: Iterable[Manifest], namespaces: set[str], connections: Observation
) -> Observation:
    """Give of each Workload of a manager its cluster, those that are nominated, and with which reason it finished."""
    found: Observation = {}
    for each in workloads:
        owner = owner_of(each)
        if owner is None or each["metadata"]["namespace"] not in namespaces:
            continue
        status = each.get("status") or {}
        finished = condition(each, "Finished") or {}
        found[owner[1]] = {
            "cluster": status.get("clusterName", ""),
            "nominated": _nominated(each, connections),
            "finished": finished.get("reason", ""),
            "active": each["spec"].get("active", True),
        }
    return found


def _nominated(workload: Manifest, connections: Observation) -> list[str]:
    """Name the connected clusters that are nominated for a Workload with quota.

    Without quota, and for a cluster that is lost, it is chance whether Kueue has written the names again since.
    """
    if not is_true(workload, "QuotaReserved"):
        return []
    names = workload["status"].get("nominatedClusterNames") or ()
    return sorted(each for each in names if _is_connected(connections.get(each)))


def _is_connected(connection: Observation | None) -> bool:
    return connection is not None and connection["status"] == "True"


def _connections(clusters: Iterable[Manifest], refs: Collection[Ref]) -> Observation:
    """Give the status and the reason of the condition Active of each MultiKueueCluster."""
    names = {ref.name for ref in refs if ref.kind == CLUSTER}
    found = {}
    for each in clusters:
        name = each["metadata"]["name"]
        if name in names:
            active = condition(each, "Active") or {}
            found[name] = {
                "status": active.get("status", ""),
                "reason": active.get("reason", ""),
            }
    return found
