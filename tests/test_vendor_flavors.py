"""The flavors of a generated queue: by the node label that tells the driver's nodes apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.commands import kueue_dra
from tests.test_vendor import GPU, a_driver

PRODUCT, MODEL = "vendor.com/product", "example.com/model"


def _node(name: str, **labels: str) -> dict[str, Any]:
    named = {key.replace("_", "/").replace("0", "."): value for key, value in labels.items()}
    common = {"kubernetes.io/os": "linux", "kubernetes.io/hostname": name}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {**common, **named}}}


def _queue(folder: Path, *nodes: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """Give the labels of each flavor, and the flavors of the queue."""
    files = a_driver()
    given = [files["class"], *files["slices"], files["template"], files["job"], *nodes]
    (folder / "driver.yaml").write_text(yaml.safe_dump_all(given))
    written = list(yaml.safe_load_all(kueue_dra("vendor", "mapping", folder).stdout))
    flavors = {
        each["metadata"]["name"]: each.get("spec", {}).get("nodeLabels")
        for each in written
        if each["kind"] == "ResourceFlavor"
    }
    (queue,) = [each for each in written if each["kind"] == "ClusterQueue"]
    quotas = queue["spec"]["resourceGroups"][0]["flavors"]
    return flavors, [(each["name"], each["resources"][0]["nominalQuota"]) for each in quotas]


def test_a_label_of_the_nodes_with_devices_is_named(tmp_path: Path) -> None:
    """One that no other node has with this value; not the host name, nor what every node has."""
    nodes = [_node("node-1", vendor0com_product="a"), _node("node-2", vendor0com_product="a"), _node("node-3")]

    assert _queue(tmp_path, *nodes) == ({"gpu-example-com-a": {PRODUCT: "a"}}, [("gpu-example-com-a", "4")])


def test_a_label_that_tells_each_node_apart_tells_no_hardware_apart(tmp_path: Path) -> None:
    """Another one that the nodes share is named; where all nodes have devices, only one of the vendor's domain."""
    nodes = [
        _node("node-1", example0com_model="x", aa_b="1"),
        _node("node-2", example0com_model="z", aa_b="1"),
    ]
    flavors, quotas = _queue(tmp_path / _made(tmp_path, "a"), *nodes, _node("node-3"))
    assert flavors == {"gpu-example-com-1": {"aa/b": "1"}}
    assert quotas == [("gpu-example-com-1", "4")]

    both = [_node("node-1", example0com_model="x"), _node("node-2", example0com_model="x")]
    flavors, _ = _queue(tmp_path / _made(tmp_path, "b"), *both)
    assert flavors == {"gpu-example-com-x": {MODEL: "x"}}


def _made(folder: Path, name: str) -> str:
    (folder / name).mkdir()
    return name


def test_without_nodes_the_flavor_has_no_labels(tmp_path: Path) -> None:
    """Nor where some nodes with devices are not given."""
    assert _queue(tmp_path)[0] == {"gpu-example-com": None}
    assert _queue(tmp_path, _node("node-1", vendor0com_product="a"))[0] == {"gpu-example-com": None}


def test_quota_is_split_by_flavor(tmp_path: Path) -> None:
    """Three nodes, two models: each flavor has the devices of its nodes."""
    files = a_driver()
    third = yaml.safe_load(yaml.safe_dump(files["slices"][0]).replace("node-1", "node-3"))
    third["spec"]["devices"].pop()
    nodes = [_node("node-1", example0com_model="x"), _node("node-2", example0com_model="x")]
    nodes += [_node("node-3", example0com_model="z")]
    given = [files["class"], *files["slices"], third, *nodes]
    (tmp_path / "driver.yaml").write_text(yaml.safe_dump_all(given))

    written = list(yaml.safe_load_all(kueue_dra("vendor", "mapping", tmp_path).stdout))

    (queue,) = [each for each in written if each["kind"] == "ClusterQueue"]
    quotas = {
        each["name"]: {one["name"]: one["nominalQuota"] for one in each["resources"]}
        for each in queue["spec"]["resourceGroups"][0]["flavors"]
    }
    assert quotas == {
        "gpu-example-com-x": {f"{GPU}/devices": "4"},
        "gpu-example-com-z": {f"{GPU}/devices": "1"},
    }
