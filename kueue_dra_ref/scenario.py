"""Scenarios: a story in manifests for any target, and what a judge was seen to answer to each step."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kueue_dra_ref.target import Manifest

Observation = dict[str, Any]

_MANIFEST = ("apiVersion", "kind", "metadata.name")
_REFERENCE = ("apiVersion", "kind", "name")


class ScenarioFault(Exception):
    """A scenario file that cannot be read: the file, the line, and what was expected."""

    def __init__(self, file: str, line: int, fault: str) -> None:
        super().__init__(f"{file}:{line}: {fault}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One story: a configuration, what exists at first, steps, and what a judge observed."""

    name: str
    configuration: Manifest
    inventory: tuple[Manifest, ...]
    steps: tuple[Mapping[str, Any], ...]
    kueue: str = ""
    """The release of Kueue that was recorded."""
    behaviour: str = ""
    """The behaviour of the reference, where that was recorded."""
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


def as_document(scenario: Scenario, **status: Any) -> Manifest:
    """Give a scenario in the form that files hold; ``status`` are further fields beside what was recorded."""
    who = {"behaviour": scenario.behaviour} if scenario.behaviour else {"kueue": scenario.kueue}
    spec = {"configuration": scenario.configuration, "inventory": [*scenario.inventory], "steps": [*scenario.steps]}
    return {
        "apiVersion": "kueue-dra.dev/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": scenario.name},
        "spec": spec,
        "status": {**who, "observations": [*scenario.recorded], **status},
    }


def is_comparable(recorded: Observation) -> bool:
    """Whether a recorded step can be compared: it had settled, and real Kueues agree on it."""
    return not recorded.get("unsettled") and not recorded.get("race")


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
        behaviour=str(status.get("behaviour", "")),
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
        yield from _not_objects(step.get("restart"), f"spec.steps[{index}].restart", ())
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
