"""Remove the objects of a case in the order in which nothing holds up anything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from clusters.fence import condition_of
from clusters.fence_world import KUEUE
from clusters.look import Look
from clusters.mirror import Mirror
from clusters.objects import Objects
from clusters.waiting import Limits, NotYet
from clusters.world import JOBS, World
from kueue_dra_ref.target import Manifest, Ref

NAMESPACE = "Namespace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """Removes what it is told to; ``finalizes`` says that no namespace controller runs, so that we do its work.

    One that does takes some five seconds for each namespace: nobody waits for it before the end.
    Objects of the kinds that it ``leaves`` stay where they are, in a cluster that ends with the run.
    """

    objects: Objects
    mirror: Mirror
    limits: Limits = field(default_factory=Limits)
    finalizes: bool = True
    leaves: frozenset[str] = frozenset()
    _going: list[Ref] = field(default_factory=list)

    def clean(self, world: World) -> None:
        """Remove what a world holds; `TimedOut` names what could not be removed, which the world then still holds."""
        look = Look.at(self.mirror, world)
        self.remove([Ref.of(each) for each in (*look.jobs, *look.workloads)])
        rest = [ref for ref in reversed(world.refs()) if ref.kind not in JOBS | self.leaves]
        self.remove([ref for ref in rest if ref.kind != NAMESPACE])
        namespaces = [ref for ref in rest if ref.kind == NAMESPACE]
        if self.finalizes:
            self.remove(namespaces)
        else:
            self._going.extend(ref for ref in namespaces if not self._delete(ref))
        world.clear()

    def finish(self) -> None:
        """Wait for the namespaces that are on their way; `TimedOut` names those that stay."""
        self._await_gone(self._going, within=self.limits.gone + len(self._going))
        self._going.clear()

    def remove(self, refs: Sequence[Ref], *, entirely: bool = True) -> None:
        """Delete objects and wait until they are gone, or if not ``entirely`` until Kueue says why it keeps them."""
        were = {ref: _meta(self.mirror.read(ref) or {}).get("uid", "") for ref in refs if self.mirror.watches(ref)}
        going = [ref for ref in refs if not self._delete(ref) or self.mirror.watches(ref)]
        self._await_gone(going, within=self.limits.gone, entirely=entirely, were=were)

    def _await_gone(
        self, refs: Sequence[Ref], *, within: float, entirely: bool = True, were: Mapping[Ref, str] | None = None
    ) -> None:
        left = list(refs)

        def gone() -> None:
            left[:] = [ref for ref in left if self._stays(ref, (were or {}).get(ref, ""), entirely=entirely)]
            if left:
                raise NotYet("still there: " + ", ".join(str(ref) for ref in left))

        self.mirror.eventually(gone, within=within, what="deleted objects to be gone")

    def _stays(self, ref: Ref, uid: str, *, entirely: bool) -> bool:
        """Whether an object is there; one of the same name may have been made since, as Kueue does of Workloads."""
        stored = self.mirror.read(ref)
        if stored is None or (uid and _meta(stored)["uid"] != uid):
            return False
        return entirely or not self._kept(ref)

    def _delete(self, ref: Ref) -> bool:
        """Ask for an object to be deleted; whether the answer says that it is gone already."""
        answer = self.objects.delete(ref)
        if ref.kind == NAMESPACE and self.finalizes and answer.ok:
            answer = self.objects.replace({**answer.body, "spec": {"finalizers": []}}, subresource="finalize")
            return answer.ok
        return answer.code == HTTPStatus.NOT_FOUND or (answer.ok and "deletionTimestamp" not in _meta(answer.body))

    def _kept(self, ref: Ref) -> bool:
        """Whether Kueue rightly keeps a deleted object: a ClusterQueue in use, a flavor that a ClusterQueue names."""
        if ref.kind == "ClusterQueue":
            stored = self.mirror.read(ref) or {}
            return condition_of(stored, "Active").get("reason") == "Terminating"
        if ref.kind == "ResourceFlavor":
            return any(ref.name in _flavors_of(queue) for queue in self.mirror.list(KUEUE, "ClusterQueue"))
        return False


def _flavors_of(cluster_queue: Manifest) -> set[str]:
    groups = cluster_queue["spec"].get("resourceGroups") or []
    return {flavor["name"] for group in groups for flavor in group["flavors"]}


def _meta(body: Manifest) -> Manifest:
    found: Manifest = body.get("metadata") or {}
    return found
