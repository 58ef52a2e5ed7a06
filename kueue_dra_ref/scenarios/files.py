"""Scenario files: one JSON object a line, or YAML documents, read strictly: a slip of the pen is not passed over."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kueue_dra_ref.api.documents import parse
from kueue_dra_ref.api.files import DocumentError, text_of
from kueue_dra_ref.api.json_text import NoJson, json_value
from kueue_dra_ref.api.schema_config import Keys, ListKey, MapKey, Scalar
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.api.strict_decoding import expectation, misfits, unknown_keys
from kueue_dra_ref.api.suggest import nearest
from kueue_dra_ref.scenarios.scenario import API_VERSION, Scenario

_TEXT, _OBJECT = Scalar.TEXT, MapKey(Scalar.ANYTHING)
_OBJECTS, _REFERENCES = (
    ListKey(_OBJECT),
    ListKey({"apiVersion": _TEXT, "kind": _TEXT, "namespace": _TEXT, "name": _TEXT}),
)
_SHAPE: Keys = {
    "apiVersion": _TEXT,
    "kind": _TEXT,
    "metadata": _OBJECT,
    "status": _OBJECT,
    "spec": {
        "configuration": _OBJECT,
        "inventory": _OBJECTS,
        "steps": ListKey(
            {
                "apply": _OBJECTS,
                "delete": _REFERENCES,
                "touch": _REFERENCES,
                "restart": _OBJECTS,
            }
        ),
    },
}
_FIELDS = (
    "metadata",
    "spec",
    "status",
    "configuration",
    "inventory",
    "steps",
    "apply",
    "delete",
    "touch",
    "restart",
)
_METADATA: Keys = {"name": _TEXT}
_MANIFEST: Keys = {
    "apiVersion": _TEXT,
    "kind": _TEXT,
    "metadata": {"name": _TEXT, "namespace": _TEXT},
}
_REQUIRED, _REFERENCE = (
    ("apiVersion", "kind", "metadata.name"),
    ("apiVersion", "kind", "name"),
)
_STATUS: Keys = {
    "kueue": _TEXT,
    "behaviour": _TEXT,
    "observations": ListKey(
        {
            "workloads": MapKey({"QuotaReserved": _OBJECT}),
            "clusterQueues": MapKey(_OBJECT),
        }
    ),
}
"""What is read of a status; who recorded may say more there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """One document of a file, and what is wrong with a field of it."""

    value: Any
    fault: Callable[[str, str, str], DocumentError]
    """Of a path, what was found there, and what was expected."""


def scenarios(path: Path) -> Iterator[Scenario]:
    """Read the scenarios of a file, or of the standard input for ``-``: of YAML unless the name ends in ``.jsonl``.

    Raises:
        DocumentFault: the file cannot be read, is not JSON or YAML, or a document is no Scenario.

    """
    text, empty = text_of(path), True
    for document in (
        _rows(text, str(path))
        if path.suffix == ".jsonl"
        else _documents(text, str(path))
    ):
        empty = False
        yield _scenario(document)
    if empty:
        raise DocumentError(
            file=str(path), found="no document", expected="an object of kind Scenario"
        )


def _documents(text: str, file: str) -> Iterator[_Document]:
    for each in parse(text, file):
        yield _Document(value=each.manifest, fault=each.fault)


def _rows(text: str, file: str) -> Iterator[_Document]:
    for line, row in enumerate(text.split("\n"), start=1):

        def fault(
            path: str, found: str, expected: str, line: int = line
        ) -> DocumentError:
            return DocumentError(
                file=file, line=line, field=path, found=found, expected=expected
            )

        if row.strip():
            yield _Document(value=_json(row, fault), fault=fault)


def _json(row: str, fault: Callable[[str, str, str], DocumentError]) -> Any:
    try:
        return json_value(row)
    except NoJson as trouble:
        raise fault("", str(trouble), "JSON") from None


def _scenario(document: _Document) -> Scenario:
    found = _sound(document)
    spec, meta, status = (
        found["spec"],
        found.get("metadata") or {},
        found.get("status") or {},
    )
    return Scenario(
        name=meta.get("name") or "a scenario without a name",
        configuration=spec.get("configuration") or {},
        inventory=tuple(spec.get("inventory") or ()),
        steps=tuple(spec["steps"]),
        kueue=status.get("kueue") or "",
        behaviour=status.get("behaviour") or "",
        recorded=tuple(status.get("observations") or ()),
    )


def _sound(document: _Document) -> dict[str, Any]:
    """Give the value of a document that has the shape of a scenario."""
    found = document.value
    if not isinstance(found, dict) or found.get("kind") != "Scenario":
        path, kind = (
            ("kind", found.get("kind")) if isinstance(found, dict) else ("", found)
        )
        raise document.fault(path, _shown(kind), "an object of kind Scenario")
    _check(document, found, _SHAPE)
    if found.get("apiVersion") not in (None, API_VERSION):
        raise document.fault("apiVersion", _shown(found["apiVersion"]), API_VERSION)
    for path, expected in (
        ("spec", "an object with steps"),
        ("spec.steps", "a list of steps"),
    ):
        _check_there(document, found, path, path, expected)
    _check(document, found.get("metadata") or {}, _METADATA, "metadata.", free=True)
    _check(document, found.get("status") or {}, _STATUS, "status.", free=True)
    for path, manifest, required in _objects(found["spec"]):
        if (
            required == _REFERENCE
            and (kind := manifest.get("kind"))
            and kind not in KINDS
        ):
            raise document.fault(
                f"{path}.kind", _shown(kind), f"a known kind ({nearest(kind, KINDS)})"
            )
        _check(document, manifest, _MANIFEST, f"{path}.", free=True)
        for field in required:
            _check_there(document, manifest, field, f"{path}.{field}", "a string")
    return found


def _check_there(
    document: _Document, node: dict[str, Any], field: str, path: str, expected: str
) -> None:
    if (value := _at(node, field)) in (None, ""):
        raise document.fault(path, _shown(value), expected)


def _check(
    document: _Document,
    value: dict[str, Any],
    keys: Keys,
    above: str = "",
    *,
    free: bool = False,
) -> None:
    """Hold a value against its shape; ``free`` where it may have more keys than are read."""
    for place in misfits(value, keys):
        raise document.fault(
            f"{above}{place.path}", _shown(place.value), expectation(place.shape)
        )
    for path in () if free else unknown_keys(value, keys):
        field = path.rpartition(".")[2]
        raise document.fault(
            f"{above}{path}",
            "an unknown field",
            f"a known field ({nearest(field, _FIELDS)})",
        )


def _objects(
    spec: dict[str, Any],
) -> Iterator[tuple[str, dict[str, Any], tuple[str, ...]]]:
    """Give every object that a scenario names: its path, itself, and the fields that it must have."""
    for index, each in enumerate(spec.get("inventory") or ()):
        yield f"spec.inventory[{index}]", each, _REQUIRED
    for number, step in enumerate(spec["steps"]):
        for verb, required in (
            ("apply", _REQUIRED),
            ("delete", _REFERENCE),
            ("touch", _REFERENCE),
        ):
            for index, each in enumerate(step.get(verb) or ()):
                yield f"spec.steps[{number}].{verb}[{index}]", each, required


def _at(element: Any, field: str) -> Any:
    for key in field.split("."):
        element = element.get(key) if isinstance(element, dict) else None
    return element


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:80]
