"""The result of a check of a driver: findings, those that are known, and one line that sums it up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kueue_dra_vendor.check import Check, Finding, Level, VendorContext, run_checks
from kueue_dra_vendor.known import KnownFinding, gone, reason_for

PLURALS = {Level.ERROR: "errors", Level.WARNING: "warnings"}
"""Levels that have a plural."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorReport:
    """What the checks found in a vendor's files."""

    context: VendorContext
    checks: Sequence[Check]
    """Those that ran."""
    findings: Sequence[Finding]
    """Those that are not known."""
    known: Sequence[tuple[Finding, str]] = ()
    """Those that are, each with the reason."""
    gone: Sequence[KnownFinding] = ()
    """Known findings that are not found any more."""

    @property
    def fits(self) -> bool:
        """Whether no error is left, and nothing that is known is gone."""
        has_errors = any(each.level is Level.ERROR for each in self.findings)
        return not has_errors and not self.gone

    def lines_of(self, check: Check, level: Level) -> list[str]:
        """Give the findings of a check and level, each as its line."""
        found = []
        for each in self.findings:
            if each.check is check and each.level is level:
                line = str(each)
                found.append(line)
        return found

    def known_lines_of(self, check: Check) -> list[str]:
        """Give the known findings of a check, each as its line with the reason."""
        found = []
        for each, reason in self.known:
            if each.check is check:
                line = f"{each} (known: {reason})"
                found.append(line)
        return found

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings by level, without levels that have none."""
        counted = Counter(each.level for each in self.findings)
        return {level.value: counted[level] for level in Level if counted[level]}

    @property
    def title(self) -> str:
        """The driver, with its version where a descriptor has one."""
        descriptor = self.context.descriptor
        if descriptor:
            return descriptor.title
        return ", ".join(self.context.inventory.drivers) or "no driver"

    @property
    def summary(self) -> str:
        """One line: the driver, whether it fits, and the number of findings by level."""
        counted = [
            _counted(Level(level), number) for level, number in self.counts.items()
        ]
        if self.known:
            counted.append(f"{len(self.known)} known")
        if self.gone:
            counted.append(f"{len(self.gone)} gone")
        verdict = "fit" if self.fits else "not fit"
        if self.fits and not self.context.inventory.devices:
            verdict = "not decided"
        numbers = ", ".join(counted) or "nothing found"
        kubernetes = self.context.kubernetes
        return (
            f"{self.title}: {verdict} for quota on Kubernetes {kubernetes}: {numbers}"
        )


def reported(
    context: VendorContext,
    checks: Sequence[Check],
    known: Sequence[KnownFinding] = (),
) -> VendorReport:
    """Run checks, and set the known findings apart."""
    ids = [each.id for each in checks]
    found = run_checks(context, ids)
    left, accepted = [], []
    for each in found:
        reason = reason_for(each, known)
        if reason:
            accepted.append((each, reason))
        else:
            left.append(each)
    of_these = [each for each in known if each.check in ids]
    return VendorReport(
        context=context,
        checks=checks,
        findings=left,
        known=accepted,
        gone=gone(of_these, found),
    )


def _counted(level: Level, number: int) -> str:
    word = level.value
    if number != 1:
        word = PLURALS.get(level, word)
    return f"{number} {word}"
