"""What Kueue leaves to chance: in which order it goes through a Go map, settled by a hash or by who saw it happen.

No counterpart: the iteration order of Go maps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import PreemptionMode
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.fnv import fnv1a

OF_POD_SET = "couldn't assign flavors to pod set "
"""What a message begins with that tells of a pod set, before its name."""


@dataclass(slots=True, kw_only=True)
class MapOrder:
    """How often-random orders fall out; ``seen`` is what a Workload's condition was seen to say, by name.

    Whoever replays a recording tells what came of it, so that the reference goes through a map as the recorded Kueue
    did; what it then finds is its own.  Without that, resources come in the order of a hash of their names.
    """

    seen: Mapping[str, str] = field(default_factory=dict)
    orders: bool = True
    """Whether Kueue goes through maps in an order of chance; otherwise what was seen tells nothing of it."""

    def for_workload(self, workload: Manifest) -> MapOrderDraw:
        """How it falls out for one Workload, which goes by the name of its Job when it has one."""
        meta = workload["metadata"]
        owners = meta.get("ownerReferences") or ()
        told = self.seen.get(
            next((owner["name"] for owner in owners), meta["name"]), ""
        )
        return MapOrderDraw(seen=told if self.orders else "", told=told)


@dataclass(frozen=True, slots=True, kw_only=True)
class MapOrderDraw:
    """How it falls out for one Workload, about which ``seen`` was said."""

    seen: str = ""
    told: str = ""
    """The same, whether or not it tells of an order."""

    def order_for_pod_set(self, name: str) -> MapOrderDraw:
        """How it falls out for one pod set, which goes through maps of its own: by what was said of it, if anything."""
        if not self.seen:
            return self
        parts = self.seen.split(OF_POD_SET)
        return replace(
            self,
            seen=next((part for part in parts if part.startswith(f"{name}: ")), ""),
        )

    def is_stable(self, words: str) -> bool:
        """Whether these words were what was seen in the end, where two happen at one time and either may come first."""
        return bool(words) and self.told == words

    def classes(self, names: Iterable[str]) -> list[str]:
        """Device classes of a claim in the order in which they are looked up; the first that is unmapped is told."""
        return sorted(
            names,
            key=lambda name: (
                f"DeviceClass {name} is not mapped" not in self.seen,
                fnv1a(name),
                name,
            ),
        )

    def names(self, names: Iterable[str]) -> list[str]:
        """Extended resources of a pod in the order in which they are told of."""
        return sorted(
            names,
            key=lambda name: (self.seen.find(f"resources.requests.{name}: "), name),
        )

    def groups(self, resources: Iterable[str]) -> list[str]:
        """Resources in the order in which their groups are looked at: what was told of first."""
        return sorted(
            resources, key=lambda name: (not self._names(name, ""), fnv1a(name), name)
        )

    def quotas(self, found: Mapping[str, PreemptionMode], flavor: str) -> list[str]:
        """Resources of one flavor: what was told of first, and of that what ended the look at the flavor last."""
        return sorted(
            found,
            key=lambda name: (
                (
                    not self._names(name, flavor),
                    found[name] is PreemptionMode.NO_FIT,
                    fnv1a(name),
                    name,
                )
                if self.seen
                else (False, False, fnv1a(name), name)
            ),
        )

    def _names(self, resource: str, flavor: str) -> bool:
        within = f"quota for {resource} in flavor {flavor}{',' if flavor else ''}"
        return within in self.seen or (
            not flavor and f"resource {resource} unavailable" in self.seen
        )


CERTAIN = MapOrderDraw()
"""Where nobody has seen how it fell out."""
