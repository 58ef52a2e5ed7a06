"""The state of a pending workload as JSON."""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.simulation.pending_order import QueuePlace
from kueue_dra_ref.simulation.pending_state import Holder, PendingState
from kueue_dra_ref.simulation.what_would_admit import Raise, Raised


def state_as_json(state: PendingState) -> dict[str, Any]:
    """Give the place of a workload, the holders of what it lacks, and what would admit it."""
    found = state.would_admit
    return {
        "place": _place(state, state.place) if state.place else None,
        "holders": [_holder(state, each) for each in state.holders],
        "wouldAdmit": {
            "raises": [_raised(state, each) for each in found.raises],
            "ends": [
                {
                    "workloads": [_work(state, key) for key in ends.keys],
                    "smallest": ends.smallest,
                }
                for ends in found.ends
            ],
            "noQuotaHelps": found.no_quota or None,
            "trials": found.trials,
            "complete": found.complete,
        },
    }


def _place(state: PendingState, place: QueuePlace) -> dict[str, Any]:
    before = [_work(state, each.key) | {"why": each.why} for each in place.before]
    return {
        "clusterQueue": place.cluster_queue,
        "queueingStrategy": place.strategy,
        "position": place.position,
        "pending": place.pending,
        "before": before,
    }


def _holder(state: PendingState, holder: Holder) -> dict[str, str | None]:
    return _work(state, holder.key) | {
        "clusterQueue": holder.cluster_queue,
        "flavor": holder.flavor,
        "resource": holder.resource,
        "amount": holder.amount,
        "nominal": holder.nominal,
    }


def _raised(state: PendingState, raised: Raised) -> dict[str, Any]:
    return {
        "quotas": [_raise(each) for each in raised.raises],
        "preempted": [_work(state, key) for key in raised.preempted],
    }


def _raise(each: Raise) -> dict[str, str]:
    return {
        "kind": each.field.kind,
        "name": each.field.name,
        "field": each.field.field,
        "flavor": each.field.flavor,
        "resource": each.field.resource,
        "by": each.by,
        "from": each.before,
        "to": each.after,
    }


def _work(state: PendingState, key: Key) -> dict[str, str | None]:
    namespace, name = key
    return {
        "namespace": namespace,
        "workload": name,
        "job": state.job(key) or None,
    }
