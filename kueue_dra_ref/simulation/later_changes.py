"""Changes of releases that could not be run and that the reference does not model: which inputs they concern.

Each is a line of Kueue's change notes. What the notes do not say in full is not modelled, and always noted.
No counterpart: the change notes of Kueue 0.19.3 to 0.20.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.api.scheme import KUEUE
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.releases import numbers
from kueue_dra_ref.simulation.inputs import SimulationInputs
from kueue_dra_ref.target import FieldError, Manifest

_LEAST = f"{KUEUE}/job-min-parallelism"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterChange:
    """A change that the reference does not model: since which release, and which field of an object it concerns."""

    since: str
    pull_request: int
    kind: str
    field: str
    subject: str
    concerns: Callable[[Manifest], bool]

    def error(self) -> FieldError:
        """Give the field, with what is not modelled."""
        where = f"Kueue {self.since} (#{self.pull_request})"
        detail = f"{self.subject}: {where} decides otherwise, which the simulation does not model"
        return FieldError(field=self.field, type="Not decided", detail=detail)


def _spec(manifest: Manifest) -> Mapping[str, Any]:
    found = manifest.get("spec")
    return found if isinstance(found, dict) else {}


def _has_parent(cohort: Manifest) -> bool:
    return bool(_spec(cohort).get("parentName"))


def _has_effective_quotas(queue: Manifest) -> bool:
    status = queue.get("status")
    return isinstance(status, dict) and "effectiveQuotas" in status


def _limits_containers(limit_range: Manifest) -> bool:
    limits = _spec(limit_range).get("limits") or ()
    types = [each.get("type") for each in limits if isinstance(each, dict)]
    return "Container" in types


def _runs_more_pods_than_it_completes(job: Manifest) -> bool:
    pods, completions = _spec(job).get("parallelism"), _spec(job).get("completions")
    if not isinstance(pods, int) or not isinstance(completions, int):
        return False
    return pods > completions


def _may_lose_all_pods(job: Manifest) -> bool:
    return annotations_of(job).get(_LEAST) == "0"


def _may_have_no_pods(workload: Manifest) -> bool:
    pod_sets = _spec(workload).get("podSets") or ()
    return any(
        isinstance(each, dict) and each.get("minCount") == 0 for each in pod_sets
    )


CHANGES = (
    LaterChange(
        since="0.19.3",
        pull_request=15023,
        kind="LimitRange",
        field="spec.limits",
        subject="requests of containers that have limits alone, and retries when the LimitRange changes",
        concerns=_limits_containers,
    ),
    LaterChange(
        since="0.19.6",
        pull_request=16111,
        kind="Job",
        field="spec.parallelism",
        subject="the quota of running pods of a Job with a parallelism above its completions",
        concerns=_runs_more_pods_than_it_completes,
    ),
    LaterChange(
        since="0.20.0",
        pull_request=14720,
        kind="Job",
        field=f"metadata.annotations[{_LEAST}]",
        subject="partial admission with no pods",
        concerns=_may_lose_all_pods,
    ),
    LaterChange(
        since="0.20.0",
        pull_request=14720,
        kind="Workload",
        field="spec.podSets[].minCount",
        subject="partial admission with no pods",
        concerns=_may_have_no_pods,
    ),
    LaterChange(
        since="0.20.0",
        pull_request=15283,
        kind="ClusterQueue",
        field="status.effectiveQuotas",
        subject="quota that DynamicQuotaOrchestration computes",
        concerns=_has_effective_quotas,
    ),
)
"""What a single object shows."""
LOOP = LaterChange(
    since="0.19.7",
    pull_request=13774,
    kind="Cohort",
    field="spec.parentName",
    subject="the condition CohortCycleDetected of ClusterQueues below the circle",
    concerns=_has_parent,
)
"""What several objects show together."""
MOVE = LaterChange(
    since="0.19.3",
    pull_request=13885,
    kind="LocalQueue",
    field="spec.clusterQueue",
    subject="the pending Workloads of a LocalQueue that moves to another ClusterQueue",
    concerns=lambda _: False,
)
"""What only a change shows."""
EXCLUDED = LaterChange(
    since="0.19.6",
    pull_request=16041,
    kind="Configuration",
    field="resources.transformations",
    subject="transformations whose input or multiplier has an excluded prefix",
    concerns=lambda _: False,
)
"""What the Configuration shows."""
ALL = (*CHANGES, LOOP, MOVE, EXCLUDED)


def in_force(change: LaterChange, behaviour: Behaviour) -> bool:
    """Whether a release has a change; a text, or a state between two releases, has none of them."""
    version = behaviour.version
    return version.count(".") == 2 and numbers(version) >= numbers(change.since)


def later_changes(
    given: Iterable[SimulationInputs], behaviour: Behaviour
) -> Iterator[tuple[SimulationInputs, FieldError]]:
    """Give each object for which the release decides something otherwise than the reference, with the field."""
    objects = list(given)
    for each in objects:
        for change in CHANGES:
            if each.ref.kind != change.kind or not in_force(change, behaviour):
                continue
            if change.concerns(each.manifest):
                yield each, change.error()
    if in_force(LOOP, behaviour):
        for each in _in_a_circle(objects):
            yield each, LOOP.error()


def changed_configuration(
    configuration: Manifest, behaviour: Behaviour
) -> Iterator[FieldError]:
    """Give the transformations that the release applies otherwise than the reference."""
    resources = configuration.get("resources")
    if not isinstance(resources, dict) or not in_force(EXCLUDED, behaviour):
        return
    prefixes = tuple(resources.get("excludeResourcePrefixes") or ())
    for each in resources.get("transformations") or ():
        names = (each.get("input", ""), each.get("multiplyBy", ""))
        if prefixes and any(name.startswith(prefixes) for name in names if name):
            yield EXCLUDED.error()
            return


def _in_a_circle(objects: Iterable[SimulationInputs]) -> Iterator[SimulationInputs]:
    cohorts = {each.ref.name: each for each in objects if each.ref.kind == "Cohort"}
    for name, cohort in cohorts.items():
        seen = {name}
        above = str(_spec(cohort.manifest).get("parentName", ""))
        while above in cohorts and above not in seen:
            seen.add(above)
            above = str(_spec(cohorts[above].manifest).get("parentName", ""))
        if above == name:
            yield cohort
