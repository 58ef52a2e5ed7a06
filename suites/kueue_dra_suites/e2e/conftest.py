"""Wiring only: the fixtures of a cluster with nodes."""

from __future__ import annotations

from kueue_dra_fixtures.nodes import cluster, driver_back, job_sets, pytest_runtest_makereport, site

__all__ = ["cluster", "driver_back", "job_sets", "pytest_runtest_makereport", "site"]
