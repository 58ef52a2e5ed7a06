"""The clusters that all cases about MultiKueue begin with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.lab.fleet import Fleet
from kueue_dra_ref.target import NoWorkers


@pytest.fixture
def fleet(lab: Lab) -> Iterator[Fleet]:
    """A manager and two workers; a target without other clusters says why the case does not run."""
    try:
        found = Fleet.of(lab)
    except NoWorkers as why:
        pytest.skip(str(why))
    yield found
    found.clean()
