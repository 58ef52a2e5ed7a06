"""Checks a written report: its shape against the JSON Schema, and its sums against its own checks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from kueue_dra_ref.api.files import DocumentError, text_of
from kueue_dra_ref.api.yaml_text import parsed
from kueue_dra_reports import results
from kueue_dra_reports.compare import differences
from kueue_dra_reports.document import Report
from kueue_dra_reports.results import Outcomes


@cache
def schema() -> Mapping[str, Any]:
    """Give the published JSON Schema of a report."""
    text = (
        files("kueue_dra_reports") / "schema" / "conformance-report.schema.json"
    ).read_text("utf-8")
    return cast(Mapping[str, Any], json.loads(text))


def read(path: Path) -> Any:
    """Read the one document of a file, YAML or JSON.

    Raises:
        DocumentFault: the file cannot be read, or holds something else than one document.

    """
    found = [value for _, _, value in parsed(text_of(path), str(path))]
    if len(found) != 1:
        raise DocumentError(
            file=str(path),
            found=f"{len(found) or 'no'} documents",
            expected="one report",
        )
    return found[0]


def faults(path: Path) -> list[str]:
    """List what is wrong with a report file (YAML or JSON); empty for a sound one."""
    try:
        return [f"{path}: {fault}" for fault in document_faults(read(path))]
    except DocumentError as fault:
        return [fault.worded]


def document_faults(document: object) -> list[str]:
    """List what is wrong with a report that was read: first its shape, and when that is sound, its sums."""
    wrong = sorted(
        Draft202012Validator(schema()).iter_errors(document),
        key=lambda one: one.json_path,
    )
    return [_worded(one) for one in wrong] or inconsistencies(cast(Report, document))


def inconsistencies(report: Report) -> list[str]:
    """Compute verdicts, statistics and profiles again from the report's checks, and list what was written otherwise."""
    outcomes = Outcomes.from_lists(
        report["checks"], report["notApplicable"], report["leftOut"]
    )
    wrong = [
        *_doubled(report),
        *_unknown(report, outcomes),
        *_unsorted(report),
        *_integrity_faults(report),
    ]
    if wrong:
        return wrong
    again: dict[str, Any] = {
        "requirements": [
            {"id": one["id"], "verdict": _verdict_again(one, outcomes)}
            for one in report["requirements"]
        ],
        "statistics": outcomes.count(outcomes.of),
        "profiles": results.profiles(report["requirements"], outcomes),
    }
    again["verdict"] = results.verdict(
        again["profiles"], report["integrity"], report["intent"]
    )
    written = {**{key: report[key] for key in again}}  # type: ignore[literal-required]  # the keys of `again` are literals
    written["requirements"] = [
        {"id": one["id"], "verdict": one["verdict"]} for one in report["requirements"]
    ]
    return [
        f"written -> computed from the checks: {line}"
        for line in differences(written, again)
    ]


def _verdict_again(requirement: Any, outcomes: Outcomes) -> str:
    if (
        "reason" in requirement
    ):  # excluded or not applicable: a fact of the catalogue, not of the run
        return str(requirement["verdict"])
    cases = outcomes.citing.get(requirement["id"], ())
    return results.verdict_on(
        requirement["level"], (outcomes.of[case] for case in cases)
    )


def _doubled(report: Report) -> list[str]:
    ids = [
        one["id"]
        for entries in (report["checks"], report["notApplicable"], report["leftOut"])
        for one in entries
    ]
    return [
        f"the case {one} is listed more than once"
        for one in sorted({one for one in ids if ids.count(one) > 1})
    ]


def _unknown(report: Report, outcomes: Outcomes) -> list[str]:
    known = {one["id"] for one in report["requirements"]}
    pairs = (
        (case, one)
        for case, ids in outcomes.cites.items()
        for one in ids
        if one not in known
    )
    return [
        f"{case} cites {one}, which the report does not list"
        for case, one in sorted(pairs)
    ]


def _unsorted(report: Report) -> list[str]:
    lists = {
        key: [one["id"] for one in report[key]]
        for key in ("requirements", "checks", "notApplicable", "leftOut")
    }
    return [
        f"{key} is not sorted by id" for key, ids in lists.items() if ids != sorted(ids)
    ]


def _integrity_faults(report: Report) -> list[str]:
    integrity = report["integrity"]
    numbers = {key: value for key, value in integrity.items() if key != "faults"}
    done = sum(one["outcome"] != "notRun" for one in report["checks"])
    wrong = []
    if numbers["planned"] != len(report["checks"]):
        wrong.append(
            f"integrity.planned is {numbers['planned']}, but {len(report['checks'])} checks are listed"
        )
    if numbers["reported"] != done:
        wrong.append(
            f"integrity.reported is {numbers['reported']}, but {done} checks have an outcome"
        )
    if len(set(numbers.values())) != 1 and not integrity["faults"]:
        wrong.append(
            f"the numbers of integrity differ ({numbers}) and no fault is named"
        )
    return wrong


def _worded(error: ValidationError) -> str:
    found = repr(error.instance)
    shown = (
        error.message.replace(found, f"{found[:80]}...")
        if len(found) > 100
        else error.message
    )
    return f"{error.json_path}: {shown}"
