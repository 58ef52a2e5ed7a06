"""The Configuration of a batch beyond its theme: feature gates, and the handling of requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kueue_dra_differential import gated, usage, variants
from kueue_dra_differential.config_profiles import ConfigProfile
from kueue_dra_differential.swarm import NOW_AND_THEN, SwarmConfig
from kueue_dra_fixtures.profiles import a_configuration
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.target import Manifest

SWITCHES = (
    "FairSharingPreemptWithinNominal",
    "FairSharingPrioritizeNonBorrowing",
    "FlavorFungibilityImplicitPreferenceDefault",
    "FlavorFungibilityPreserveScanProgress",
    "HierarchicalCohorts",
    "KueueDRARejectWorkloadsWhenDRADisabled",
    "LendingLimit",
    "PartialAdmission",
    "PrioritySortingWithinCohort",
    "QuotaCheckStrategy",
    "ReclaimablePods",
    "RecomputeAssignmentUponPreemptionTargetsOverlap",
)
"""Gates that change decisions under every theme.

Not FlavorFungibility: without it, Kueue retries a pending workload that found a flavor without a backoff
(PREEMPT-048), and a few such queues leave it no time for the others.
"""
SLICES = "ElasticJobsViaWorkloadSlices"
"""The gate of elastic work."""
_CREDITS = {
    "transformations": [
        {"input": "cpu", "strategy": "Retain", "outputs": {"credits": "1"}}
    ]
}
_LENIENT = {"quotaCheckStrategy": "IgnoreUndeclared"}
_CHECKED = "QuotaCheckStrategy"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSettings:
    """Gates that are not at their default, and the handling of requests."""

    switched: str | None
    """One of `SWITCHES`."""
    credited: bool
    """Whether each CPU also costs a credit."""
    lenient: bool
    """Whether Kueue ignores resources that a queue does not cover."""

    def theme(self, theme: ConfigProfile) -> ConfigProfile:
        """Give the theme with quota of credits, if jobs need credits."""
        if not self.credited:
            return theme
        return replace(theme, others={**theme.others, "credits": 4})

    def configuration(
        self,
        behaviour: Behaviour,
        mappings: Mapping[str, Any],
        theme: ConfigProfile,
        fair: Sequence[str],
        swarm: SwarmConfig,
    ) -> Manifest:
        """Give the Configuration of a theme under these settings."""
        gates = (
            {}
            if self.switched is None
            else {self.switched: not behaviour.gates.table[self.switched].default}
        )
        found = a_configuration(
            behaviour,
            mappings,
            fair_sharing=fair,
            switched={**_needed(behaviour, swarm), **gates},
            **theme.options,
        )
        resources = (_CREDITS if self.credited else {}) | (
            _LENIENT if self.lenient else {}
        )
        if swarm.used:
            found["admissionFairSharing"] = usage.SETTINGS
        return {**found, "resources": {**found["resources"], **resources}}


def _needed(behaviour: Behaviour, swarm: SwarmConfig) -> dict[str, bool]:
    """Give the gates that the features of a batch need."""
    features = {
        SLICES: swarm.elastic,
        variants.GATE: swarm.varied,
        usage.GATE: swarm.used,
        gated.GATE: swarm.gated,
    }
    found: dict[str, bool] = {}
    for gate, wanted in features.items():
        if wanted:
            found |= switched_on(gate, behaviour)
    return found


def switched_on(gate: str, behaviour: Behaviour) -> dict[str, bool]:
    """Give a gate that a feature needs, if a release has it and it can be set."""
    known = behaviour.gates.table
    return {} if gate not in known or known[gate].locked else {gate: True}


def some_settings(behaviour: Behaviour) -> SearchStrategy[ConfigSettings]:
    """Mostly the defaults."""
    gates = behaviour.gates.table
    switches = [name for name in SWITCHES if name in gates and not gates[name].locked]
    found = st.builds(
        ConfigSettings,
        switched=st.none() | st.none() | st.sampled_from(switches),
        credited=NOW_AND_THEN,
        lenient=NOW_AND_THEN
        if _CHECKED in gates and gates[_CHECKED].default
        else st.just(False),
    )
    return found.map(_as_can_be)


def _as_can_be(drawn: ConfigSettings) -> ConfigSettings:
    """Leave out the check strategy if its gate is off."""
    return replace(drawn, lenient=drawn.lenient and drawn.switched != _CHECKED)
