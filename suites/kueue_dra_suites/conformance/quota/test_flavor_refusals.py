"""ResourceFlavors that cannot be made: by Kueue's definition, and by Kueue itself (Kueue 0.19, CRDs and webhooks)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import an_object
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.rejections import NO_KEY, NO_VALUE, refused

INVALID = 'ResourceFlavor.kueue.x-k8s.io "{name}" is invalid: '
DENIED = 'admission webhook "vresourceflavor.kb.io" denied the request: '
TOLERATIONS = f"{INVALID}spec.tolerations: Invalid value: "
KEY = f"name part {NO_KEY}"
ALL_KEYS = "operator must be Exists when 'key' is empty, which means 'match all values and all keys'"
SECONDS = "effect must be 'NoExecute' when 'tolerationSeconds' is set"
EFFECTS = "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'"
TAINT = {"key": "a", "effect": "NoSchedule"}
EIGHT = [f"a{index}" for index in range(8)]


@covers("OBJECT-026")
@pytest.mark.parametrize(
    ("field", "eight", "more"),
    [
        pytest.param("nodeLabels", dict.fromkeys(EIGHT, "x"), {"b": "x"}, id="labels"),
        pytest.param("nodeTaints", [{**TAINT, "key": key} for key in EIGHT], [TAINT], id="taints"),
        pytest.param("tolerations", [{"key": key} for key in EIGHT], [{"key": "b"}], id="tolerations"),
    ],
)
def test_a_flavor_has_at_most_8_of_each(lab: Lab, field: str, eight: Any, more: Any) -> None:
    """The amount of data that is compared with each pod is limited."""
    nine = eight | more if isinstance(eight, dict) else eight + more
    lab.apply(an_object("ResourceFlavor", lab.name("flavor"), **{field: eight}))

    answer = refused(f"spec.{field}: Too many")
    assert lab.offer(an_object("ResourceFlavor", lab.name("flavor"), **{field: nine})) == answer


@covers("OBJECT-027")
@pytest.mark.parametrize("key", ["key", "effect"])
def test_a_taint_of_a_changed_flavor_has_a_key_and_an_effect(lab: Lab, key: str) -> None:
    """A field that an update does not have is missing."""
    name = lab.flavor()
    taint = {other: word for other, word in TAINT.items() if other != key}

    answer = refused(f"spec.nodeTaints[0].{key}: Required value")
    assert lab.offer(an_object("ResourceFlavor", name, nodeTaints=[taint])) == answer


@pytest.mark.parametrize(
    ("toleration", "words"),
    [
        pytest.param({"operator": "Exists"}, "", id="everything", marks=covers("OBJECT-029")),
        pytest.param({"operator": "Equal", "value": "b"}, ALL_KEYS, id="no-key", marks=covers("OBJECT-029")),
        pytest.param(
            {"value": "b"},
            f'"array": no such key: operator evaluating rule: {ALL_KEYS}',
            id="neither-key-nor-operator",
            marks=covers("OBJECT-029"),
        ),
        pytest.param(
            {"key": "a", "effect": "NoExecute", "tolerationSeconds": 3}, "", id="a-while", marks=covers("OBJECT-030")
        ),
        pytest.param(
            {"key": "a", "effect": "NoSchedule", "tolerationSeconds": 3},
            SECONDS,
            id="a-while-of-another-effect",
            marks=covers("OBJECT-030"),
        ),
        pytest.param(
            {"key": "a", "tolerationSeconds": 3},
            f'"array": no such key: effect evaluating rule: {SECONDS}',
            id="a-while-of-no-effect",
            marks=covers("OBJECT-030"),
        ),
        pytest.param(
            {"key": "a", "operator": "Gt", "value": "1"},
            "supported toleration values: 'Equal'(default), 'Exists'",
            id="greater",
            marks=covers("OBJECT-031"),
        ),
        pytest.param(
            {"key": "a", "operator": "Exists", "value": ""},
            "a value must be empty when 'operator' is 'Exists'",
            id="exists-as",
            marks=covers("OBJECT-032"),
        ),
        pytest.param({"key": "a", "effect": "Never"}, EFFECTS, id="effect", marks=covers("OBJECT-028")),
    ],
)
def test_a_toleration_means_something(lab: Lab, toleration: Mapping[str, Any], words: str) -> None:
    """It is held to more than a toleration of a pod is."""
    made = an_object("ResourceFlavor", lab.name("flavor"), tolerations=[toleration])

    assert lab.denied(made) == (f"{TOLERATIONS}{words}".format(**made["metadata"]) if words else "")


@covers("OBJECT-028")
@pytest.mark.parametrize("taint", [{"key": "a", "effect": "Never"}, {"key": "a"}], ids=["unknown", "none"])
def test_the_effect_of_a_taint_is_known(lab: Lab, taint: Mapping[str, str]) -> None:
    """A taint without a known effect has none."""
    made = an_object("ResourceFlavor", lab.name("flavor"), nodeTaints=[taint])

    assert lab.denied(made) == f"{INVALID}spec.nodeTaints: Invalid value: {EFFECTS}".format(**made["metadata"])


@covers("OBJECT-028", "OBJECT-029", "OBJECT-031", "OBJECT-032")
def test_every_fault_of_tolerations_is_told_once(lab: Lab) -> None:
    """However many tolerations have it."""
    faults = [{"operator": "Gt", "effect": "Never"}, {"key": "a", "operator": "Exists", "value": "b"}]
    made = an_object("ResourceFlavor", lab.name("flavor"), tolerations=[*faults, *faults])
    path = "spec.tolerations: Invalid value"
    words = (
        f"[{path}: {ALL_KEYS}, {path}: supported toleration values: 'Equal'(default), 'Exists', "
        f"{path}: a value must be empty when 'operator' is 'Exists', {path}: {EFFECTS}]"
    )

    assert lab.denied(made) == f"{INVALID}{words}".format(**made["metadata"])


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param(
            {"nodeLabels": {"a b": "c d"}},
            f'[spec.nodeLabels: Invalid value: "a b": {KEY}, spec.nodeLabels: Invalid value: "c d": {NO_VALUE}]',
            id="labels",
            marks=covers("OBJECT-033"),
        ),
        pytest.param(
            {"nodeTaints": [{"key": "a b", "value": "c d", "effect": "NoSchedule"}]},
            f'[spec.nodeTaints[0].key: Invalid value: "a b": {KEY}, '
            f'spec.nodeTaints[0].value: Invalid value: "c d": {NO_VALUE}]',
            id="taint",
            marks=covers("OBJECT-034"),
        ),
        pytest.param(
            {"nodeTaints": [TAINT, {**TAINT, "effect": "NoExecute"}, {**TAINT, "key": "b"}]},
            "",
            id="taints-that-differ",
            marks=covers("OBJECT-035"),
        ),
        pytest.param(
            {"nodeTaints": [TAINT, {**TAINT, "value": "x"}]},
            'spec.nodeTaints[1]: Duplicate value: {"key":"a","value":"x","effect":"NoSchedule"}: '
            "taints must be unique by key and effect pair",
            id="taint-twice",
            marks=covers("OBJECT-035"),
        ),
        pytest.param(
            {"tolerations": [{"key": "a b"}]},
            f'spec.tolerations[0].key: Invalid value: "a b": {KEY}',
            id="toleration",
            marks=covers("OBJECT-036"),
        ),
    ],
)
def test_a_flavor_is_of_nodes_that_there_can_be(lab: Lab, spec: Mapping[str, Any], words: str) -> None:
    """Kueue does not wait for labels that no node can have."""
    message = lab.denied(an_object("ResourceFlavor", lab.name("flavor"), **spec))

    assert message == (f"{DENIED}{words}" if words else "")


LABELS = {"pool": "a"}
NO_LABELS = "at least one nodeLabel is required when topology is set"
ABSENT = f'"object": no such key: nodeLabels evaluating rule: {NO_LABELS}'
ANY_KEY = {"operator": "Exists"}
OF_TOPOLOGY: dict[str, Any] = {"nodeLabels": LABELS, "tolerations": [ANY_KEY], "topologyName": "a"}


@covers("OBJECT-063")
@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param({"nodeLabels": LABELS}, "", id="labels"),
        pytest.param({"nodeLabels": {}}, NO_LABELS, id="empty"),
        pytest.param({}, ABSENT, id="none"),
    ],
)
def test_a_flavor_with_a_topology_has_node_labels(lab: Lab, spec: Mapping[str, Any], words: str) -> None:
    """Kueue places pods on the nodes of a flavor, and has to know which they are."""
    made = an_object("ResourceFlavor", lab.name("flavor"), topologyName="a", **spec)

    answer = f"{INVALID}spec: Invalid value: {words}".format(**made["metadata"])
    assert lab.denied(made) == (answer if words else "")


def immutable(field: str, verb: str = "are") -> str:
    """The message about a field that is not to change."""
    return f"spec: Invalid value: {field} {verb} immutable when topologyName is set"


@covers("OBJECT-064")
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        pytest.param({"nodeTaints": [TAINT]}, "", id="taints"),
        pytest.param({"nodeLabels": {"pool": "b"}}, immutable("nodeLabels"), id="labels"),
        pytest.param({"tolerations": []}, immutable("tolerations"), id="no-toleration"),
        pytest.param({"topologyName": "b"}, immutable("topologyName", "is"), id="topology"),
        pytest.param({"topologyName": None}, immutable("topologyName", "is"), id="no-topology"),
        pytest.param(
            {"nodeLabels": {"pool": "b"}, "tolerations": None},
            f"[{immutable('nodeLabels')}, {immutable('tolerations')}]",
            id="both",
        ),
    ],
)
def test_the_nodes_of_a_flavor_with_a_topology_do_not_change(lab: Lab, changed: Mapping[str, Any], words: str) -> None:
    """Only the taints may."""
    made = an_object("ResourceFlavor", lab.name("flavor"), **OF_TOPOLOGY)
    lab.apply(made)
    spec = {**OF_TOPOLOGY, **changed}
    denied = lab.denied({**made, "spec": {field: value for field, value in spec.items() if value is not None}})

    assert denied == (f"{INVALID}{words}".format(**made["metadata"]) if words else "")


@covers("OBJECT-065")
@pytest.mark.parametrize("changed", [{"nodeTaints": [TAINT]}, {"tolerations": []}], ids=["taints", "no-toleration"])
def test_a_flavor_with_a_topology_does_not_change_in_earlier_releases(lab: Lab, changed: Mapping[str, Any]) -> None:
    """Up to 0.16, not even its taints."""
    made = an_object("ResourceFlavor", lab.name("flavor"), **OF_TOPOLOGY)
    lab.apply(made)

    answer = f"{INVALID}{immutable('resourceFlavorSpec')}".format(**made["metadata"])
    assert lab.denied({**made, "spec": {**OF_TOPOLOGY, **changed}}) == answer


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"tolerations": [ANY_KEY], "topologyName": "a"}, id="nodes", marks=covers("OBJECT-064")),
        pytest.param({"nodeTaints": [TAINT]}, id="taints", marks=covers("OBJECT-065")),
    ],
)
def test_a_flavor_without_a_topology_changes(lab: Lab, changed: Mapping[str, Any]) -> None:
    """It may get one, too."""
    name = lab.flavor(nodeLabels=LABELS)

    assert not lab.denied(an_object("ResourceFlavor", name, nodeLabels=LABELS, **changed))
