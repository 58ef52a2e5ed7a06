"""``kueue-dra run --preflight``: what a run on an existing cluster would do, how long it takes, and what it may not."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click
from tabulate import tabulate

from kueue_dra_cli.errors import CliError
from kueue_dra_fixtures.existing import rehearsing
from kueue_dra_fixtures.recorded_durations import PROCESSES, RECORDED, worded
from kueue_dra_fixtures.targets import TargetUnavailable

if TYPE_CHECKING:
    from kueue_dra_fixtures.gating import Asked, Prepared
    from kueue_dra_fixtures.rehearsal import Rehearsal

LONGEST = 150
"""The length of a reason; the report has it whole."""
MADE = (
    "Namespaces, ResourceFlavors, ClusterQueues, LocalQueues, Cohorts, priority classes, RuntimeClasses, LimitRanges, "
    "Jobs without pods, Workloads, ResourceClaims, ResourceClaimTemplates, and DeviceClasses of its own that nothing "
    "maps; all with kueue-dra in their names and the label kueue-dra.dev/run"
)

SOURCED = (
    "counter, capacity: only cases that hold whatever devices the drivers publish; the others need devices published, "
    "and a run publishes none"
)


def preflight(asked: Asked, arguments: Sequence[str]) -> int:
    """Print what a run with these arguments of pytest would do; 2 if permissions are missing.

    Raises:
        CliError: the run cannot start; the one line says why.

    """
    from kueue_dra_fixtures.gating import missing_permissions, prepare

    try:
        prepared = prepare(asked)
        missing = missing_permissions(prepared)
        found = rehearsing(prepared, arguments)
    except TargetUnavailable as fault:
        raise CliError([f"kueue-dra run: {fault}"]) from None
    if found.report is None:
        raise CliError(["kueue-dra run: no case matches the selection"])
    for block in _blocks(prepared, found, missing):
        click.echo(block)
    return 2 if missing else 0


def _blocks(
    prepared: Prepared, found: Rehearsal, missing: Sequence[str]
) -> Iterator[str]:
    yield from _about(prepared)
    yield ""
    site = prepared.cluster.site
    headers = ("role", "resource of the quota", "device class")
    yield tabulate(site.roles.table(), headers=headers, tablefmt="simple")
    yield textwrap.fill(SOURCED, 110)
    yield ""
    yield from _counts(found)
    yield ""
    yield from _not_applicable(found)
    yield ""
    yield f"creates and deletes: {MADE}"
    yield "reads: the Deployment, ConfigMap and ClusterRole of Kueue, and DeviceClasses"
    yield from _permissions(missing)
    yield _duration(found)


def _about(prepared: Prepared) -> Iterator[str]:
    facts = prepared.cluster.site.facts
    yield f"cluster: context {prepared.connection.context}, Kubernetes {prepared.connection.version}"
    yield f"Kueue: {facts.version or 'unknown'} ({facts.manager}; Configuration in {facts.settings})"
    yield f"checked as: {prepared.cluster.site.behaviour_name}"
    for note in prepared.notes:
        yield f"note: {note}"


def _counts(found: Rehearsal) -> Iterator[str]:
    rows = [
        ("+".join(roles) or "no class", count, _core(found, roles))
        for roles, count in sorted(found.counted().items())
    ]
    headers = ("cases that need", "run", "of the core")
    yield tabulate(rows, headers=headers, tablefmt="simple")
    total = len(found.rows)
    core = len(found.core_rows)
    planned = total + len(found.reasons)
    core_planned = len(found.core_planned)
    yield ""
    yield f"would run {total} of {planned} cases, {core} of the {core_planned} of the core"


def _core(found: Rehearsal, roles: tuple[str, ...]) -> int:
    return sum(found.roles.get(row, ()) == roles for row in found.core_rows)


def _not_applicable(found: Rehearsal) -> Iterator[str]:
    yield f"not applicable: {len(found.reasons)} cases"
    counted = Counter(found.reasons.values())
    for reason, count in counted.most_common():
        yield f"  {count:4d}  {textwrap.shorten(reason, LONGEST, placeholder=' ...')}"
    if untested := found.untested_core():
        yield "requirements of the core that no case can check here:"
        yield from _listed(untested)


def _listed(names: Iterable[str]) -> Iterator[str]:
    text = ", ".join(names)
    yield textwrap.fill(text, 110, initial_indent="  ", subsequent_indent="  ")


def _permissions(missing: Sequence[str]) -> Iterator[str]:
    if not missing:
        yield "permissions: the user of the context has every one that the run needs"
        return
    yield f"permissions: {len(missing)} are missing; examples/rbac/run.yaml has the role"
    for one in missing:
        yield f"  {one}"


def _duration(found: Rehearsal) -> str:
    return f"duration: about {worded(found.rows)} with -n {PROCESSES} (recorded {RECORDED})"
