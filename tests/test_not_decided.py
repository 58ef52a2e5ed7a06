"""The list of the gates that no rule reads: strict both ways."""

from __future__ import annotations

from kueue_dra_ref.features.not_read import Reason, purposes
from tests.not_decided_page import not_read


def test_each_gate_is_read_by_a_rule_or_listed_once() -> None:
    """A new gate of a release needs a rule or an entry; an entry goes once every release has a rule for it."""
    listed = [gate for reason in Reason for gate in purposes()[reason]]

    assert sorted(listed) == sorted(not_read())


def test_lists_are_in_alphabetical_order() -> None:
    """So that an entry is found."""
    for listed in purposes().values():
        assert list(listed) == sorted(listed)
