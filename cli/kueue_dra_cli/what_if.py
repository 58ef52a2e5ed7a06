"""``kueue-dra what-if``: print which workloads a change affects, before it is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from kueue_dra_cli.changed_mapping import (
    ChangedConfiguration,
    changed_configuration,
    of_document,
)
from kueue_dra_cli.errors import CliError, located, readable
from kueue_dra_cli.inputs import Simulation, gates_twice
from kueue_dra_cli.notes import ABSENT_NOTE, lacks_namespace
from kueue_dra_cli.options import (
    NamedChoice,
    filename_option,
    namespace_option,
    output_option,
)
from kueue_dra_cli.output_file import output_file_option, write_output
from kueue_dra_cli.quota_setting import FORM, quota_changes
from kueue_dra_cli.simulation_options import (
    SimulationOptions,
    simulation_options,
)
from kueue_dra_cli.what_if_output import what_if_text
from kueue_dra_cli.what_if_page import ClusterBefore
from kueue_dra_cli.workload_names import the_only, work_name, work_of
from kueue_dra_ref.api.configuration_documents import configurations
from kueue_dra_ref.api.documents import ManifestDocument, read
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.api.suggest import nearest
from kueue_dra_ref.behaviours import behaviour as behaviour_of
from kueue_dra_ref.behaviours.releases import KUEUE, MINORS, RELEASES
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.cluster_change import (
    ChangeOutcome,
    ClusterChange,
    create_namespaces,
    make,
)
from kueue_dra_ref.simulation.decided_cluster import decided
from kueue_dra_ref.simulation.inputs import SimulationInputs, configuration_of, given
from kueue_dra_ref.simulation.later_changes import MOVE, in_force
from kueue_dra_ref.simulation.run import SimulationResult
from kueue_dra_ref.simulation.unsupported_fields import not_decided, unknown
from kueue_dra_ref.simulation.what_if import compared

GATE_NOTE = (
    "note: in Kueue {minor} the gate {gate} is off, so no claim is charged; "
    "turn it on with --feature-gates {gate}=true"
)
EPILOG = """\
\b
Examples
  kueue-dra what-if cluster.yaml --set clusterqueue/team-a:whole-gpus=4
  kueue-dra what-if cluster.yaml --set clusterqueue/team-a:whole-gpus@spot=4 --without job/training
  kueue-dra what-if cluster.yaml -f new-queue.yaml -f new-job.yaml -o md
  kueue-dra what-if cluster.yaml --mapping deviceClassMappings.yaml
  kueue-dra what-if cluster.yaml --kueue 0.20
  kueue-dra what-if cluster.yaml --set clusterqueue/team-a:whole-gpus=4 -o html --output-file change.html
  kueue-dra what-if --context prod --set clusterqueue/team-a:whole-gpus=4

\b
Exit codes
  0  the change was made in the simulation, whether or not it affects a workload
  2  as for simulate, or the change is rejected or names an object that does not exist
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The change as the command line has it."""

    files: tuple[Path, ...]
    settings: tuple[str, ...]
    ended: tuple[str, ...]
    namespace: str
    mapping: Path | None
    kueue: str | None
    options: SimulationOptions

    @property
    def words(self) -> list[str]:
        """The change as options."""
        words: list[str] = []
        for option, values in (
            ("-f", self.files),
            ("--set", self.settings),
            ("--without", self.ended),
            ("--mapping", (self.mapping,) if self.mapping else ()),
            ("--kueue", (self.kueue,) if self.kueue else ()),
        ):
            for each in values:
                words += [option, str(each)]
        return words

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not self.words


@dataclass(frozen=True, slots=True, kw_only=True)
class _Output:
    """What is written, and where."""

    form: str
    file: str
    paths: Sequence[Path]
    """The files of the cluster, which a page names."""


@click.command("what-if", epilog=EPILOG)
@click.argument(
    "paths", nargs=-1, type=click.Path(path_type=Path), metavar="FILE|DIR..."
)
@filename_option(
    "The change: new objects, and existing ones with the fields that change. Repeatable."
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="QUOTA=AMOUNT",
    help=f"Change a nominal quota: {FORM}. Repeatable.",
)
@click.option(
    "--without",
    "ended",
    multiple=True,
    metavar="WORKLOAD",
    help="End a workload: a Job or Workload as kubectl shows it. Repeatable.",
)
@click.option(
    "--mapping",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Restart Kueue with another Configuration, or with other deviceClassMappings alone.",
)
@click.option(
    "--kueue",
    type=NamedChoice((*MINORS, *(each.version for each in RELEASES))),
    metavar="RELEASE",
    help=f"Upgrade Kueue to another release: {', '.join(MINORS)}.",
)
@namespace_option
@simulation_options
@output_option("table", "md", "json", "html")
@output_file_option
def command(
    paths: tuple[Path, ...],
    files: tuple[Path, ...],
    settings: tuple[str, ...],
    ended: tuple[str, ...],
    mapping: Path | None,
    kueue: str | None,
    namespace: str,
    options: SimulationOptions,
    output: str,
    output_file: str,
) -> None:
    """Print which workloads a change of a cluster affects.

    FILE is a dump of a running cluster, or manifests. The reference decides about them until nothing changes, makes the
    whole change at once, and decides again. The output has each workload that is newly admitted, preempted, no longer
    admitted, charged otherwise, or pending for another reason, and the used and nominal quota of each ClusterQueue and
    Cohort that changes, before and after. Running workloads do not finish by themselves. -o html draws the cluster
    before and after the change side by side, as show does. Nothing is sent to a cluster.
    """
    asked = _Asked(
        files=files,
        settings=settings,
        ended=ended,
        namespace=namespace,
        mapping=mapping,
        kueue=kueue,
        options=options,
    )
    _insist(asked, has_cluster=bool(paths) or options.has_cluster)
    wanted = _Output(form=output, file=output_file, paths=paths)
    raise SystemExit(_answer(options.read(paths), asked, wanted))


def _answer(simulation: Simulation, asked: _Asked, wanted: _Output) -> int:
    """Make the change, write what it affects, and give the exit code."""
    allow_missing = asked.options.allow_missing
    simulated = asked.options.simulated(simulation)
    result = simulated.result
    change, source = _change(simulation, result, asked)
    code = simulated.report_problems()
    drawn = None
    if wanted.form == "html":
        drawn = ClusterBefore(simulation, result, wanted.paths, asked.words)
    before = decided(result.target)
    target = _upgraded(simulation, result, asked)
    if allow_missing:
        create_namespaces(target, change)
    outcome = make(target, change)
    _check(outcome, source, allow_missing=allow_missing)
    notes_of_change = list(_notes(outcome))
    for line in notes_of_change:
        click.echo(line, err=True)
    found = compared(before, decided(target))
    text = (
        what_if_text(found, wanted.form)
        if drawn is None
        else drawn.page(target, found, notes_of_change)
    )
    write_output(text, wanted.file)
    return code


def _insist(asked: _Asked, *, has_cluster: bool) -> None:
    """Reject a command line without a change or without a cluster."""
    if asked.is_empty:
        raise click.UsageError(
            "no change: give -f, --set, --without, --mapping or --kueue"
        )
    if not has_cluster:
        raise click.UsageError("no cluster: give a dump, manifests or --context")


def _change(
    simulation: Simulation, result: SimulationResult, asked: _Asked
) -> tuple[ClusterChange, ChangedConfiguration | None]:
    """Read the change, and its Configuration if there is one.

    Raises:
        CliError: a file cannot be read, or a name is not that of an object.

    """
    documents = _documents(asked.files)
    with readable():
        objects = given(documents)
        source = _configuration(simulation, asked, documents)
    change = ClusterChange(
        objects=objects,
        quotas=quota_changes(asked.settings, result.target.store),
        ended=tuple(_ended(asked, result)),
        configuration=source.manifest if source else None,
    )
    _note_new(result, objects)
    _warn(objects, result.places)
    _note_moved(simulation, result, objects)
    return change, source


def _documents(files: Iterable[Path]) -> list[ManifestDocument]:
    """Read the files of a change.

    Raises:
        CliError: one cannot be read, or has an object whose change the simulation does not consider.

    """
    with readable():
        documents = [document for file in files for document in read(file)]
        unknown = [each for each in documents if not _is_simulated(each)]
    for each in unknown:
        found = str(each.manifest.get("kind", "") or "an object without a kind")
        known = nearest(found, KINDS)
        text = (
            f"found {found}; expected a kind that the simulation decides about; {known}"
        )
        raise CliError([located(each.file, each.line_of("kind"), text)])
    if files and not documents:
        shown = ", ".join(map(str, files))
        raise CliError([f"{shown}: found no object; expected the objects that change"])
    return documents


def _is_simulated(document: ManifestDocument) -> bool:
    kind = document.manifest.get("kind")
    return kind in KINDS or bool(configurations([document]))


def _configuration(
    simulation: Simulation, asked: _Asked, documents: list[ManifestDocument]
) -> ChangedConfiguration | None:
    """Read the Configuration of a change, among its objects or named.

    Raises:
        CliError: there are two, or Kueue does not start with its feature gates.
        DocumentError: there are two among the objects.

    """
    manager = simulation.manager_gates
    gates = {**manager, **asked.options.gates}
    among = configuration_of(documents)
    current = simulation.configuration
    source = None
    if asked.mapping:
        source = changed_configuration(asked.mapping, current, gates)
    elif among:
        source = of_document(among, current, gates)
    if asked.mapping and among:
        place = located(among.file, among.line, "found a second Configuration")
        raise CliError([f"{place}; --mapping {asked.mapping} has one"])
    if source and (faults := gates_twice(source.document, manager)):
        raise CliError(source.line(fault) for fault in faults)
    return source


def _ended(asked: _Asked, result: SimulationResult) -> Iterable[tuple[str, str]]:
    work = work_of(result)
    for written in asked.ended:
        yield the_only(work_name(written, asked.namespace), work).key


def _upgraded(
    simulation: Simulation,
    before: SimulationResult,
    asked: _Asked,
) -> ReferenceTarget:
    """Run the same objects on another release, if there is one.

    Raises:
        CliError: it does not start with the Configuration, or does not accept an object that was accepted.

    """
    minor = asked.kueue
    if minor is None:
        return before.target
    upgraded = replace(simulation, behaviour=behaviour_of(f"{KUEUE}{minor}"))
    try:
        result = asked.options.run(upgraded)
    except CliError as error:
        raise CliError(f"--kueue {minor}: {line}" for line in error.lines) from None
    refused = list(_newly_refused(before, result))
    if refused:
        raise CliError(f"--kueue {minor}: {line}" for line in refused)
    if result.uncharged:
        gate = upgraded.behaviour.integration_gate
        click.echo(GATE_NOTE.format(minor=minor, gate=gate), err=True)
    return result.target


def _newly_refused(before: SimulationResult, after: SimulationResult) -> Iterator[str]:
    """Give what one release rejects and the other does not."""
    known = {(each.given.ref, each.error.field) for each in before.refused}
    for each in after.refused:
        if (each.given.ref, each.error.field) not in known:
            yield located(*each.place, f"{each.given.ref}: {each.error}")


def _note_new(result: SimulationResult, objects: Iterable[SimulationInputs]) -> None:
    """Say which queues and flavors are new although a name like theirs exists."""
    store = result.target.store
    for each in objects:
        ref = each.ref
        known = [one["metadata"]["name"] for one in store.every(ref.kind)]
        near = nearest(ref.name, known)
        if ref.name in known or "did you mean" not in near:
            continue
        place = located(*each.place("metadata.name"), ref)
        click.echo(f"note: {place} is new; {near}", err=True)


def _note_moved(
    simulation: Simulation,
    result: SimulationResult,
    objects: Sequence[SimulationInputs],
) -> None:
    """Say that a later release decides otherwise about a LocalQueue that moves to another ClusterQueue."""
    if not in_force(MOVE, simulation.behaviour):
        return
    for each in objects:
        before = result.target.read(each.ref) if each.ref.kind == MOVE.kind else None
        if before is None:
            continue
        if before["spec"].get("clusterQueue") != each.manifest["spec"].get(
            "clusterQueue"
        ):
            place = located(*each.place(MOVE.field), each.ref)
            click.echo(f"note: {place}: {MOVE.error()}", err=True)


def _warn(objects: Iterable[SimulationInputs], places: bool) -> None:
    """Name the fields of a change that Kueue does not know, or that the simulation ignores."""
    for each in objects:
        for field in unknown(each.manifest):
            place = located(*each.place(field), each.ref)
            click.echo(f'warning: {place}: unknown field "{field}"', err=True)
        for error in not_decided(each.manifest, placed=places):
            place = located(*each.place(error.field), each.ref)
            click.echo(f"note: {place}: {error}", err=True)


def _wrong(
    outcome: ChangeOutcome,
    configuration: ChangedConfiguration | None,
    *,
    allow_missing: bool,
) -> Iterator[str]:
    """Give the lines about what is wrong with a change."""
    if configuration:
        yield from (configuration.line(error) for error in outcome.configuration)
    for finding in outcome.objects:
        if finding.reference is None or not allow_missing:
            yield located(*finding.place, f"{finding.given.ref}: {finding.error}")
    for rejection in outcome.quotas:
        yield f"--set: {rejection.ref}: {rejection.error or rejection.message}"
    if any(map(lacks_namespace, outcome.objects)):
        yield ABSENT_NOTE.format(why="")


def _check(
    outcome: ChangeOutcome,
    configuration: ChangedConfiguration | None,
    *,
    allow_missing: bool,
) -> None:
    """Report what is wrong with a change.

    Raises:
        CliError: something is.

    """
    lines = list(_wrong(outcome, configuration, allow_missing=allow_missing))
    if lines:
        raise CliError(lines)


def _notes(outcome: ChangeOutcome) -> Iterator[str]:
    """Say that a change does not settle, if it does not."""
    if outcome.restless:
        yield f"note: Kueue does not settle after the change: {outcome.restless}"
