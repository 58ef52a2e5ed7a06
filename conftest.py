"""Wiring only: which plugins a run of the suites loads."""

from __future__ import annotations

pytest_plugins = ["reports.plugin", "fixtures.plugin", "fixtures.nodes_plugin"]
