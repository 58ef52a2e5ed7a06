"""From the files of the command line to a world that can be played."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from kueue_dra_cli.errors import CliError, located, place_of, readable
from kueue_dra_ref.api.documents import ManifestDocument, read
from kueue_dra_ref.apiserver import MINORS
from kueue_dra_ref.behaviours import behaviour as behaviour_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.phases_dra import MappingSource
from kueue_dra_ref.controlplane.apiserver import ApiServer
from kueue_dra_ref.simulation.inputs import SimulationInputs, configuration_of, given
from kueue_dra_ref.simulation.run import InputError, SimulationResult, play
from kueue_dra_ref.simulation.unsupported_fields import settings_not_decided
from kueue_dra_ref.target import Manifest

INTEGRATION_NOTE = "note: the gate {gate} is off, so no claim is charged; switch it on with --feature-gates {gate}=true"
NO_CONFIGURATION_NOTE = (
    "note: no Configuration was given, so no device class is mapped; "
    "give one with --config, or among the manifests"
)
RESTLESS_NOTE = "note: Kueue does not come to rest here; what is shown is what was told last: {moving}"
OWNED_NOTE = "note: Workload {workload} belongs to a Job that is given too; Kueue makes that Job's Workload itself"
LEFT_ALONE_NOTE = "note: Job {job} {why}, so Kueue leaves it alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What was given, under the Configuration that was given."""

    behaviour: Behaviour
    configuration: Manifest
    document: ManifestDocument | None
    """Where the Configuration stands; None when there is none."""
    given: tuple[SimulationInputs, ...]

    def play(self, api_server: ApiServer | None = None) -> SimulationResult:
        """Play it on the reference, and on its API server of Kubernetes 1.36 unless on another one.

        Raises:
            Trouble: the Configuration is refused.

        """
        api_server = api_server or ApiServer(kubernetes=MINORS["1.36"], sketches=True)
        played = play(self.behaviour, self.configuration, self.given, api_server)
        if isinstance(played, SimulationResult):
            return played
        raise CliError(
            located(*place_of(error, self.document), error) for error in played
        )


def world_of(
    files: Sequence[Path],
    configuration: Path | None,
    behaviour: str,
    gates: Mapping[str, bool],
) -> Simulation:
    """Read everything that a command was given.

    Raises:
        Trouble: a file cannot be read, or does not hold what it should.

    """
    if not files:
        raise click.UsageError("no manifests: give files or directories with -f")
    with readable():
        documents = [document for file in files for document in read(file)]
        if not documents:
            raise CliError(
                [f"{', '.join(map(str, files))}: found no object; expected manifests"]
            )
        others = read(configuration) if configuration else ()
        if configuration and configuration_of(others) is None:
            raise CliError(
                [
                    f"{configuration}: found no Configuration; expected one, alone or in a ConfigMap"
                ]
            )
        found = configuration_of([*documents, *others])
        return Simulation(
            behaviour=behaviour_of(behaviour),
            configuration=with_gates(found, gates),
            document=found,
            given=given(documents),
        )


def with_gates(
    document: ManifestDocument | None, gates: Mapping[str, bool]
) -> Manifest:
    """A Configuration with the gates of the command line on top of its own."""
    manifest = copy.deepcopy(document.manifest) if document else {}
    own = manifest.get("featureGates")
    if gates and (own is None or isinstance(own, dict)):
        manifest["featureGates"] = {**(own or {}), **gates}
    return manifest


def report_problems(
    world: Simulation, played: SimulationResult, *, allow_missing: bool
) -> int:
    """Say on the error stream what was refused, what is missing and what may surprise; the exit code."""
    wrong = map(_told, (*played.refused, *played.missing))
    for line in (
        *wrong,
        *_warnings(played),
        *_beyond(world, played),
        *_notes(world, played),
    ):
        click.echo(line, err=True)
    return 2 if played.refused or (played.missing and not allow_missing) else 0


def _warnings(played: SimulationResult) -> Iterable[str]:
    yield from (f"warning: {warning}" for warning in played.warnings)
    for each, field in played.unknown:
        yield f'warning: {located(*each.place(field), each.ref)}: unknown field "{field}"'


def _beyond(world: Simulation, played: SimulationResult) -> Iterable[str]:
    for error in settings_not_decided(world.configuration, world.behaviour):
        yield f"note: {located(*place_of(error, world.document), error)}"
    yield from (f"note: {_told(finding)}" for finding in played.not_decided)


def _told(finding: InputError) -> str:
    return located(*finding.place, f"{finding.given.ref}: {finding.error}")


def _notes(world: Simulation, played: SimulationResult) -> Iterable[str]:
    if played.ask_for_devices:
        if (
            world.document is None
            and world.behaviour.mapping_source is MappingSource.IN_THE_CONFIGURATION
        ):
            yield NO_CONFIGURATION_NOTE
        if played.uncharged:
            yield INTEGRATION_NOTE.format(gate=world.behaviour.integration_gate)
    if played.restless:
        yield RESTLESS_NOTE.format(moving=played.restless)
    for owned in played.owned:
        yield OWNED_NOTE.format(workload=f"{owned.ref.namespace}/{owned.ref.name}")
    for job, why in played.unmanaged:
        yield LEFT_ALONE_NOTE.format(job=f"{job.ref.namespace}/{job.ref.name}", why=why)
