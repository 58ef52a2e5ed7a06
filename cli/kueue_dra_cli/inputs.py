"""Read the files of the command line into a simulation."""

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
from kueue_dra_ref.simulation.missing_from_cluster import missing_from_cluster
from kueue_dra_ref.simulation.run import InputError, SimulationResult, simulate
from kueue_dra_ref.simulation.running_cluster import (
    RunningCluster,
    is_running,
    running_cluster,
)
from kueue_dra_ref.simulation.unsupported_fields import settings_not_decided
from kueue_dra_ref.target import Manifest

DEFAULT_KUBERNETES = "1.36"
INTEGRATION_NOTE = "note: the gate {gate} is off, so no claim is charged; turn it on with --feature-gates {gate}=true"
NO_CONFIGURATION = (
    "{file}: found no Configuration; expected one, alone or in a ConfigMap"
)
NO_CONFIGURATION_NOTE = (
    "note: no Configuration was given, so no device class is mapped; "
    "give one with --config, or among the manifests"
)
UNSETTLED_NOTE = (
    "note: Kueue does not settle here; the output shows the last state: {moving}"
)
IGNORED_NOTE = "note: skipped objects of kinds that decide nothing here: {kinds}"
MISSING_NOTE = "note: the input has {missing}"
OWNED_NOTE = "note: Workload {workload} is skipped: its Job is in the input too, and Kueue creates the Job's Workload"
UNMANAGED_NOTE = "note: Job {job} {why}, so Kueue does not manage it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """The manifests and the Configuration of the command line."""

    behaviour: Behaviour
    configuration: Manifest
    document: ManifestDocument | None
    """The document of the Configuration, if there is one."""
    given: tuple[SimulationInputs, ...]
    cluster: RunningCluster | None = None
    """What the documents say of a running cluster; None for manifests."""

    def run(self, api_server: ApiServer | None = None) -> SimulationResult:
        """Run the manifests on the reference, with an API server of Kubernetes 1.36 unless another one is given.

        Raises:
            CliError: the Configuration is rejected.

        """
        api_server = api_server or ApiServer(
            kubernetes=MINORS[self.kubernetes], sketches=True
        )
        result = simulate(
            self.behaviour, self.configuration, self.given, api_server, self.seconds
        )
        if isinstance(result, SimulationResult):
            return result
        raise CliError(
            located(*place_of(error, self.document), error) for error in result
        )

    @property
    def kubernetes(self) -> str:
        """The minor of Kubernetes that the dump names, if the reference knows it."""
        named = self.cluster.kubernetes if self.cluster else ""
        return named if named in MINORS else DEFAULT_KUBERNETES

    @property
    def seconds(self) -> float:
        """The newest time in a dump; 0 for manifests."""
        return self.cluster.seconds if self.cluster else 0.0


def simulation_of(
    files: Sequence[Path],
    configuration: Path | None,
    behaviour: str,
    gates: Mapping[str, bool],
    *,
    from_scratch: bool = True,
) -> Simulation:
    """Read the manifests and the Configuration of a command line; a running cluster unless it is from scratch.

    Raises:
        CliError: a file cannot be read, or holds something else.

    """
    if not files:
        raise click.UsageError("no manifests: give files or directories with -f")
    with readable():
        documents = [document for file in files for document in read(file)]
        if not documents:
            shown = ", ".join(map(str, files))
            raise CliError([f"{shown}: found no object; expected manifests"])
        others = read(configuration) if configuration else ()
        if configuration and configuration_of(others) is None:
            raise CliError([NO_CONFIGURATION.format(file=configuration)])
        cluster = None
        if not from_scratch and is_running(documents):
            cluster = running_cluster(documents)
            documents = list(cluster.documents)
            gates = {**cluster.gates, **gates}
        found = configuration_of([*documents, *others])
        return Simulation(
            behaviour=behaviour_of(behaviour),
            configuration=with_gates(found, gates),
            document=found,
            given=given(documents, running=cluster is not None),
            cluster=cluster,
        )


def with_gates(
    document: ManifestDocument | None, gates: Mapping[str, bool]
) -> Manifest:
    """Give a Configuration with the feature gates of the command line added to its own."""
    manifest = copy.deepcopy(document.manifest) if document else {}
    own = manifest.get("featureGates")
    if gates and (own is None or isinstance(own, dict)):
        manifest["featureGates"] = {**(own or {}), **gates}
    return manifest


def report_problems(
    simulation: Simulation, result: SimulationResult, *, allow_missing: bool
) -> int:
    """Print errors, warnings and notes on standard error, and give the exit code."""
    for finding in (*result.refused, *result.missing_of_new):
        click.echo(_message(finding), err=True)
    for line in _warnings(result):
        click.echo(line, err=True)
    for line in _not_decided(simulation, result):
        click.echo(line, err=True)
    for line in _notes(simulation, result):
        click.echo(line, err=True)
    if result.refused:
        return 2
    return 2 if result.missing_of_new and not allow_missing else 0


def _warnings(result: SimulationResult) -> Iterable[str]:
    yield from (f"warning: {warning}" for warning in result.warnings)
    for each, field in result.unknown:
        yield f'warning: {located(*each.place(field), each.ref)}: unknown field "{field}"'


def _not_decided(simulation: Simulation, result: SimulationResult) -> Iterable[str]:
    for error in settings_not_decided(simulation.configuration, simulation.behaviour):
        yield f"note: {located(*place_of(error, simulation.document), error)}"
    yield from (f"note: {_message(finding)}" for finding in result.not_decided)


def _message(finding: InputError) -> str:
    return located(*finding.place, f"{finding.given.ref}: {finding.error}")


def _cluster_notes(simulation: Simulation, result: SimulationResult) -> Iterable[str]:
    """Say what a dump has too much, and what it lacks."""
    if simulation.cluster is None:
        return
    ignored = simulation.cluster.ignored
    if ignored:
        kinds = ", ".join(f"{count} {kind}" for kind, count in ignored.items())
        yield IGNORED_NOTE.format(kinds=kinds)
    has_configuration = (
        simulation.document is not None
        or simulation.behaviour.mapping_source is not MappingSource.IN_THE_CONFIGURATION
    )
    for missing in missing_from_cluster(result, has_configuration=has_configuration):
        yield MISSING_NOTE.format(missing=missing)


def _notes(simulation: Simulation, result: SimulationResult) -> Iterable[str]:
    yield from _cluster_notes(simulation, result)
    if result.ask_for_devices:
        if (
            simulation.document is None
            and simulation.cluster is None
            and simulation.behaviour.mapping_source
            is MappingSource.IN_THE_CONFIGURATION
        ):
            yield NO_CONFIGURATION_NOTE
        if result.uncharged:
            yield INTEGRATION_NOTE.format(gate=simulation.behaviour.integration_gate)
    if result.restless:
        yield UNSETTLED_NOTE.format(moving=result.restless)
    for owned in result.owned:
        yield OWNED_NOTE.format(workload=f"{owned.ref.namespace}/{owned.ref.name}")
    for job, why in result.unmanaged:
        yield UNMANAGED_NOTE.format(job=f"{job.ref.namespace}/{job.ref.name}", why=why)
