"""Validates documents against a JSON Schema that the wheel publishes; the one room of the library for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

__all__ = ["ValidationError", "published", "violations"]


@cache
def published(package: str, name: str) -> Mapping[str, Any]:
    """Give a JSON Schema of a package by its name, such as ``descriptor``."""
    folder = files(package) / "schema"
    text = (folder / f"{name}.schema.json").read_text("utf-8")
    return cast(Mapping[str, Any], json.loads(text))


def violations(document: object, schema: Mapping[str, Any]) -> list[ValidationError]:
    """Give everything in a document that is not as a schema says, by its path."""
    found = Draft202012Validator(schema).iter_errors(document)
    return sorted(found, key=_path)


def _path(error: ValidationError) -> str:
    return str(error.json_path)
