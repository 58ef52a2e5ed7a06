"""``kueue-dra audit``: whether a cluster keeps the promise right now, from a dump or a context, read-only."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import click

from kueue_dra_audit.check import Findings, confirmed, findings
from kueue_dra_audit.cluster import (
    AuditedCluster,
    ConfigurationRejected,
    DumpedCluster,
    audited,
)
from kueue_dra_audit.finding import Finding
from kueue_dra_audit.junit import junit
from kueue_dra_cli.cluster_source import read_cluster
from kueue_dra_cli.errors import CliError, located, place_of
from kueue_dra_cli.inputs import Simulation, simulation_of
from kueue_dra_cli.options import (
    behaviour_option,
    cel_option,
    configuration_option,
    context_option,
    gates_option,
    output_option,
)
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_cli.progress import doing
from kueue_dra_clusters.waiting import let_pass
from kueue_dra_ref.api.queued_pods import POD, THROUGH_PODS
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.api.yaml_text import written
from kueue_dra_ref.behaviours.phases_dra import MappingSource
from kueue_dra_ref.explain.step import listed, named
from kueue_dra_ref.reference.sketches import SketchServer
from kueue_dra_ref.simulation.other_kinds import group_and_kind
from kueue_dra_ref.target import Manifest, Rejection

EPILOG = """\
\b
Examples
  kueue-dra audit cluster.yaml                      a file of kueue-dra dump
  kueue-dra audit cluster.yaml --again later.yaml   only what two moments have in common
  kueue-dra audit --context prod -o junit           a running cluster, read twice

\b
Exit codes
  0  no finding
  1  a finding
  2  a file cannot be read or is no dump, no such context, or Kueue does not start with the Configuration
"""
HEADERS = ("requirement", "object", "the cluster says", "it follows", "sure", "cause")
WIDTHS = (None, 32, 30, 30, 12, 34)
_SHOWN = 5
_NO_CLUSTER = (
    "{files}: found no object with a UID or status of a cluster; "
    "expected what kueue-dra dump or kubectl get -o yaml prints"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the input is read."""

    configuration: Path | None
    behaviour: str
    gates: Mapping[str, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The result for one moment."""

    cluster: AuditedCluster
    found: Findings


@click.command("audit", epilog=EPILOG)
@click.argument(
    "paths",
    nargs=-1,
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="[FILE|DIR]...",
)
@click.option(
    "--again",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A dump of a few seconds later: only findings of both moments count. Repeatable.",
)
@context_option(
    "Read the cluster of this kubeconfig context instead, twice if something is found."
)
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait between the two readings of a context.",
)
@configuration_option
@behaviour_option
@gates_option
@cel_option
@output_option("table", "json", "junit")
def command(
    paths: tuple[Path, ...],
    again: tuple[Path, ...],
    context: str,
    wait: float,
    configuration: Path | None,
    behaviour: str,
    gates: Mapping[str, bool],
    output: str,
) -> None:
    """Check whether a cluster keeps what Kueue promises, right now, and change nothing.

    The audit recomputes the charge of each admitted Workload, the reason of each pending one and the figures of the
    queues, and checks that no quota is exceeded, that nothing runs without quota, and that classes and devices exist.
    Each finding has the requirement, the object, what the cluster says, what follows instead, how sure that is, and a
    cause. Figures that Kueue writes a moment later may lag: give a second dump with --again, or use --context. Notes
    name what could not be checked. The release is that of Kueue's Deployment unless --behaviour names one.
    """
    if bool(paths) == bool(context):
        raise click.UsageError("give files of a dump, or --context NAME")
    if again and context:
        raise click.UsageError("--again is for files; a context is read twice anyway")
    options = Options(
        configuration=configuration,
        behaviour=behaviour,
        gates=gates,
    )
    if context:
        last = _of_context(context, wait, options)
    else:
        last = _of_files(paths, options)
        if again:
            later = _of_files(again, options)
            last = replace(later, found=confirmed(last.found, later.found))
    last = _with_commands(last, paths, again, context)
    _print(last, output)
    raise SystemExit(_report(last))


def _of_context(context: str, wait: float, options: Options) -> Audit:
    """Audit a running cluster; read it again after a while if something was found."""
    with _dumped(context) as file:
        first = _of_files((file,), options)
    if not any(first.found.values()):
        return first
    doing(f"reading the cluster again in {wait:g} seconds")
    let_pass(wait)
    with _dumped(context) as file:
        second = _of_files((file,), options)
    return replace(second, found=confirmed(first.found, second.found))


@contextmanager
def _dumped(context: str) -> Iterator[Path]:
    """Dump a cluster to a file that exists for a while."""
    _, found = read_cluster("audit", context, None)
    with tempfile.TemporaryDirectory(prefix="kueue-dra-audit-") as folder:
        file = Path(folder) / "cluster.yaml"
        file.write_text(written(found.documents()), encoding="utf-8")
        yield file


def _of_files(files: Sequence[Path], options: Options) -> Audit:
    simulation = simulation_of(
        files,
        options.configuration,
        options.behaviour,
        options.gates,
        from_scratch=False,
    )
    if simulation.cluster is None:
        shown = ", ".join(map(str, files))
        raise CliError([_NO_CLUSTER.format(files=shown)])
    server = SketchServer(kubernetes=simulation.running_kubernetes)
    try:
        cluster = audited(_dump_of(simulation), server)
    except ConfigurationRejected as rejected:
        document = simulation.document
        raise CliError(
            located(*place_of(error, document), error) for error in rejected.errors
        ) from None
    return Audit(cluster=cluster, found=findings(cluster, doing))


def _dump_of(simulation: Simulation) -> DumpedCluster:
    source = simulation.behaviour.mapping_source
    is_elsewhere = source is not MappingSource.IN_THE_CONFIGURATION
    return DumpedCluster(
        behaviour=simulation.behaviour,
        configuration=simulation.configuration,
        given=[each for each in simulation.given if not _is_of_pods(each.ref.kind)],
        others=_others(simulation),
        seconds=simulation.seconds,
        has_configuration=simulation.document is not None or is_elsewhere,
    )


def _others(simulation: Simulation) -> list[Manifest]:
    """Give the objects of kinds that the reference does not read, and the head of a dump."""
    documents = simulation.cluster.documents if simulation.cluster else ()
    return [each.manifest for each in documents if _is_other(each.manifest)]


def _is_other(manifest: Manifest) -> bool:
    group, kind = group_and_kind(manifest)
    known = KINDS.get(kind)
    return known is None or known.group != group or _is_of_pods(kind)


def _is_of_pods(kind: str) -> bool:
    """Whether the audit takes a kind as it is: pods, and what makes them."""
    return kind == POD or kind in THROUGH_PODS


def _with_commands(
    audit: Audit, paths: Sequence[Path], again: Sequence[Path], context: str
) -> Audit:
    """Give the findings with commands that name the input."""
    file = "cluster.yaml" if context else " -f ".join(map(str, again or paths))
    found = {
        name: [replace(each, look=each.look.replace("FILE", file)) for each in some]
        for name, some in audit.found.items()
    }
    return replace(audit, found=found)


def _print(audit: Audit, output: str) -> None:
    found = _all(audit)
    match output:
        case "json":
            as_json(
                {
                    "findings": [dict(each.as_json()) for each in found],
                    "checked": _counts(audit.cluster),
                    "notes": [
                        {"note": remark, "objects": names}
                        for remark, names in audit.cluster.notes
                    ],
                }
            )
        case "junit":
            click.echo(junit(audit.found).rstrip("\n"))
        case _:
            _print_table(found, audit.cluster)


def _all(audit: Audit) -> list[Finding]:
    return [each for some in audit.found.values() for each in some]


def _print_table(found: Sequence[Finding], cluster: AuditedCluster) -> None:
    if found:
        as_table(HEADERS, map(_row, found), WIDTHS)
        click.echo("\nto look further:")
        for line in dict.fromkeys(each.look for each in found):
            click.echo(f"  {line}")
        click.echo()
    checked = ", ".join(f"{count} {kind}" for kind, count in _counts(cluster).items())
    click.echo(f"{named(len(found), 'finding')}; checked {checked or 'nothing'}")


def _row(found: Finding) -> tuple[str, ...]:
    return (
        found.requirement,
        f"{found.subject}\n{found.field}",
        found.says,
        found.follows,
        str(found.sure),
        found.cause,
    )


def _counts(cluster: AuditedCluster) -> Mapping[str, int]:
    counts = {}
    for kind in ("ClusterQueue", "LocalQueue", "Workload", "Job"):
        counts[kind] = len(cluster.of(kind))
    counts["Pod"] = sum(1 for _ in cluster.others("Pod"))
    return {kind: count for kind, count in counts.items() if count}


def _report(audit: Audit) -> int:
    """Print notes and objects that cannot be read on standard error, and give the exit code."""
    for remark, names in audit.cluster.notes:
        shown = f": {listed(names, _SHOWN)}" if names else ""
        click.echo(f"note: {remark}{shown}", err=True)
    for rejection in audit.cluster.rejected:
        click.echo(_rejected(audit.cluster, rejection), err=True)
    if audit.cluster.rejected:
        return 2
    return 1 if _all(audit) else 0


def _rejected(cluster: AuditedCluster, rejection: Rejection) -> str:
    error = rejection.error
    for each in cluster.dumped.given:
        if each.ref == rejection.ref:
            place = each.place(error.field if error else "")
            return located(*place, f"{rejection.ref}: {error or rejection.message}")
    return f"{rejection.ref}: {error or rejection.message}"
