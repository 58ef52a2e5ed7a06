"""Feature gates: defaults and dependencies (Design Details, DynamicResourceAllocation; registry of Kueue 0.19).

Kueue: pkg/config/validation.go (LoadAndValidateFeatureGates, validateDRAFeatureGateDependencies)
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib.resources import files

from kueue_dra_ref.api.names import aggregated, printed
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.model.slots import Collect
from kueue_dra_ref.target import FieldError

Switches = Mapping[str, bool]


class Stage(StrEnum):
    """The maturity of a gate."""

    ALPHA = "alpha"
    BETA = "beta"
    GA = "ga"
    DEPRECATED = "deprecated"


STAGES: Mapping[str, Stage] = {"AllAlpha": Stage.ALPHA, "AllBeta": Stage.BETA}
"""The gates that switch every gate of a stage that is not set by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A feature gate of a release."""

    name: str
    default: bool
    stage: Stage
    locked: bool = False
    needs: tuple[str, ...] = ()
    """Gates that must be on while this one is."""
    shared: bool = False
    """Whether it is in the registry of Kubernetes' libraries, which checks ``needs`` with messages of its own."""
    of_kueue: bool = True
    """Whether it is Kueue's own gate, not one of Kubernetes'."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """The gates of a release, in the order in which their needs are checked, and the rules for setting them."""

    table: Mapping[str, Gate]
    setting: Collect[[Mapping[str, Gate], Switches], str] = Collect()
    """Which gates cannot be set so? The first rule that finds errors decides. Without rules: any name may be set."""
    standing: Collect[[Mapping[str, Gate], Switches], FieldError] = Collect()
    """Find gates that cannot be on or off together. Without rules: each gate is independent."""
    last: bool = False
    """Whether gates are set after the mappings were validated, and refused in words that name no field."""


def effective(gates: Gates, requested: Switches) -> Switches | tuple[FieldError, ...]:
    """Give the state of every gate of the release as the Configuration sets it, or the errors of the release.

    Several errors of one registry check have alphabetical order here; the real registry reports them in any order.
    """
    refused = gates.setting.first(gates.table, requested)
    if refused:
        return (_setting_error(gates, requested, refused.value),)
    state = _state(gates.table, requested)
    faults = tuple(gates.standing(gates.table, state))
    return faults or state


def _setting_error(
    gates: Gates, requested: Switches, messages: list[str]
) -> FieldError:
    detail = aggregated(messages)
    if gates.last:
        return FieldError(field="", type="Not decoded", detail=detail)
    return _refused(printed(dict(requested)), detail)


@rule("GATE-009", "GATE-015", "GATE-019")
def names_are_known(table: Mapping[str, Gate], requested: Switches) -> list[str]:
    """Kueue rejects a gate that the release does not know, and reports the first one only.

    Kueue: pkg/config/validation.go (LoadAndValidateFeatureGates);
        Kubernetes: k8s.io/component-base/featuregate/feature_gate.go (SetFromMap)
    """
    return [
        f"unrecognized feature gate: {name}"
        for name in sorted(requested)
        if name not in table
    ][:1]


@rule("GATE-012", "GATE-016", "GATE-020")
def locked_gates_keep_their_default(
    table: Mapping[str, Gate], requested: Switches
) -> list[str]:
    """Kueue rejects another value for a gate that is locked to its default.

    Kueue: pkg/config/validation.go (LoadAndValidateFeatureGates);
        Kubernetes: k8s.io/component-base/featuregate/feature_gate.go (SetFromMap)
    """
    messages = []
    for name, on in sorted(requested.items()):
        gate = table.get(name)
        if gate and gate.locked and gate.default != on:
            messages.append(
                f"cannot set feature gate {name} to {printed(on)}, feature is locked to {printed(gate.default)}"
            )
    return messages


@rule("GATE-013", "GATE-024", "GATE-025")
def shared_gates_have_what_they_need(
    table: Mapping[str, Gate], requested: Switches
) -> list[str]:
    """Kueue rejects a gate of the registry that it shares with Kubernetes while a gate it depends on is off.

    Kueue: pkg/config/validation.go (LoadAndValidateFeatureGates);
        Kubernetes: k8s.io/component-base/featuregate/feature_gate.go (SetFromMap, unsafeSetFromMap)
    """
    missing = _missing_dependencies(table, _state(table, requested), shared=True)
    return [
        f"{gate.name} is enabled, but depends on features that are disabled: [{' '.join(off)}]"
        for gate, off in missing
    ]


@rule("GATE-007", "GATE-017")
def gates_have_what_they_need(
    table: Mapping[str, Gate], state: Switches
) -> Iterator[FieldError]:
    """Kueue rejects a gate of its own that is on while a gate it depends on is off.

    Kueue: pkg/config/validation.go (validateFeatureGateDependency, validateDRAFeatureGateDependencies)
    """
    for gate, off in _missing_dependencies(table, state, shared=False):
        for other in off:
            yield _refused(
                printed(gate.name), f"{gate.name} requires {other} to be enabled"
            )


@rule("GATE-014")
def topology_profiles_need_topology(
    table: Mapping[str, Gate], state: Switches
) -> Iterator[FieldError]:
    """Kueue rejects a topology profile gate that is on while TopologyAwareScheduling is off.

    Kueue: pkg/config/validation.go (LoadAndValidateFeatureGates)
    """
    if state["TASProfileMixed"] and not state["TopologyAwareScheduling"]:
        yield _refused("1", "cannot use a TAS profile with TAS disabled")


@cache
def kueue_0_19_gates() -> Gates:
    """The gates that Kueue 0.19.0 to 0.19.2 knows, Kubernetes 1.36's among them because they share a registry."""
    return Gates(
        table=_table("gates-0.19.toml"),
        setting=Collect(
            names_are_known,
            locked_gates_keep_their_default,
            shared_gates_have_what_they_need,
        ),
        standing=Collect(topology_profiles_need_topology, gates_have_what_they_need),
    )


@cache
def kueue_0_19_3_gates() -> Gates:
    """The gates of Kueue 0.19.3 as far as its change notes name them: those of 0.19.2, and alpha ones."""
    earlier = kueue_0_19_gates()
    new = {
        name: Gate(name=name, default=False, stage=Stage.ALPHA)
        for name in _NEW_IN_0_19_3
    }
    return replace(earlier, table={**earlier.table, **new})


_NEW_IN_0_19_3 = (
    "FairSharingReevaluatePreemptionCandidates",
    "MultiKueueBatchJobClearingTTLSecondsAfterFinishedOnWorkerCluster",
    "SchedulingEquivalenceHashingIgnorePodSetName",
)


@cache
def kueue_0_20_gates() -> Gates:
    """The gates of Kueue 0.20.0, Kubernetes 1.37's among them; the registry that they share checks what they need.

    Its own gates follow the main branch of 2026-08-22 and the change notes of 0.20.0.
    """
    return Gates(
        table=_table("gates-0.20.toml", one_registry=True),
        setting=Collect(
            names_are_known,
            locked_gates_keep_their_default,
            shared_gates_have_what_they_need,
        ),
    )


@cache
def kueue_0_18_gates() -> Gates:
    """The gates that Kueue 0.18.0 to 0.18.3 knows, those of the API server libraries of Kubernetes 1.36 among them."""
    return _of_kueue("gates-0.18.toml")


@cache
def kueue_0_18_6_gates() -> Gates:
    """The gates of Kueue 0.18.6 as far as it is modelled: those of 0.18.3, and one of groups of pods."""
    earlier = kueue_0_18_gates()
    name = "PodIntegrationValidateGroupOwner"
    new = Gate(name=name, default=True, stage=Stage.BETA)
    return replace(earlier, table={**earlier.table, name: new})


@cache
def kueue_0_17_gates() -> Gates:
    """The gates that Kueue 0.17.1 knows, those of the API server libraries of Kubernetes 1.35 among them."""
    return _set_last("gates-0.17.toml")


@cache
def kueue_0_16_gates() -> Gates:
    """The gates that Kueue 0.16.0 to 0.16.2 knows, those of the API server libraries of Kubernetes 1.35 among them."""
    return _set_last("gates-0.16.toml")


@cache
def kueue_0_15_gates() -> Gates:
    """The gates that Kueue 0.15.0 to 0.15.2 knows, those of the API server libraries of Kubernetes 1.34 among them."""
    return _set_last("gates-0.15.toml")


@cache
def kueue_0_14_gates() -> Gates:
    """The gates that Kueue 0.14.0 knows, those of the API server libraries of Kubernetes 1.34 among them."""
    return _set_last("gates-0.14.toml")


_AFTER_2026_08_22 = """
AdmissionFairSharingAnchorAtQuotaReservation ConfigurablePreemptions DeploymentJobUIDLabel DynamicQuotaOrchestration
ElasticJobsViaWorkloadSlicesFlavorChangeFromZero ElasticJobsViaWorkloadSlicesForProvisioningRequests
EnforceProvisioningPodTemplateContents FairSharingReevaluatePreemptionCandidates FairSharingRefill
HighMaxParallelismWithinReconcile KueueDRADeviceFeasibility KueueDRAIntegrationDeviceTaints
KueueDRAIntegrationPrioritizedList MultiKueueBatchJobClearingTTLSecondsAfterFinishedOnWorkerCluster
MultiKueueRayInTreeAutoscaling MultiKueueReuseClientConnectionConfigForWorkers PodGroupSchedulingShapeOrdering
PodIntegrationCountSucceededPodsAsReady RayServiceValidateUpgradeStrategy SchedulingEquivalenceHashingIgnorePodSetName
TASGroupedPodSetSlicing TASLeaderPodSetFeasibility TASNodeFeasibilityForAllLevels TASPartialSlices
TASRejectFalseUnconstrainedTopology TASReplaceMultipleFailedNodes TASTopologySpreading WaitForPodsReadyMaxNotReady
WaitForPodsReadyUnscheduledTimeout WorkloadLevelWaitForPodsReady
"""
"""Gates of Kueue 0.20.0 that the main branch of that day did not have."""
_ALPHA_ON_2026_08_22 = (
    "MultiKueueOrchestratedPreemption",
    "RejectUpdatesToCQWithInvalidOnFlavors",
)
"""Gates of Kueue 0.20.0 that were alpha, and off, on the main branch of that day."""


@cache
def main_2026_08_22_gates() -> Gates:
    """The gates of Kueue's main branch of 2026-08-22 (ff69552e79), between 0.19.2 and 0.20.0."""
    released = kueue_0_20_gates()
    later = _AFTER_2026_08_22.split()
    table = {name: gate for name, gate in released.table.items() if name not in later}
    for name in _ALPHA_ON_2026_08_22:
        table[name] = replace(table[name], default=False, stage=Stage.ALPHA)
    return replace(released, table=table)


KEP_2025_04_GATES = Gates(
    table={
        "KueueDynamicResourceAllocation": Gate(
            name="KueueDynamicResourceAllocation", default=False, stage=Stage.ALPHA
        ),
    }
)
"""The one gate that the text of April 2025 introduces."""
KEP_2025_09_GATES = Gates(
    table={
        "DynamicResourceAllocation": Gate(
            name="DynamicResourceAllocation", default=False, stage=Stage.ALPHA
        ),
    }
)
"""The one gate that the text introduces."""


def _of_kueue(file: str) -> Gates:
    """Give the gates of a minor whose Kubernetes gates do not depend on each other."""
    return Gates(
        table=_table(file),
        setting=Collect(names_are_known, locked_gates_keep_their_default),
        standing=Collect(topology_profiles_need_topology, gates_have_what_they_need),
    )


def _set_last(file: str) -> Gates:
    """Give the gates of a minor that sets them last and checks no dependencies."""
    return Gates(
        table=_table(file),
        setting=Collect(names_are_known, locked_gates_keep_their_default),
        last=True,
    )


def _state(table: Mapping[str, Gate], requested: Switches) -> Switches:
    """Apply defaults, then whole stages (AllAlpha, AllBeta), then gates set by name."""
    state = {name: gate.default for name, gate in table.items()}
    for every, stage in STAGES.items():
        if every in requested:
            state |= {
                name: requested[every]
                for name, gate in table.items()
                if gate.stage is stage
            }
    return state | dict(requested)


def _missing_dependencies(
    table: Mapping[str, Gate], state: Switches, *, shared: bool
) -> Iterator[tuple[Gate, list[str]]]:
    for gate in table.values():
        off = [name for name in gate.needs if not state[name]]
        if off and gate.shared is shared and state[gate.name]:
            yield gate, off


def _refused(value: str, detail: str) -> FieldError:
    return FieldError(
        field="featureGates", type="Invalid value", value=value, detail=detail
    )


def _table(file: str, *, one_registry: bool = False) -> Mapping[str, Gate]:
    data = tomllib.loads((files("kueue_dra_ref.features") / file).read_text("utf-8"))
    needs: Mapping[str, list[str]] = data["needs"]["kueue"] | data["needs"].get(
        "kubernetes", {}
    )
    gates = {
        name: Gate(
            name=name,
            default=group["default"],
            stage=Stage(group["stage"]),
            locked=group["locked"],
            needs=tuple(needs.get(name, ())),
            shared=one_registry or group["origin"] != "kueue",
            of_kueue=group["origin"] == "kueue",
        )
        for group in data["group"]
        for name in group["names"].split()
    }
    return {name: gates[name] for name in (*needs, *gates)}
