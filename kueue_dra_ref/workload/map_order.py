"""Orders that Kueue leaves to Go's map iteration: a hash decides, or the recorded message of a condition.

No counterpart: the iteration order of Go maps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.pod_owners import group_of_workload
from kueue_dra_ref.api.queued_pods import is_of_group
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import PreemptionMode
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.fnv import fnv1a

OF_POD_SET = "couldn't assign flavors to pod set "
"""How a message about one pod set begins, up to the name."""


@dataclass(slots=True, kw_only=True)
class MapOrder:
    """The order of each map iteration; ``seen`` has the recorded message of each Workload's condition, by name.

    A dump of a running cluster has several namespaces, so there the name is that of the Workload after its namespace.
    A replay passes what was recorded, so that the reference iterates over a map in the order of the recorded Kueue;
    what the reference decides in that order is its own.  Otherwise resources are in the order of a hash of their names.
    """

    seen: Mapping[str, str] = field(default_factory=dict)
    orders: bool
    """Whether Kueue iterates in random order; otherwise messages say nothing about an order."""

    def for_workload(self, workload: Manifest) -> MapOrderDraw:
        """Give the orders for one Workload, which recordings name after its Job, or its group, if it has one."""
        meta = workload["metadata"]
        stored = self.seen.get(f"{meta.get('namespace')}/{meta['name']}")
        message = stored or self.seen.get(_recorded_name(workload), "")
        seen = message if self.orders else ""
        return MapOrderDraw(seen=seen, message=message)


def _recorded_name(workload: Manifest) -> str:
    meta = workload["metadata"]
    if is_of_group(workload):
        return group_of_workload(workload) or str(meta["name"])
    owners = owners_of(workload)
    named = owners[0] if owners else meta
    return str(named["name"])


@dataclass(frozen=True, slots=True, kw_only=True)
class MapOrderDraw:
    """The order of map iterations for one Workload; ``seen`` is the message that shows it."""

    seen: str = ""
    message: str = ""
    """The recorded message, whether or not it shows an order."""

    def order_for_pod_set(self, name: str) -> MapOrderDraw:
        """Give the orders for one pod set, which has maps of its own: from the part of the message about it."""
        parts = self.seen.split(OF_POD_SET)
        own = (part for part in parts if part.startswith(f"{name}: "))
        return replace(self, seen=next(own, ""))

    def is_stable(self, message: str) -> bool:
        """Whether a message is the last one recorded, where either of two concurrent messages may come first."""
        return bool(message) and self.message == message

    def classes(self, names: Iterable[str]) -> list[str]:
        """Order the device classes of a claim for lookup: Kueue reports the first that is not mapped."""
        return self._reported_first(names, "DeviceClass {} is not mapped")

    def names(self, names: Iterable[str]) -> list[str]:
        """Order the extended resources of a pod: as the message reports them."""

        def position(name: str) -> int:
            return self.seen.find(f"resources.requests.{name}: ")

        return sorted(sorted(names), key=position)

    def groups(
        self, resources: Iterable[str], flavors: Callable[[str], Iterable[str]]
    ) -> list[str]:
        """Order resources for the search of their resource groups: those that the message reports come first.

        ``flavors`` names the flavors of the group of a resource: a message may be about one of these alone.
        """
        ordered = self._reported_first(
            resources,
            "quota for {} in flavor ",
            "resource {} unavailable",
        )

        def is_silent(resource: str) -> bool:
            refused = chain.from_iterable(map(_refusals, flavors(resource)))
            return not any(each in self.seen for each in refused)

        return sorted(ordered, key=is_silent)

    def quotas(self, found: Mapping[str, PreemptionMode], flavor: str) -> list[str]:
        """Order the resources of one flavor: reported ones first, and of those the one that ended the check last."""

        def is_last(name: str) -> bool:
            return found[name] is PreemptionMode.NO_FIT

        by_hash = sorted(found, key=_hash_and_name)
        if not self.seen:
            return by_hash
        ordered = sorted(by_hash, key=is_last)
        return self._with_reported_first(
            ordered,
            f"quota for {{}} in flavor {flavor},",
        )

    def _reported_first(
        self,
        names: Iterable[str],
        *messages: str,
    ) -> list[str]:
        """Order names by a hash, those first that one of the messages reports."""
        by_hash = sorted(names, key=_hash_and_name)
        return self._with_reported_first(by_hash, *messages)

    def _with_reported_first(
        self,
        ordered: list[str],
        *messages: str,
    ) -> list[str]:
        reported: list[str] = []
        others: list[str] = []
        for name in ordered:
            is_reported = self._reports(name, messages)
            group = reported if is_reported else others
            group.append(name)
        return reported + others

    def _reports(self, name: str, messages: Iterable[str]) -> bool:
        """Whether the recorded message contains one of these about a name."""
        reports = [message.format(name) for message in messages]
        return any(report in self.seen for report in reports)


def _refusals(flavor: str) -> tuple[str, ...]:
    """Give what a message has about a flavor that it refuses, whatever the resource."""
    return (
        f'Flavor "{flavor}" does not ',
        f"flavor {flavor} doesn't match node affinity",
        f"}} in flavor {flavor}",
    )


def _hash_and_name(name: str) -> tuple[int, str]:
    return fnv1a(name), name


CERTAIN = MapOrderDraw()
"""The orders without a recorded message."""
