"""Loading a Configuration strictly, its defaults, and the feature gates that it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from kueue_dra_ref.api.configuration import Configuration, load, quota_resource
from kueue_dra_ref.api.schema_config import KEP_2025_09_VERSIONS, KUEUE_0_19_VERSIONS
from kueue_dra_ref.features.kube_features import KEP_2025_09_GATES, effective, kueue_0_19_gates

NEWEST = "config.kueue.x-k8s.io/v1beta2"
OLDER = "config.kueue.x-k8s.io/v1beta1"


def loaded(**document: Any) -> Configuration:
    """Load a document that is expected to be right."""
    configuration = load(document, KUEUE_0_19_VERSIONS)
    assert isinstance(configuration, Configuration)
    return configuration


def faults(**document: Any) -> list[str]:
    """Load a document that is expected to be refused, and print why."""
    refused = load(document, KUEUE_0_19_VERSIONS)
    assert isinstance(refused, tuple)
    return [str(fault) for fault in refused]


def test_an_empty_file_has_every_default() -> None:
    """Kueue starts with an empty file, which means the newest API version."""
    assert loaded() == Configuration(
        managed_jobs_namespace_selector={
            "matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "kueue-system"]}
            ]
        }
    )


def test_what_the_reference_needs_is_typed() -> None:
    """Mappings keep their order; nulls are empty values; other fields stay in the document."""
    configuration = loaded(
        apiVersion=NEWEST,
        kind="Configuration",
        namespace="elsewhere",
        manageJobsWithoutQueueName=True,
        featureGates={"KueueDRAIntegration": True, "MultiKueue": None},
        metrics={"bindAddress": ":8443"},
        resources={
            "quotaCheckStrategy": "IgnoreUndeclared",
            "excludeResourcePrefixes": ["example.com/"],
            "transformations": [{"input": "a", "outputs": {"b": "2Gi", "c": 1}}],
            "deviceClassMappings": [
                {"name": "gpus", "deviceClassNames": ["a.example.com", None]},
                {"name": "mem", "sources": [{"counter": {"name": "memory"}}]},
                None,
            ],
        },
    )

    assert [(m.name, m.device_classes, m.counter) for m in configuration.mappings] == [
        ("gpus", ("a.example.com", ""), ""),
        ("mem", (), "memory"),
        ("", (), ""),
    ]
    assert configuration.gates == {"KueueDRAIntegration": True, "MultiKueue": False}
    assert configuration.manage_jobs_without_queue_name
    assert configuration.managed_jobs_namespace_selector["matchExpressions"][0]["values"] == [
        "kube-system",
        "elsewhere",
    ]
    assert configuration.quota_check_strategy == "IgnoreUndeclared"
    assert configuration.exclude_resource_prefixes == ("example.com/",)
    (transformation,) = configuration.transformations
    assert (transformation.strategy, transformation.outputs["b"].ceiling) == ("Retain", 2 * 1024**3)
    assert configuration.document["metrics"] == {"bindAddress": ":8443"}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param(
            {"resorces": {}, "metadata": {}}, ["metadata: Unknown field", "resorces: Unknown field"], id="top"
        ),
        pytest.param({"Resources": {}}, ["Resources: Unknown field"], id="case-matters"),
        pytest.param(
            {"resources": {"deviceClassMappings": [{"name": "a", "deviceClasses": []}, {"names": "b"}]}},
            [
                "resources.deviceClassMappings[0].deviceClasses: Unknown field",
                "resources.deviceClassMappings[1].names: Unknown field",
            ],
            id="in-mappings",
        ),
        pytest.param(
            {"resources": {"deviceClassMappings": [{"sources": [{"type": "Counter", "counter": {"cel": ""}}]}]}},
            [
                "resources.deviceClassMappings[0].sources[0].counter.cel: Unknown field",
                "resources.deviceClassMappings[0].sources[0].type: Unknown field",
            ],
            id="in-sources",
        ),
        pytest.param(
            {"apiVersion": OLDER, "resources": {"deviceClassMappings": [{"sources": []}]}},
            ["resources.deviceClassMappings[0].sources: Unknown field"],
            id="sources-in-v1beta1",
        ),
        pytest.param({"fairSharing": {"enable": True}}, ["fairSharing.enable: Unknown field"], id="v1beta1-key"),
    ],
)
def test_unknown_keys_are_refused_together(document: Mapping[str, Any], expected: list[str]) -> None:
    """The decoder is strict in every section, and tells all unknown keys by their place."""
    assert faults(**document) == expected


@pytest.mark.parametrize(
    ("document", "field", "detail"),
    [
        pytest.param(
            {"resources": {"deviceClassMappings": [{"name": 7, "deviceClassNames": "a"}]}, "unknown": 1},
            "resources.deviceClassMappings.deviceClassNames: Wrong type",
            "found a string, expected a list at resources.deviceClassMappings[0].deviceClassNames",
            id="first-by-key-and-alone",
        ),
        pytest.param(
            {"resources": {"deviceClassMappings": {}}},
            "resources.deviceClassMappings: Wrong type",
            "found an object, expected a list at resources.deviceClassMappings",
            id="object-for-list",
        ),
        pytest.param(
            {"resources": []},
            "resources: Wrong type",
            "found a list, expected an object at resources",
            id="list-for-object",
        ),
        pytest.param(
            {"featureGates": {"X": "true"}},
            "featureGates: Wrong type",
            "found a string, expected true or false at featureGates[X]",
            id="quoted-gate",
        ),
        pytest.param(
            {"waitForPodsReady": {"timeout": "5x"}},
            "waitForPodsReady.timeout: Wrong type",
            "found a string, expected a duration such as 5m or 1h30m at waitForPodsReady.timeout",
            id="duration",
        ),
        pytest.param(
            {"webhook": {"port": True}},
            "webhook.port: Wrong type",
            "found true or false, expected a whole number at webhook.port",
            id="bool-for-number",
        ),
        pytest.param(
            {"resources": {"transformations": [{"outputs": {"b": "x"}}]}},
            "resources.transformations.outputs: Wrong type",
            "found a string, expected a quantity such as 2, 500m or 80Gi at resources.transformations[0].outputs[b]",
            id="quantity",
        ),
    ],
)
def test_a_value_of_a_wrong_type_ends_decoding(document: Mapping[str, Any], field: str, detail: str) -> None:
    """Kueue reports only the first wrong type, with its place, and the found and expected type."""
    assert faults(**document) == [f"{field}: {detail}"]


def test_another_kind_or_version_is_refused() -> None:
    """Only Configuration of a version that the behaviour reads is decoded."""
    assert faults(apiVersion="v1", kind="ConfigMap") == [
        'kind: Unsupported value: "ConfigMap": supported values: "Configuration"'
    ]
    assert faults(apiVersion="config.kueue.x-k8s.io/v1", kind="Configuration") == [
        f'apiVersion: Unsupported value: "config.kueue.x-k8s.io/v1": supported values: "{NEWEST}", "{OLDER}"'
    ]


def test_the_text_knows_v1beta1_only() -> None:
    """The September text's Configuration has no sources, whatever the file says of its version."""
    assert isinstance(
        load({"resources": {"deviceClassMappings": [{"name": "a"}]}}, KEP_2025_09_VERSIONS), Configuration
    )
    assert load({"apiVersion": NEWEST}, KEP_2025_09_VERSIONS)
    assert load({"resources": {"deviceClassMappings": [{"sources": []}]}}, KEP_2025_09_VERSIONS)


def test_the_first_mapping_that_names_a_class_charges_it() -> None:
    """A class is looked up by its whole name; one that no mapping names has no resource."""
    configuration = loaded(
        resources={
            "deviceClassMappings": [
                {"name": "a", "deviceClassNames": ["x.example.com"]},
                {"name": "b", "deviceClassNames": ["y.example.com", "x.example.com"]},
            ]
        }
    )

    assert [quota_resource(configuration, name) for name in ("x.example.com", "y.example.com", "x")] == ["a", "b", None]


@pytest.mark.parametrize(
    ("requested", "on", "off"),
    [
        pytest.param(
            {}, "KueueDRAIntegrationPartitionableDevices", "KueueDRAIntegrationConsumableCapacity", id="defaults"
        ),
        pytest.param(
            {"AllAlpha": True},
            "KueueDRAIntegrationConsumableCapacity",
            "TASReplaceNodeDueToNotReadyOverFixedTime",
            id="all-alpha",
        ),
        pytest.param({"AllBeta": False}, "HierarchicalCohorts", "KueueDRAIntegration", id="all-beta-off"),
        pytest.param(
            {"AllAlpha": True, "ShortWorkloadNames": False}, "PriorityBoost", "ShortWorkloadNames", id="by-name"
        ),
        pytest.param(
            {"DynamicResourceAllocation": True},
            "DynamicResourceAllocation",
            "ConcurrentAdmission",
            id="kubernetes-gate",
        ),
    ],
)
def test_gates_come_to_defaults_stages_and_names(requested: Mapping[str, bool], on: str, off: str) -> None:
    """A gate by name wins over its stage, which wins over its default."""
    state = effective(kueue_0_19_gates(), requested)

    assert isinstance(state, Mapping)
    assert (state[on], state[off]) == (True, False)


OFF = {
    "KueueDRAIntegration": False,
    "KueueDRAIntegrationExtendedResource": False,
    "KueueDRAIntegrationPartitionableDevices": False,
}


@pytest.mark.parametrize(
    ("requested", "expected"),
    [
        pytest.param(OFF, [], id="all-of-dra-off"),
        pytest.param(
            {"KueueDRAIntegration": False},
            [
                '"KueueDRAIntegrationExtendedResource": KueueDRAIntegrationExtendedResource requires '
                "KueueDRAIntegration to be enabled",
                '"KueueDRAIntegrationPartitionableDevices": KueueDRAIntegrationPartitionableDevices requires '
                "KueueDRAIntegration to be enabled",
            ],
            id="needed-gate-off",
        ),
        pytest.param(
            {"Nope": True, "DRAExtendedResources": True},
            ['{"DRAExtendedResources":true,"Nope":true}: unrecognized feature gate: DRAExtendedResources'],
            id="unknown",
        ),
        pytest.param(
            {"DynamicResourceAllocation": False},
            [
                '{"DynamicResourceAllocation":false}: cannot set feature gate DynamicResourceAllocation to false, '
                "feature is locked to true"
            ],
            id="locked",
        ),
        pytest.param(
            {"GenericWorkload": False, "GangScheduling": True, "WorkloadWithJob": True},
            [
                '{"GangScheduling":true,"GenericWorkload":false,"WorkloadWithJob":true}: '
                "[GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload], "
                "WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]]"
            ],
            id="kubernetes-needs",
        ),
        pytest.param(
            {"TopologyAwareScheduling": False, "AllBeta": False, "TASProfileMixed": True},
            ["1: cannot use a TAS profile with TAS disabled"],
            id="profile",
        ),
    ],
)
def test_gates_that_cannot_be_set_are_refused(requested: Mapping[str, bool], expected: list[str]) -> None:
    """The words are those of a real Kueue 0.19.2, which tells several unknown or needy gates in random order."""
    state = effective(kueue_0_19_gates(), requested)

    refused = state if isinstance(state, tuple) else ()
    assert [str(fault) for fault in refused] == [f"featureGates: Invalid value: {each}" for each in expected]


def test_the_text_has_one_gate_that_is_off() -> None:
    """Of gates that it does not introduce the text says nothing, so they may be set."""
    assert effective(KEP_2025_09_GATES, {}) == {"DynamicResourceAllocation": False}
    assert effective(KEP_2025_09_GATES, {"DynamicResourceAllocation": True, "Other": False}) == {
        "DynamicResourceAllocation": True,
        "Other": False,
    }


def test_each_gate_rule_can_be_left_out() -> None:
    """Without the rule that knows the names, an unknown gate passes."""
    gates = kueue_0_19_gates()
    tolerant = replace(gates, setting=gates.setting.drop(gates.setting.rules[0]))

    assert isinstance(effective(tolerant, {"Nope": True}), Mapping)
