"""A cluster that cannot serve the cases is rejected with everything that it lacks."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.installation import ClusterFacts
from kueue_dra_clusters.preflight import lacks
from kueue_dra_ref.target import Manifest
from tests.clusters_live.manifests import CONFIGURATION


def a_cluster(
    configuration: Manifest | None = CONFIGURATION, *, version: str = "0.19.2", gates: dict[str, bool] | None = None
) -> ClusterFacts:
    """Find a cluster with a Kueue."""
    return ClusterFacts(
        version=version,
        configuration=configuration,
        gates_by_flag=gates or {},
        resource_versions=("resource.k8s.io/v1", "resource.k8s.io/v1beta2"),
    )


def a_mapping(name: str, *classes: str) -> Manifest:
    """Write a Configuration with one mapping."""
    return {"resources": {"deviceClassMappings": [{"name": name, "deviceClassNames": list(classes)}]}}


def test_a_cluster_that_has_everything_lacks_nothing() -> None:
    """More than what is needed does not hurt."""
    assert lacks(a_cluster(), CONFIGURATION, "0.19") == []
    assert lacks(a_cluster(a_mapping("whole-gpus", "gpu.example.com", "more.example.com")), CONFIGURATION, "0.19") == []
    other = {"resources": {"transformations": [{"input": "example.com/licences", "outputs": {"credits": "1"}}]}}
    assert lacks(a_cluster(other), {}, "0.19") == []


@pytest.mark.parametrize(
    ("found", "wanted", "line"),
    [
        pytest.param(
            a_cluster({}),
            CONFIGURATION,
            "deviceClassMappings: whole-gpus must map gpu.example.com (found: nothing)",
            id="no-mapping",
        ),
        pytest.param(
            a_cluster(a_mapping("whole-gpus", "other.example.com")),
            CONFIGURATION,
            "deviceClassMappings: whole-gpus must map gpu.example.com (found: other.example.com)",
            id="other-class",
        ),
        pytest.param(
            a_cluster({"resources": {"transformations": [{"input": "cpu", "outputs": {"credits": "1"}}]}}),
            {},
            'resources.transformations: must leave cpu as it is (found: {"input": "cpu", "outputs": {"credits": "1"}})',
            id="transformed-cpu",
        ),
        pytest.param(
            a_cluster(version="0.18.3"), CONFIGURATION, "Kueue: must be 0.19 (found: 0.18.3)", id="other-version"
        ),
        pytest.param(
            a_cluster(gates={"KueueDRAIntegrationExtendedResource": False}),
            {"featureGates": {"KueueDRAIntegrationExtendedResource": True}},
            "featureGates: KueueDRAIntegrationExtendedResource must be true (found: false)",
            id="gate-off-by-flag",
        ),
        pytest.param(
            a_cluster(),
            {"featureGates": {"KueueDRAIntegrationConsumableCapacity": True}},
            "featureGates: KueueDRAIntegrationConsumableCapacity must be true (found: false)",
            id="gate-off-by-default",
        ),
        pytest.param(
            a_cluster({"integrations": {"frameworks": ["pod"]}}),
            {},
            "integrations: frameworks must have batch/job (found: pod)",
            id="no-jobs",
        ),
        pytest.param(
            a_cluster({"managedJobsNamespaceSelector": {"matchLabels": {"team": "a"}}}),
            {},
            "managedJobsNamespaceSelector: must select namespaces labelled kueue-dra.dev/run "
            '(found: {"matchLabels": {"team": "a"}})',
            id="other-namespaces",
        ),
        pytest.param(
            a_cluster({"manageJobsWithoutQueueName": True}),
            {},
            "manageJobsWithoutQueueName: must be false (found: true)",
            id="all-jobs",
        ),
        pytest.param(
            a_cluster(),
            {"fairSharing": {"enable": True}},
            'fairSharing: must be {"enable": true} (found: nothing)',
            id="other-setting",
        ),
    ],
)
def test_what_is_lacking_is_named_with_what_was_found(found: ClusterFacts, wanted: Manifest, line: str) -> None:
    """One line for each, in the words of the Configuration."""
    assert lacks(found, wanted, "0.19") == [line]


def test_any_selector_will_do_that_selects_the_namespaces_of_the_run() -> None:
    """As the default one does, and one that is written for it."""
    default = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["x"]}]}
    written = {"matchExpressions": [{"key": "kueue-dra.dev/run", "operator": "Exists"}]}
    for selector in (default, written):
        assert lacks(a_cluster({"managedJobsNamespaceSelector": selector}), {}, "0.19") == []


def test_gates_that_are_on_by_default_are_not_lacking() -> None:
    """Gates with their default need no entry."""
    assert lacks(a_cluster(), {"featureGates": {"KueueDRAIntegration": True}}, "0.19") == []


@pytest.mark.parametrize(
    ("version", "minor", "lines"),
    [
        pytest.param("0.19.2", "0.19", [], id="on"),
        pytest.param(
            "0.18.3",
            "0.18",
            ["featureGates: KueueDRAIntegrationExtendedResource must be true (found: false)"],
            id="off",
        ),
    ],
)
def test_gates_are_by_default_what_the_minor_has_them(version: str, minor: str, lines: list[str]) -> None:
    """A gate that came to be on by default is lacking before, unless it was asked for."""
    gates = {"KueueDRAIntegrationExtendedResource": True}

    assert lacks(a_cluster(version=version), {"featureGates": gates}, minor) == lines
    assert lacks(a_cluster({"featureGates": gates}, version=version), {"featureGates": gates}, minor) == []


def test_everything_that_is_lacking_is_named_at_once() -> None:
    """Version, API, ConfigMap and mapping in one answer."""
    nothing = ClusterFacts(version="", configuration=None, gates_by_flag={}, resource_versions=())

    assert [line.partition(":")[0] for line in lacks(nothing, CONFIGURATION, "0.19")] == [
        "Kueue",
        "Kubernetes",
        "Configuration",
        "deviceClassMappings",
    ]
