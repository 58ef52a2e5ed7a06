"""Scenarios played on any target: step after step, alone or several beside each other, with what is observed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.scenarios.scenario import Observation, Scenario
from kueue_dra_ref.target import (
    FieldError,
    Manifest,
    NotQuiescent,
    Ref,
    Rejection,
    Target,
)

KUEUE = "kueue.x-k8s.io/v1beta2"
_CONDITIONS = ("QuotaReserved", "Admitted", "Requeued", "Evicted", "Preempted")


class ConfigurationRejected(Exception):
    """The target did not start with the scenario's configuration."""

    def __init__(self, name: str, faults: Iterable[FieldError]) -> None:
        self.faults = tuple(faults)
        super().__init__(
            f"{name}: the configuration is refused: {'; '.join(map(str, self.faults))}"
        )


def replayed(scenario: Scenario, target: Target) -> Iterator[Observation]:
    """Play a scenario on a target and observe after every step.

    Raises:
        ConfigurationRefused: the target does not start with a configuration.

    """
    return (observation for (observation,) in played_together([scenario], target))


def played_together(
    scenarios: Sequence[Scenario], target: Target
) -> Iterator[list[Observation]]:
    """Play scenarios of one configuration and one inventory side by side, and observe each of them after every step.

    They share nothing else but what is alike in the same step of all: their queues, cohorts and namespaces are apart.
    Where one restarts Kueue with another configuration, all do.  What is seen of a reference that does not come to rest
    is marked as unsettled, as in recordings.

    Raises:
        ConfigurationRefused: the target does not start with the configuration.

    """
    first = scenarios[0]
    _start(first, first.configuration, target)
    refused = list(target.apply(first.inventory))
    shared = {Ref.of(each) for each in first.inventory}
    seen: list[set[Ref]] = [set() for _ in scenarios]
    for steps in zip(*(scenario.steps for scenario in scenarios), strict=True):
        for configuration in steps[0].get("restart") or ():
            _start(first, configuration, target)
        refused += _play(steps, target)
        for known, step in zip(seen, steps, strict=True):
            known |= _applied(step)
        settled = _settles(target)
        own = [shared | _applied(step) for step in steps]
        told = [[refusal for refusal in refused if refusal.ref in refs] for refs in own]
        shown = ObservedState.by(target)
        yield [
            {**observed(shown, refs, words), **settled}
            for refs, words in zip(seen, told, strict=True)
        ]
        refused = []


def _settles(target: Target) -> Observation:
    """Let a target come to rest; the mark of an observation for which it did not.

    When its queues have been counted, Kueue may try everything in a tree of cohorts again.
    """
    try:
        target.settle()
        target.list(KUEUE, "ClusterQueue")
        target.settle()
    except NotQuiescent:
        return {"unsettled": True}
    return {}


def _start(scenario: Scenario, configuration: Manifest, target: Target) -> None:
    if faults := target.start(configuration):
        raise ConfigurationRejected(scenario.name, faults)


def _applied(step: Mapping[str, Any]) -> set[Ref]:
    return {Ref.of(each) for each in step.get("apply") or ()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedState:
    """What a target shows of everything at one moment: asked for once, however many scenarios look at it."""

    workloads: Sequence[Manifest]
    queues: Mapping[str, Manifest]

    @classmethod
    def by(cls, target: Target) -> ObservedState:
        """Ask a target that has come to rest."""
        queues = target.list(KUEUE, "ClusterQueue")
        return cls(
            workloads=target.list(KUEUE, "Workload"),
            queues={each["metadata"]["name"]: each for each in queues},
        )


def observed(
    shown: ObservedState, seen: Collection[Ref], refused: Iterable[Rejection] = ()
) -> Observation:
    """What is shown of the namespaces and queues that a scenario made."""
    names = {
        kind: {ref.name for ref in seen if ref.kind == kind}
        for kind in ("Namespace", "ClusterQueue")
    }
    queues = {
        name: _queue(shown.queues[name].get("status") or {})
        for name in sorted(names["ClusterQueue"] & set(shown.queues))
    }
    jobs = [
        each
        for each in shown.workloads
        if each["metadata"]["namespace"] in names["Namespace"]
    ]
    rejected = [
        {"kind": r.ref.kind, "name": r.ref.name, "code": r.code, "message": r.message}
        for r in refused
    ]
    told = {
        "workloads": {_owner(w): _workload(w.get("status") or {}) for w in jobs},
        "clusterQueues": queues,
    }
    return (told if names["ClusterQueue"] else {}) | (
        {"rejected": rejected} if rejected else {}
    )


def _play(steps: Sequence[Mapping[str, Any]], target: Target) -> list[Rejection]:
    """Carry out one step of every scenario; what several of them have in common is done once."""
    refused = list(target.apply(_merged(steps, "apply")))
    target.delete(map(Ref.of, _merged(steps, "delete")))
    target.touch(map(Ref.of, _merged(steps, "touch")))
    return refused


def _merged(steps: Sequence[Mapping[str, Any]], verb: str) -> list[Manifest]:
    """Everything that a step of all scenarios does, each object once."""
    found = [each for step in steps for each in step.get(verb) or ()]
    return list({Ref.of(each): each for each in found}.values())


def _owner(workload: Manifest) -> str:
    owners = workload["metadata"].get("ownerReferences") or ()
    return str(
        next(
            (o["name"] for o in owners if o["kind"] == "Job"),
            workload["metadata"]["name"],
        )
    )


def _workload(status: dict[str, Any]) -> Observation:
    conditions = {c["type"]: c for c in status.get("conditions") or ()}
    told = {
        kind: {key: conditions[kind][key] for key in ("status", "reason", "message")}
        for kind in _CONDITIONS
        if kind in conditions
    }
    requests = status.get("resourceRequests")
    return (
        told
        | {"admission": _admission(status.get("admission"))}
        | ({"requests": requests} if requests else {})
    )


def _admission(admission: dict[str, Any] | None) -> Observation | None:
    if admission is None:
        return None
    pod_sets = [
        {"name": p["name"], "count": p["count"]}
        | {"flavors": p.get("flavors") or {}, "usage": p.get("resourceUsage") or {}}
        for p in admission["podSetAssignments"]
    ]
    return {"clusterQueue": admission["clusterQueue"], "podSets": pod_sets}


def _queue(status: dict[str, Any]) -> Observation:
    return {
        "pending": status.get("pendingWorkloads", 0),
        "reserving": status.get("reservingWorkloads", 0),
        "admitted": status.get("admittedWorkloads", 0),
        "reservation": {
            f["name"]: _amounts(f.get("resources") or ())
            for f in status.get("flavorsReservation") or ()
        },
    }


def _amounts(resources: Iterable[dict[str, Any]]) -> Observation:
    return {
        r["name"]: {"total": r["total"], "borrowed": r.get("borrowed", "0")}
        for r in resources
    }
