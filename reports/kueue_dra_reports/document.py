"""The shape of a ConformanceReport (kueue-dra.dev/v1alpha1), as JSON has it: lower-camel keys, plain values."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

API_VERSION = "kueue-dra.dev/v1alpha1"
KIND = "ConformanceReport"

Statistics = dict[str, int]


class RowEntry(TypedDict):
    """A case of the suite that was not run on purpose: it does not apply, or the user left it out."""

    id: str
    requirements: list[str]
    reason: str


class CheckEntry(TypedDict):
    """One planned case and how it ended; the optional fields describe a failure."""

    id: str
    requirements: list[str]
    outcome: str
    durationSeconds: float
    title: NotRequired[str]
    message: NotRequired[str]
    expected: NotRequired[str]
    observed: NotRequired[str]
    explanation: NotRequired[list[str]]
    evidence: NotRequired[list[str]]
    log: NotRequired[list[str]]


class RequirementEntry(TypedDict):
    """One sentence of the texts and what the run says of it."""

    id: str
    text: str
    source: str
    level: str
    profile: str
    verdict: str
    cases: list[str]
    reason: NotRequired[str]


class GroupEntry(TypedDict):
    """The cases of one strength (core, extended, questions) of a profile."""

    result: str
    statistics: Statistics
    requirements: Statistics
    notPassed: list[str]
    untested: list[str]


class ProfileEntry(TypedDict):
    """A feature as users claim it."""

    name: str
    result: str
    core: NotRequired[GroupEntry]
    extended: NotRequired[GroupEntry]
    questions: NotRequired[GroupEntry]


class IntegrityEntry(TypedDict):
    """Whether the run did what it planned: four equal numbers and no fault."""

    planned: int
    collected: int
    executed: int
    reported: int
    faults: list[str]


class VerdictEntry(TypedDict):
    """The result of the run, whether it may be shown as a conformance claim, and the reasons."""

    result: str
    claimsConformance: bool
    because: list[str]


class ControlEntry(TypedDict):
    """A target that was misconfigured on purpose: ``caught`` if exactly the listed cases failed, else ``missed``."""

    name: str
    breaks: str
    verdict: str
    red: int
    green: int
    faults: list[str]


class AdequacyCounts(TypedDict):
    """What became of mutants of the reference; an equivalent changes nothing that can be seen."""

    mutants: int
    caught: int
    equivalent: int
    survived: int
    unreached: int


class AdequacyProfile(AdequacyCounts):
    """Those mutants that cases of one profile run; several profiles can run one."""

    name: str


class AdequacyEntry(AdequacyCounts):
    """A sample of mutants that the suite was tried on, and the command that tries it again."""

    date: str
    command: str
    profiles: list[AdequacyProfile]


class ExpectedFailureEntry(TypedDict):
    """A failure that the user expects, and whether it came: ``cases`` are those that failed."""

    id: str
    reason: str
    until: str
    link: NotRequired[str]
    verdict: str
    cases: list[str]


class GateEntry(TypedDict):
    """What turns the exit code of the run red: cases at the chosen level, and entries that are out of date."""

    level: str
    result: str
    because: list[str]
    red: list[str]
    below: list[str]
    expectedFailures: list[ExpectedFailureEntry]


class ReportHead(TypedDict):
    """The first fields of a report."""

    apiVersion: str
    kind: str
    date: str
    durationSeconds: float
    mode: str
    intent: str
    verdict: VerdictEntry


class Report(ReportHead):
    """The whole document; only ``target`` depends on the target and the machine."""

    specification: dict[str, Any]
    suite: dict[str, Any]
    target: dict[str, Any]
    profiles: list[ProfileEntry]
    statistics: Statistics
    requirements: list[RequirementEntry]
    checks: list[CheckEntry]
    notApplicable: list[RowEntry]
    leftOut: list[RowEntry]
    integrity: IntegrityEntry
    gate: NotRequired[GateEntry]
    controls: NotRequired[list[ControlEntry]]
    adequacy: NotRequired[AdequacyEntry]
