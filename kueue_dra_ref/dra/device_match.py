"""Devices that match a request under a source, and the rule that excludes each of the others (Kueue 0.19).

Kueue: pkg/dra/counters.go (matchDevicesForSource, matchDevicesWithSelectors)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.cel import EvaluationError, Undecided
from kueue_dra_ref.explain.step import Step, listed, named
from kueue_dra_ref.model.lister import Trial
from kueue_dra_ref.model.resourceslices import PublishedDevice, PublishedSlice
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.sources import Source, SourceMatch
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules

Devices = list[PublishedDevice]
EligibleRule = Rule[[SourceMatch], Trial]
Excluded = tuple[EligibleRule, Devices]


@dataclass(slots=True, kw_only=True)
class DeviceMatcher:
    """The devices that match, and by rule those that do not; ``ended`` is what ends the search early."""

    devices: Devices = field(default_factory=list)
    excluded: dict[str, Excluded] = field(default_factory=dict)
    ended: EvaluationError | Undecided | None = None

    def exclude(self, rule: EligibleRule, device: PublishedDevice) -> None:
        """Record the rule that a device does not match."""
        _, devices = self.excluded.setdefault(rule.name, (rule, []))
        devices.append(device)

    def steps(
        self,
        rules: SourcedRequestRules,
        title: str,
        driver: str,
    ) -> Iterator[Step]:
        """Explain which devices of a driver match and which do not; nothing if the search ended early."""
        if self.ended is not None:
            return
        matching = len(self.devices)
        total = matching
        for _, devices in self.excluded.values():
            total += len(devices)
        of_all = named(total, "device")
        text = f"{title}{matching} of {of_all} of {driver} match"
        if matching:
            text += f": {names(self.devices)}"
        yield Step.by(text, *rules.eligible.rules)
        for rule, devices in self.excluded.values():
            text = f"{title}no match: {names(devices)}"
            text += f" ({rule.sentence})"
            yield Step.by(text, rule)


def match_devices(
    rules: SourcedRequestRules,
    source: Source,
    slices: Sequence[PublishedSlice],
    class_selectors: tuple[str, ...],
    request_selectors: tuple[str, ...],
) -> DeviceMatcher:
    """Match every device against the selectors of the source, then of the DeviceClass, then of the request.

    Kueue: pkg/dra/counters.go (matchDevicesForSource, matchDevicesWithSelectors)
    """
    found = DeviceMatcher()
    for published in _devices_in(slices):
        tried = SourceMatch(
            source=source,
            device=published.device,
            class_selectors=class_selectors,
            request_selectors=request_selectors,
        )
        failed = rules.eligible.failed(tried)
        if failed is None:
            found.devices.append(published)
        elif isinstance(failed.value, bool):
            found.exclude(failed.rule, published)
        else:
            found.ended = failed.value
            break
    return found


def _devices_in(slices: Sequence[PublishedSlice]) -> Iterator[PublishedDevice]:
    for each in slices:
        yield from each.devices


def names(devices: Sequence[PublishedDevice]) -> str:
    """List devices by pool and name."""
    found: list[str] = []
    for published in devices:
        device = published.device
        found.append(f"{device.pool}/{device.name}")
    return listed(found)
