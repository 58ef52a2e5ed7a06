"""The pytest hooks that this plugin asks for; a conftest may answer them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kueue_dra_ref.requirements.catalogue import Requirement


@pytest.hookspec(firstresult=True)
def pytest_kueue_dra_catalogue(
    config: pytest.Config,
) -> Mapping[str, Requirement] | None:
    """Give the catalogue that cases cite; unanswered, it is the one in ``kueue_dra_ref/requirements``."""
