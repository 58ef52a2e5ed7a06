"""``kueue-dra vendor charges``: what Kueue charges each demo of a driver, predicted or by a real Kueue."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import output_option, target_option
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_cli.release_option import behaviour_of, minor_option
from kueue_dra_cli.vendor_files import context_of, input_options
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.waiting import TimedOut, limits_of
from kueue_dra_ref.api.documents import ManifestDocument
from kueue_dra_ref.apiserver import Kubernetes
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.controlplane.apiserver import ApiServer
from kueue_dra_ref.explain.step import listed
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import Manifest, Target
from kueue_dra_vendor.admissions import (
    DemoAnswer,
    MappingRefused,
    VendorAnswer,
    answer,
)
from kueue_dra_vendor.charges import ENOUGH
from kueue_dra_vendor.check import VendorContext
from kueue_dra_vendor.demos import as_workloads, demos_of
from kueue_dra_vendor.files import VendorFiles
from kueue_dra_vendor.mapping import documents, mapped, queues
from kueue_dra_vendor.reading import VendorInput, configuration_with

EPILOG = """\
\b
Examples
  kueue-dra vendor charges examples/vendors/hami                  predicted by the reference, in memory
  kueue-dra vendor charges examples/driver                        under the Configuration among the files
  kueue-dra vendor charges driver/ --target kueue                 a real Kueue, started as local processes
  kueue-dra vendor charges examples/vendors/nvidia-gpu-mig -o json

\b
Exit codes
  0  printed; with --target kueue: the real Kueue decided as predicted
  1  the real Kueue decided otherwise, or rejected an object that the reference takes
  2  a file cannot be read, no class matches a device, there is no demo, or no real Kueue can be started
"""
HEADERS = ("demo", "verdict", "charged")
MOST = 3
"""How many objects a note names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """What is applied to each target."""

    files: VendorFiles
    configuration: Manifest
    queues: Sequence[Manifest]
    kubernetes: Kubernetes
    document: ManifestDocument | None
    """Where the Configuration was read from; None where it is generated."""

    def of(self, target: Target) -> VendorAnswer:
        """Let a target answer."""
        return answer(target, self.files, self.configuration, self.queues)


@click.command(
    "charges",
    epilog=EPILOG,
    short_help="Show what Kueue charges each demo of a driver.",
)
@input_options()
@target_option(
    "reference",
    "kueue",
    text="What decides: the reference alone, or also a real Kueue, whose answers are compared.",
)
@minor_option
@output_option("table", "json")
def command(given: VendorInput, target: str, minor: str, output: str) -> None:
    """Show what Kueue charges each demo among a driver's files.

    The mapping is Kueue's Configuration among the files, or the one of --config, with queues that have enough of its
    resources; without one it is the mapping that `vendor mapping` writes, with its queues. Classes, slices and
    templates are applied, and each demo is submitted alone: a Job as it is, of other work one pod of each template.
    With --target kueue, a real Kueue on an API server without nodes gets the same objects: what it decides otherwise
    is named.
    """
    question = _question(given)
    behaviour = behaviour_of(minor)
    with _reported_errors():
        api_server = ApiServer(kubernetes=question.kubernetes)
        predicted = question.of(ReferenceTarget(behaviour, api_server))
        seen = _real(question, behaviour) if target == "kueue" else None
    differences = list(_differences(predicted, seen)) if seen else []
    shown = seen or predicted
    if output == "json":
        as_json(_as_json(shown, differences, is_compared=seen is not None))
    else:
        as_table(HEADERS, [_row(each) for each in shown.demos], (None, 80, None))
    _report(question, shown, differences)
    raise SystemExit(1 if differences else 0)


def _question(given: VendorInput) -> _Question:
    context = context_of(given)
    if not demos_of(context.files):
        names = ", ".join(map(str, given.paths)) or "the cluster"
        raise CliError([f"{names}: found no demo; expected a Job or other work"])
    configuration, queues_of_demos = _mapping_of(context)
    return _Question(
        files=context.files,
        configuration=configuration_with(configuration, context.kueue_gates),
        queues=queues_of_demos,
        kubernetes=context.api_server,
        document=context.configuration_document,
    )


def _mapping_of(context: VendorContext) -> tuple[Manifest, Sequence[Manifest]]:
    """Give the Configuration and the queues: those of the files with enough quota, or those that fit the devices."""
    if context.configuration_document:
        resources = {each.name: ENOUGH for each in context.mappings}
        configuration = context.configuration_document.manifest
        return configuration, queues(context.inventory, resources)
    declared = context.descriptor.quotas if context.descriptor else None
    chosen, left = mapped(context.inventory, declared)
    if not chosen:
        found = [f"{each.title}: {why}" for each, why in left]
        raise CliError(found or ["found no DeviceClass"])
    configuration, *fitting = documents(context.inventory, chosen)
    return configuration, fitting


@contextmanager
def _reported_errors() -> Iterator[None]:
    try:
        yield
    except (ClusterError, TimedOut) as trouble:
        raise CliError([str(trouble)]) from None
    except MappingRefused as fault:
        raise CliError([f"Kueue does not start with the mapping: {fault}"]) from None


def _real(question: _Question, behaviour: Behaviour) -> VendorAnswer:
    """Ask a real Kueue; its processes and files are gone afterwards, also after Ctrl-C."""
    # The client of Kubernetes takes long to import, and the reference needs none.
    from kueue_dra_clusters.binaries import binaries
    from kueue_dra_clusters.controlplane import ControlPlane
    from kueue_dra_clusters.live_target import LiveTarget

    click.echo(f"starting Kueue {behaviour.kueue} ...", err=True)
    programs = binaries(behaviour.version)
    with ControlPlane(programs) as plane:
        target = LiveTarget(plane, limits=limits_of(os.environ))
        try:
            return question.of(target)
        finally:
            target.close()


def _differences(predicted: VendorAnswer, seen: VendorAnswer) -> Iterator[str]:
    """Name what the real Kueue decided otherwise."""
    for ref, message in sorted(_rejected(seen).items() - _rejected(predicted).items()):
        yield f"{ref}: Kueue's API server rejects it: {message}"
    for ref, message in sorted(_rejected(predicted).items() - _rejected(seen).items()):
        yield f"{ref}: Kueue's API server takes it; the reference rejects it: {message}"
    for ours, theirs in zip(predicted.demos, seen.demos, strict=True):
        if not ours.agrees(theirs):
            yield f"{ours.demo}: Kueue: {_worded(theirs)}; predicted: {_worded(ours)}"


def _rejected(found: VendorAnswer) -> dict[str, str]:
    return {str(each.ref): each.message for each in found.rejections}


def _worded(found: DemoAnswer) -> str:
    charged = _charged(found) or found.message
    return f"{found.word}, {charged}" if charged else found.word


def _charged(found: DemoAnswer) -> str:
    return ", ".join(f"{name} {amount}" for name, amount in found.amounts.items())


def _row(found: DemoAnswer) -> tuple[str, str, str]:
    verdict = f"{found.word}: {found.message}" if found.message else found.word
    return found.demo, verdict, _charged(found)


def _as_json(
    found: VendorAnswer, differences: Sequence[str], *, is_compared: bool
) -> dict[str, object]:
    demos = [
        {
            "demo": each.demo,
            "verdict": each.word,
            "message": each.message,
            "charged": each.amounts,
        }
        for each in found.demos
    ]
    rejected = [
        {"object": str(each.ref), "message": each.message} for each in found.rejections
    ]
    compared = {"differences": list(differences)} if is_compared else {}
    return {"demos": demos, "rejected": rejected, **compared}


def _report(
    question: _Question, found: VendorAnswer, differences: Sequence[str]
) -> None:
    """Say on the error stream which mapping it is, what was rejected, how other work is charged, and what differs."""
    if question.document:
        place = f"{question.document.file}:{question.document.line}"
        click.echo(f"note: charged under the Configuration in {place}", err=True)
    for each in found.rejections:
        click.echo(f"rejected: {each.ref}: {each.message}", err=True)
    others = as_workloads(question.files)
    if others:
        names = listed(others, MOST)
        text = f"{names}: charged for one pod of each template, as no Job"
        click.echo(f"note: {text}", err=True)
    for line in differences:
        click.echo(f"differs: {line}", err=True)
