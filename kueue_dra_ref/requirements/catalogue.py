"""The catalogue: one TOML entry per testable sentence of the texts, with a permanent ID."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files

from kueue_dra_ref.requirements.ranges import RangeError, expanded


class Level(StrEnum):
    """How strongly the text asks.  INFERRED: the text is silent and Kueue decides; reported as a question."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"
    INFERRED = "INFERRED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One testable sentence."""

    id: str
    text: str
    source: str
    level: Level
    holds: tuple[str, ...]
    """Names of the behaviours in which it holds, for example ``kep-2025-09``; ranges are expanded."""
    profile: str = "DRA-CLAIM"
    excluded: str = ""
    """Why no case covers it; empty for what is to be proven."""
    also: tuple[str, ...] = ()
    """Other sources of the same requirement, text and heading each."""
    instead_of: tuple[str, ...] = ()
    """IDs of contrary requirements of another text or release; both cannot hold at once."""
    file: str = field(default="", compare=False)

    def source_in(self, behaviour: str) -> str:
        """Give the source in the text of a behaviour; the requirement's own when that text is silent or missing."""
        return next(
            (
                source
                for source in (self.source, *self.also)
                if _is_of(source, behaviour)
            ),
            self.source,
        )

    def level_in(self, behaviour: str) -> Level:
        """Give the level in the text of a behaviour; for a release, the level in any text."""
        silent = behaviour.startswith(_TEXT) and not _is_of(
            self.source_in(behaviour), behaviour
        )
        return Level.INFERRED if silent else self.level


_TEXT = "kep-"
_RETIRED = "retired.toml"
_REQUIRED = frozenset({"text", "source", "level", "holds"})
_KEYS = _REQUIRED | {"profile", "excluded", "also", "instead_of"}


def _is_of(source: str, behaviour: str) -> bool:
    """Tell whether a source is the text of a behaviour: ``kep-2025-09`` is ``KEP-2941 2025-09, HEADING``."""
    return behaviour.startswith(_TEXT) and source.startswith(
        f"KEP-2941 {behaviour.removeprefix(_TEXT)}, "
    )


class CatalogueError(Exception):
    """The catalogue itself is wrong: the file, the entry and what is wrong with it."""

    def __init__(self, file: str, entry: str, fault: str) -> None:
        super().__init__(f"{file}: [{entry}]: {fault}")
        self.file, self.entry, self.fault = file, entry, fault


@cache
def catalogue() -> Mapping[str, Requirement]:
    """Read every requirement by ID, in the order of the files.

    Raises:
        CatalogueError: an entry is incomplete, has an unknown key, or has an ID that is taken or retired.

    """
    found: dict[str, Requirement] = {}
    folder = files("kueue_dra_ref.requirements")
    headings = (
        p for p in folder.iterdir() if p.name.endswith(".toml") and p.name != _RETIRED
    )
    for path in sorted(headings, key=lambda p: p.name):
        for entry, fields in tomllib.loads(path.read_text("utf-8")).items():
            if entry in retired():
                raise CatalogueError(
                    path.name, entry, f"the ID is retired: {renamed(entry)}"
                )
            if entry in found:
                raise CatalogueError(
                    path.name, entry, f"the ID is taken in {found[entry].file}"
                )
            found[entry] = _requirement(path.name, entry, fields)
    return found


@dataclass(frozen=True, slots=True)
class Retired:
    """An ID that a requirement no longer has, the ID that it has now, and the version that renamed it."""

    id: str
    now: str
    since: str


@cache
def retired() -> Mapping[str, Retired]:
    """Read every retired ID; no requirement takes one of them again."""
    versions = tomllib.loads(
        (files("kueue_dra_ref.requirements") / _RETIRED).read_text("utf-8")
    )
    return {
        id_: Retired(id_, now, since)
        for since, ids in versions.items()
        for id_, now in ids.items()
    }


def renamed(id_: str) -> str:
    """Give the sentence with the current ID of a retired one; empty for every other ID."""
    found = retired().get(id_)
    return f"{found.id} is {found.now} since {found.since}" if found else ""


def _requirement(file: str, entry: str, fields: dict[str, object]) -> Requirement:
    _check(file, entry, fields)
    return Requirement(
        id=entry,
        text=str(fields["text"]),
        source=str(fields["source"]),
        level=Level(str(fields["level"])),
        holds=_held(file, entry, fields["holds"]),
        profile=str(fields.get("profile", "DRA-CLAIM")),
        excluded=str(fields.get("excluded", "")),
        also=_texts(file, entry, fields, "also"),
        instead_of=_texts(file, entry, fields, "instead_of"),
        file=file,
    )


def _check(file: str, entry: str, fields: dict[str, object]) -> None:
    """Refuse unknown and missing keys, and an unknown level."""
    unknown = sorted(fields.keys() - _KEYS)
    if unknown:
        known = ", ".join(sorted(_KEYS))
        raise CatalogueError(file, entry, f"unknown key {unknown[0]}; known: {known}")
    missing = sorted(_REQUIRED - fields.keys())
    if missing:
        raise CatalogueError(file, entry, f"{missing[0]} is missing")
    level = fields["level"]
    if level not in list(Level):
        levels = ", ".join(Level)
        raise CatalogueError(file, entry, f"level {level!r}; expected one of {levels}")


def _texts(
    file: str, entry: str, fields: dict[str, object], key: str
) -> tuple[str, ...]:
    found = fields.get(key, [])
    if not isinstance(found, list):
        raise CatalogueError(file, entry, f"{key} must be a list")
    return tuple(map(str, found))


def _held(file: str, entry: str, written: object) -> tuple[str, ...]:
    """Give the names of the behaviours in which an entry holds."""
    if not isinstance(written, list):
        raise CatalogueError(file, entry, "holds must be a list")
    if not written:
        raise CatalogueError(file, entry, "holds must list at least one behaviour")
    try:
        return tuple(expanded(map(str, written)))
    except RangeError as fault:
        raise CatalogueError(file, entry, str(fault)) from None
