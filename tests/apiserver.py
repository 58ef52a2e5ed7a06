"""The answers of an API server (`golden/apiserver.yaml`): each row as the objects that it describes.

A row has one of ``template``, ``claim``, ``class`` and ``slice`` (a spec, the dull parts filled in), ``before`` for
what was there, and either ``stored`` (the spec in v1 that is read back) or ``code`` and ``message``.  In a list,
``{repeat: 3, of: {name: "d{i}"}}`` means three items; as a map it is merged, as a text it is repeated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kueue_dra_ref.apiserver import AcceptedRequest, Kubernetes, RejectedRequest, RequestContext, admitted
from kueue_dra_ref.target import Manifest

NAMESPACES: dict[str, dict[str, str]] = {"team": {}, "admins": {"resource.kubernetes.io/admin-access": "true"}}
_KINDS = {
    "template": "ResourceClaimTemplate",
    "claim": "ResourceClaim",
    "class": "DeviceClass",
    "slice": "ResourceSlice",
}
_SLICE = {
    "driver": "d.example.com",
    "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
    "allNodes": True,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One question to an API server, and the answer that Kubernetes 1.36.3 gave."""

    case: str
    manifest: Manifest
    before: Manifest | None
    stored: Any
    code: int
    message: str
    warnings: tuple[str, ...]

    def expects(self, code: int, message: str, spec: Any) -> bool:
        """Tell whether an answer is the one of the table; of some large objects it does not say what is stored."""
        if self.message:
            return (code, message) == (self.code, self.message)
        return code == self.code and (self.stored == "anything" or slim(spec) == self.stored)


def rows() -> Sequence[Row]:
    """Read the table."""
    text = (Path(__file__).parent / "golden" / "apiserver.yaml").read_text("utf-8")
    return [row(entry) for entry in yaml.safe_load(text)]


def row(entry: dict[str, Any]) -> Row:
    """Expand one entry of the table."""
    kind = next(key for key in _KINDS if key in entry)
    before = _manifest(kind, {**entry, "version": "v1", kind: entry["before"]}) if "before" in entry else None
    if before and kind == "template":
        before["spec"].pop("metadata", None)
    return Row(
        case=entry["case"],
        manifest=_manifest(kind, entry),
        before=before,
        stored=entry.get("stored"),
        code=entry.get("code", 200 if before else 201),
        message=entry.get("message", ""),
        warnings=tuple(entry.get("warnings", ())),
    )


def _manifest(kind: str, entry: dict[str, Any]) -> Manifest:
    namespace = {"namespace": entry.get("namespace", "team")} if kind in ("template", "claim") else {}
    metadata = {"name": entry.get("name", "probe"), **namespace, **_expanded(entry.get("metadata", {}))}
    spec = _expanded(entry[kind])
    match kind:
        case "slice":
            spec = {key: value for key, value in {**_SLICE, **spec}.items() if value is not None}
        case "claim":
            spec = {"devices": spec}
        case "template":
            spec = {"spec": {"devices": spec}} if spec is not None else {}
            spec |= {"metadata": entry["template_metadata"]} if "template_metadata" in entry else {}
    version = f"resource.k8s.io/{entry.get('version', 'v1')}"
    return {"apiVersion": version, "kind": _KINDS[kind], "metadata": metadata, "spec": spec}


def _expanded(value: Any) -> Any:
    match value:
        case {"repeat": count, "of": str() as text}:
            return text * count
        case {"repeat": count, "of": dict() as part}:
            return {key: each for copy in _copies(part, count) for key, each in copy.items()}
        case dict():
            return {key: _expanded(each) for key, each in value.items()}
        case list():
            return [each for item in value for each in _items(item)]
        case _:
            return value


def _items(item: Any) -> list[Any]:
    match item:
        case {"repeat": count, "of": part}:
            return _copies(part, count)
        case _:
            return [_expanded(item)]


def _copies(part: Any, count: int) -> list[Any]:
    return [json.loads(json.dumps(_expanded(part)).replace("{i}", str(index))) for index in range(count)]


def labels_of(namespace: str, k: Kubernetes) -> dict[str, str]:
    """Give the labels of a namespace; the one for admin access is another one in 1.33."""
    return {k.admin_label or label: value for label, value in NAMESPACES.get(namespace, {}).items()}


def answer_of(manifest: Manifest, before: Manifest | None, k: Kubernetes) -> AcceptedRequest | RejectedRequest:
    """Ask the reference about an object, new or over one that it takes."""
    labels = labels_of(manifest["metadata"].get("namespace", ""), k)
    under = RequestContext(kubernetes=k, namespace_labels=labels)
    old = None if before is None else admitted(before, None, under)
    assert not isinstance(old, RejectedRequest)
    return admitted(manifest, old.obj if old else None, under)


def over(stored: Manifest | None, manifest: Manifest) -> Manifest:
    """Write a manifest over what is stored."""
    assert stored is not None
    return {**manifest, "metadata": {**stored["metadata"], **manifest["metadata"]}}


def in_order_of(expected: str, message: str) -> str:
    """Order the faults of a message as another one does: an API server goes through attributes in any order."""
    return expected if sorted(_faults(message)) == sorted(_faults(expected)) else message


def _faults(message: str) -> list[str]:
    return re.split(r", |(?<=: )\[|\]$", message)


def slim(value: Any) -> Any:
    """Leave out what an API server leaves out when it writes an object, and the times that it sets itself."""
    match value:
        case dict():
            kept = {key: slim(each) for key, each in value.items() if key != "timeAdded"}
            return {key: each for key, each in kept.items() if _says_something(key, each)}
        case list():
            return [slim(each) for each in value]
        case _:
            return value


def _says_something(key: str, value: Any) -> bool:
    if key in ("count", "generation") and value == 0:
        return False
    return value not in (None, "", [], {}) or key in ("exactly", "parameters")
