"""The devices that match a request under a source (Kueue 0.19), and the selector that kept each of the others out.

Kueue: pkg/dra/counters.go (matchDevicesForSource, matchDevicesWithSelectors)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.cel import EvaluationError, Undecided
from kueue_dra_ref.explain.step import Step, cited, listed, named
from kueue_dra_ref.model.lister import Trial
from kueue_dra_ref.model.resourceslices import PublishedDevice, PublishedSlice
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.sources import Source, SourceMatch
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules

Eligible = Rule[[SourceMatch], Trial]


@dataclass(slots=True, kw_only=True)
class DeviceMatcher:
    """What trying the devices came to; ``others`` are those that do not match, by the rule that left them out."""

    devices: list[PublishedDevice] = field(default_factory=list)
    others: dict[str, tuple[Eligible, list[PublishedDevice]]] = field(
        default_factory=dict
    )
    ended: EvaluationError | Undecided | None = None

    def told(
        self, rules: SourcedRequestRules, place: str, driver: str
    ) -> tuple[Step, ...]:
        """Say which devices match, and which do not."""
        total = len(self.devices) + sum(len(left) for _, left in self.others.values())
        if self.ended is not None:
            return ()
        text = (
            f"{place}{len(self.devices)} of {named(total, 'device')} of {driver} match"
        )
        shown = f"{text}: {names(self.devices)}" if self.devices else text
        return (
            Step(requirements=cited(rules.eligible), text=shown),
            *(
                Step(
                    requirements=cited([rule]),
                    text=f"{place}not so of {names(left)}: {rule.sentence}",
                )
                for rule, left in self.others.values()
            ),
        )


def tries(
    rules: SourcedRequestRules,
    source: Source,
    slices: Sequence[PublishedSlice],
    narrowed: tuple[str, ...],
    more: tuple[str, ...],
) -> DeviceMatcher:
    """Try every device by the selectors of the source, then of the class, then of the request."""
    done = DeviceMatcher()
    for published in (device for each in slices for device in each.devices):
        tried = SourceMatch(
            source=source,
            device=published.device,
            class_selectors=narrowed,
            request_selectors=more,
        )
        rule, outcome = _outcome(rules, tried)
        if not isinstance(outcome, bool):
            done.ended = outcome
            return done
        if rule is None:
            done.devices.append(published)
        else:
            done.others.setdefault(rule.name, (rule, []))[1].append(published)
    return done


def _outcome(
    rules: SourcedRequestRules, tried: SourceMatch
) -> tuple[Eligible | None, Trial]:
    """What the first rule says that does not agree; True when all of them do."""
    for rule in rules.eligible:
        outcome = rule(tried)
        if outcome is not True:
            return rule, outcome
    return None, True


def names(devices: Sequence[PublishedDevice]) -> str:
    """Devices by pool and name."""
    return listed([f"{each.device.pool}/{each.device.name}" for each in devices])
