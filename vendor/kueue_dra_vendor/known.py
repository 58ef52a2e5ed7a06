"""Known findings: those that a vendor accepts, each with its reason; one that is gone is an error, too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from kueue_dra_ref.api.suggest import nearest
from kueue_dra_reports.json_schema import published
from kueue_dra_reports.validated_files import document_of
from kueue_dra_vendor.catalogue import ALL
from kueue_dra_vendor.check import Finding

IDS = tuple(each.id for each in ALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFinding:
    """One entry of the file."""

    check: str
    object: str
    """A pattern for the object of the finding."""
    reason: str
    place: str
    """File and line of the entry."""

    def covers(self, finding: Finding) -> bool:
        """Tell whether a finding is this one."""
        is_same_check = finding.check.id == self.check
        return is_same_check and fnmatchcase(finding.object, self.object)

    def __str__(self) -> str:
        return f"{self.place}: {self.check} ({self.object}) is known, and is not found any more"


def known_of(path: Path) -> tuple[KnownFinding, ...]:
    """Read a file of known findings.

    Raises:
        DocumentError: it cannot be read, is not as its schema says, or names a check that does not exist.

    """
    document = document_of(path, published("kueue_dra_vendor", "known"))
    found = []
    for index, entry in enumerate(document.manifest["known"]):
        field = f"known[{index}]"
        check = entry["check"]
        if check not in IDS:
            suggestion = nearest(check, IDS)
            raise document.fault(f"{field}.check", f"no check {check}", suggestion)
        line = document.line_of(field)
        known = KnownFinding(
            check=check,
            object=entry.get("object", "*"),
            reason=entry["reason"],
            place=f"{document.file}:{line}",
        )
        found.append(known)
    return tuple(found)


def reason_for(finding: Finding, known: Iterable[KnownFinding]) -> str:
    """Give the reason why a finding is accepted; empty where it is not."""
    for each in known:
        if each.covers(finding):
            return each.reason
    return ""


def gone(known: Iterable[KnownFinding], found: Iterable[Finding]) -> list[KnownFinding]:
    """Give the known findings that are not found any more."""
    findings = list(found)
    return [each for each in known if not any(map(each.covers, findings))]
