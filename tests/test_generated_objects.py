"""Generated objects against the recorded answers of API servers."""

from __future__ import annotations

import pytest

from tests.generated_objects import Generated, rows, shown

ROWS = rows()


@pytest.mark.parametrize("row", ROWS)
def test_answers_are_an_api_servers(row: Generated) -> None:
    """The code, the message and what is stored are the recorded ones."""
    assert shown(row) == row


def test_most_answers_are_compared_word_by_word() -> None:
    """Of a few refusals of definitions the reference names other faults."""
    compared = [row for row in ROWS if row.says is not None]

    assert len(compared) > 0.9 * len(ROWS)
