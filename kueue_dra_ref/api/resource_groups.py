"""The resource groups of a ClusterQueue or a Cohort, part by part, as Kueue's webhooks look at them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredResource:
    """A resource that a group covers, and those that were covered before it."""

    path: str
    name: str
    before: Collection[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorOfGroup:
    """A flavor of a group, and those of the groups before and of this one."""

    path: str
    name: str
    before: Collection[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceQuota:
    """The quota of one resource in a flavor, and the resource that is covered at its place."""

    path: str
    quota: Manifest
    covered: str
    of_cohort: bool
    """Whether a Cohort has this quota, not a ClusterQueue."""
    joined: bool
    """Whether the ClusterQueue or the Cohort has a parent cohort."""


def parts_of(
    obj: Manifest,
) -> Iterator[CoveredResource | FlavorOfGroup | ResourceQuota]:
    """Give each part in the order in which Kueue looks at it; each flavor comes after its quotas."""
    resources: list[str] = []
    flavors: list[str] = []
    groups = (obj.get("spec") or {}).get("resourceGroups") or ()
    for index, group in enumerate(groups):
        path = f"spec.resourceGroups[{index}]"
        covered = group.get("coveredResources") or []
        for number, name in enumerate(covered):
            yield CoveredResource(
                path=f"{path}.coveredResources[{number}]",
                name=name,
                before=tuple(resources),
            )
            resources.append(name)
        for number, flavor in enumerate(group.get("flavors") or ()):
            at = f"{path}.flavors[{number}]"
            name = flavor.get("name", "")
            yield from _quotas(obj, at, flavor, covered)
            yield FlavorOfGroup(path=f"{at}.name", name=name, before=tuple(flavors))
            flavors.append(name)


def _quotas(
    obj: Manifest, path: str, flavor: Manifest, covered: list[str]
) -> Iterator[ResourceQuota]:
    of_cohort = obj["kind"] == "Cohort"
    joined = bool(obj["spec"].get("parentName" if of_cohort else "cohortName"))
    for index, (quota, name) in enumerate(
        zip(flavor.get("resources") or (), covered, strict=False)
    ):
        at = f"{path}.resources[{index}]"
        yield ResourceQuota(
            path=at, quota=quota, covered=name, of_cohort=of_cohort, joined=joined
        )
