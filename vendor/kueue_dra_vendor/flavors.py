"""Groups nodes by the label that tells those with a driver's devices apart: each group is a ResourceFlavor."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.unstructured import part
from kueue_dra_vendor.files import name_of
from kueue_dra_vendor.inventory import Inventory

Labels = Mapping[str, str]
UNFIT = ("kubernetes.io/hostname", "beta.kubernetes.io/")
"""How labels begin that no flavor should name."""
ALWAYS_FIT = ("node.kubernetes.io/instance-type",)
"""Labels that tell hardware apart even where every node has devices."""
LONGEST = 63
"""How many characters the name of a generated flavor has at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroup:
    """The nodes of one flavor."""

    name: str
    labels: Labels = field(default_factory=dict)
    """Empty where no label tells the nodes apart, or no Node was given."""
    nodes: frozenset[str] = frozenset()
    """Empty for all nodes."""

    def has(self, node: str) -> bool:
        """Whether a device of a node is in the group; one that several nodes reach is in every group."""
        return not self.nodes or not node or node in self.nodes


def node_groups(inventory: Inventory) -> list[NodeGroup]:
    """Give a group for each value of the label that fits best; one without labels where none fits."""
    driver = "-".join(inventory.drivers)
    nodes = _labels_of_nodes(inventory)
    owners = _nodes_with_devices(inventory)
    key = ""
    if owners and owners <= nodes.keys():
        key = _best(inventory, nodes, owners)
    if not key:
        name = _named(driver)
        return [NodeGroup(name=name)]
    by_value: dict[str, set[str]] = {}
    for each in sorted(owners):
        value = nodes[each][key]
        by_value.setdefault(value, set()).add(each)
    return [
        _group(f"{driver}-{value}", key, value, members)
        for value, members in sorted(by_value.items())
    ]


def _group(name: str, key: str, value: str, members: set[str]) -> NodeGroup:
    labels = {key: value}
    nodes = frozenset(members)
    return NodeGroup(name=_named(name), labels=labels, nodes=nodes)


def _nodes_with_devices(inventory: Inventory) -> set[str]:
    found = set()
    for device in inventory.devices:
        if device.node:
            found.add(device.node)
    return found


def _labels_of_nodes(inventory: Inventory) -> dict[str, Labels]:
    """Give the labels of each Node among the files; a value that is no text is left out."""
    found: dict[str, Labels] = {}
    for each in inventory.files.others:
        if each.manifest.get("kind") != "Node":
            continue
        metadata = part(each.manifest, "metadata")
        labels = part(metadata, "labels")
        name = name_of(each.manifest)
        found[name] = _texts(labels)
    return found


def _texts(labels: Mapping[str, Any]) -> Labels:
    found = {}
    for key, value in labels.items():
        if isinstance(value, str):
            found[key] = value
    return found


def _best(inventory: Inventory, nodes: Mapping[str, Labels], owners: set[str]) -> str:
    """Give the label that fits best: of the vendor's domain first, then by name."""
    domains = {_domain(each) for each in inventory.drivers}
    fitting = sorted(_fitting(nodes, owners))
    own = [key for key in fitting if _domain(key) in domains]
    if own:
        return own[0]
    if len(owners) == len(nodes):
        fitting = [key for key in fitting if key in ALWAYS_FIT]
    return fitting[0] if fitting else ""


def _fitting(nodes: Mapping[str, Labels], owners: set[str]) -> Iterator[str]:
    """Give the labels that every node with devices has, and no other node with the same value."""
    others = nodes.keys() - owners
    names = [set(nodes[each]) for each in owners]
    for key in set.intersection(*names):
        if key.startswith(UNFIT):
            continue
        values = {nodes[each][key] for each in owners}
        if len(values) == len(owners) > 1:
            continue
        elsewhere = {nodes[each].get(key) for each in others}
        if not values & elsewhere:
            yield key


def _domain(name: str) -> str:
    """Give the last two labels of a domain, such as vendor.com."""
    domain = name.partition("/")[0]
    labels = domain.split(".")
    return ".".join(labels[-2:])


def _named(text: str) -> str:
    """Make a name of an object."""
    name = re.sub(r"[^a-z0-9]+", "-", text.lower())
    return name[:LONGEST].strip("-") or "devices"
