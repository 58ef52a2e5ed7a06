"""The catalogue: one TOML entry per testable sentence of the texts, with a permanent ID."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

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
_TEXTS = frozenset({"text", "source", "level", "profile", "excluded"})
_OWN = {"holds": ["kueue-.."], "profile": "OWN"}
"""What an entry of another catalogue has if it says nothing else."""
_ID = re.compile(r"[A-Z][A-Z0-9-]*-[0-9]{3,}")
_KEYS = _REQUIRED | {"profile", "excluded", "also", "instead_of"}


def _is_of(source: str, behaviour: str) -> bool:
    """Tell whether a source is the text of a behaviour: ``kep-2025-09`` is ``KEP-2941 2025-09, HEADING``."""
    return behaviour.startswith(_TEXT) and source.startswith(
        f"KEP-2941 {behaviour.removeprefix(_TEXT)}, "
    )


class CatalogueError(Exception):
    """The catalogue itself is wrong: the file, the entry and what is wrong with it."""

    def __init__(self, file: str, entry: str, fault: str) -> None:
        place = f"{file}: [{entry}]" if entry else file
        super().__init__(f"{place}: {fault}")
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
            _refuse_taken(path.name, entry, found)
            found[entry] = _requirement(path.name, entry, fields)
    return found


def with_own(paths: Iterable[Path]) -> Mapping[str, Requirement]:
    """Read the requirements of other catalogue files in addition to the project's.

    An entry has the fields of ours; without ``holds`` it holds in every release, and its profile is OWN.

    Raises:
        CatalogueError: a file cannot be read, or an entry is wrong.

    """
    found = dict(catalogue())
    for path in paths:
        name = str(path)
        for entry, fields in _read_own(path).items():
            _check_own(name, entry, fields)
            _refuse_taken(name, entry, found)
            found[entry] = _requirement(name, entry, _OWN | fields)
    return found


def _read_own(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as fault:
        raise CatalogueError(str(path), "", str(fault.strerror)) from None
    except ValueError as fault:
        raise CatalogueError(str(path), "", f"not TOML: {fault}") from None


def _check_own(file: str, entry: str, fields: object) -> None:
    """Refuse what the project's own files never have: another form of ID, and values of a wrong type."""
    if not _ID.fullmatch(entry):
        raise CatalogueError(
            file, entry, "expected an ID such as ACME-001: capitals, then three digits"
        )
    if not isinstance(fields, dict):
        raise CatalogueError(file, entry, f"found {fields!r}; expected a table")
    for key, value in fields.items():
        if key in _TEXTS and not (isinstance(value, str) and value.strip()):
            raise CatalogueError(file, entry, f"{key}: found {value!r}; expected text")


def _refuse_taken(file: str, entry: str, found: Mapping[str, Requirement]) -> None:
    if entry in retired():
        raise CatalogueError(file, entry, f"the ID is retired: {renamed(entry)}")
    if entry in found:
        raise CatalogueError(file, entry, f"the ID is taken in {found[entry].file}")


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
