"""Objects with errors: random changes of manifests that an API server accepts."""

from __future__ import annotations

import copy
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from kueue_dra_ref.target import Manifest

_LINES = yaml.safe_load((Path(__file__).parent / "golden" / "object_words.yaml").read_text("utf-8"))
WORDS: list[Any] = [word for line in _LINES for word in line]
"""Values of every type that a user may write anywhere."""

LENGTHS = (1, 2, 8, 16, 32, 33, 65, 129)
CHANGES = (1, 1, 1, 2, 2, 3)
Steps = tuple[str | int, ...]


@dataclass(slots=True)
class Grammar:
    """Changes one to three things in a manifest; values and keys come from other manifests or from a list of words."""

    source: random.Random
    manifests: Sequence[Manifest]
    _values: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    _keys: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))

    def __post_init__(self) -> None:
        """Learn which keys there are, below which others, and what stands under them."""
        for manifest in self.manifests:
            for path, value in places(manifest.get("spec")):
                if path and isinstance(path[-1], str):
                    self._values[path[-1]].append(value)
                    self._keys[_key(path[:-1])][path[-1]] = None

    def wrong(self, manifest: Manifest) -> Manifest:
        """Give the manifest with some things in its spec changed."""
        made = copy.deepcopy(manifest)
        for _ in range(self.source.choice(CHANGES)):
            root = {"spec": made.get("spec")}
            self._change(root)
            made.update(root)
        return made

    def _change(self, root: dict[str, Any]) -> None:
        path, _ = self.source.choice([each for each in places(root) if each[0]])
        holder, key = value_at(root, path[:-1]), path[-1]
        change = self.source.choices((self._another, self._more, self._added, self._removed), (44, 10, 34, 12))[0]
        change(holder, key, path)

    def _removed(self, holder: Any, key: Any, path: Steps) -> None:
        if len(path) > 1:
            del holder[key]

    def _another(self, holder: Any, key: Any, path: Steps) -> None:
        known = self._values.get(key) if isinstance(key, str) else None
        holder[key] = self._one_of(known if known and self.source.random() < 0.45 else WORDS)

    def _more(self, holder: Any, key: Any, path: Steps) -> None:
        """Repeat what is in a list, or write a key with a capital letter."""
        value = holder[key]
        if isinstance(value, list) and value:
            value.extend(self._one_of(value) for _ in range(self.source.choice(LENGTHS)))
        elif isinstance(holder, list):
            holder.insert(key, copy.deepcopy(value))
        elif len(path) > 1:
            holder[str(key).capitalize()] = holder.pop(key)

    def _added(self, holder: Any, key: Any, path: Steps) -> None:
        """Write one more key, mostly one that others have there."""
        target = self.source.choice(holder[key]) if isinstance(holder[key], list) and holder[key] else holder[key]
        if not isinstance(target, dict):
            self._another(holder, key, path)
            return
        known = self._keys.get(_key(path)) if self.source.random() < 0.9 else None
        name = self.source.choice(sorted(known or self._values))
        target[name] = self._one_of(self._values[name] if self.source.random() < 0.7 else WORDS)

    def _one_of(self, values: Sequence[Any]) -> Any:
        return copy.deepcopy(self.source.choice(values))


def _key(path: Steps) -> str:
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def places(value: Any, path: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Give each value inside another one, with the way to it."""
    yield path, value
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in steps:
        yield from places(each, (*path, step))


def value_at(value: Any, path: Steps) -> Any:
    """Go a way."""
    for step in path:
        value = value[step]
    return value
