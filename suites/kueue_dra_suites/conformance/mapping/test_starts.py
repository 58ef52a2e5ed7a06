"""Mapping: what else than mappings Kueue does not start with (Kueue 0.19, config validation)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.config_documents import a_document
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.profiles import a_configuration
from kueue_dra_fixtures.rejections import ACCEPTED, refused

pytestmark = owns_kueue

FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
CHECK = "resources.quotaCheckStrategy"


@covers("CFG-014")
@pytest.mark.parametrize(
    ("strategies", "verdict"),
    [
        pytest.param([FINAL], ACCEPTED, id="final"),
        pytest.param([INITIAL], ACCEPTED, id="initial"),
        pytest.param([FINAL, INITIAL], ACCEPTED, id="both"),
        pytest.param(
            [INITIAL, FINAL], refused("fairSharing.preemptionStrategies: Unsupported value"), id="wrong-order"
        ),
        pytest.param(["Largest"], refused("fairSharing.preemptionStrategies: Unsupported value"), id="unknown"),
    ],
)
def test_strategies_of_fair_sharing(lab: Lab, strategies: list[str], verdict: object) -> None:
    """There are two strategies, and one order of both."""
    assert lab.check(a_configuration(lab.behaviour, fair_sharing=strategies)) == verdict


@pytest.mark.parametrize(
    ("transformations", "verdict"),
    [
        pytest.param(
            [{"input": "cpu", "strategy": "Retain"}, {"input": "memory", "strategy": "Replace"}, {"input": "pods"}],
            ACCEPTED,
            id="good",
            marks=covers("CFG-015", "CFG-016"),
        ),
        pytest.param(
            [{"input": "cpu", "strategy": "Repalce"}],
            refused("resources.transformations[0].strategy: Unsupported value"),
            id="unknown-strategy",
            marks=covers("CFG-015"),
        ),
        pytest.param(
            [{"input": "cpu"}, {"input": "memory"}, {"input": "cpu"}],
            refused("resources.transformations[2].input: Duplicate value"),
            id="repeated-input",
            marks=covers("CFG-016"),
        ),
    ],
)
def test_transformations_are_checked(lab: Lab, transformations: list[dict[str, Any]], verdict: object) -> None:
    """A transformation retains or replaces its input, which is its own."""
    assert lab.check(a_document(resources={"transformations": transformations})) == verdict


NAMES = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "kueue-system"]}
MANAGED = "managedJobsNamespaceSelector"


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        pytest.param(NAMES, ACCEPTED, id="names", marks=covers("CFG-019", "CFG-020")),
        pytest.param({"key": "managed", "operator": "Exists"}, ACCEPTED, id="others", marks=covers("CFG-020")),
        pytest.param(
            {"key": "managed", "operator": "Has"},
            refused(f"{MANAGED}.matchExpressions[0].operator: Invalid value"),
            id="no-operator",
            marks=covers("CFG-019"),
        ),
        pytest.param(
            {"key": "managed", "operator": "In"},
            refused(f"{MANAGED}.matchExpressions[0].values: Required value"),
            id="no-values",
            marks=covers("CFG-019"),
        ),
        pytest.param(
            {**NAMES, "values": ["kube-system"]},
            refused(f"{MANAGED}: Invalid value"),
            id="kueue-s-own",
            marks=covers("CFG-020"),
        ),
        pytest.param(
            {"key": "managed", "operator": "DoesNotExist"},
            refused(f"{MANAGED}: Invalid value", f"{MANAGED}: Invalid value"),
            id="all-of-the-system",
            marks=covers("CFG-020"),
        ),
    ],
)
def test_namespaces_of_the_system_are_not_managed(lab: Lab, expression: dict[str, Any], verdict: object) -> None:
    """A selector has to be one, and leave out the namespaces of Kubernetes and of Kueue itself."""
    assert lab.check(a_document(managedJobsNamespaceSelector={"matchExpressions": [expression]})) == verdict


@pytest.mark.parametrize(
    ("resources", "gate", "verdict"),
    [
        pytest.param(
            {"quotaCheckStrategy": "IgnoreUndeclared", "excludeResourcePrefixes": ["example.com/"]},
            True,
            refused(f"{CHECK}: Invalid value"),
            id="ignored-and-excluded",
            marks=covers("CFG-017"),
        ),
        pytest.param(
            {"quotaCheckStrategy": "BlockUndeclared", "excludeResourcePrefixes": ["example.com/"]},
            True,
            ACCEPTED,
            id="blocked-and-excluded",
            marks=covers("CFG-017"),
        ),
        pytest.param(
            {"quotaCheckStrategy": "Ignore"},
            True,
            refused(f"{CHECK}: Unsupported value"),
            id="unknown",
            marks=covers("CFG-018"),
        ),
        pytest.param({"quotaCheckStrategy": "Ignore"}, False, ACCEPTED, id="gate-off", marks=covers("CFG-018")),
    ],
)
def test_the_quota_check_is_checked(lab: Lab, resources: dict[str, Any], gate: bool, verdict: object) -> None:
    """Uncovered resources block or are ignored; ignoring excludes excluded prefixes, unless the gate is off."""
    assert lab.check(a_document(gates={"QuotaCheckStrategy": gate}, resources=resources)) == verdict
