"""Renames what could tell an outsider whose cluster a dump is of, the same way everywhere in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kueue_dra_ref.target import Manifest

PUBLIC_KINDS = frozenset({"DeviceClass", "ResourceSlice"})
"""Kinds whose names come from a vendor and decide what a claim is charged."""
_NAME = r"[A-Za-z0-9]([A-Za-z0-9.\-]*[A-Za-z0-9])?"


def redacted(objects: Iterable[Manifest]) -> list[Manifest]:
    """Give objects with other names of namespaces, objects and images; equal names stay equal.

    The names of DeviceClasses, ResourceSlices, resources and drivers stay: they decide.
    """
    found = list(objects)
    names = {old: f"name-{number}" for number, old in enumerate(_names(found), start=1)}
    images = {
        old: f"image-{number}" for number, old in enumerate(_images(found), start=1)
    }
    rename = _Renaming(names | images)
    return [rename.value(each) for each in found]


class _Renaming:
    """Replaces whole words, in values and in messages."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = dict(words)
        self._pattern = re.compile(rf"(?<![A-Za-z0-9.\-])(?:{_NAME})(?![A-Za-z0-9\-])")

    def value(self, value: Any) -> Any:
        """Give a value with every name replaced; keys stay, as they are fields, labels or resources."""
        if isinstance(value, dict):
            return {key: self.value(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self.value(part) for part in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        if text in self._words:
            return self._words[text]
        if " " not in text:
            return text
        return self._pattern.sub(self._word, text)

    def _word(self, match: re.Match[str]) -> str:
        return self._words.get(match.group(0), match.group(0))


def _names(objects: Iterable[Manifest]) -> Iterator[str]:
    seen: dict[str, None] = {}
    for each in objects:
        metadata = each.get("metadata") or {}
        if namespace := metadata.get("namespace"):
            seen[namespace] = None
        if each.get("kind") not in PUBLIC_KINDS and metadata.get("name"):
            seen[metadata["name"]] = None
    yield from seen


def _images(objects: Iterable[Any]) -> Iterator[str]:
    seen: dict[str, None] = {}
    waiting: list[Any] = list(objects)
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            image = value.get("image")
            if isinstance(image, str):
                seen[image] = None
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    yield from seen
