"""Wiring only: the fixtures of a cluster with nodes."""

from __future__ import annotations

from fixtures.nodes import cluster, pytest_runtest_makereport, site

__all__ = ["cluster", "pytest_runtest_makereport", "site"]
