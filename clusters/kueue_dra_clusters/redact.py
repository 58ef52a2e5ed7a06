"""Renames what could tell an outsider whose cluster a dump is of, the same way everywhere in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kueue_dra_ref.target import Manifest

PUBLIC_KINDS = frozenset({"DeviceClass", "ResourceSlice"})
"""Kinds whose names come from a vendor and decide what a claim is charged."""
_WORD = re.compile(r"(?<![\w.\-])[A-Za-z0-9](?:[\w.\-]*[A-Za-z0-9])?(?![\w\-])")
"""A name inside a message."""


def redacted(objects: Iterable[Manifest]) -> list[Manifest]:
    """Give objects with other names of namespaces, objects and images; equal names stay equal.

    The names of DeviceClasses, ResourceSlices, resources and drivers stay: they decide.
    """
    found = list(objects)
    words = _numbered("name", _names(found))
    words |= _numbered("image", _images(found))
    rename = _Renaming(words)
    return [rename.value(each) for each in found]


class _Renaming:
    """Replaces whole words, in values and in messages."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words

    def value(self, value: Any) -> Any:
        """Give a value with every name replaced; keys stay, as they are fields, labels or resources."""
        match value:
            case dict():
                return self._mapping(value)
            case list():
                return list(map(self.value, value))
            case str():
                return self._text(value)
        return value

    def _mapping(self, value: Manifest) -> Manifest:
        renamed = {}
        for key, part in value.items():
            renamed[key] = self.value(part)
        return renamed

    def _text(self, text: str) -> str:
        if " " in text:
            return _WORD.sub(self._word, text)
        return self._words.get(text, text)

    def _word(self, match: re.Match[str]) -> str:
        word = match.group(0)
        return self._words.get(word, word)


def _numbered(prefix: str, words: Iterable[str]) -> dict[str, str]:
    """Give each word another one, in the order in which they first appear."""
    renamed: dict[str, str] = {}
    for word in words:
        renamed.setdefault(word, f"{prefix}-{len(renamed) + 1}")
    return renamed


def _names(objects: Iterable[Manifest]) -> Iterator[str]:
    for each in objects:
        metadata = each.get("metadata") or {}
        if namespace := metadata.get("namespace"):
            yield namespace
        name = metadata.get("name")
        if name and each.get("kind") not in PUBLIC_KINDS:
            yield name


def _images(value: Any) -> Iterator[str]:
    """Give every image below a value."""
    parts: Iterable[Any] = ()
    match value:
        case list():
            parts = value
        case dict():
            parts = value.values()
            image = value.get("image")
            if isinstance(image, str):
                yield image
    for part in parts:
        yield from _images(part)
