"""The interface of every target: start, apply, delete, touch, settle, read.

A *target* accepts plain Kubernetes manifests and returns the same objects with ``status``.  The reference
(`kueue_dra_ref.reference`) is one; a real Kueue (`kueue_dra_clusters`) is another.  Cases use both unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

Manifest = dict[str, Any]

Audit = Callable[[Sequence[Manifest], str], Sequence[str]]
"""Checks the Jobs, Workloads and queues of a target, and Kueue's metrics as it prints them; gives what is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """Names one object; ``api_version`` may be any served version, ``namespace`` is empty for cluster scope."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""

    @classmethod
    def of(cls, manifest: Manifest) -> Ref:
        """Name the object of a manifest (or of a ``{apiVersion, kind, namespace, name}`` reference)."""
        meta = manifest.get("metadata", manifest)
        return cls(
            api_version=manifest["apiVersion"],
            kind=manifest["kind"],
            name=meta["name"],
            namespace=meta.get("namespace", ""),
        )

    def __str__(self) -> str:
        if self.namespace:
            return f"{self.kind} {self.namespace}/{self.name}"
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldError:
    """One fault in a document, printed as Kubernetes prints field errors: ``FIELD: TYPE: VALUE: DETAIL``.

    ``type`` is an error type of Kubernetes (``Invalid value``, ``Required value``, ``Duplicate value``, ``Too many``
    ...); ``value`` is already printed, or None where Kubernetes prints none.
    """

    field: str
    type: str
    value: str | None = None
    detail: str = ""

    def __str__(self) -> str:
        return ": ".join(
            part for part in (self.field, self.type, self.value, self.detail) if part
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """An object that the API server or a webhook rejected: which, the HTTP status code, and the message."""

    ref: Ref
    code: int
    message: str
    error: FieldError | None = None
    """The field at fault, if the target names one."""
    others: tuple[FieldError, ...] = ()
    """Further fields at fault, if the target names them."""


class NotQuiescent(Exception):
    """A target does not settle; the message names what still changes."""


class Target(Protocol):
    """Kueue with an API server.  Each method returns when its effect is visible; only `settle` waits for decisions."""

    name: str
    """``reference`` or ``kueue``."""

    def start(self, configuration: Manifest) -> Sequence[FieldError]:
        """Run Kueue with ``configuration`` over the objects that exist, or report why it does not start.

        ``configuration`` is a Kueue Configuration (apiVersion may be missing: the newest that the target reads).
        Started again with another configuration, or after its ClusterRole was applied, it restarts: objects stay,
        and Kueue decides again.  Otherwise it does nothing.
        """

    def check(self, configuration: Manifest) -> Sequence[FieldError]:
        """Report why Kueue would not start with ``configuration``; the running one does not change."""

    def apply(self, manifests: Iterable[Manifest]) -> Sequence[Rejection]:
        """Create each object, or replace the spec (and metadata labels/annotations) of what exists.

        A ``status`` in a manifest is written, too, for kinds whose controller the tests replace
        (Job, Workload conditions such as Finished).
        """

    def delete(self, refs: Iterable[Ref]) -> None:
        """Delete objects; one that does not exist is ignored.  Deleting a Job deletes the Workload that it owns."""

    def touch(self, refs: Iterable[Ref]) -> None:
        """Change an annotation of each Job's Workload (or of the Workload itself), so that Kueue reconciles it."""

    def settle(self) -> None:
        """Return when Kueue has made every decision that follows from what was applied.

        Raises:
            NotQuiescent: it never does; the status shows the last decision.

        """

    def read(self, ref: Ref) -> Manifest | None:
        """Give one object as it is now, or None."""

    def list(
        self, api_version: str, kind: str, namespace: str = ""
    ) -> Sequence[Manifest]:
        """List all objects of a kind, of one namespace or of all, sorted by namespace and name."""

    def audit(self, check: Audit) -> Sequence[str]:
        """Check a settled target, repeatedly while counts are behind; give what is wrong in the end."""

    def log(self) -> str:
        """Give the last log lines about what was applied, for people; empty if the target keeps no log."""

    def describe(self) -> Manifest:
        """Give the ``target`` block of the report: kind, versions, gates; no paths, no ports."""

    def clean(self) -> None:
        """Remove every object that was applied, so that the next case starts without objects."""

    def stop(self) -> None:
        """Stop the processes that this target started, and remove what it created."""


WORKERS = 2
"""The workers that a target offers to a manager."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A second cluster with a Kueue of its own, and the kubeconfig with which a manager reaches it."""

    target: Target
    kubeconfig: str


class NoWorkers(Exception):
    """A target has no clusters that could be workers of MultiKueue; the message says why."""


@runtime_checkable
class HasWorkers(Protocol):
    """A target that can be the manager of MultiKueue."""

    def workers(self) -> Sequence[Worker]:
        """Give two empty clusters for one case; ask for them before `Target.start`.

        Raises:
            NoWorkers: there are none.

        """

    def wait(self, arrived: Callable[[], bool]) -> None:
        """Return when something holds in these clusters, or after a time in which it would."""


def workers_of(target: Target) -> Sequence[Worker]:
    """Give the workers of a target.

    Raises:
        NoWorkers: it has none.

    """
    if isinstance(target, HasWorkers):
        return target.workers()
    raise NoWorkers(f"the target {target.name} has no other clusters")
