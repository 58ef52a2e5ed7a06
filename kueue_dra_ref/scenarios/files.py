"""Scenario files: one JSON object a line, or YAML documents; strict decoding reports typos."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kueue_dra_ref.api.admission_checks import STATES
from kueue_dra_ref.api.documents import parse
from kueue_dra_ref.api.files import DocumentError, text_of
from kueue_dra_ref.api.job_kinds import JOB_KINDS, POD
from kueue_dra_ref.api.json_text import NoJson, json_value
from kueue_dra_ref.api.pod_owners import POD_OWNERS
from kueue_dra_ref.api.schema_config import Keys, ListKey, MapKey, Scalar
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.api.strict_decoding import expectation, misfits, unknown_keys
from kueue_dra_ref.api.suggest import nearest
from kueue_dra_ref.scenarios.check_answers import WORKLOAD
from kueue_dra_ref.scenarios.scenario import (
    API_VERSION,
    WORKER_NAMES,
    Scenario,
    WorkerCluster,
)

PHASE, STATUS = "phase", "status"
"""What a pod reports, and what other work does."""
_TEXT, _OBJECT = Scalar.TEXT, MapKey(Scalar.ANYTHING)
_NAMED: Keys = dict.fromkeys(("apiVersion", "kind", "namespace", "name"), _TEXT)
_OBJECTS, _REFERENCES = ListKey(_OBJECT), ListKey(_NAMED)
_REPORTS = ListKey({**_NAMED, "phase": _TEXT, "status": _OBJECT})
_ANSWERS = ListKey(
    {
        **_NAMED,
        "check": _TEXT,
        "state": _TEXT,
        "message": _TEXT,
        "podSetUpdates": _OBJECTS,
        "requeueAfterSeconds": Scalar.WHOLE,
        "retryCount": Scalar.WHOLE,
    }
)
_VERBS_SHAPE: Keys = {
    "apply": _OBJECTS,
    "change": _OBJECTS,
    "delete": _REFERENCES,
    "touch": _REFERENCES,
    "restart": _OBJECTS,
    "rollOut": _REFERENCES,
    "report": _REPORTS,
    "answer": _ANSWERS,
}
_WORKER: Keys = {"configuration": _OBJECT, "inventory": _OBJECTS}


def _of_each_worker(keys: Keys) -> Keys:
    return {name: keys for name in WORKER_NAMES}


_SHAPE: Keys = {
    "apiVersion": _TEXT,
    "kind": _TEXT,
    "metadata": _OBJECT,
    "status": _OBJECT,
    "spec": {
        "configuration": _OBJECT,
        "inventory": _OBJECTS,
        "workers": _of_each_worker(_WORKER),
        "steps": ListKey({**_VERBS_SHAPE, "workers": _of_each_worker(_VERBS_SHAPE)}),
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
    "change",
    "delete",
    "touch",
    "restart",
    "rollOut",
    "report",
    "answer",
    "check",
    "state",
    "podSetUpdates",
    "workers",
    *WORKER_NAMES,
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
"""The fields of a status that are read; a recording may have more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """One document of a file, with a function that reports a fault in one of its fields."""

    value: Any
    fault: Callable[[str, str, str], DocumentError]
    """Takes a path, what was found there, and what was expected."""


def scenarios(path: Path) -> Iterator[Scenario]:
    """Read the scenarios of a file, or of the standard input for ``-``: of YAML, or for ``.jsonl`` one on each line.

    Raises:
        DocumentError: the file cannot be read, is not JSON or YAML, or a document is no Scenario.

    """
    text, file = text_of(path), str(path)
    documents = _rows if ".jsonl" in path.suffixes else _documents
    empty = True
    for document in documents(text, file):
        empty = False
        yield _scenario(document)
    if empty:
        raise DocumentError(
            file=file, found="no document", expected="an object of kind Scenario"
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
    except NoJson as error:
        raise fault("", str(error), "JSON") from None


def _scenario(document: _Document) -> Scenario:
    found = _checked(document)
    spec = found["spec"]
    meta = found.get("metadata") or {}
    status = found.get("status") or {}
    return Scenario(
        name=meta.get("name") or "a scenario without a name",
        configuration=spec.get("configuration") or {},
        inventory=tuple(spec.get("inventory") or ()),
        steps=tuple(spec["steps"]),
        workers=_workers(spec),
        kueue=status.get("kueue") or "",
        behaviour=status.get("behaviour") or "",
        recorded=tuple(status.get("observations") or ()),
    )


def _workers(spec: dict[str, Any]) -> dict[str, WorkerCluster]:
    found = {}
    for name, worker in (spec.get("workers") or {}).items():
        found[name] = WorkerCluster(
            configuration=worker.get("configuration") or {},
            inventory=tuple(worker.get("inventory") or ()),
        )
    return found


def _checked(document: _Document) -> dict[str, Any]:
    """Give the value of a document if it has the shape of a scenario."""
    found = _of_kind_scenario(document)
    _check(document, found, _SHAPE)
    if found.get("apiVersion") not in (None, API_VERSION):
        raise document.fault("apiVersion", _shown(found["apiVersion"]), API_VERSION)
    _check_there(document, found, "spec", "spec", "an object with steps")
    _check_there(document, found, "spec.steps", "spec.steps", "a list of steps")
    _check(document, found.get("metadata") or {}, _METADATA, "metadata.", free=True)
    _check(document, found.get("status") or {}, _STATUS, "status.", free=True)
    _check_workers(document, found["spec"])
    for path, manifest, required in _objects(found["spec"]):
        if ".answer[" in path:
            _check_state(document, manifest.get("state"), f"{path}.state")
        if required != _REQUIRED:
            _check_kind(document, manifest, path)
        _check(document, manifest, _MANIFEST, f"{path}.", free=True)
        for field in required:
            expected = "an object" if field == STATUS else "a string"
            _check_there(document, manifest, field, f"{path}.{field}", expected)
    return found


def _check_workers(document: _Document, spec: dict[str, Any]) -> None:
    """Check that a manager has all workers, and that a scenario without workers has no step for one."""
    workers = spec.get("workers") or {}
    names = " and ".join(WORKER_NAMES)
    if workers and workers.keys() != set(WORKER_NAMES):
        raise document.fault("spec.workers", _shown([*workers]), names)
    for number, step in enumerate(spec["steps"]):
        if step.get("workers") and not workers:
            path = f"spec.steps[{number}].workers"
            raise document.fault(path, "a step for workers", f"spec.workers: {names}")


def _of_kind_scenario(document: _Document) -> dict[str, Any]:
    expected = "an object of kind Scenario"
    found = document.value
    if not isinstance(found, dict):
        raise document.fault("", _shown(found), expected)
    if found.get("kind") != "Scenario":
        raise document.fault("kind", _shown(found.get("kind")), expected)
    return found


def _check_kind(
    document: _Document,
    reference: dict[str, Any],
    path: str,
) -> None:
    kind = reference.get("kind")
    for verb, kinds in _OF_VERB.items():
        if f".{verb}[" in path and kind not in kinds:
            expected = " or ".join(sorted(kinds))
            raise document.fault(f"{path}.kind", _shown(kind), expected)
    if kind and kind not in KINDS:
        expected = f"a known kind ({nearest(kind, KINDS)})"
        raise document.fault(f"{path}.kind", _shown(kind), expected)


def _check_state(document: _Document, state: Any, path: str) -> None:
    """Check that an answer has a state; none at all is reported with the other fields."""
    if state is not None and state not in STATES:
        raise document.fault(path, _shown(state), ", ".join(STATES))


def _check_there(
    document: _Document, node: dict[str, Any], field: str, path: str, expected: str
) -> None:
    value = _at(node, field)
    if value in (None, ""):
        raise document.fault(path, _shown(value), expected)


def _check(
    document: _Document,
    value: dict[str, Any],
    keys: Keys,
    above: str = "",
    *,
    free: bool = False,
) -> None:
    """Compare a value with its shape; ``free`` if it may have more keys than are read."""
    for place in misfits(value, keys):
        raise document.fault(
            f"{above}{place.path}", _shown(place.value), expectation(place.shape)
        )
    if free:
        return
    for path in unknown_keys(value, keys):
        field = path.rpartition(".")[2]
        expected = f"a known field ({nearest(field, _FIELDS)})"
        raise document.fault(f"{above}{path}", "an unknown field", expected)


_VERBS = {
    "apply": _REQUIRED,
    "change": _REQUIRED,
    "delete": _REFERENCE,
    "touch": _REFERENCE,
    "rollOut": _REFERENCE,
    "report": _REFERENCE,
    "answer": (*_REFERENCE, "check", "state"),
}
"""The verbs of a step, with the fields that their objects must have."""
_OF_VERB = {
    "rollOut": frozenset(POD_OWNERS),
    "report": frozenset(JOB_KINDS),
    "answer": frozenset({WORKLOAD, *JOB_KINDS}),
}
"""The verbs that take some kinds only."""


def _objects(
    spec: dict[str, Any],
) -> Iterator[tuple[str, dict[str, Any], tuple[str, ...]]]:
    """Give every object that a scenario names: its path, itself, and the fields that it must have."""
    for path, inventory in _inventories(spec):
        for index, each in enumerate(inventory):
            yield f"{path}[{index}]", each, _REQUIRED
    for path, step in _parts(spec["steps"]):
        for verb in _VERBS:
            for index, each in enumerate(step.get(verb) or ()):
                yield f"{path}.{verb}[{index}]", each, _required(verb, each)


def _inventories(spec: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    yield "spec.inventory", spec.get("inventory") or []
    for name, worker in (spec.get("workers") or {}).items():
        yield f"spec.workers.{name}.inventory", worker.get("inventory") or []


def _parts(steps: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each step, and its part for each worker."""
    for number, step in enumerate(steps):
        path = f"spec.steps[{number}]"
        yield path, step
        for name, part in (step.get("workers") or {}).items():
            yield f"{path}.workers.{name}", part


def _required(verb: str, each: dict[str, Any]) -> tuple[str, ...]:
    """Name what an object of a verb must have: a pod reports its phase, other work a status."""
    if verb != "report":
        return _VERBS[verb]
    return (*_REFERENCE, PHASE if each.get("kind") == POD.name else STATUS)


def _at(element: Any, field: str) -> Any:
    for key in field.split("."):
        element = element.get(key) if isinstance(element, dict) else None
    return element


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:80]
