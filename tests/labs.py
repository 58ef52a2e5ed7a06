"""A lab on the reference, for tests that look at the reference itself."""

from __future__ import annotations

from fixtures.lab import Lab
from kueue_dra_ref.admission.chance import Chance
from kueue_dra_ref.behaviours import NAMES, behaviour
from kueue_dra_ref.cluster.reference import ReferenceTarget


def a_lab(name: str = NAMES[0], *, suffix: str, chance: Chance | None = None) -> Lab:
    """Give a lab whose reference has one behaviour, and takes a chance that the test may settle."""
    found = behaviour(name)
    return Lab(target=ReferenceTarget(found, chance=chance), behaviour=found, suffix=suffix)
