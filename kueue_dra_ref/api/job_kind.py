"""What a kind of work is to Kueue: its pod sets, the field that suspends it, and what its status says.

No counterpart: the form of the table of kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.target import Manifest

Path = tuple[str | int, ...]
"""The keys and indexes that lead to a part of an object."""
MAIN = "main"
"""The name of a pod set that has none."""
Outcome = tuple[str, str]
"""The reason and the message of finished work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSetPlace:
    """One pod set of an object: its name, its number of pods, and where its template is."""

    name: str
    count: int
    path: Path
    default: Manifest | None = None
    """The template of its pods if the object has none there."""
    numbered: Manifest = field(default_factory=dict)
    """By which labels its pods are numbered, as its topology request says; empty if they are not."""
    built: Manifest | None = None
    """The template that Kueue builds, where the object describes its pods by fields; they are what is at the path."""

    @property
    def pod_path(self) -> str:
        """The path of the pod spec, as Kubernetes prints it."""
        shown = ""
        for key in self.path:
            shown += f"[{key}]" if isinstance(key, int) else f".{key}"
        return f"{shown}.spec".removeprefix(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKind:
    """One kind of work."""

    name: str
    group: str
    version: str
    plural: str
    framework: str
    """Its name among the integrations of a Configuration."""
    places: Callable[[Manifest], Iterator[PodSetPlace]]
    """Gives its pod sets, in the order of the Workload."""
    outcome: Callable[[Manifest], Outcome | None]
    """With which reason and message its status finishes its Workload."""
    is_active: Callable[[Manifest], bool]
    """Whether its status says that pods are active."""
    is_ready: Callable[[Manifest], bool]
    """Whether its status says that all its pods are ready or have succeeded."""
    suspend: tuple[str, ...] = ("spec", "suspend")
    """The field with which Kueue suspends it."""
    priority: tuple[str, ...] = ()
    """The field that names its PriorityClass, before those of its pods; empty for none."""
    gated: bool = False
    """Whether Kueue holds it by a scheduling gate, as it does with pods, and not by a field that suspends it."""
    raw: bool = False
    """Whether its pod templates are parts of other objects, which Kueue reads as they are and does not change."""
    since: str = ""
    """The first minor of Kueue that has it; empty for all."""
    gate: str = ""
    """The feature gate that it needs; empty for none."""

    @property
    def api_version(self) -> str:
        """The version that Kueue reads."""
        return f"{self.group}/{self.version}".removeprefix("/")


def spec_of(obj: Manifest) -> Manifest:
    """Give the spec of an object; empty without one."""
    found: Manifest = obj.get("spec") or {}
    return found


def status_of(obj: Manifest) -> Manifest:
    """Give the status of an object; empty without one."""
    found: Manifest = obj.get("status") or {}
    return found


def pods_of_job(spec: Manifest) -> int:
    """Give how many pods of a Job run in parallel."""
    parallel = spec.get("parallelism", 1)
    completions = spec.get("completions")
    if completions is not None:
        parallel = min(parallel, completions)
    return int(parallel)


def pods_of_replica(replicated: Manifest) -> int:
    """Give how many pods of each Job of a replicated job run in parallel."""
    return pods_of_job(spec_of(replicated.get("template") or {}))


def by_condition(
    reasons: Mapping[str, str],
) -> Callable[[Manifest], Outcome | None]:
    """Read the outcome of conditions: the reason by the type of the first that is true."""

    def outcome(obj: Manifest) -> Outcome | None:
        for condition in status_of(obj).get("conditions") or ():
            reason = reasons.get(condition.get("type", ""))
            if reason and condition.get("status") == "True":
                return reason, condition.get("message", "")
        return None

    return outcome


def are_jobs_ready(
    obj: Manifest, jobs: Iterable[Mapping[str, Any]], field: str
) -> bool:
    """Whether all Jobs of an object are ready or have succeeded: its replicated jobs, by a list in its status."""
    count = 0
    for each in status_of(obj).get(field) or ():
        count += int(each.get("ready") or 0) + int(each.get("succeeded") or 0)
    return count == sum(int(each.get("replicas", 1)) for each in jobs)


def has_condition(kind: str) -> Callable[[Manifest], bool]:
    """Read whether a condition is true."""

    def is_true(obj: Manifest) -> bool:
        conditions = status_of(obj).get("conditions") or ()
        found = [each for each in conditions if each.get("type") == kind]
        return any(each.get("status") == "True" for each in found)

    return is_true


def part_at(value: Any, path: Path) -> Any:
    """Give the part of a value at a path; None if there is none."""
    for key in path:
        value = value[key] if isinstance(key, int) else (value or {}).get(key)
    return value


def replaced(value: Any, path: Path, new: Any) -> Any:
    """Copy a value with another part at a path; only what leads to it is copied."""
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        items = list(value)
        items[key] = replaced(items[key], rest, new)
        return items
    mapping = dict(value or {})
    mapping[key] = replaced(mapping.get(key), rest, new)
    return mapping


def template_at(job: Manifest, path: Path) -> Manifest:
    """Give the pod template at a path; empty if there is none."""
    template: Manifest = part_at(job, path) or {}
    return template


def template_of(job: Manifest, place: PodSetPlace) -> Manifest:
    """Give the pod template of a pod set; empty if there is none."""
    if place.built is not None:
        return place.built
    return template_at(job, place.path) or place.default or {}
