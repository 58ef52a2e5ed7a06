"""Turns the Jobs of generated steps into work of other kinds."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from kueue_dra_fixtures.work_kinds import completed
from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.target import Manifest

_LEAST = "kueue.x-k8s.io/job-min-parallelism"


class Kinds:
    """Gives each Job of one scenario a kind, the same in all steps."""

    def __init__(self, choose: random.Random, kinds: Sequence[str]) -> None:
        self._choose, self._kinds = choose, kinds
        self._known: dict[str, str] = {}

    def step(self, step: Mapping[str, Any]) -> Mapping[str, Any]:
        """Give a step with its Jobs of other kinds."""
        found = dict(step)
        if step.get("apply"):
            found["apply"] = [self._applied(each) for each in step["apply"]]
        for verb in ("delete", "touch"):
            if step.get(verb):
                found[verb] = [self._named(each) for each in step[verb]]
        return found

    def _kind(self, name: str) -> str:
        if name not in self._known:
            self._known[name] = self._choose.choice(self._kinds)
        return self._known[name]

    def _named(self, ref: Manifest) -> Manifest:
        if ref["kind"] != "Job":
            return ref
        kind = JOB_KINDS[self._kind(ref["name"])]
        return {**ref, "apiVersion": kind.api_version, "kind": kind.name}

    def _applied(self, job: Manifest) -> Manifest:
        if job["kind"] != "Job":
            return job
        kind = JOB_KINDS[self._kind(job["metadata"]["name"])]
        if kind.name == "Job":
            return job
        meta = dict(job["metadata"])
        meta.pop("annotations", None)
        count = job["spec"]["parallelism"]
        work = {
            "apiVersion": kind.api_version,
            "kind": kind.name,
            "metadata": meta,
            "spec": _SPECS[kind.name](count, job["spec"]["template"]),
        }
        conditions = (job.get("status") or {}).get("conditions") or ()
        is_over = any(each["type"] == "Complete" for each in conditions)
        return completed(work) if is_over and kind.name != "RayCluster" else work


def _job_set(count: int, template: Manifest) -> Manifest:
    replicas = 2 if count and count % 2 == 0 else 1
    each = count // replicas
    job = {"parallelism": each, "completions": each, "template": template}
    return {"replicatedJobs": [{"name": "main", "replicas": replicas, "template": {"spec": job}}]}


def _pytorch(count: int, template: Manifest) -> Manifest:
    spec = {key: value for key, value in template["spec"].items() if key != "restartPolicy"}
    return {"pytorchReplicaSpecs": {"Worker": {"replicas": count, "template": {"spec": spec}}}}


def _ray_cluster(count: int, template: Manifest) -> Manifest:
    spec = {key: value for key, value in template["spec"].items() if key != "restartPolicy"}
    containers = [{"name": "head", "image": spec["containers"][0]["image"]}]
    group = {
        "groupName": "main",
        "rayStartParams": {},
        "replicas": count,
        "numOfHosts": 1,
        "minReplicas": 0,
        "maxReplicas": max(count, 1),
        "template": {"spec": spec},
    }
    head = {"rayStartParams": {}, "template": {"spec": {"containers": containers}}}
    return {"headGroupSpec": head, "workerGroupSpecs": [group]}


_SPECS = {"JobSet": _job_set, "PyTorchJob": _pytorch, "RayCluster": _ray_cluster}
