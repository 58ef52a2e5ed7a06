"""Writes the findings of an audit as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from kueue_dra_audit.finding import Finding
from kueue_dra_reports.junit_writer import Case, Result, Suite, junit_text


def junit(found: Mapping[str, Sequence[Finding]]) -> str:
    """Give the XML: a test case for each check that holds, and one for each finding of the others."""
    cases = list(_cases(found))
    suite = Suite(name="kueue-dra audit", cases=cases)
    now = datetime.now(UTC)
    return junit_text([suite], now.strftime("%Y-%m-%dT%H:%M:%SZ"))


def _cases(found: Mapping[str, Sequence[Finding]]) -> Iterator[Case]:
    for check, some in found.items():
        if not some:
            yield Case(place="audit", name=check)
        for each in some:
            yield _failed(check, each)


def _failed(check: str, found: Finding) -> Case:
    name = f"{found.requirement} {found.subject}: {found.field}"
    result = Result(
        kind="failure",
        message=f"{found.says}, but {found.follows}",
        type=str(found.sure),
        lines=[f"cause: {found.cause}", f"look: {found.look}"],
    )
    return Case(place=check, name=name, result=result)
