"""Reads a file of one YAML document and validates it against a schema that the wheel publishes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kueue_dra_ref.api.documents import DocumentError, ManifestDocument, read
from kueue_dra_ref.api.suggest import nearest
from kueue_dra_reports.json_schema import ValidationError, violations

SHOWN = 60
"""How many characters of a wrong value an error shows."""


def document_of(path: Path, schema: Mapping[str, Any]) -> ManifestDocument:
    """Read the one document of a file, which has to be as a schema says.

    Raises:
        DocumentError: the file cannot be read, or is not as its schema says: field, line, what was found and expected.

    """
    documents = read(path)
    if len(documents) != 1:
        number = len(documents) or "no"
        count = f"{number} documents"
        raise DocumentError(file=str(path), found=count, expected="one")
    (document,) = documents
    found = violations(document.manifest, schema)
    errors = sorted(found, key=_deepest_first)
    if errors:
        raise _fault(document, errors[0])
    return document


def _deepest_first(error: ValidationError) -> tuple[int, str]:
    return -len(error.absolute_path), error.json_path


def _fault(document: ManifestDocument, error: Any) -> DocumentError:
    path = _path(error.absolute_path)
    if error.validator == "additionalProperties":
        return _unknown_field(document, error, path)
    if error.validator == "required":
        missing = next(_missing(error))
        return document.fault(path, f"no {missing}", missing)
    if error.validator == "not":
        return _not_with_this(document, error, path)
    found = repr(error.instance)[:SHOWN]
    return document.fault(path, found, _expected(error))


def _path(steps: Any) -> str:
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        else:
            path += f".{step}"
    return path.removeprefix(".")


def _unknown_field(document: ManifestDocument, error: Any, path: str) -> DocumentError:
    known = error.schema["properties"]
    unknown = next(each for each in error.instance if each not in known)
    name = str(unknown)
    full = f"{path}.{name}".removeprefix(".")
    suggestion = nearest(name, known)
    return document.fault(full, "an unknown field", suggestion)


def _not_with_this(document: ManifestDocument, error: Any, path: str) -> DocumentError:
    """Report a field that another field excludes."""
    excluded = error.validator_value
    (name,) = excluded["required"]
    quota = error.instance["quota"]
    found = f"a {name} where quota is {quota}"
    return document.fault(f"{path}.{name}", found, f"quota: {name}, or no {name}")


def _missing(error: Any) -> Iterator[str]:
    required: list[str] = error.validator_value
    for name in required:
        if name not in error.instance:
            yield name


def _expected(error: Any) -> str:
    value = error.validator_value
    match error.validator:
        case "enum":
            listed = ", ".join(map(str, value))
            return f"one of {listed}"
        case "type":
            return f"{value}"
        case "minProperties":
            listed = ", ".join(error.schema["properties"])
            return f"at least one of {listed}"
        case "pattern":
            return f"a text like {value}"
        case "anyOf":
            return "a name, or a list of names"
    return f"{error.validator} {value}"
