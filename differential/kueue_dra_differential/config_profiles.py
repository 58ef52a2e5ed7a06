"""Themes of batches: Configuration, classes and devices, what jobs request, and changes for all scenarios."""

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
Names = tuple[str, ...]
"""Names of templates, of extended resources or of feature gates."""
DIRECT = "direct"
"""A claim that is named directly."""


def goes(kind: str, name: str, **where: str) -> Step:
    """Delete a class, a slice or, in its ``namespace``, a template."""
    ref = {"apiVersion": "resource.k8s.io/v1", "kind": kind, "name": name, **where}
    return {"delete": [ref]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigProfile:
    """The theme of the scenarios of a batch."""

    options: Mapping[str, Any]
    """The options of `a_configuration`."""
    inventory: tuple[Manifest, ...]
    templates: Mapping[str, Template]
    """Claim templates that each namespace has if a job there uses them."""
    asked: Names
    """What jobs request, the usual more often: names of templates or of extended resources, a missing template."""
    extended: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Extended resources by name: requests of the pods' container."""
    shapes: Shapes = field(default_factory=lambda: SHAPES)
    """What pods may have in addition to their regular container."""
    contested: str = "gpus"
    """The resource that quotas and limits are about."""
    unit: str = ""
    """The suffix of an amount of it."""
    others: Mapping[str, Quota] = field(default_factory=dict)
    """Quota in every flavor of the resources without limits."""
    changes: tuple[Step, ...] = ()
    """Changes of classes and devices, in all scenarios of a Kueue at once."""
    needs: Names = ()
    """The feature gates that the theme needs."""

    def holds_in(self, behaviour: Behaviour) -> bool:
        """Whether a release has the gates of the theme."""
        return all(gate in behaviour.gates.table for gate in self.needs)

    def amount(self, number: int) -> str | int:
        """Write an amount of the contested resource."""
        return f"{number}{self.unit}" if self.unit else number

    def claims(self, asks: Names) -> list[ClaimOf]:
        """Give the claims among what a job requests."""
        found: list[ClaimOf] = []
        for name in asks:
            if name == DIRECT:
                found.append(DirectClaim())
            elif name not in self.extended:
                found.append(NamedTemplate(name=name))
        return found

    @property
    def named(self) -> Names:
        """The templates that jobs name, the usual ones more often; not all of them exist."""
        others = {DIRECT, *self.extended}
        return tuple(name for name in self.asked if name not in others)

    def requests(self, asks: Names) -> dict[str, str]:
        """Give the extended resources among what a job requests; a second request for one does not add up."""
        found: dict[str, str] = {}
        for name in asks:
            found.update(self.extended.get(name, {}))
        return found
