"""The port that every judge offers: start, apply, delete, touch, settle, read.

A *target* takes plain Kubernetes manifests and gives the same objects back with ``status``.  The reference
(`kueue_dra_ref.cluster`) is one; a real Kueue (`clusters`) is another.  Nothing is translated per target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Manifest = dict[str, Any]

Audit = Callable[[Sequence[Manifest], str], Sequence[str]]
"""Says what is wrong with a world: its Jobs, Workloads and queues, and Kueue's own metrics as it prints them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """Names one object; ``api_version`` may be any served version, ``namespace`` is empty for cluster scope."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""

    @classmethod
    def of(cls, manifest: Manifest) -> Ref:
        """Name the object that a manifest (or a ``{apiVersion, kind, namespace, name}`` reference) is about."""
        meta = manifest.get("metadata", manifest)
        return cls(
            api_version=manifest["apiVersion"],
            kind=manifest["kind"],
            name=meta["name"],
            namespace=meta.get("namespace", ""),
        )

    def __str__(self) -> str:
        return (
            f"{self.kind} {self.namespace + '/' if self.namespace else ''}{self.name}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldError:
    """One fault in a document, printed as Kubernetes prints field errors: ``FIELD: TYPE: VALUE: DETAIL``.

    ``type`` is Kubernetes' word (``Invalid value``, ``Required value``, ``Duplicate value``, ``Too many`` ...);
    ``value`` is already printed, or None where Kubernetes prints none.
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
    """One apply that the API server or a webhook refused: what, the HTTP status code, and its words."""

    ref: Ref
    code: int
    message: str
    error: FieldError | None = None
    """The field at fault, where the judge names one."""
    others: tuple[FieldError, ...] = ()
    """Further fields at fault, where the judge names them."""


class NotQuiescent(Exception):
    """A world that does not come to rest; its words name what still moves."""


class Target(Protocol):
    """A judge.  Every method returns when its effect is visible; only `settle` waits for decisions."""

    name: str
    """``reference`` or ``kueue``."""

    def start(self, configuration: Manifest) -> Sequence[FieldError]:
        """Run Kueue with ``configuration`` over the objects that exist, or say why it refuses to start.

        ``configuration`` is a Kueue Configuration (apiVersion may be missing: the newest that the judge reads).
        Started again with another configuration, or after its ClusterRole was applied, it restarts: objects stay,
        decisions are made anew.  Otherwise it does nothing.
        """

    def check(self, configuration: Manifest) -> Sequence[FieldError]:
        """Say whether Kueue would start with ``configuration``, and leave the running one alone."""

    def apply(self, manifests: Iterable[Manifest]) -> Sequence[Rejection]:
        """Create each object, or replace the spec (and metadata labels/annotations) of what exists.

        A ``status`` in a manifest is written too when the kind is one that tests play the controller of
        (Job, Workload conditions such as Finished).
        """

    def delete(self, refs: Iterable[Ref]) -> None:
        """Delete objects; what does not exist is no fault.  Deleting a Job deletes the Workload it owns."""

    def touch(self, refs: Iterable[Ref]) -> None:
        """Change an annotation of each Job's Workload (or of the Workload itself), so it is reconciled at once."""

    def settle(self) -> None:
        """Return when every decision that follows from what was applied so far has been made.

        Raises:
            Restless: that is never; what is shown is what was told last.

        """

    def read(self, ref: Ref) -> Manifest | None:
        """One object as it is now, or None."""

    def list(
        self, api_version: str, kind: str, namespace: str = ""
    ) -> Sequence[Manifest]:
        """All objects of a kind, of one namespace or of all, sorted by namespace and name."""

    def audit(self, check: Audit) -> Sequence[str]:
        """Have a world at rest checked, as often as it takes for figures that come late; what is wrong in the end."""

    def log(self) -> str:
        """What the judge has logged last of what was applied, for people; empty where it keeps no log."""

    def describe(self) -> Manifest:
        """What the report's ``target`` block says of this judge: kind, versions, gates; no paths, no ports."""

    def clean(self) -> None:
        """Remove every object that was applied, so that the next story starts from nothing."""

    def stop(self) -> None:
        """End what this target started and remove what it made."""
