"""A change of a simulated cluster that has settled: applied objects, other quotas, ended work, another Configuration.

No counterpart: changes of what-if.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kueue_dra_ref.api.conversion import converted
from kueue_dra_ref.api.job_kinds import SUBMITTED
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.api.status_errors import ManifestError
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.inputs import SimulationInputs, overlaid
from kueue_dra_ref.simulation.missing_references import missing
from kueue_dra_ref.simulation.quota_fields import QuotaField, as_applied, with_quotas
from kueue_dra_ref.simulation.run import InputError, a_namespace, rejected_field
from kueue_dra_ref.simulation.running_pods import running_jobs, settle
from kueue_dra_ref.simulation.trials import ref_to_end
from kueue_dra_ref.target import (
    FieldError,
    Manifest,
    Ref,
    Rejection,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterChange:
    """What changes, all at once."""

    objects: tuple[SimulationInputs, ...] = ()
    """Objects to apply: new ones, and existing ones of which some fields change."""
    quotas: dict[QuotaField, str] = field(default_factory=dict)
    ended: tuple[Key, ...] = ()
    """Workloads that end, each with its Job."""
    configuration: Manifest | None = None
    """The Configuration with which Kueue restarts; None if it does not."""


@dataclass(slots=True, kw_only=True)
class ChangeOutcome:
    """What is wrong with a change, and what it created."""

    configuration: list[FieldError] = field(default_factory=list)
    objects: list[InputError] = field(default_factory=list)
    quotas: list[Rejection] = field(default_factory=list)
    created: list[SimulationInputs] = field(default_factory=list)
    """Objects of the change that did not exist before."""
    restless: str = ""
    """Workloads whose conditions alternate without end; empty if the cluster settled."""

    @property
    def failed(self) -> bool:
        """Whether anything is wrong."""
        return bool(self.configuration or self.objects or self.quotas)


def make(target: ReferenceTarget, change: ClusterChange) -> ChangeOutcome:
    """Change a settled target, and let it settle again; what is wrong with the change leaves it half done."""
    outcome = ChangeOutcome()
    running = running_jobs(target)
    if change.configuration is not None:
        outcome.configuration += target.start(change.configuration)
    first, last = _in_order(change.objects)
    _apply(target, first, outcome)
    if change.quotas and not outcome.failed:
        outcome.quotas += target.apply(with_quotas(target.store, change.quotas))
    target.delete([ref_to_end(target, key) for key in change.ended])
    _apply(target, last, outcome)
    outcome.restless = settle(target, running)
    outcome.objects += _missing(target, change.objects)
    return outcome


def create_namespaces(target: ReferenceTarget, change: ClusterChange) -> None:
    """Create the namespaces of the objects of a change that the cluster does not have."""
    own = {each.ref.name for each in change.objects if each.ref.kind == "Namespace"}
    names = {each.ref.namespace for each in change.objects} - own - {""}
    for name in sorted(names):
        if target.store.find("Namespace", name) is None:
            target.apply([a_namespace(name)])


def _in_order(
    objects: Iterable[SimulationInputs],
) -> tuple[list[SimulationInputs], list[SimulationInputs]]:
    """Divide objects into those that exist before work is submitted, Namespaces first, and the work."""
    first: list[SimulationInputs] = []
    last: list[SimulationInputs] = []
    for each in objects:
        (last if each.ref.kind in SUBMITTED else first).append(each)
    first.sort(key=lambda each: each.ref.kind != "Namespace")
    return first, last


def _apply(
    target: ReferenceTarget, objects: Iterable[SimulationInputs], outcome: ChangeOutcome
) -> None:
    for each in objects:
        if stored_object(target, each.ref) is None:
            outcome.created.append(each)
        for error in _errors(target, each):
            outcome.objects.append(InputError(given=each, error=error))


def _errors(target: ReferenceTarget, each: SimulationInputs) -> Iterator[FieldError]:
    """Apply an object; give what the API server rejects it for."""
    try:
        manifest = _whole(target, each)
    except ManifestError as fault:
        yield fault.error
        return
    for rejection in target.apply([manifest]):
        yield rejected_field(each.ref, rejection)
        yield from rejection.others


def _whole(target: ReferenceTarget, each: SimulationInputs) -> Manifest:
    """Give an object with the fields of the stored one that the change does not have.

    Raises:
        ManifestError: the object cannot be read in its version.

    """
    stored = stored_object(target, each.ref)
    if stored is None:
        return each.manifest
    whole: Manifest = overlaid(as_applied(stored), converted(each.manifest))
    return whole


def _missing(
    target: ReferenceTarget, objects: Iterable[SimulationInputs]
) -> Iterator[InputError]:
    """Give the references of changed objects to objects that do not exist."""
    for each in objects:
        stored = stored_object(target, each.ref)
        for reference in missing(stored, target.store) if stored else ():
            yield InputError(given=each, error=reference.error, reference=reference)


def stored_object(target: ReferenceTarget, ref: Ref) -> Manifest | None:
    """Give the stored object of a name; None if there is none, or the kind is not known."""
    if ref.kind not in KINDS:
        return None
    return target.store.find(ref.kind, ref.name, ref.namespace)
