"""What a change affects, as tables, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tabulate import tabulate

from kueue_dra_cli.printing import json_text
from kueue_dra_ref.explain.step import named
from kueue_dra_ref.simulation.decided_cluster import QuotaTotal, WorkloadDecision
from kueue_dra_ref.simulation.what_if import QuotaDifference, WhatIf, WorkloadChange

NOTHING = "nothing changes: each workload is decided as before"
_FORMATS = {"table": "simple", "md": "github"}
_WORKLOADS = ("workload", "ClusterQueue", "effect", "before", "after")
_WIDTHS = (None, None, None, 44, 44)
_QUOTAS = ("object", "flavor", "resource", "used", "nominal")
ARROW = "\N{RIGHTWARDS ARROW}"


def what_if_text(found: WhatIf, output: str) -> str:
    """Give what a change affects as tables, Markdown or JSON."""
    if output == "json":
        return f"{json_text(_as_json(found))}\n"
    rows = [_workload(each) for each in found.workloads]
    parts = [_table(_WORKLOADS, rows, output, _WIDTHS) if rows else NOTHING]
    changed = [each for each in found.quotas if each.changes]
    if changed:
        quotas = [_quota(each) for each in changed]
        parts.append(_table(_QUOTAS, quotas, output))
    same = len(found.quotas) - len(changed)
    if same and changed:
        more = named(same, "more quota")
        parts.append(f"{more} of ClusterQueues and Cohorts: no change")
    return "\n\n".join(parts) + "\n"


def _table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    output: str,
    widths: Sequence[int | None] = (),
) -> str:
    is_table = output == "table"
    cells = rows if is_table else [[_escaped(cell) for cell in row] for row in rows]
    return tabulate(
        cells,
        headers=headers,
        tablefmt=_FORMATS[output],
        disable_numparse=True,
        maxcolwidths=list(widths) if widths and is_table else None,
    )


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
