"""How the search for a flavor is told (Kueue 0.19): what was passed over, preferred, or not looked at at all.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.types import FlavorQuota
from kueue_dra_ref.explain.step import Step, cited, listed
from kueue_dra_ref.model.rule import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorTrace:
    """Tells of one group of flavors; ``where`` names the pod set if there are several."""

    where: str

    def passed(
        self,
        flavor: FlavorQuota,
        rules: Sequence[Rule[..., Any]],
        others: Sequence[FlavorQuota],
    ) -> Iterator[Step]:
        """Say why the search goes on behind a flavor, if another one comes."""
        for rule in rules if others else ():
            text = (
                f"{self.where}flavor {flavor.name}: the search goes on: {rule.sentence}"
            )
            yield Step(requirements=cited([rule]), text=text)

    def compared(
        self, one: str, other: str, rules: Sequence[Rule[..., Any]], *, better: bool
    ) -> Iterator[Step]:
        """Say which of two flavors is preferred, and by which rule; none tells them apart: the earlier one stays."""
        first, second = (one, other) if better else (other, one)
        if not first or not second:
            return
        text = f"{self.where}flavor {first} is preferred to flavor {second}: "
        told = (
            rules[0].sentence
            if len(rules) == 1
            else "it comes first, and nothing else tells them apart"
        )
        yield Step(requirements=cited(rules), text=text + told)

    def left_out(
        self, flavors: Sequence[FlavorQuota], cites: tuple[str, ...]
    ) -> Iterator[Step]:
        """Say which flavors were not looked at."""
        if flavors:
            text = f"{self.where}not looked at: flavor {listed([flavor.name for flavor in flavors])}"
            yield Step(requirements=cites, text=text)
