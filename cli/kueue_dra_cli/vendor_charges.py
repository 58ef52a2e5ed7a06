"""``kueue-dra vendor charges``: what Kueue charges each demo of a driver, predicted or by a real Kueue."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import (
    kubernetes_option,
    output_option,
    paths_argument,
    target_option,
)
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_cli.release_option import behaviour_of, minor_option
from kueue_dra_cli.vendor_files import context_of, descriptor_option
from kueue_dra_clusters.binaries import binaries
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.waiting import TimedOut, limits_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import Manifest, Target
from kueue_dra_vendor.admissions import (
    DemoAnswer,
    MappingRefused,
    VendorAnswer,
    answer,
    undecided_work,
)
from kueue_dra_vendor.files import VendorFiles
from kueue_dra_vendor.mapping import documents, mapped

EPILOG = """\
\b
Examples
  kueue-dra vendor charges examples/vendors/hami                  predicted by the reference, in memory
  kueue-dra vendor charges driver/ --target kueue                 a real Kueue, started as local processes
  kueue-dra vendor charges examples/vendors/nvidia-gpu-mig -o json

\b
Exit codes
  0  printed; with --target kueue: the real Kueue decided as predicted
  1  the real Kueue decided otherwise, or rejected an object that the reference takes
  2  a file cannot be read, no class matches a device, there is no Job, or no real Kueue can be started
"""
HEADERS = ("demo", "verdict", "charged")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """What is applied to each target."""

    files: VendorFiles
    configuration: Manifest
    queues: Sequence[Manifest]

    def of(self, target: Target) -> VendorAnswer:
        """Let a target answer."""
        return answer(target, self.files, self.configuration, self.queues)


@click.command(
    "charges",
    epilog=EPILOG,
    short_help="Show what Kueue charges each demo of a driver.",
)
@paths_argument
@target_option(
    "reference",
    "kueue",
    text="What decides: the reference alone, or also a real Kueue, whose answers are compared.",
)
@minor_option
@descriptor_option
@kubernetes_option
@output_option("table", "json")
def command(
    paths: tuple[Path, ...],
    target: str,
    minor: str,
    descriptor: Path | None,
    kubernetes: str,
    output: str,
) -> None:
    """Show what Kueue charges each Job among a driver's files, under the mapping that `vendor mapping` writes.

    The classes, slices and templates are applied with that mapping and its queues; each Job is submitted alone. With
    --target kueue, a real Kueue on an API server without nodes gets the same objects: what it decides otherwise is
    named. Work of other kinds is not charged here; a note names it.
    """
    question = _question(paths, kubernetes, descriptor)
    behaviour = behaviour_of(minor)
    with _reported_errors():
        predicted = question.of(ReferenceTarget(behaviour))
        seen = _real(question, behaviour) if target == "kueue" else None
    differences = list(_differences(predicted, seen)) if seen else []
    shown = seen or predicted
    if output == "json":
        as_json(_as_json(shown, differences, is_compared=seen is not None))
    else:
        as_table(HEADERS, [_row(each) for each in shown.demos], (None, 80, None))
    _report(question, shown, differences)
    raise SystemExit(1 if differences else 0)


def _question(
    paths: Sequence[Path], kubernetes: str, descriptor: Path | None
) -> _Question:
    context = context_of(paths, None, kubernetes, descriptor, has_mapping=False)
    declared = context.descriptor.quotas if context.descriptor else None
    chosen, left = mapped(context.inventory, declared)
    if not chosen:
        found = [f"{each.title}: {why}" for each, why in left]
        raise CliError(found or ["found no DeviceClass"])
    if not any(each.manifest.get("kind") == "Job" for each in context.files.work):
        names = ", ".join(map(str, paths))
        raise CliError([f"{names}: found no Job; expected a demo of kind Job"])
    configuration, *queues = documents(context.inventory, chosen)
    return _Question(files=context.files, configuration=configuration, queues=queues)


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
            yield f"Job {ours.demo}: Kueue: {_worded(theirs)}; predicted: {_worded(ours)}"


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
    """Say on the error stream what was rejected, what is not charged, and what differs."""
    for each in found.rejections:
        click.echo(f"rejected: {each.ref}: {each.message}", err=True)
    for title in undecided_work(question.files):
        click.echo(f"note: {title} is no Job; its charge is not shown", err=True)
    for line in differences:
        click.echo(f"differs: {line}", err=True)
