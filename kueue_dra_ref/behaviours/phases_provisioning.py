"""The phase of a behaviour that asks a cluster autoscaler for nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kueue_dra_ref.api.provisioning import RetryStrategy
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.slots import AnyOf, Each, First
from kueue_dra_ref.rules.workload.provisioning import (
    Attempt,
    CheckAnswer,
    ParametersReference,
    PodSetPair,
    PodUse,
    Provisioned,
    RequestedClass,
)
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvisioningRules:
    """What a cluster autoscaler is asked for, and what its answers do. Without rules: checks wait for it."""

    active: First[[ParametersReference], Condition] = First()
    """Is a check active, by its configuration? Without rules: it is not set."""
    unread: AnyOf[[Mapping[str, str] | None]] = AnyOf()
    """Is nothing done for the workloads of a check, by what it names as its configuration? Without rules: it is."""
    ask: AnyOf[[PodUse]] = AnyOf()
    """Does a request have the pods of a pod set? Without rules: it has none."""
    skip: AnyOf[[PodUse]] = AnyOf()
    """Is a pod set left out all the same? Without rules: none is."""
    needless: First[[], str] = First()
    """With which message is a check Ready that needs no request? Without rules: it is not."""
    inactive: First[[], str] = First()
    """With which message is a check Pending whose configuration is gone? Without rules: it does not change."""
    parameters: First[[Mapping[str, str]], Mapping[str, str]] = First()
    """Which annotations of work are parameters of its requests? Without rules: none."""
    outdated: AnyOf[[RequestedClass]] = AnyOf()
    """Is a request replaced, by what the configuration says now? Without rules: it is not."""
    merge: AnyOf[[PodSetPair]] = AnyOf()
    """Are two pod sets one pod set of a request? Without rules: each is its own."""
    answer: First[[Attempt], CheckAnswer] = First()
    """What becomes of a check, by its newest request? Without rules: it does not change."""
    follow: AnyOf[[Attempt]] = AnyOf()
    """Is a request followed by another? Without rules: it is not."""
    number: First[[int], int] = First()
    """Which number has a request after others that are gone, by the retries so far? Without rules: 1."""
    retries: Each[[Manifest, Manifest], int] = Each()
    """How often was a workload tried again, by its check and its status? Without rules: never."""
    delay: First[[RetryStrategy, int], int] = First()
    """For how many seconds does a retry delay the check? Without rules: for none that it shows."""
    delay_workload: First[[RetryStrategy, int], int] = First()
    """For how many seconds does a retry delay the workload once it has no quota? Without rules: for none."""
    evict_first: AnyOf[[]] = AnyOf()
    """Does a workload release its quota before it waits? Without rules: it keeps it until then."""
    updates: Each[[Provisioned], Manifest] = Each()
    """What do the pods of a provisioned request get? Without rules: nothing."""
    drop: AnyOf[[bool, bool]] = AnyOf()
    """Are the requests of a workload deleted, by whether it is finished and evicted? Without rules: they stay."""
