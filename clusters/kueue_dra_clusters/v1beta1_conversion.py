"""A v1beta2 client for a Kueue that serves v1beta1 only: it converts as the webhook of Kueue 0.15 does (Kueue 0.14).

From 0.15 on, Kueue's own webhook converts every object; 0.14 has no v1beta2.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kueue_dra_clusters.api_client import Answer, APIClient
from kueue_dra_ref.target import Manifest

GROUP = "kueue.x-k8s.io"
NEWER = f"{GROUP}/v1beta2"
OLDER = f"{GROUP}/v1beta1"
SOURCES: Mapping[str, Manifest] = {
    "kueue.x-k8s.io/workloadpriorityclass": {
        "group": GROUP,
        "kind": "WorkloadPriorityClass",
    },
    "scheduling.k8s.io/priorityclass": {
        "group": "scheduling.k8s.io",
        "kind": "PriorityClass",
    },
}
STOPS = {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}
"""The value in v1beta1 with which the flavor search may stop."""


@dataclass(slots=True, kw_only=True)
class V1beta1Client(APIClient):
    """A client that sends and reads v1beta1 for v1beta2."""

    def _request(self, method: str, path: str, body: Any, content: str) -> Answer:
        # By its full name: a slotted dataclass is not the class that super() refers to.
        if not path.startswith(f"/apis/{NEWER}"):
            return APIClient._request(self, method, path, body, content)
        path = path.replace(NEWER, OLDER, 1)
        answer = APIClient._request(self, method, path, older(body), content)
        return Answer(code=answer.code, body=newer(answer.body), second=answer.second)

    def version_asked(self, api_version: str) -> str:
        """Give v1beta1 for v1beta2."""
        return OLDER if api_version == NEWER else api_version

    def as_ours(self, body: Manifest) -> Manifest:
        """Convert an object or a list from v1beta1 to v1beta2."""
        return newer(body)


def older(body: Any) -> Any:
    """Convert an object or a patch from v1beta2 to v1beta1; other documents are unchanged."""
    if not isinstance(body, dict):
        return body
    found = copy.deepcopy(body)
    if found.get("apiVersion") == NEWER:
        found["apiVersion"] = OLDER
    for part in (found.get(key) for key in ("spec", "status")):
        if isinstance(part, dict):
            _rename(part, {there: here for here, there in NAMES.items()})
            _words(
                part, lambda key, word: STOPS[key] if word == "MayStopSearch" else word
            )
            _priority_to_older(part)
            _source_to_older(part)
    return found


def newer(body: Manifest) -> Manifest:
    """Convert an answer from v1beta1 to v1beta2: an object or a list; other documents are unchanged."""
    if body.get("apiVersion") != OLDER and body.get("groupVersion") != OLDER:
        return body
    if "items" not in body:
        return _newer_parts(body)
    items = [_newer_parts(item) for item in body["items"] or []]
    return _in_newer(body) | {"items": items}


NAMES = {
    "cohort": "cohortName",
    "flavorUsage": "flavorsUsage",
    "accumulatedPastExexcutionTimeSeconds": "accumulatedPastExecutionTimeSeconds",
}
"""The names of fields in v1beta1, and those in v1beta2."""


def _in_newer(body: Manifest) -> Manifest:
    """Name v1beta2 where an answer names v1beta1."""
    return {
        key: NEWER if value == OLDER and key != "kind" else value
        for key, value in body.items()
    }


def _newer_parts(item: Manifest) -> Manifest:
    found = _in_newer(copy.deepcopy(item))
    for part in (found.get(key) for key in ("spec", "status")):
        if isinstance(part, dict):
            _rename(part, NAMES)
            _words(
                part, lambda key, word: "MayStopSearch" if word == STOPS[key] else word
            )
            _priority_to_newer(part)
            _source_to_newer(part)
    return found


def _rename(part: Manifest, names: Mapping[str, str]) -> None:
    for before, after in names.items():
        if before in part:
            part[after] = part.pop(before)


def _words(part: Manifest, word: Callable[[str, Any], Any]) -> None:
    found = part.get("flavorFungibility")
    if isinstance(found, dict):
        found.update({key: word(key, found[key]) for key in STOPS if key in found})


def _source_to_older(part: Manifest) -> None:
    """Move the kubeconfig of a MultiKueueCluster to where v1beta1 has it."""
    source = part.pop("clusterSource", None)
    if isinstance(source, dict):
        part |= source


def _source_to_newer(part: Manifest) -> None:
    if "kubeConfig" in part:
        part["clusterSource"] = {"kubeConfig": part.pop("kubeConfig")}


def _priority_to_older(part: Manifest) -> None:
    reference = part.pop("priorityClassRef", None) or {}
    for source, named in SOURCES.items():
        if named.items() <= reference.items():
            part |= {
                "priorityClassName": reference.get("name", ""),
                "priorityClassSource": source,
            }


def _priority_to_newer(part: Manifest) -> None:
    name, source = (
        part.pop("priorityClassName", ""),
        part.pop("priorityClassSource", ""),
    )
    if named := SOURCES.get(source):
        part["priorityClassRef"] = {**named, "name": name}
