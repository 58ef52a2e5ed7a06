"""Known failures: a file that names by requirement or case what is expected to fail, why, and until when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_ref.api.files import DocumentError, text_of
from kueue_dra_ref.api.suggest import nearest
from kueue_dra_ref.api.yaml_text import parsed

FIELDS = ("id", "reason", "until", "link")
REQUIRED = ("id", "reason", "until")
ONE_LIST = "one list of entries with id, reason and until"
LONGEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFailure:
    """One entry of the file; ``until`` is the last day (UTC) on which the failure is accepted, as YYYY-MM-DD."""

    id: str
    reason: str
    until: str
    link: str = ""

    def names(self, case: str, requirements: Iterable[str]) -> bool:
        """Whether a case is meant: by its ID, by the ID of its test without the row, or by a requirement it cites."""
        if self.id in (case, case.partition("[")[0]):
            return True
        return self.id in requirements

    def expired(self, day: str) -> bool:
        """Whether the failure is no longer accepted on a day."""
        return self.until < day

    @property
    def is_case(self) -> bool:
        """Whether the entry names a case or a test, not a requirement."""
        return "::" in self.id


Known = Sequence[KnownFailure]


def read(path: Path) -> Known:
    """Read the entries of a file.

    Raises:
        DocumentError: the file cannot be read, or an entry is wrong; it names the line and the field.

    """
    documents = list(parsed(text_of(path), str(path)))
    if len(documents) != 1:
        found = f"{len(documents) or 'no'} documents"
        raise DocumentError(file=str(path), found=found, expected=ONE_LIST)
    value = documents[0].value
    if not isinstance(value, list):
        found = _shown(value)
        raise DocumentError(file=str(path), line=1, found=found, expected=ONE_LIST)
    document = ManifestDocument(
        manifest={}, file=str(path), number=1, span=documents[0].span
    )
    entries = [_entry(one, f"[{at}]", document) for at, one in enumerate(value)]
    _refuse_repeated(entries, document)
    return entries


def _entry(value: Any, at: str, document: ManifestDocument) -> KnownFailure:
    if not isinstance(value, Mapping):
        raise document.fault(at, _shown(value), "an object with id, reason and until")
    for key in REQUIRED:
        if key not in value:
            raise document.fault(at, f"no {key}", f"the field {key}")
    for key, text in value.items():
        _check_field(key, text, f"{at}.{key}", document)
    _check_date(value["until"], f"{at}.until", document)
    return KnownFailure(**value)


def _check_field(
    key: object, text: object, at: str, document: ManifestDocument
) -> None:
    if key not in FIELDS:
        expected = f"a known field; {nearest(str(key), FIELDS)}"
        raise document.fault(at, f"field {key!r}", expected)
    if not isinstance(text, str) or not text.strip():
        raise document.fault(at, _shown(text), "text")


def _check_date(text: str, at: str, document: ManifestDocument) -> None:
    try:
        if date.fromisoformat(text).isoformat() == text:
            return
    except ValueError:
        pass
    raise document.fault(at, repr(text), "a day, as in 2027-01-31")


def _refuse_repeated(entries: Known, document: ManifestDocument) -> None:
    seen = set[str]()
    for at, entry in enumerate(entries):
        if entry.id in seen:
            raise document.fault(f"[{at}].id", f"{entry.id} again", "each ID once")
        seen.add(entry.id)


def _shown(value: Any) -> str:
    match value:
        case None | "":
            return "nothing"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return repr(value)[:LONGEST]
