"""Print what a simulation found wrong with its input, and what it did not consider."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import click

from kueue_dra_cli.errors import located, place_of
from kueue_dra_cli.inputs import Simulation
from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_ref.api.job_kinds import owner_of
from kueue_dra_ref.api.queued_pods import POD, THROUGH_PODS
from kueue_dra_ref.behaviours.phases_dra import MappingSource
from kueue_dra_ref.explain.step import circle_text, listed, named
from kueue_dra_ref.simulation.assumed_namespaces import selecting_by_labels
from kueue_dra_ref.simulation.cron_jobs import job_of
from kueue_dra_ref.simulation.gated_fields import GatedFields, gated_fields
from kueue_dra_ref.simulation.missing_from_cluster import missing_from_cluster
from kueue_dra_ref.simulation.not_considered import InputNotes
from kueue_dra_ref.simulation.other_kinds import UnknownKind
from kueue_dra_ref.simulation.run import (
    InputError,
    SimulationResult,
    incomplete_groups,
    unknown_namespaces,
)
from kueue_dra_ref.simulation.unsimulated_requests import UnsimulatedWork, requested
from kueue_dra_ref.simulation.unsupported_fields import settings_not_decided

INTEGRATION_NOTE = "note: the gate {gate} is off, so no claim is charged; turn it on with --feature-gates {gate}=true"
NO_CONFIGURATION_NOTE = (
    "note: no Configuration was given, so no device class is mapped; "
    "give one with --config, or among the manifests"
)
NO_SLICES_NOTE = (
    "note: no ResourceSlice is given: add those of the cluster (kubectl get resourceslices -o yaml), "
    "because selectors are checked against devices"
)
UNSETTLED_NOTE = (
    "note: Kueue does not settle here; the output shows the last state: {moving}"
)
QUOTA_FREE_NOTE = "note: left out objects of kinds that take no quota: {kinds}"
UNQUEUED_NOTE = "note: left out objects that name no queue (label kueue.x-k8s.io/queue-name), {why}: {kinds}"
MISSING_NOTE = "note: the input has {missing}"
OWNED_NOTE = (
    "note: Workload {workload} is skipped: its {kind} is in the input too, "
    "and Kueue creates the {kind}'s Workload"
)
INCOMPLETE_NOTE = "note: the group of pods {group}, so it has no Workload"
UNMANAGED_NOTE = "note: {job} {why}, so Kueue does not manage it"
OF_KUEUE_NOTE = "note: what these objects decide is not considered: {objects}"
WORK = "{place}: {work} is not simulated: {what}"
WORK_HINT = (
    "note: to simulate such work, give the Workload that Kueue made for it "
    "(kubectl get workloads -o yaml), or a Job with the same pod template"
)
TEMPLATES_NOTE = (
    "note: left out {count}, not rendered, the first {place}; "
    "give the output of helm template instead"
)
KUSTOMIZATION_NOTE = (
    "note: left out {count}, not applied, the first {place}; "
    "give the output of kubectl kustomize instead"
)
NO_OBJECT_NOTE = "note: left out {count} without an object, the first {place}"
GATED_NOTE = (
    "note: {place}: Kubernetes {kubernetes} drops {fields} of {objects}, because its gate {gate} is off; "
    "turn it on with --kubernetes-feature-gates {gate}=true"
)
CONFIG_WINS_NOTE = "note: {place}: Configuration not used: --config names another one"
BOTH_GATES_NOTE = (
    "note: Kueue itself refuses feature gates in its arguments and in its Configuration; "
    "here --feature-gates adds to those of the Configuration"
)
CIRCLE_NOTE = (
    "note: {circle}; Kueue admits nothing below them, "
    "although the status of ClusterQueue {queues} says Active"
)
ASSUMED_NOTE = (
    "note: the input has no Namespace, so {namespaces} {are} taken to exist, without labels: "
    "kubectl get namespaces -o yaml prints those of a cluster"
)
ABSENT_NOTE = (
    "note: --allow-missing creates Namespaces that are missing, without labels{why}; "
    "kubectl get namespaces -o yaml prints those of a cluster"
)
_NAMED = 3
"""How many pods that Kueue does not manage a line names."""
_SHOWN = 20
"""How many objects of work get a line of their own."""


def report_problems(
    simulation: Simulation,
    result: SimulationResult,
    notes: InputNotes,
    *,
    allow_missing: bool,
) -> int:
    """Print errors, warnings and notes on standard error, and give the exit code."""
    for line in problems(simulation, result, notes, allow_missing=allow_missing):
        click.echo(line, err=True)
    if result.refused:
        return 2
    return 2 if result.missing_of_new and not allow_missing else 0


def problems(
    simulation: Simulation,
    result: SimulationResult,
    notes: InputNotes,
    *,
    allow_missing: bool,
) -> Iterator[str]:
    """Give the lines that say what is wrong with the input, and what is not considered."""
    for finding in (*result.refused, *result.missing_of_new):
        yield _message(finding)
    yield from _namespaces(simulation, result, allow_missing=allow_missing)
    yield from _warnings(result)
    yield from _not_decided(simulation, result)
    yield from _kubernetes_notes(result)
    yield from left_out(simulation)
    yield from _work(result, notes.work)
    yield from _notes(simulation, result)


def _namespaces(
    simulation: Simulation, result: SimulationResult, *, allow_missing: bool
) -> Iterator[str]:
    """Say which Namespaces are taken to exist, or how to get those that are missing."""
    if allow_missing:
        return
    known = unknown_namespaces(result.restored)  # a note about the dump names those
    assumed = [each for each in simulation.assumed_namespaces if each not in known]
    if assumed:
        are = "is" if len(assumed) == 1 else "are"
        yield ASSUMED_NOTE.format(namespaces=listed(assumed, _SHOWN), are=are)
    elif any(map(lacks_namespace, result.refused)):
        by = selecting_by_labels(simulation.given, simulation.configuration)
        why = f", but {by} depends on their labels" if by else ""
        yield ABSENT_NOTE.format(why=why)


def lacks_namespace(finding: InputError) -> bool:
    """Whether an object is rejected because its Namespace does not exist."""
    error = finding.error
    return error.field == "metadata.namespace" and error.type == "Not found"


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


def _kubernetes_notes(result: SimulationResult) -> Iterable[str]:
    """Say which fields the gates of Kubernetes drop."""
    kubernetes = result.target.api_server.kubernetes
    for each in gated_fields(result.given, kubernetes):
        yield GATED_NOTE.format(
            place=_place(each.first.documents[-1]),
            kubernetes=kubernetes.name,
            fields=listed(list(each.fields)),
            objects=_objects(each),
            gate=each.gate,
        )


def _objects(each: GatedFields) -> str:
    if each.objects == 1:
        return str(each.first.ref)
    return named(each.objects, each.kind)


def left_out(simulation: Simulation) -> Iterator[str]:
    """Say what of the input decides nothing here, each kind once."""
    documents = simulation.sorted
    for other in simulation.other_configurations:
        yield CONFIG_WINS_NOTE.format(place=_place(other))
    if documents.of_kueue:
        objects = listed([_title(each) for each in documents.of_kueue])
        yield OF_KUEUE_NOTE.format(objects=objects)
    yield from map(_cron_job, documents.cron_jobs)
    yield from _unknown(documents.unknown)
    if documents.quota_free:
        yield QUOTA_FREE_NOTE.format(kinds=_counts(documents.quota_free))
    if documents.unqueued:
        why = "so Kueue does not queue them"
        if simulation.configuration.get("manageJobsWithoutQueueName"):
            why = "whose quota is not considered"
        yield UNQUEUED_NOTE.format(kinds=_counts(documents.unqueued), why=why)
    yield from _counted(KUSTOMIZATION_NOTE, documents.kustomizations, "kustomization")
    yield from _counted(TEMPLATES_NOTE, documents.templates, "Helm template")
    yield from _counted(NO_OBJECT_NOTE, documents.no_objects, "document")


def _counts(kinds: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


def _cron_job(document: ManifestDocument) -> str:
    name = job_of(document).manifest["metadata"]["name"]
    title = _title(document)
    return f"note: {_place(document)}: of the Jobs of {title}, one is considered: Job {name}"


def _counted(
    note: str, documents: Sequence[ManifestDocument], noun: str
) -> Iterator[str]:
    if documents:
        count = named(len(documents), noun)
        yield note.format(count=count, place=_place(documents[0]))


def _unknown(kinds: Mapping[str, UnknownKind]) -> Iterator[str]:
    for kind, found in kinds.items():
        objects = named(found.objects, "object")
        labelled = "none names a queue"
        if found.labelled:
            labelled = (
                f"{found.labelled} with a queue label, whose quota is not considered"
            )
        yield f"note: {_place(found.first)}: unknown kind {kind}: left out {objects}, {labelled}"


def not_recorded(simulation: Simulation) -> Iterator[str]:
    """Say what of the input a recording does not have."""
    yield from left_out(simulation)
    if simulation.sorted.work:
        objects = listed([_title(each) for each in simulation.sorted.work])
        yield f"note: not recorded, because only Jobs and Workloads are: {objects}"
    makers = [each.ref for each in simulation.given if each.ref.kind in THROUGH_PODS]
    if makers:
        shown = listed(list(map(str, makers)))
        yield f"note: not recorded, because no controller makes their pods: {shown}; give the pods"


def _work(result: SimulationResult, work: Sequence[UnsimulatedWork]) -> Iterator[str]:
    for line in work_lines(result, work[:_SHOWN]):
        yield f"note: {line}"
    more = len(work) - _SHOWN
    if more > 0:
        yield f"note: {named(more, 'more object')} of such kinds are not simulated"
    if work:
        yield WORK_HINT


def work_lines(
    result: SimulationResult, work: Sequence[UnsimulatedWork]
) -> Iterator[str]:
    """Say what each object of work would request."""
    for each in work:
        place = _place(each.document)
        what = _requests(result, each)
        yield WORK.format(place=place, work=each.shown, what=what)


def _requests(result: SimulationResult, work: UnsimulatedWork) -> str:
    queue = f"LocalQueue {work.queue}"
    requests, why = requested(result.target, work)
    if why:
        return f"it is queued in {queue}; {why}"
    amounts = ", ".join(f"{name} {requests[name]}" for name in requests)
    verb = "requests" if work.pods == 1 else "request"
    pods = named(work.pods, "pod")
    return f"its {pods} {verb} {amounts or 'nothing'} of {queue}"


def _title(document: ManifestDocument) -> str:
    meta = document.manifest.get("metadata")
    name = meta.get("name", "") if isinstance(meta, dict) else ""
    return f"{document.manifest.get('kind')} {name}"


def _place(document: ManifestDocument) -> str:
    return f"{document.file}:{document.line}"


def _cluster_notes(simulation: Simulation, result: SimulationResult) -> Iterable[str]:
    """Say what a dump lacks."""
    if simulation.cluster is None:
        return
    has_configuration = (
        simulation.document is not None
        or simulation.behaviour.mapping_source is not MappingSource.IN_THE_CONFIGURATION
    )
    for missing in missing_from_cluster(result, has_configuration=has_configuration):
        yield MISSING_NOTE.format(missing=missing)


def _notes(simulation: Simulation, result: SimulationResult) -> Iterable[str]:
    yield from _cluster_notes(simulation, result)
    if simulation.adds_gates:
        yield BOTH_GATES_NOTE
    if result.ask_for_devices:
        yield from _device_notes(simulation, result)
    if result.restless:
        yield UNSETTLED_NOTE.format(moving=result.restless)
    for circle, queues in result.circles.items():
        yield CIRCLE_NOTE.format(circle=circle_text(circle), queues=listed(queues))
    for owned in result.owned:
        kind, _ = owner_of(owned.manifest) or ("Job", "")
        yield OWNED_NOTE.format(
            workload=f"{owned.ref.namespace}/{owned.ref.name}", kind=kind
        )
    yield from _unmanaged(result)


def _unmanaged(result: SimulationResult) -> Iterator[str]:
    """Name what Kueue does not manage, pods and what makes them in one line for each reason."""
    together: dict[str, list[str]] = {}
    for job, why in result.unmanaged:
        if job.ref.kind == POD or job.ref.kind in THROUGH_PODS:
            together.setdefault(why, []).append(str(job.ref))
        else:
            yield UNMANAGED_NOTE.format(job=job.ref, why=why)
    for group in incomplete_groups(result):
        yield INCOMPLETE_NOTE.format(group=group)
    for why, refs in together.items():
        more = len(refs) - _NAMED
        named_here = listed(refs[:_NAMED])
        shown = f"{named_here} and {more} more" if more > 0 else named_here
        verb = "each " if len(refs) > 1 else ""
        yield UNMANAGED_NOTE.format(job=shown, why=f"{verb}{why}")


def _device_notes(simulation: Simulation, result: SimulationResult) -> Iterable[str]:
    in_configuration = (
        simulation.behaviour.mapping_source is MappingSource.IN_THE_CONFIGURATION
    )
    if simulation.cluster is None:
        if simulation.document is None and in_configuration:
            yield NO_CONFIGURATION_NOTE
        if result.lacks_slices:
            yield NO_SLICES_NOTE
    if result.uncharged:
        yield INTEGRATION_NOTE.format(gate=simulation.behaviour.integration_gate)
