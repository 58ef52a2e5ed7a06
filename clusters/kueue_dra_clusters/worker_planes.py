"""A manager of MultiKueue and its workers: control planes that start when a case asks for them, for the whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from kueue_dra_clusters.apply import write_status
from kueue_dra_clusters.binaries import Binaries
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.plane import Plane
from kueue_dra_clusters.waiting import NotYet, TimedOut, eventually
from kueue_dra_ref.api.job_kinds import JOB_KINDS, POD
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.target import WORKERS, Manifest, Ref, Rejection, Worker

PATIENCE = 15.0
"""Seconds in which a manager and its workers do what a case waits for; each step between them takes a second."""
BETWEEN = 0.05
"""Seconds between two looks."""


class DispatchingTarget(LiveTarget):
    """A cluster that others change: while they do, cases wait for states, and not until it has settled."""

    _dispatches = True

    def settle(self) -> None:
        """Wait until it has settled, or return at once while others change it."""
        if not self._dispatches:
            super().settle()

    def read(self, ref: Ref) -> Manifest | None:
        """Give one object, as stored while others change it."""
        return self._objects.read(ref) if self._dispatches else super().read(ref)

    def list(
        self, api_version: str, kind: str, namespace: str = ""
    ) -> Sequence[Manifest]:
        """Give all objects of a kind, as stored while others change them."""
        if self._dispatches:
            return self._objects.list(api_version, kind, namespace)
        return super().list(api_version, kind, namespace)


class WorkerTarget(DispatchingTarget):
    """A cluster in which a manager creates objects."""

    def apply(self, manifests: Iterable[Manifest]) -> Sequence[Rejection]:
        """Create each object or replace its spec; of what a manager has created write the status alone."""
        rejections: list[Rejection] = []
        for manifest in manifests:
            ref = Ref.of(manifest)
            if "status" in manifest and self._is_copy(ref):
                write_status(self._objects, ref, manifest["status"])
            else:
                rejections += super().apply([manifest])
        return rejections

    def _is_copy(self, ref: Ref) -> bool:
        """Whether a manager has created an object."""
        return ref not in self._applied and self._objects.read(ref) is not None

    def clean(self) -> None:
        """Delete what was applied, and what a manager has left."""
        self._cleaning.remove(self._left())
        super().clean()

    def _left(self) -> list[Ref]:
        found = []
        for namespace in self._applied.namespaces:
            for each in self._objects.list(KUEUE, "Workload", namespace):
                found += [Ref.of(each), *_owners(each)]
        return found


def _owners(workload: Manifest) -> list[Ref]:
    """Name the work that owns a Workload."""
    namespace = workload["metadata"]["namespace"]
    found = []
    for owner in owners_of(workload):
        if owner["kind"] in JOB_KINDS and owner["kind"] != POD.name:
            named = {**owner, "namespace": namespace}
            found.append(Ref.of(named))
    return found


class WorkerPlanes:
    """Starts the workers of a run at the first request, in parallel, and stops them at the end."""

    def __init__(self, programs: Binaries, leaves: frozenset[str]) -> None:
        self._programs = programs
        self._leaves = leaves
        self._held = ExitStack()
        self._workers: list[Worker] = []

    def workers(self) -> Sequence[Worker]:
        """Give the workers, which are empty."""
        if not self._workers:
            planes = [ControlPlane(self._programs) for _ in range(WORKERS)]
            with ThreadPoolExecutor(WORKERS) as pool:
                list(pool.map(self._held.enter_context, planes))
            self._workers = [self._worker(plane) for plane in planes]
        return self._workers

    def _worker(self, plane: ControlPlane) -> Worker:
        target = WorkerTarget(plane, leaves=self._leaves)
        self._held.callback(target.close)
        return Worker(target=target, kubeconfig=plane.administrator())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        trouble: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._held.close()


class ManagerTarget(DispatchingTarget):
    """A cluster with workers; it is like any other until a case asks for them."""

    def __init__(self, plane: Plane, planes: WorkerPlanes, **options: Any) -> None:
        super().__init__(plane, **options)
        self._planes = planes
        self._dispatches = False

    def workers(self) -> Sequence[Worker]:
        """Give the workers for one case."""
        workers = self._planes.workers()
        self._dispatches = True
        return workers

    def wait(self, arrived: Callable[[], bool]) -> None:
        """Return when something holds in these clusters, or after a time in which it would."""

        def look() -> None:
            if not arrived():
                raise NotYet("not yet")

        try:
            eventually(look, within=PATIENCE, every=BETWEEN, what="the clusters")
        except TimedOut:
            return

    def clean(self) -> None:
        """Delete everything applied, and be like any other cluster again."""
        super().clean()
        self._dispatches = False
