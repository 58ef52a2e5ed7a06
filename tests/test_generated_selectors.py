"""Generated CEL selectors against the recorded answers of Kubernetes' own code."""

from __future__ import annotations

import pytest

from tests.generated_selectors import Generated, devices, rows, shown

DEVICES = devices()


@pytest.mark.parametrize("row", rows())
def test_answers_are_kubernetes_own(row: Generated) -> None:
    """Each answer is the recorded one in Kubernetes' words, and what is not answered is known exactly."""
    assert shown(row, DEVICES) == row
