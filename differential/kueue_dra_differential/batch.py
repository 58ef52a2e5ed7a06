"""Scenarios that share one Kueue."""

from __future__ import annotations

from kueue_dra_ref.scenarios.scenario import Scenario

Batch = tuple[Scenario, ...]
"""Scenarios with one configuration, one inventory and equally many steps."""
