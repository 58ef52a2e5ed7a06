"""Remove the objects of a case in the order in which nothing holds up anything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.applied_objects import JOBS, AppliedObjects
from kueue_dra_clusters.fence import reobserve
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.observation import Observation, cluster_queue_of, holds_quota
from kueue_dra_clusters.waiting import NotYet, TimedOut, WaitLimits, moment_now
from kueue_dra_ref.api.cluster_queues import flavors_named_by
from kueue_dra_ref.target import Manifest, Ref

NAMESPACE = "Namespace"
FLAVOR = "ResourceFlavor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanup:
    """Removes what it is told to; ``finalizes`` says that no namespace controller runs, so that we do its work.

    One that does takes some five seconds for each namespace: nobody waits for it before the end.
    Objects of the kinds that it ``leaves`` stay where they are, in a cluster that ends with the run.
    """

    objects: APIClient
    mirror: InformerCache
    limits: WaitLimits = field(default_factory=WaitLimits)
    finalizes: bool = True
    leaves: frozenset[str] = frozenset()
    _going: list[Ref] = field(default_factory=list)
    _kept: dict[Ref, str] = field(default_factory=dict)
    """What was deleted and stays as long as it is in use, with its UID."""

    def clean(self, world: AppliedObjects) -> None:
        """Remove what a world holds; `TimedOut` names what could not be removed, which the world then still holds."""
        look = Observation.at(self.mirror, world)
        self.remove([Ref.of(each) for each in (*look.jobs, *look.workloads)])
        rest = [
            ref for ref in reversed(world.refs()) if ref.kind not in JOBS | self.leaves
        ]
        self.remove([ref for ref in rest if ref.kind not in {NAMESPACE, FLAVOR}])
        for ref in self._kept:
            reobserve(
                self.objects, ref, str(moment_now())
            )  # Kueue forgets some flavors (see docs/explanation/differences.md)
        self.remove([ref for ref in rest if ref.kind == FLAVOR])
        namespaces = [ref for ref in rest if ref.kind == NAMESPACE]
        if self.finalizes:
            self.remove(namespaces)
        else:
            self._going.extend(ref for ref in namespaces if not self._delete(ref))
        self._kept.clear()
        world.clear()

    def finish(self) -> None:
        """Wait for the namespaces that are on their way; `TimedOut` names those that stay."""
        self._await_gone(self._going, within=self.limits.gone + len(self._going))
        self._going.clear()

    def remove(self, refs: Sequence[Ref], *, entirely: bool = True) -> None:
        """Delete objects and wait until they are gone, or if not ``entirely`` those that are not in use."""
        were = {
            ref: _meta(self.mirror.read(ref) or {}).get("uid", "")
            for ref in refs
            if self.mirror.watches(ref)
        }
        going = [
            ref for ref in refs if not self._delete(ref) or self.mirror.watches(ref)
        ]
        self._await_gone(going, within=self.limits.gone, entirely=entirely, were=were)
        self._kept.update(
            {
                ref: were.get(ref, "")
                for ref in going
                if not entirely and self._is_there(ref, were)
            }
        )

    def keeps(self, ref: Ref) -> bool:
        """Whether an object was deleted and is there as long as it is in use."""
        return ref in self._kept

    def let_go(self) -> list[Ref]:
        """Name what was kept and has gone since, once nothing is kept that is not in use any more.

        A flavor that stays all the same is taken as it is.
        """
        flavors = [ref for ref in self._kept if ref.kind == FLAVOR]
        others = [ref for ref in self._kept if ref.kind != FLAVOR]
        self._await_gone(
            others, within=self.limits.gone, entirely=False, were=self._kept
        )
        with suppress(TimedOut):
            self._await_gone(
                flavors,
                within=self.limits.disagreement,
                entirely=False,
                were=self._kept,
            )
        gone = [ref for ref in self._kept if not self._is_there(ref, self._kept)]
        for ref in gone:
            del self._kept[ref]
        return gone

    def _await_gone(
        self,
        refs: Sequence[Ref],
        *,
        within: float,
        entirely: bool = True,
        were: Mapping[Ref, str] | None = None,
    ) -> None:
        def gone() -> None:
            there = [ref for ref in refs if self._is_there(ref, were or {})]
            if left := [ref for ref in there if entirely or not self._is_in_use(ref)]:
                raise NotYet("still there: " + ", ".join(str(ref) for ref in left))

        self.mirror.eventually(gone, within=within, what="deleted objects to be gone")

    def _is_there(self, ref: Ref, were: Mapping[Ref, str]) -> bool:
        """Whether an object is there; one of the same name may have been made since, as Kueue does of Workloads."""
        stored, uid = self.mirror.read(ref), were.get(ref, "")
        return stored is not None and (not uid or _meta(stored)["uid"] == uid)

    def _delete(self, ref: Ref) -> bool:
        """Ask for an object to be deleted; whether the answer says that it is gone already."""
        answer = self.objects.delete(ref)
        if ref.kind == NAMESPACE and self.finalizes and answer.ok:
            answer = self.objects.replace(
                {**answer.body, "spec": {"finalizers": []}}, subresource="finalize"
            )
            return answer.ok
        return answer.code == HTTPStatus.NOT_FOUND or (
            answer.ok and "deletionTimestamp" not in _meta(answer.body)
        )

    def _is_in_use(self, ref: Ref) -> bool:
        """Whether Kueue rightly keeps a deleted object: quota of a ClusterQueue is held, a ClusterQueue names a flavor.

        Up to Kueue 0.18 a deleted ClusterQueue does not say itself that it is kept.
        """
        if ref.kind == "ClusterQueue":
            workloads = self.mirror.list(KUEUE, "Workload")
            return any(
                cluster_queue_of(each) == ref.name
                for each in workloads
                if holds_quota(each)
            )
        if ref.kind == FLAVOR:
            return any(
                ref.name in flavors_named_by(queue)
                for queue in self.mirror.list(KUEUE, "ClusterQueue")
            )
        return False


def _meta(body: Manifest) -> Manifest:
    found: Manifest = body.get("metadata") or {}
    return found
