"""Wiring only: which plugins a run of the suites loads."""

from __future__ import annotations

pytest_plugins = [
    "kueue_dra_reports.plugin",
    "kueue_dra_fixtures.plugin",
    "kueue_dra_fixtures.nodes_plugin",
]
