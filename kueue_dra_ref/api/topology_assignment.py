"""The topologyAssignment of an admission: how many pods each domain gets, in the form of its API versions.

Kueue: pkg/util/tas/tas_assignment.go (TopologyAssignment, V1Beta2From, InternalFrom)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.target import Manifest

Values = tuple[str, ...]
"""The labels of a domain, one for each level of the assignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyAssignment:
    """The domains of a pod set with the number of pods in each, in the order of their labels."""

    levels: tuple[str, ...]
    domains: tuple[tuple[Values, int], ...]


def written(assignment: TopologyAssignment) -> Manifest:
    """Give an assignment as Kueue writes it, with all domains in one slice."""
    found: Manifest = {"levels": list(assignment.levels), "slices": []}
    if assignment.domains:
        found["slices"].append(_slice(assignment))
    return found


def assignment_of(manifest: Manifest) -> TopologyAssignment:
    """Read an assignment of either API version."""
    return TopologyAssignment(
        levels=tuple(manifest["levels"]), domains=tuple(_domains(manifest))
    )


def _domains(manifest: Manifest) -> Iterator[tuple[Values, int]]:
    for domain in manifest.get("domains") or ():
        yield tuple(domain["values"]), domain["count"]
    for part in manifest.get("slices") or ():
        yield from _domains_in(part)


def _domains_in(part: Manifest) -> Iterator[tuple[Values, int]]:
    levels = part["valuesPerLevel"]
    counts = part["podCounts"]
    same = counts.get("universal")
    for index in range(part["domainCount"]):
        values = tuple(_value(level, index) for level in levels)
        if same is None:
            yield values, counts["individual"][index]
        else:
            yield values, same


def _value(level: Manifest, index: int) -> str:
    if "universal" in level:
        return str(level["universal"])
    found = level["individual"]
    root = found["roots"][index]
    return f"{found.get('prefix', '')}{root}{found.get('suffix', '')}"


def _slice(assignment: TopologyAssignment) -> Manifest:
    domains = assignment.domains
    values = []
    for level, _ in enumerate(assignment.levels):
        of_level = [labels[level] for labels, _ in domains]
        values.append(_values_of(of_level))
    counts = [count for _, count in domains]
    pods: Manifest = {"individual": counts}
    if len(set(counts)) == 1:
        pods = {"universal": counts[0]}
    return {
        "domainCount": len(domains),
        "valuesPerLevel": values,
        "podCounts": pods,
    }


def _values_of(values: Sequence[str]) -> Manifest:
    """Give the labels of one level, with what all of them begin and end with written once."""
    prefix = _common_prefix(values)
    if len(prefix) == max(map(len, values)):
        return {"universal": prefix}
    backwards = [each[::-1] for each in values]
    suffix = _common_prefix(backwards)[::-1]
    shortest = min(map(len, values))
    if len(prefix) + len(suffix) > shortest:
        prefix = prefix[: shortest - len(suffix)]
    roots = []
    for each in values:
        root = each.removeprefix(prefix)
        roots.append(root.removesuffix(suffix))
    found: dict[str, Any] = {"roots": roots}
    if prefix:
        found["prefix"] = prefix
    if suffix:
        found["suffix"] = suffix
    return {"individual": found}


def _common_prefix(values: Sequence[str]) -> str:
    """Give what all texts begin with."""
    first, last = min(values), max(values)
    length = 0
    while length < len(first) and first[length] == last[length]:
        length += 1
    return first[:length]
