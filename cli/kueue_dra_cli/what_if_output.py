"""Print what a change affects, as tables, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from tabulate import tabulate

from kueue_dra_cli.printing import as_json
from kueue_dra_ref.explain.step import named
from kueue_dra_ref.simulation.decided_cluster import QuotaTotal, WorkloadDecision
from kueue_dra_ref.simulation.what_if import QuotaDifference, WhatIf, WorkloadChange

NOTHING = "nothing changes: each workload is decided as before"
_FORMATS = {"table": "simple", "md": "github"}
_WORKLOADS = ("workload", "ClusterQueue", "effect", "before", "after")
_WIDTHS = (None, None, None, 44, 44)
_QUOTAS = ("object", "flavor", "resource", "used", "nominal")
ARROW = "\N{RIGHTWARDS ARROW}"


def print_what_if(found: WhatIf, output: str) -> None:
    """Print what a change affects."""
    if output == "json":
        as_json(_as_json(found))
        return
    rows = [_workload(each) for each in found.workloads]
    if rows:
        _table(_WORKLOADS, rows, output, _WIDTHS)
    else:
        click.echo(NOTHING)
    changed = [each for each in found.quotas if each.changes]
    if changed:
        click.echo()
        _table(_QUOTAS, [_quota(each) for each in changed], output)
    same = len(found.quotas) - len(changed)
    if same and changed:
        click.echo(
            f"\n{named(same, 'more quota')} of ClusterQueues and Cohorts: no change"
        )


def _table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    output: str,
    widths: Sequence[int | None] = (),
) -> None:
    is_table = output == "table"
    cells = rows if is_table else [[_escaped(cell) for cell in row] for row in rows]
    text = tabulate(
        cells,
        headers=headers,
        tablefmt=_FORMATS[output],
        disable_numparse=True,
        maxcolwidths=list(widths) if widths and is_table else None,
    )
    click.echo(text)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")


def _workload(change: WorkloadChange) -> tuple[str, ...]:
    decision = change.named
    return (
        _title(decision),
        decision.cluster_queue,
        str(change.effect),
        change.before_text,
        change.after_text,
    )


def _title(decision: WorkloadDecision) -> str:
    namespace, name = decision.key
    return f"{namespace}/{decision.job or name}"


def _quota(each: QuotaDifference) -> tuple[str, ...]:
    place, before, after = each.place, each.before, each.after
    return (
        f"{place.kind} {place.name}",
        place.flavor,
        place.resource,
        _arrow(before.used if before else "", after.used if after else ""),
        _arrow(before.nominal if before else "", after.nominal if after else ""),
    )


def _arrow(before: str, after: str) -> str:
    if before == after:
        return before
    return f"{before or 'none'} {ARROW} {after or 'none'}"


def _as_json(found: WhatIf) -> dict[str, Any]:
    workloads = []
    for each in found.workloads:
        namespace, name = each.named.key
        row = {
            "namespace": namespace,
            "workload": name,
            "job": each.named.job or None,
            "clusterQueue": each.named.cluster_queue or None,
            "effect": str(each.effect),
            "before": _decision(each.before),
            "after": _decision(each.after),
        }
        workloads.append(row)
    return {
        "changes": bool(workloads),
        "workloads": workloads,
        "quotas": [_quota_as_json(each) for each in found.quotas],
    }


def _decision(decision: WorkloadDecision | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    holds = [
        {"flavor": flavor, "resource": resource, "amount": amount}
        for (flavor, resource), amount in decision.amounts.items()
    ]
    return {
        "verdict": decision.word,
        "holdsQuota": decision.holds,
        "message": decision.why or None,
        "evicted": decision.evicted or None,
        "holds": holds,
    }


def _quota_as_json(each: QuotaDifference) -> dict[str, Any]:
    place = each.place
    return {
        "kind": place.kind,
        "name": place.name,
        "flavor": place.flavor,
        "resource": place.resource,
        "before": _total(each.before),
        "after": _total(each.after),
    }


def _total(total: QuotaTotal | None) -> dict[str, str] | None:
    if total is None:
        return None
    return {"used": total.used, "nominal": total.nominal}
