"""What Kueue's own validating webhooks deny (Kueue 0.19, ClusterQueue): resource groups have nothing in common."""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.writes import Write
from kueue_dra_ref.rule import rule
from kueue_dra_ref.target import FieldError


@rule("QUEUE-026", "QUEUE-027")
def resource_groups_share_nothing(write: Write) -> Iterator[FieldError]:
    """Deny a resource, and a flavor, that an earlier group of the ClusterQueue has already."""
    resources: set[str] = set()
    flavors: set[str] = set()
    groups = (write.new.get("spec") or {}).get("resourceGroups") or ()
    for index, group in enumerate(groups):
        path = f"spec.resourceGroups[{index}]"
        covered = [str(name) for name in group.get("coveredResources") or ()]
        named = [str(flavor.get("name", "")) for flavor in group.get("flavors") or ()]
        yield from _repeated(f"{path}.coveredResources[{{}}]", covered, resources)
        yield from _repeated(f"{path}.flavors[{{}}].name", named, flavors)
        resources.update(covered)
        flavors.update(named)


def _repeated(path: str, names: list[str], before: set[str]) -> Iterator[FieldError]:
    for index, name in enumerate(names):
        if name in before:
            yield FieldError(field=path.format(index), type="Duplicate value", value=printed(name))
