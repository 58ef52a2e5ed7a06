"""What ``simulate`` prints, of input of which it decides everything."""

from __future__ import annotations

import json

from kueue_dra_ref.target import Manifest
from tests.commands import kueue_dra


def simulated(manifests: str) -> list[Manifest]:
    """Give the objects of a simulation that decides everything."""
    result = kueue_dra("simulate", "-f", "-", "-o", "json", stdin=manifests)
    assert result.exit_code == 0, result.stderr
    assert "Not decided" not in result.stderr
    found: list[Manifest] = json.loads(result.stdout)["items"]
    return found
