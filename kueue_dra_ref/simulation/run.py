"""A world played on the reference: what exists first, then Kueue, then Jobs and Workloads in the order given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kueue_dra_ref.api.scheme import KUEUE
from kueue_dra_ref.api.workloads import workload_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.controlplane.apiserver import ApiServer
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.inputs import DEFAULT_NAMESPACE, SimulationInputs
from kueue_dra_ref.simulation.missing_references import missing
from kueue_dra_ref.simulation.unsupported_fields import not_decided, unknown
from kueue_dra_ref.target import FieldError, Manifest, NotQuiescent, Ref, Rejection

_LATER = ("Job", "Workload")


@dataclass(frozen=True, slots=True, kw_only=True)
class InputError:
    """Something wrong with one object: refused by an API server, or naming what does not exist."""

    given: SimulationInputs
    error: FieldError

    @property
    def place(self) -> tuple[str, int]:
        """The file and line of the field at fault."""
        return self.given.place(self.error.field)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult:
    """The world after every decision."""

    target: ReferenceTarget
    given: tuple[SimulationInputs, ...]
    refused: tuple[InputError, ...]
    missing: tuple[InputError, ...]
    restless: str = ""
    """Who is told one thing and another in turns, for ever; empty when the world came to rest."""

    @property
    def accepted(self) -> tuple[SimulationInputs, ...]:
        """What the API server took."""
        refused = {finding.given.ref for finding in self.refused}
        return tuple(each for each in self.given if each.ref not in refused)

    @property
    def workloads(self) -> Sequence[Manifest]:
        """Every Workload, in the version that the user writes Kueue's objects in."""
        written = {
            each.ref.api_version
            for each in self.given
            if each.ref.api_version.startswith(f"{KUEUE}/")
        }
        version = (
            f"{KUEUE}/v1beta1"
            if written == {f"{KUEUE}/v1beta1"}
            else f"{KUEUE}/v1beta2"
        )
        return self.target.list(version, "Workload")

    @property
    def objects(self) -> Iterator[Manifest]:
        """What was given, each in the version that it was written in, then the Workloads that Kueue made."""
        for each in self.accepted:
            if (found := self.target.read(each.ref)) is not None:
                yield found
        own = {
            (each.ref.namespace, each.ref.name)
            for each in self.accepted
            if each.ref.kind == "Workload"
        }
        for workload in self.workloads:
            if (
                workload["metadata"]["namespace"],
                workload["metadata"]["name"],
            ) not in own:
                yield workload

    @property
    def warnings(self) -> Sequence[str]:
        """What the API server warns of: fields that it does not know, versions that it will not serve any more."""
        return self.target.api_server.warnings

    @property
    def not_decided(self) -> Iterator[InputError]:
        """Fields that would have Kueue decide more than the reference does."""
        return (
            InputError(given=each, error=error)
            for each in self.accepted
            for error in not_decided(each.manifest)
        )

    @property
    def unknown(self) -> Iterator[tuple[SimulationInputs, str]]:
        """Fields in the specs of Kueue's kinds that their version does not have."""
        return (
            (each, field) for each in self.accepted for field in unknown(each.manifest)
        )

    @property
    def ask_for_devices(self) -> bool:
        """Whether any Workload has claims."""
        return any(
            workload_of(each).claims for each in self.target.store.every("Workload")
        )

    @property
    def uncharged(self) -> bool:
        """Whether claims are passed over, because device integration is off."""
        kueue = self.target.manager.kueue if self.target.manager else None
        if kueue is None or kueue.behaviour.processing.is_dra_workload:
            return False
        claiming = (
            each
            for each in self.target.store.every("Workload")
            if kueue.informers.workload(each).claims
        )
        return any(not kueue.asks_for_devices(each) for each in claiming)

    @property
    def owned(self) -> tuple[SimulationInputs, ...]:
        """Workloads of Jobs that were given too; Kueue makes those itself."""
        return tuple(_owned(self.given))

    @property
    def unmanaged(self) -> Iterator[tuple[SimulationInputs, str]]:
        """Jobs that Kueue leaves alone, each with the reason."""
        manager = self.target.manager
        if manager is None:
            return
        for each in (each for each in self.accepted if each.ref.kind == "Job"):
            job = self.target.store.find("Job", each.ref.name, each.ref.namespace)
            if job and (why := manager.jobs.managing.objection(job)):
                yield each, why


def play(
    behaviour: Behaviour,
    configuration: Manifest,
    world: Sequence[SimulationInputs],
    api_server: ApiServer | None = None,
) -> SimulationResult | Sequence[FieldError]:
    """Play a world; the faults of the configuration when Kueue does not start with it."""
    target = ReferenceTarget(behaviour, api_server)
    target.apply(
        [
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": DEFAULT_NAMESPACE},
            }
        ]
    )
    refused = _apply(
        target,
        sorted(
            (each for each in world if each.ref.kind not in _LATER),
            key=_namespaces_first,
        ),
    )
    if faults := target.start(configuration):
        return faults
    owned = {each.ref for each in _owned(world)}
    refused += _apply(
        target,
        (each for each in world if each.ref.kind in _LATER and each.ref not in owned),
    )
    restless = ""
    try:
        target.settle()
    except NotQuiescent as moving:
        restless = str(moving)
    played = SimulationResult(
        target=target,
        given=tuple(world),
        refused=tuple(refused),
        missing=(),
        restless=restless,
    )
    return replace(played, missing=tuple(_missing(played)))


def _owned(world: Sequence[SimulationInputs]) -> Iterator[SimulationInputs]:
    jobs = {
        (each.ref.namespace, each.ref.name) for each in world if each.ref.kind == "Job"
    }
    for each in world:
        owners = (
            each.manifest["metadata"].get("ownerReferences")
            if each.ref.kind == "Workload"
            else None
        )
        names = (
            owner.get("name")
            for owner in owners or ()
            if isinstance(owner, dict) and owner.get("kind") == "Job"
        )
        if any((each.ref.namespace, name) in jobs for name in names):
            yield each


def _namespaces_first(each: SimulationInputs) -> bool:
    return each.ref.kind != "Namespace"


def _apply(
    target: ReferenceTarget, world: Iterable[SimulationInputs]
) -> list[InputError]:
    return [
        InputError(given=each, error=error)
        for each in world
        for refusal in target.apply([each.manifest])
        for error in (_error(each.ref, refusal), *refusal.others)
    ]


def _error(ref: Ref, refusal: Rejection) -> FieldError:
    error = refusal.error or FieldError(
        field="", type="Refused", detail=refusal.message
    )
    if error.field == "metadata.namespace" and error.type == "Not found":
        return replace(
            error, detail=f"expected a Namespace {ref.namespace}, and there is none"
        )
    return error


def _missing(played: SimulationResult) -> Iterator[InputError]:
    store = played.target.store
    for each in played.accepted:
        stored = store.find(each.ref.kind, each.ref.name, each.ref.namespace)
        for error in missing(stored, store) if stored else ():
            yield InputError(given=each, error=error)
