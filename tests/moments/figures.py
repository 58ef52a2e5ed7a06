"""The figures of many moments, and the lines about one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.moments.compared import Moment


@dataclass(slots=True)
class Figures:
    """The totals so far."""

    moments: int = 0
    waiting: int = 0
    told: int = 0
    derived: int = 0
    earlier: int = 0
    wrong: int = 0
    early: int = 0
    early_derived: int = 0
    findings: int = 0
    broken: int = 0
    steps: int = 0
    same: int = 0
    differing: int = 0
    errors: int = 0

    def add(self, moment: Moment) -> None:
        """Count one moment."""
        self.moments += 1
        self.waiting += moment.settled.waiting
        self.told += moment.settled.told
        self.derived += moment.settled.derived
        self.earlier += moment.settled.earlier
        self.wrong += moment.settled.wrong
        self.early += moment.early.waiting
        self.early_derived += moment.early.derived
        self.findings += len(moment.findings)
        self.broken += moment.broken
        self.steps += moment.steps
        self.same += moment.same
        self.differing += bool(moment.going_on)
        self.errors += len(moment.errors)

    @property
    def differ(self) -> bool:
        """Whether a promise is broken: a wrong answer, a finding, another admission, or nothing to compare."""
        if not self.waiting or 100 * self.wrong > self.waiting:
            return True
        return bool(self.findings or self.differing or self.errors)

    def __str__(self) -> str:
        return "\n".join(
            (
                f"{self.moments} moments, {self.waiting} waiting Workloads",
                f"explain: {self.told} with the message of the cluster; the reference derives {self.derived}, "
                f"{self.earlier} are of an earlier moment, {self.wrong} differ",
                f"explain while Kueue works: it derives {self.early_derived} of {self.early}",
                f"audit: {self.findings} findings, and {self.broken} about what a step broke",
                f"going on: {self.same} of {self.steps} steps give the same admissions, "
                f"{self.differing} moments differ",
            )
        )


def lines(moment: Moment) -> Iterator[str]:
    """Give a line about a moment, and one for each difference."""
    settled, early = moment.settled, moment.early
    yield (
        f"{moment.name}: {settled.derived} of {settled.waiting} waiting, early {early.derived} of {early.waiting}, "
        f"{moment.same} of {moment.steps} steps{'' if moment.agrees else ': DIFFERS'}"
    )
    for what, found in (
        ("explain", settled.differing),
        ("explain, early", early.differing),
        ("audit", moment.findings),
        ("going on", [moment.going_on]),
        ("going on, early", [moment.soon]),
        ("error", moment.errors),
    ):
        for each in filter(None, found):
            yield f"  {what}: {each}"
