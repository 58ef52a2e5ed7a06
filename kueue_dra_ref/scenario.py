"""Scenarios: a story in manifests, replayed step by step on any target, and what is observed after each step."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kueue_dra_ref.api.quantities import BadQuantity, parse
from kueue_dra_ref.target import FieldError, Manifest, Ref, Refusal, Target

KUEUE = "kueue.x-k8s.io/v1beta2"
Observation = dict[str, Any]

_MANIFEST = ("apiVersion", "kind", "metadata.name")
_REFERENCE = ("apiVersion", "kind", "name")
_CONDITIONS = ("QuotaReserved", "Admitted", "Requeued", "Evicted", "Preempted")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ENGINE_WORDS = re.compile(r"(CEL compilation failed:|CEL evaluation failed[^:]*:).*", re.DOTALL)


class ScenarioFault(Exception):
    """A scenario file that cannot be read: the file, the line, and what was expected."""

    def __init__(self, file: str, line: int, fault: str) -> None:
        super().__init__(f"{file}:{line}: {fault}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first place in which two observations differ."""

    path: str
    ours: Any
    recorded: Any

    def __str__(self) -> str:
        return f"{self.path}: ours {json.dumps(self.ours)}, recorded {json.dumps(self.recorded)}"


class ConfigurationRefused(Exception):
    """The target did not start with the scenario's configuration."""

    def __init__(self, name: str, faults: Iterable[FieldError]) -> None:
        self.faults = tuple(faults)
        super().__init__(f"{name}: the configuration is refused: {'; '.join(map(str, self.faults))}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One story: a configuration, what exists at first, steps, and what a judge observed."""

    name: str
    configuration: Manifest
    inventory: tuple[Manifest, ...]
    steps: tuple[Mapping[str, Any], ...]
    kueue: str = ""
    recorded: tuple[Observation, ...] = ()


def scenarios(path: Path) -> Iterator[Scenario]:
    """Read the scenarios of a file: one JSON object a line, or YAML documents.

    Raises:
        ScenarioFault: the file is missing, is not JSON or YAML, or a document is no Scenario.

    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise ScenarioFault(str(path), 1, f"cannot be read: {fault}") from None
    if path.suffix != ".jsonl":
        from kueue_dra_ref.api.documents import parse as documents

        for document in documents(text, str(path)):
            yield _scenario(str(path), document.line, document.manifest)
        return
    for line, row in enumerate(text.splitlines(), start=1):
        if row.strip():
            yield _scenario(str(path), line, _json(str(path), line, row))


def replayed(scenario: Scenario, target: Target) -> Iterator[Observation]:
    """Play a scenario on a target and observe after every step.

    Raises:
        ConfigurationRefused: the target does not start with the configuration.

    """
    if faults := target.start(scenario.configuration):
        raise ConfigurationRefused(scenario.name, faults)
    refused = list(target.apply(scenario.inventory))
    seen: dict[str, Ref] = {}
    for step in scenario.steps:
        refused += _play(step, target)
        seen |= {ref.name: ref for ref in map(Ref.of, step.get("apply") or ())}
        target.settle()
        yield observed(target, seen, refused)
        refused = []


def observed(target: Target, seen: Mapping[str, Ref], refused: Iterable[Refusal] = ()) -> Observation:
    """What a target shows of the namespaces and queues that a scenario made."""
    namespaces = {ref.name for ref in seen.values() if ref.kind == "Namespace"}
    queues = {ref.name for ref in seen.values() if ref.kind == "ClusterQueue"}
    jobs = [w for namespace in sorted(namespaces) for w in target.list(KUEUE, "Workload", namespace)]
    found = {q["metadata"]["name"]: _queue(q.get("status") or {}) for q in target.list(KUEUE, "ClusterQueue")}
    rejected = [{"kind": r.ref.kind, "name": r.ref.name, "code": r.code, "message": r.message} for r in refused]
    shown = {"workloads": {_owner(w): _workload(w.get("status") or {}) for w in jobs}} if queues else {}
    shown |= {"clusterQueues": {name: found[name] for name in sorted(queues & set(found))}} if queues else {}
    return shown | ({"rejected": rejected} if rejected else {})


def difference(ours: Any, theirs: Any, path: str = "") -> Difference | None:
    """The first place in which two observations differ, keys in alphabetical order."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            if found := difference(ours.get(key), theirs.get(key), f"{path}.{key}" if path else key):
                return found
        return None
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return next((d for i, (a, b) in pairs if (d := difference(a, b, f"{path}[{i}]"))), None)
    if ours == theirs or _alike(ours, theirs, path):
        return None
    return Difference(path=path or "(the whole observation)", ours=ours, recorded=theirs)


def is_comparable(recorded: Observation) -> bool:
    """Whether a recorded step can be compared: it had settled, and real Kueues agree on it."""
    return not recorded.get("unsettled") and not recorded.get("race")


def _alike(ours: Any, theirs: Any, path: str) -> bool:
    if not isinstance(ours, str) or not isinstance(theirs, str):
        return False
    if path.endswith(".message"):
        return _told(ours) == _told(theirs)
    try:
        return parse(ours).amount == parse(theirs).amount
    except BadQuantity:
        return False


def _told(message: str) -> str:
    return _ENGINE_WORDS.sub(r"\1", _UID.sub("UID", message))


def _play(step: Mapping[str, Any], target: Target) -> list[Refusal]:
    refused = list(target.apply(step.get("apply") or ()))
    target.delete(map(Ref.of, step.get("delete") or ()))
    target.touch(map(Ref.of, step.get("touch") or ()))
    return refused


def _owner(workload: Manifest) -> str:
    owners = workload["metadata"].get("ownerReferences") or ()
    return str(next((o["name"] for o in owners if o["kind"] == "Job"), workload["metadata"]["name"]))


def _workload(status: dict[str, Any]) -> Observation:
    conditions = {c["type"]: c for c in status.get("conditions") or ()}
    told = {
        kind: {key: conditions[kind][key] for key in ("status", "reason", "message")}
        for kind in _CONDITIONS
        if kind in conditions
    }
    requests = status.get("resourceRequests")
    return told | {"admission": _admission(status.get("admission"))} | ({"requests": requests} if requests else {})


def _admission(admission: dict[str, Any] | None) -> Observation | None:
    if admission is None:
        return None
    pod_sets = [
        {"name": p["name"], "count": p["count"]}
        | {"flavors": p.get("flavors") or {}, "usage": p.get("resourceUsage") or {}}
        for p in admission["podSetAssignments"]
    ]
    return {"clusterQueue": admission["clusterQueue"], "podSets": pod_sets}


def _queue(status: dict[str, Any]) -> Observation:
    return {
        "pending": status.get("pendingWorkloads", 0),
        "reserving": status.get("reservingWorkloads", 0),
        "admitted": status.get("admittedWorkloads", 0),
        "reservation": {f["name"]: _amounts(f.get("resources") or ()) for f in status.get("flavorsReservation") or ()},
    }


def _amounts(resources: Iterable[dict[str, Any]]) -> Observation:
    return {r["name"]: {"total": r["total"], "borrowed": r.get("borrowed", "0")} for r in resources}


def _json(file: str, line: int, row: str) -> Any:
    try:
        return json.loads(row)
    except json.JSONDecodeError as fault:
        raise ScenarioFault(file, line, f"not JSON at column {fault.colno}: {fault.msg}") from None


def _scenario(file: str, line: int, found: Any) -> Scenario:
    if not isinstance(found, dict) or found.get("kind") != "Scenario":
        kind = found.get("kind") if isinstance(found, dict) else type(found).__name__
        raise ScenarioFault(file, line, f"expected an object of kind Scenario, found {kind!r}")
    for path, value, word in _misshapen(found):
        raise ScenarioFault(file, line, f"{path}: expected {word}, found {json.dumps(value)[:80]}")
    spec, status = found["spec"], found.get("status") or {}
    return Scenario(
        name=str((found.get("metadata") or {}).get("name", f"line-{line}")),
        configuration=spec.get("configuration") or {},
        inventory=tuple(spec.get("inventory") or ()),
        steps=tuple(spec["steps"]),
        kueue=str(status.get("kueue", "")),
        recorded=tuple(status.get("observations") or ()),
    )


def _misshapen(found: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """What a scenario has in another shape than its format asks for."""
    spec, status = found.get("spec"), found.get("status")
    for path, value in (("metadata", found.get("metadata")), ("spec", spec), ("status", status)):
        if not isinstance(value, dict) and (value is not None or path == "spec"):
            yield path, value, "an object"
            return
    assert isinstance(spec, dict)
    if not isinstance(spec.get("configuration") or {}, dict):
        yield "spec.configuration", spec["configuration"], "an object"
    if not isinstance(spec.get("steps"), list):
        yield "spec.steps", spec.get("steps"), "a list of steps"
    yield from _not_objects((status or {}).get("observations"), "status.observations", ())
    yield from _not_objects(spec.get("inventory"), "spec.inventory", _MANIFEST)
    yield from _not_objects(spec.get("steps"), "spec.steps", ())
    for index, step in enumerate(spec.get("steps") or ()):
        yield from _not_objects(step.get("apply"), f"spec.steps[{index}].apply", _MANIFEST)
        for verb in ("delete", "touch"):
            yield from _not_objects(step.get(verb), f"spec.steps[{index}].{verb}", _REFERENCE)


def _not_objects(value: Any, path: str, fields: Iterable[str]) -> Iterator[tuple[str, Any, str]]:
    if not isinstance(value or [], list):
        yield path, value, "a list"
        return
    for index, element in enumerate(value or []):
        if not isinstance(element, dict):
            yield f"{path}[{index}]", element, "an object"
            return
        for field in fields:
            if not isinstance(text := _at(element, field), str) or not text:
                yield f"{path}[{index}].{field}", text, "a string"


def _at(element: Any, field: str) -> Any:
    for key in field.split("."):
        element = element.get(key) if isinstance(element, dict) else None
    return element
