"""What all cases about kinds of work begin with."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.lab import Lab


@pytest.fixture(autouse=True)
def every_kind(lab: Lab) -> None:
    """Kueue runs with every framework."""
    lab.start(integrations=frameworks.all_of(lab.behaviour.kueue))
