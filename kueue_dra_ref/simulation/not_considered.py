"""What a simulation does not consider about each Workload: checks and topologies of its queue, other work in it.

No counterpart: notes of the simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK, checks_named_by
from kueue_dra_ref.api.cluster_queues import flavors_named_by
from kueue_dra_ref.api.pod_owners import POD_OWNERS, is_pod_of
from kueue_dra_ref.api.queued_pods import POD
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.simulation.explanation import Explanation
from kueue_dra_ref.simulation.run import InputError, SimulationResult
from kueue_dra_ref.simulation.unsimulated_requests import UnsimulatedWork
from kueue_dra_ref.target import FieldError, Manifest, Ref

Scope = tuple[str, str, str]
"""Kind, namespace and name of an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputNotes:
    """What is not considered, by the object that it is about."""

    work: Sequence[UnsimulatedWork] = ()
    settings: tuple[str, ...] = ()
    subjects: dict[Scope, list[str]] = field(default_factory=dict)
    sharing: dict[str, int] = field(default_factory=dict)
    """By ClusterQueue, the number of objects of work that would share its quota."""

    def about(self, found: Explanation) -> list[str]:
        """Say what is not considered about a Workload."""
        scopes = (
            ("ClusterQueue", "", found.cluster_queue),
            ("LocalQueue", found.namespace, found.queue),
            (found.kind, found.namespace, found.job),
            ("Workload", found.namespace, found.workload),
        )
        subjects = list(self.settings)
        for scope in scopes:
            subjects += self.subjects.get(scope, ())
        others = self.sharing.get(found.cluster_queue, 0)
        if others:
            objects = "1 object" if others == 1 else f"{others} objects"
            subjects.append(f"{objects} of other kinds in its queues")
        return list(dict.fromkeys(subjects))


_GATES_FOR_ALL = frozenset(
    {
        "featureGates.KueueDRADeviceFeasibility",
        "featureGates.KueueDRAIntegrationDeviceTaints",
    }
)
"""Gates with which nodes need free devices for the pods that Kueue places."""


def input_notes(
    result: SimulationResult,
    work: Sequence[UnsimulatedWork],
    settings: Sequence[FieldError],
) -> InputNotes:
    """Find what is not considered; ``settings`` are the fields of the Configuration that are not."""
    subjects: dict[Scope, list[str]] = {}
    for finding in result.not_decided:
        subject = _subject(finding.error)
        for scope in _scopes(result, finding):
            subjects.setdefault(scope, []).append(subject)
    return InputNotes(
        work=work,
        settings=tuple(_general(settings)),
        subjects=subjects,
        sharing=_sharing(result, work),
    )


def _subject(error: FieldError) -> str:
    return error.detail.partition(":")[0]


def _general(settings: Sequence[FieldError]) -> Iterator[str]:
    """Give the settings that bear on every Workload; a framework or most gates may not."""
    for error in settings:
        if error.field in _GATES_FOR_ALL:
            yield "devices of the nodes"
        elif not error.field.startswith(("featureGates", "integrations")):
            yield _subject(error)


def _scopes(result: SimulationResult, finding: InputError) -> Iterator[Scope]:
    """Give the objects that a field is about; ResourceFlavors and AdmissionChecks are those of ClusterQueues."""
    ref = finding.given.ref
    named_by = _NAMED_BY.get(ref.kind)
    if ref.kind in POD_OWNERS:
        yield from _pods(result, ref)
    elif named_by is None:
        yield ref.kind, ref.namespace, ref.name
    else:
        for queue in result.target.store.every("ClusterQueue"):
            if ref.name in named_by(queue):
                yield "ClusterQueue", "", queue["metadata"]["name"]


def _pods(result: SimulationResult, owner: Ref) -> Iterator[Scope]:
    """Give the pods of an object whose pods Kueue queues."""
    store = result.target.store
    found = store.find(owner.kind, owner.name, owner.namespace)
    if found is None:
        return
    for pod in store.every(POD):
        if is_pod_of(found, pod):
            yield POD, owner.namespace, pod["metadata"]["name"]


_NAMED_BY: Mapping[str, Callable[[Manifest], Container[str]]] = {
    "ResourceFlavor": flavors_named_by,
    ADMISSION_CHECK: checks_named_by,
}
"""How a ClusterQueue names objects of a kind."""


def _sharing(
    result: SimulationResult, work: Sequence[UnsimulatedWork]
) -> dict[str, int]:
    """Count the work that would share the quota of each ClusterQueue: its own and that of its cohort tree."""
    manager = result.target.manager
    sharing: dict[str, int] = {}
    if manager is None:
        return sharing
    for each in work:
        if not each.cluster_queue:
            continue
        for queue in _tree(manager.kueue, each.cluster_queue):
            sharing[queue] = sharing.get(queue, 0) + 1
    return sharing


def _tree(kueue: Kueue, cluster_queue: str) -> list[str]:
    root = kueue.hierarchy.root(cluster_queue)
    return kueue.hierarchy.members(root) if root else [cluster_queue]
