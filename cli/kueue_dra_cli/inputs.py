"""Read the files of the command line into a simulation."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
from click.core import ParameterSource

from kueue_dra_cli.cluster_release import release_in
from kueue_dra_cli.errors import CliError, located, place_of, readable
from kueue_dra_cli.kubernetes_gates import unusable
from kueue_dra_cli.progress import doing
from kueue_dra_ref.api.configuration_documents import configurations, gates_of_values
from kueue_dra_ref.api.documents import ManifestDocument, read
from kueue_dra_ref.apiserver import MINORS, Kubernetes
from kueue_dra_ref.behaviours import behaviour as behaviour_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.controlplane.apiserver import ApiServer
from kueue_dra_ref.reference.sketches import SketchServer
from kueue_dra_ref.simulation.assumed_namespaces import assumed_namespaces
from kueue_dra_ref.simulation.cohort_depth import insist_on_depth
from kueue_dra_ref.simulation.inputs import SimulationInputs, configuration_of, given
from kueue_dra_ref.simulation.not_considered import InputNotes, input_notes
from kueue_dra_ref.simulation.other_kinds import SortedDocuments, sorted_documents
from kueue_dra_ref.simulation.run import (
    SimulationResult,
    simulate,
    unknown_namespaces,
)
from kueue_dra_ref.simulation.running_cluster import (
    RunningCluster,
    gates_of_deployments,
    is_running,
    running_cluster,
)
from kueue_dra_ref.simulation.served_versions import unserved
from kueue_dra_ref.simulation.unsimulated_requests import unsimulated_work
from kueue_dra_ref.simulation.unsupported_fields import settings_not_decided
from kueue_dra_ref.target import FieldError, Manifest

DEFAULT_KUBERNETES = "1.36"
NO_CONFIGURATION = (
    "{file}: found no Configuration; expected one, alone or in a ConfigMap"
)
NO_OBJECT = "{place}: found no object; expected manifests with apiVersion and kind"
ONLY_TEMPLATES = "{place}: found only Helm templates; expected rendered manifests (helm template prints them)"
GATES_TWICE = "feature gates for CLI and configuration cannot both specified"


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
    sorted: SortedDocuments
    other_configurations: tuple[ManifestDocument, ...] = ()
    """Configurations among the manifests, where ``--config`` names another one."""
    manager_gates: Mapping[str, bool] = field(default_factory=dict)
    """The gates in the arguments of Kueue's Deployment."""
    adds_gates: bool = False
    """Whether the command line adds gates to those of the Configuration."""

    def run(
        self, api_server: ApiServer | None = None, *, allow_missing: bool = False
    ) -> SimulationResult:
        """Run the manifests on the reference, with an API server of Kubernetes 1.36 unless another one is given.

        ``allow_missing`` creates the namespaces that the input lacks; without it only those that are taken to exist.

        Raises:
            CliError: the Configuration is rejected.

        """
        api_server = api_server or SketchServer(kubernetes=self.running_kubernetes)
        result = simulate(
            self.behaviour,
            self.configuration,
            self.given,
            api_server,
            self.seconds,
            self.missing_namespaces if allow_missing else self.assumed_namespaces,
            doing,
        )
        if isinstance(result, SimulationResult):
            self._insist_on_devices(result)
            return result
        raise CliError(
            located(*place_of(error, self.document), error) for error in result
        )

    def _insist_on_devices(self, result: SimulationResult) -> None:
        """Reject devices on a Kubernetes from which this Kueue cannot read them."""
        kubernetes = result.target.api_server.kubernetes
        why = unserved(self.behaviour, self.configuration, kubernetes)
        if why and result.has_devices:
            raise CliError([f"--kubernetes {kubernetes.name}: {why}"])

    def notes(self, result: SimulationResult) -> InputNotes:
        """Find what the simulation did not consider."""
        work = unsimulated_work(result.target, self.sorted.work)
        settings = settings_not_decided(self.configuration, self.behaviour)
        return input_notes(result, work, list(settings))

    @property
    def kubernetes(self) -> str:
        """The minor of Kubernetes that the dump names, if the reference knows it."""
        named = self.cluster.kubernetes if self.cluster else ""
        return named if named in MINORS else DEFAULT_KUBERNETES

    @property
    def running_kubernetes(self) -> Kubernetes:
        """The minor that the dump names, with the feature gates that its API server has."""
        minor = MINORS[self.kubernetes]
        told = self.cluster.gates if self.cluster else {}
        return minor.with_gates(
            **{name: on for name, on in told.items() if name in minor.gates}
        )

    @property
    def missing_namespaces(self) -> list[str]:
        """The namespaces that objects are in, and that the input does not have."""
        return unknown_namespaces(self.given)

    @property
    def assumed_namespaces(self) -> list[str]:
        """The namespaces that are taken to exist, as the input has no Namespace and nothing depends on labels."""
        return assumed_namespaces(self.given, self.configuration)

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
    cluster_dump: Sequence[ManifestDocument] = (),
) -> Simulation:
    """Read the manifests and the Configuration of a command line; a running cluster unless it is from scratch.

    ``cluster_dump`` has the documents of a cluster that was read already; the files come after them.

    Raises:
        CliError: a file cannot be read, or holds something else.

    """
    with readable():
        documents = _documents(files, cluster_dump)
        named = read_configuration(configuration) if configuration else None
        found = named or configuration_of(documents)
        manager = _gates_of_manager(documents, found)
        running = not from_scratch and is_running(documents)
        cluster = running_cluster(documents) if running else None
        objects = given(cluster.documents if cluster else documents, running=running)
        insist_on_depth(objects)
        return Simulation(
            behaviour=release_in(cluster, behaviour_of(behaviour)),
            configuration=with_gates(found, {**manager, **gates}),
            document=found,
            given=objects,
            cluster=cluster,
            sorted=_sorted(documents, files, running=running),
            other_configurations=_unused(documents, named),
            manager_gates=manager,
            adds_gates=bool(gates) and _has_gates(found),
        )


def _documents(
    files: Sequence[Path], cluster_dump: Sequence[ManifestDocument]
) -> list[ManifestDocument]:
    """Read the files of a command line after the dump of its cluster."""
    if not files and not cluster_dump:
        raise click.UsageError("no manifests: give files or directories with -f")
    in_files: list[ManifestDocument] = []
    for file in files:
        doing(f"reading {file}")
        in_files += read(file)
    if not in_files and not cluster_dump:
        shown = ", ".join(map(str, files))
        raise CliError([f"{shown}: found no object; expected manifests"])
    return [*cluster_dump, *in_files]


def _gates_of_manager(
    documents: Sequence[ManifestDocument], configuration: ManifestDocument | None
) -> dict[str, bool]:
    """Give the gates in the arguments of Kueue's Deployment, as it is given or as the values of its chart make it."""
    gates = {**gates_of_values(documents), **gates_of_deployments(documents)}
    if faults := gates_twice(configuration, gates):
        raise CliError(located(*place_of(each, configuration), each) for each in faults)
    return gates


def read_configuration(file: Path) -> ManifestDocument:
    """Read a file that is named as the Configuration.

    Raises:
        CliError: it holds none, or several.
        DocumentError: it cannot be read.

    """
    found = configuration_of(read(file), named=True)
    if found is None:
        raise CliError([NO_CONFIGURATION.format(file=file)])
    return found


def _sorted(
    documents: Sequence[ManifestDocument], files: Sequence[Path], *, running: bool
) -> SortedDocuments:
    """Sort the documents; an input in which nothing is an object is an error."""
    chosen = sorted_documents(documents, running=running)
    if chosen.has_objects:
        return chosen
    place = ", ".join(map(str, files))
    if len(files) == 1 and not files[0].is_dir():
        place = f"{documents[0].file}:{documents[0].line}"
    if chosen.templates:
        raise CliError([ONLY_TEMPLATES.format(place=place)])
    raise CliError([NO_OBJECT.format(place=place)])


def _unused(
    documents: Sequence[ManifestDocument], named: ManifestDocument | None
) -> tuple[ManifestDocument, ...]:
    """Give the Configurations among the manifests that ``--config`` replaces."""
    if named is None:
        return ()
    place = (named.file, named.line)
    others = configurations(documents)
    return tuple(each for each in others if (each.file, each.line) != place)


def _has_gates(document: ManifestDocument | None) -> bool:
    return document is not None and bool(document.manifest.get("featureGates"))


def gates_twice(
    document: ManifestDocument | None, arguments: Mapping[str, bool]
) -> list[FieldError]:
    """Give Kueue's error for gates in its arguments and in its Configuration."""
    if document is None or not arguments or not _has_gates(document):
        return []
    shown = ", ".join(arguments)
    detail = f"{GATES_TWICE} (in the arguments: {shown})"
    return [FieldError(field="featureGates", type="Invalid value", detail=detail)]


def with_gates(
    document: ManifestDocument | None, gates: Mapping[str, bool]
) -> Manifest:
    """Give a Configuration with the feature gates of the command line added to its own."""
    manifest = copy.deepcopy(document.manifest) if document else {}
    own = manifest.get("featureGates")
    if gates and (own is None or isinstance(own, dict)):
        manifest["featureGates"] = {**(own or {}), **gates}
    return manifest


def api_server(
    simulation: Simulation,
    kubernetes: str,
    gates: Mapping[str, bool],
    only_served: bool,
) -> ApiServer:
    """Make the API server that the options select; its minor is that of a dump unless the command line names one.

    Raises:
        CliError: this minor has no such gate.

    """
    source = click.get_current_context().get_parameter_source("kubernetes")
    is_named = source is not ParameterSource.DEFAULT
    selected = MINORS[kubernetes] if is_named else simulation.running_kubernetes
    if wrong := unusable(selected, gates):
        raise CliError([f"--kubernetes-feature-gates: {wrong}"])
    return SketchServer(
        kubernetes=selected.with_gates(**gates) if gates else selected,
        only_served=only_served,
    )
