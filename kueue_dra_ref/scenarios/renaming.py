"""Names of Workloads that end in a hash: those of a recording become those of the target that replays it.

Kueue: pkg/controller/jobframework/workload_names.go (GetWorkloadNameForOwnerWithGVK)
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from kueue_dra_ref.scenarios.observation import KUEUE
from kueue_dra_ref.target import Manifest, Target

_HASHED = re.compile(r"\b([a-z][a-z0-9.-]*)-[0-9a-f]{5}\b")
Names = Mapping[str, str]
"""The name of a Workload by what precedes its hash; those that have no hash or that share the rest are left out."""


def renamed(target: Target, manifests: Iterable[Manifest]) -> list[Manifest]:
    """Give manifests or references as the target names the Workloads in them."""
    given = list(manifests)
    text = json.dumps(given)
    if not _HASHED.search(text):
        return given
    names = _names(target)

    def named(match: re.Match[str]) -> str:
        return names.get(match[1], match[0])

    found: list[Manifest] = json.loads(_HASHED.sub(named, text))
    return found


def unhashed(value: Any) -> Any:
    """Give something without the hashes in the names of Workloads."""
    text = json.dumps(value)
    return json.loads(_HASHED.sub(r"\1", text))


def _names(target: Target) -> Names:
    found: dict[str, set[str]] = defaultdict(set)
    for each in target.list(KUEUE, "Workload"):
        name = each["metadata"]["name"]
        if _HASHED.fullmatch(name):
            found[name.rpartition("-")[0]].add(name)
    alone = {}
    for key, names in found.items():
        if len(names) == 1:
            alone[key] = names.pop()
    return alone
