"""The list of what is not decided: gates and settings, strict both ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kueue_dra_ref.api.schema_config import V1BETA1, V1BETA2, Keys
from kueue_dra_ref.features.not_read import Reason, purposes
from kueue_dra_ref.simulation.unsupported_fields import SETTINGS
from tests.not_decided_page import not_read

SECTIONS = frozenset({"integrations", "multiKueue", "waitForPodsReady"})
READ = (
    ("admissionFairSharing",),
    ("fairSharing",),
    ("featureGates",),
    ("integrations", "frameworks"),
    ("manageJobsWithoutQueueName",),
    ("managedJobsNamespaceSelector",),
    ("multiKueue", "gcInterval"),
    ("multiKueue", "origin"),
    ("multiKueue", "workerLostTimeout"),
    ("namespace",),
    ("objectRetentionPolicies",),
    ("resources",),
    ("waitForPodsReady", "enable"),
    ("waitForPodsReady", "recoveryTimeout"),
    ("waitForPodsReady", "requeuingStrategy"),
    ("waitForPodsReady", "timeout"),
)
"""Settings that the reference reads."""
NOTHING = (
    ("apiVersion",),
    ("clientConnection",),
    ("controller",),
    ("health",),
    ("internalCertManagement",),
    ("kind",),
    ("leaderElection",),
    ("metrics",),
    ("pprofBindAddress",),
    ("queueVisibility",),
    ("tls",),
    ("visibilityServer",),
    ("webhook",),
)
"""Settings that decide nothing about quota."""


def test_each_gate_is_read_by_a_rule_or_listed_once() -> None:
    """A new gate of a release needs a rule or an entry; an entry goes once every release has a rule for it."""
    listed = [gate for reason in Reason for gate in purposes()[reason]]

    assert sorted(listed) == sorted(not_read())


def test_each_setting_is_decided_noted_or_about_nothing_that_is_decided() -> None:
    """A new setting of a release is in one of these lists, or this test fails."""
    known = {path for keys in (V1BETA1, V1BETA2) for path in _paths(keys)}
    listed = [*SETTINGS, *READ, *NOTHING]

    assert sorted(set(listed)) == sorted(listed)
    assert known == set(listed)


def _paths(keys: Keys) -> Iterator[tuple[str, ...]]:
    """Give each setting, and those of the sections that hold settings of several kinds."""
    for key, shape in keys.items():
        if key in SECTIONS and isinstance(shape, Mapping):
            yield from ((key, each) for each in shape)
        else:
            yield (key,)


def test_lists_are_in_alphabetical_order() -> None:
    """So that an entry is found."""
    for listed in purposes().values():
        assert list(listed) == sorted(listed)
