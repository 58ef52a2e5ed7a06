"""AppWrappers: objects of other kinds in one object, whose pod templates are found by path.

Kueue: pkg/controller/jobs/appwrapper/appwrapper_controller.go (AppWrapper)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kueue_dra_ref.api.job_kind import (
    JobKind,
    Outcome,
    Path,
    PodSetPlace,
    has_condition,
    part_at,
    spec_of,
    status_of,
    template_at,
)
from kueue_dra_ref.api.ray_kinds import SUBMITTER
from kueue_dra_ref.target import Manifest

APP_WRAPPER = "AppWrapper"
_IS_DEPLOYED = has_condition("ResourcesDeployed")
Kinds = Mapping[str, JobKind]
_KEY = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_OTHERS: Mapping[str, Path] = {
    "Pod": (),
    "Deployment": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
}
"""Where other kinds than work have their template; a Pod is one."""


def app_wrapper(inferred: Kinds) -> JobKind:
    """Describe the kind; ``inferred`` are those whose pod sets it knows without a declaration."""

    def places(wrapper: Manifest) -> Iterator[PodSetPlace]:
        found = list(_places(wrapper, inferred))
        for index, place in enumerate(found):
            name = f"{wrapper['metadata']['name']}-{index}"
            yield replace(place, name=name.lower())

    return JobKind(
        name=APP_WRAPPER,
        group="workload.codeflare.dev",
        version="v1beta2",
        plural="appwrappers",
        framework="workload.codeflare.dev/appwrapper",
        places=places,
        outcome=_outcome,
        is_active=has_condition("QuotaReserved"),
        is_ready=has_condition("PodsReady"),
        raw=True,
    )


def _places(wrapper: Manifest, inferred: Kinds) -> Iterator[PodSetPlace]:
    components = spec_of(wrapper).get("components") or ()
    for index, component in enumerate(components):
        path: Path = ("spec", "components", index, "template")
        declared = (component or {}).get("podSets") or ()
        places = _declared(wrapper, declared, path)
        if not declared:
            template = template_at(wrapper, path)
            places = _inferred(template, inferred)
        for place in places:
            yield replace(place, path=(*path, *place.path))


def _declared(
    wrapper: Manifest, pod_sets: Sequence[Manifest], component: Path
) -> Iterator[PodSetPlace]:
    """Give the pod sets that a component declares, if their paths lead anywhere."""
    for each in pod_sets:
        path = _parsed(str(each.get("path", "")))
        count = int(each.get("replicas", 1))
        if _has_pods(wrapper, (*component, *path)):
            yield PodSetPlace(name="", count=count, path=path)


def _has_pods(wrapper: Manifest, path: Path) -> bool:
    try:
        found = part_at(wrapper, path)
    except (IndexError, KeyError, TypeError, AttributeError):
        return False
    return isinstance(found, dict) and "spec" in found


def _parsed(written: str) -> Path:
    """Read a path such as ``template.spec.replicatedJobs[0].template``, from below its first key."""
    keys: list[str | int] = []
    for key, index in _KEY.findall(written):
        keys.append(int(index) if index else key)
    return tuple(keys)


def _inferred(component: Manifest, inferred: Kinds) -> Iterator[PodSetPlace]:
    """Give the pod sets of a component of a kind that AppWrappers know.

    The submitter of a RayJob is none, and the hosts of a worker group of Ray count once for each replica.
    """
    kind = inferred.get(str(component.get("kind")))
    if kind is not None and component.get("apiVersion") == kind.api_version:
        for place in kind.places(component):
            if place.name != SUBMITTER:
                yield _with_replicas(place, component)
        return
    path = _OTHERS.get(str(component.get("kind")))
    if path is not None:
        count = int(spec_of(component).get("replicas", 1))
        yield PodSetPlace(name="", count=count, path=path)


def _with_replicas(place: PodSetPlace, component: Manifest) -> PodSetPlace:
    """Give a worker group of Ray the number of its replicas, whatever hosts each has."""
    if "workerGroupSpecs" not in place.path:
        return place
    group = part_at(component, place.path[:-1])
    return replace(place, count=int(group.get("replicas", 1)))


def lost_paths(wrapper: Manifest) -> tuple[int, int]:
    """Give how many pod sets an AppWrapper declares, and how many of them have no pods where they say."""
    declared = lost = 0
    for index, component in enumerate(spec_of(wrapper).get("components") or ()):
        path: Path = ("spec", "components", index, "template")
        for each in component.get("podSets") or ():
            declared += 1
            keys = _parsed(str(each.get("path", "")))
            lost += not _has_pods(wrapper, (*path, *keys))
    return declared, lost


def _outcome(wrapper: Manifest) -> Outcome | None:
    phase = status_of(wrapper).get("phase")
    if phase == "Succeeded":
        return "Succeeded", "AppWrapper finished successfully"
    if phase == "Failed" and not _IS_DEPLOYED(wrapper):
        return "Failed", "AppWrapper failed"
    return None
