"""A lab on the reference, for tests that look at the reference itself."""

from __future__ import annotations

from kueue_dra_fixtures.lab import Lab
from kueue_dra_ref.behaviours import NAMES, behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.workload.map_order import MapOrder


def a_lab(name: str = NAMES[0], *, suffix: str, chance: MapOrder | None = None) -> Lab:
    """Give a lab whose reference has one behaviour, and takes a chance that the test may settle."""
    found = behaviour(name)
    return Lab(target=ReferenceTarget(found, map_order=chance), behaviour=found, suffix=suffix)
