"""What worlds of one Kueue are about: Configuration, classes and devices, what jobs ask for, what changes for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_differential.pod_shapes import SHAPES, Shapes
from kueue_dra_fixtures.builders import ClaimOf, DirectClaim, NamedTemplate, Template
from kueue_dra_fixtures.manifests import Quota
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.target import Manifest

Step = Mapping[str, Any]
DIRECT = "direct"
"""A claim that is named directly."""


def goes(kind: str, name: str, **where: str) -> Step:
    """A class, a slice or, in its ``namespace``, a template is deleted."""
    return {
        "delete": [
            {"apiVersion": "resource.k8s.io/v1", "kind": kind, "name": name, **where}
        ]
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigProfile:
    """One kind of worlds."""

    options: Mapping[str, Any]
    """What `a_configuration` is told."""
    inventory: tuple[Manifest, ...]
    templates: Mapping[str, Template]
    """Claim templates that are made in every namespace where a job asks for them."""
    asked: tuple[str, ...]
    """What jobs ask for, the usual more often: names of templates or of extended resources, a missing template."""
    extended: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What else jobs ask for by name: requests of the pods' container."""
    shapes: Shapes = field(default_factory=lambda: SHAPES)
    """What pods may have beside their regular container."""
    contested: str = "gpus"
    """The resource that quotas and limits are about."""
    unit: str = ""
    """What follows the number of an amount of it."""
    others: Mapping[str, Quota] = field(default_factory=dict)
    """Quota in every flavor for what no limit is about."""
    changes: tuple[Step, ...] = ()
    """What can happen to classes and devices, to all worlds of a Kueue at once."""
    needs: tuple[str, ...] = ()
    """The feature gates without which there is nothing to see."""

    def holds_in(self, behaviour: Behaviour) -> bool:
        """Whether a release has what the theme is about."""
        return all(gate in behaviour.gates.table for gate in self.needs)

    def amount(self, number: int) -> str | int:
        """Write an amount of the contested resource."""
        return f"{number}{self.unit}" if self.unit else number

    def claims(self, asks: tuple[str, ...]) -> list[ClaimOf]:
        """Give the claims among what a job asks for."""
        wanted = (each for each in asks if each not in self.extended)
        return [
            DirectClaim() if each == DIRECT else NamedTemplate(name=each)
            for each in wanted
        ]

    @property
    def named(self) -> tuple[str, ...]:
        """The templates that jobs name, the usual ones more often; not all of them are made."""
        return tuple(
            each for each in self.asked if each != DIRECT and each not in self.extended
        )

    def requests(self, asks: tuple[str, ...]) -> dict[str, str]:
        """Give the extended resources among what a job asks for; one that is asked for twice counts once."""
        return {
            name: amount
            for each in asks
            for name, amount in self.extended.get(each, {}).items()
        }
