"""The target port over a real Kueue on a node-less control plane: manifests in, the same objects with status out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from kubernetes.client import ApiClient

from clusters.cleaning import clean, held_back
from clusters.fence import PREFIX, Fence
from clusters.fence_world import KUEUE
from clusters.look import owners_of
from clusters.objects import Answer, Objects
from clusters.settling import Settling
from clusters.waiting import TIME_FACTOR_VARIABLE, Limits, NotYet, TimedOut, eventually, until_after_second
from clusters.world import JOBS, World
from clusters.writing import with_labels, write, write_status
from kueue_dra_ref.target import FieldError, Manifest, Ref, Refusal

QUEUES = ("ClusterQueue", "LocalQueue")
TOUCHED = "kueue-dra.dev/touched"


class Kueue(Protocol):
    """What a live target asks of the Kueue of its control plane."""

    def start(self, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
        """Run Kueue with a Configuration, or say why it refuses to start."""

    def describe(self) -> Manifest:
        """Say which Kueue this is."""


class Plane(Protocol):
    """A control plane with a Kueue."""

    api: ApiClient
    kueue: Kueue


def limits_of(environment: Mapping[str, str]) -> Limits:
    """Give the limits, stretched by the factor that the environment asks for."""
    written = environment.get(TIME_FACTOR_VARIABLE, "1")
    try:
        return Limits().scaled(float(written))
    except ValueError:
        raise ValueError(f"{TIME_FACTOR_VARIABLE}: found {written!r}, expected a number above 0") from None


class LiveTarget:
    """A real Kueue as a judge; one of them serves many cases, one after another, with `clean` between them."""

    name = "kueue"

    def __init__(self, plane: Plane, *, limits: Limits | None = None, labels: Mapping[str, str] | None = None) -> None:
        self._plane = plane
        self._limits = limits or limits_of(os.environ)
        self._labels = dict(labels or {})
        self._objects = Objects(api=plane.api, limits=self._limits)
        self._world = World()
        run = f"{os.getpid():x}-{id(self):x}"[-20:]
        self._fence = Fence(objects=self._objects, run=run, labels=self._labels, limits=self._limits)
        self._settling = Settling(objects=self._objects, world=self._world, fence=self._fence, limits=self._limits)
        self._configuration = ""
        self._lines: dict[str, Manifest] = {}
        self._unseen_queues: list[Ref] = []
        self._touches = 0

    def start(self, configuration: Manifest) -> Sequence[FieldError]:
        """Run Kueue with a Configuration unless it runs with the same one, or say why it refuses to start."""
        wanted = json.dumps(configuration, sort_keys=True, default=str)
        if wanted == self._configuration:
            return ()
        faults = self._plane.kueue.start(configuration)
        if not faults:
            self._configuration = wanted
            self._settling.note_change()
        return faults

    def apply(self, manifests: Iterable[Manifest]) -> Sequence[Refusal]:
        """Create each object or replace its spec; give what the API server or a webhook refused."""
        answers = [(Ref.of(manifest), self._apply(manifest)) for manifest in manifests]
        return [Refusal(ref=ref, code=answer.code, message=answer.message) for ref, answer in answers if not answer.ok]

    def delete(self, refs: Iterable[Ref]) -> None:
        """Delete objects and, with each Job, its Workload; return when Kueue has let go of them."""
        for ref in refs:
            gone = [ref, *self._workloads_of(ref)]
            for each in gone:
                self._objects.delete(each)
            self._await_gone(gone)
            self._world.forget(ref)
            self._settling.note_change()

    def touch(self, refs: Iterable[Ref]) -> None:
        """Change an annotation of each Job's Workload, so that Kueue reconciles it at once."""
        self._touches += 1
        for ref in refs:
            for workload in self._workloads_of(ref) if ref.kind == "Job" else [ref]:
                self._objects.patch(workload, {"metadata": {"annotations": {TOUCHED: str(self._touches)}}})
        self._settling.note_change()

    def settle(self) -> None:
        """Return when every decision that follows from what was applied so far has been made."""
        self._settling.settle()

    def read(self, ref: Ref) -> Manifest | None:
        """Give one object as stored, in the version asked for, or None."""
        return self._objects.read(ref)

    def list(self, api_version: str, kind: str, namespace: str = "") -> Sequence[Manifest]:
        """Give all objects of a kind but those of the fence, sorted by namespace and name."""
        found = self._objects.list(api_version, kind, namespace)
        return sorted((each for each in found if not _is_fence(each)), key=_place)

    def describe(self) -> Manifest:
        """Say which Kueue and which Kubernetes judge, and the versions of resource.k8s.io that are served."""
        version = self._objects.call("GET", "/version").body.get("gitVersion", "")
        served = self._objects.call("GET", "/apis/resource.k8s.io").body.get("versions") or []
        return {
            "kind": self.name,
            **self._plane.kueue.describe(),
            "kubernetes": version,
            "resourceVersions": [each["version"] for each in served],
        }

    def clean(self) -> None:
        """Remove everything applied since the last clean-up, so that the next case finds an empty cluster."""
        clean(self._objects, self._world, self._limits)
        self._lines.clear()
        self._unseen_queues.clear()
        self._settling.forget()

    def stop(self) -> None:
        """Remove everything that this target made; the control plane ends with whoever started it."""
        self.clean()
        self._fence.take_down()

    def _apply(self, manifest: Manifest) -> Answer:
        ref = Ref.of(manifest)
        if ref.kind in JOBS:
            self._await_queues()
            self._await_turn(manifest)
        body = {key: value for key, value in manifest.items() if key != "status"}
        answer, created = write(self._objects, with_labels(body, self._labels))
        if not answer.ok:
            return answer
        if not created or (ref.kind not in JOBS and self._world.has_jobs):
            self._settling.note_change()
        self._remember(manifest, created=created)
        if manifest.get("status"):
            self._settling.note_change()
            return write_status(self._objects, ref, manifest["status"])
        return answer

    def _remember(self, manifest: Manifest, *, created: bool) -> None:
        self._world.add(manifest)
        if manifest["kind"] in QUEUES and created:
            self._unseen_queues.append(Ref.of(manifest))
        line = self._world.line_of(manifest) if manifest["kind"] in JOBS and created else ""
        if line:
            self._lines[line] = manifest

    def _await_queues(self) -> None:
        """Let Kueue take notice of new queues before the first Job comes, so that none is judged by half a world."""

        def noticed() -> None:
            for ref in list(self._unseen_queues):
                if not ((self._objects.read(ref) or {}).get("status") or {}).get("conditions"):
                    raise NotYet(f"{ref} has no condition")
                self._unseen_queues.remove(ref)

        eventually(noticed, within=self._limits.queues, what="Kueue to take notice of the queues")

    def _await_turn(self, manifest: Manifest) -> None:
        """Let a second pass after the last Workload of the same line was made: creation times have whole seconds."""
        last = self._lines.get(self._world.line_of(manifest))
        if last is None or Ref.of(manifest) in self._world:
            return
        try:
            made = eventually(
                lambda: self._creation_of(Ref.of(last)), within=self._limits.workload, what="the last Job's Workload"
            )
        except TimedOut:
            return  # Kueue makes none for it, so there is nothing to come after
        until_after_second(made)

    def _creation_of(self, ref: Ref) -> int:
        workloads = self._workloads_of(ref) if ref.kind == "Job" else [ref]
        found = [workload for each in workloads if (workload := self._objects.read(each))]
        if not found and self._objects.read(ref) is not None:
            raise NotYet(f"{ref} has no Workload")
        stamps = [each["metadata"]["creationTimestamp"] for each in found]
        return max((int(datetime.fromisoformat(stamp).timestamp()) for stamp in stamps), default=0)

    def _workloads_of(self, ref: Ref) -> Sequence[Ref]:
        job = self._objects.read(ref) if ref.kind == "Job" else None
        if job is None:
            return []
        workloads = self._objects.list(KUEUE, "Workload", ref.namespace)
        return [Ref.of(each) for each in workloads if job["metadata"]["uid"] in owners_of(each)]

    def _await_gone(self, refs: Iterable[Ref]) -> None:
        def gone() -> None:
            found = [ref for ref in refs if self._objects.read(ref) is not None]
            if left := [str(ref) for ref in found if not held_back(self._objects, ref)]:
                raise NotYet("still there: " + ", ".join(left))

        eventually(gone, within=self._limits.gone, what="deleted objects to be gone")


def _is_fence(manifest: Manifest) -> bool:
    meta = manifest["metadata"]
    return bool(meta["name"].startswith(PREFIX) or meta.get("namespace", "").startswith(PREFIX))


def _place(manifest: Manifest) -> tuple[str, str]:
    return manifest["metadata"].get("namespace", ""), manifest["metadata"]["name"]
