"""A grammar of device selectors and of devices: what a random source makes of Kubernetes' CEL environment for DRA."""

from __future__ import annotations

import random
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kueue_dra_ref.api import quantities
from kueue_dra_ref.cel import Device

WORDS: dict[str, Any] = tomllib.loads((Path(__file__).parent / "golden" / "selector_words.toml").read_text("utf-8"))
"""The parts of selectors and devices: leaves and phrases by type, names and values."""

_KINDS: dict[str, dict[str, list[str]]] = WORDS["kinds"]
_SLOT = re.compile(r"<(\w+)(?:\|([^>]*))?>")
_MISTAKEN = 0.02
"""How often a part has another type than its place asks for."""
_MANGLED = 0.02
"""How often a character of the whole is dropped."""
_SHORT = 0.2
"""How often a part is a leaf although there is depth left."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """Writes selectors and devices; `<int|x:int,y:bool>` in a phrase is a part in which x and y are bound."""

    source: random.Random

    def selector(self, depth: int) -> str:
        """Write a whole selector."""
        text = self._part("bool", depth, {})
        if self.source.random() >= _MANGLED:
            return text
        at = self.source.randrange(len(text))
        return text[:at] + text[at + 1 :]

    def device(self) -> Device:
        """Make a device, its capacities in the form in which an API server stores them."""
        choose = self.source.choice
        drivers, domains, capacities = WORDS["drivers"], WORDS["domains"], WORDS["capacities"]
        attributes = [name for name in WORDS["attributes"] if self.source.random() < 0.6]
        return Device(
            name="d",
            driver=drivers[0] if self.source.random() < 0.5 else choose(drivers),
            attributes={choose(domains) + name: choose(WORDS["attributes"][name]) for name in attributes},
            capacity={
                choose(domains) + name: str(quantities.parse(choose(WORDS["quantities"])))
                for name in capacities
                if self.source.random() < 0.6
            },
        )

    def _part(self, kind: str, depth: int, bound: dict[str, str]) -> str:
        """Write an expression of a type, in which some names are bound."""
        if self.source.random() < _MISTAKEN:
            kind = self.source.choice(sorted(_KINDS))
        phrases = _KINDS[kind].get("phrases", [])
        if not phrases or depth <= 0 or self.source.random() < _SHORT:
            return self.source.choice([*_KINDS[kind]["leaves"], *3 * [name for name in bound if bound[name] == kind]])
        phrase = self.source.choice(phrases).replace("$", f"v{len(bound)}")
        return _SLOT.sub(lambda slot: self._part(slot[1], depth - 1, bound | _bound(slot[2])), phrase)


def _bound(names: str | None) -> dict[str, str]:
    pairs = [pair.split(":") for pair in names.split(",")] if names else []
    return {name: kind for name, kind in pairs}
