"""The pytest hooks of this plugin, which a conftest may implement."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kueue_dra_ref.requirements.catalogue import Requirement


@pytest.hookspec(firstresult=True)
def pytest_kueue_dra_catalogue(
    config: pytest.Config,
) -> Mapping[str, Requirement] | None:
    """Give the catalogue that cases cite; the default is the one in ``kueue_dra_ref/requirements``."""
