"""The version that a report names."""

from __future__ import annotations

from importlib import metadata

import pytest

from kueue_dra_reports import report


def test_a_checkout_names_its_version_installed_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make conformance` runs before anything is installed, `make live` after: reports must not differ by that."""

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    installed = report.suite_version()
    monkeypatch.setattr(report, "version", missing)

    assert report.suite_version() == installed == metadata.version(report.DISTRIBUTION)
