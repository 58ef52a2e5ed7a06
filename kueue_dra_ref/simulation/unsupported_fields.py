"""What a world asks of Kueue that the reference does not decide, and fields that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kueue_dra_ref.api.crd_validation import places
from kueue_dra_ref.api.jobs import FRAMEWORK
from kueue_dra_ref.api.scheme import KINDS, KUEUE, version_of
from kueue_dra_ref.apiserver.schema_kueue import schema
from kueue_dra_ref.apiserver.structural_schema import unknown_fields
from kueue_dra_ref.behaviours.behaviour import Behaviour, gates_read_by
from kueue_dra_ref.target import FieldError, Manifest

_CHECKS, _TOPOLOGY, _SHARES = (
    "admission checks",
    "topology-aware scheduling",
    "admission fair sharing",
)
_TIME, _SLICES = "the time that a Workload may run", "elastic jobs"
NOT_DECIDED: Mapping[str, Mapping[str, str]] = {
    "ClusterQueue": {
        "spec.admissionChecks": _CHECKS,
        "spec.admissionChecksStrategy": _CHECKS,
        "spec.admissionScope": _SHARES,
        "spec.concurrentAdmissionPolicy": "concurrent admission",
    },
    "LocalQueue": {"spec.fairSharing": _SHARES},
    "ResourceFlavor": {"spec.topologyName": _TOPOLOGY},
    "Workload": {
        "spec.maximumExecutionTimeSeconds": _TIME,
        "spec.podSets[].topologyRequest": _TOPOLOGY,
        "spec.preemptionGates": "preemption gates",
    },
}
"""By kind, the fields of Kueue 0.14 to 0.19 that the reference passes over, and what they are for."""
_MARKS: Mapping[str, str] = {
    "prebuilt-workload-name": "Workloads that somebody else makes",
    "max-exec-time-seconds": _TIME,
    "elastic-job": _SLICES,
    "priority-boost": "boosted priorities",
    "admission-gated-by": "gates of admission",
    "workload-allowed-resource-flavors": "flavors that a Workload is held to",
}
"""Labels and annotations of Jobs and Workloads, without Kueue's domain."""
_SETTINGS: Mapping[tuple[str, ...], str] = {
    ("admissionFairSharing",): _SHARES,
    ("waitForPodsReady", "blockAdmission"): "admission of one Workload after another",
    ("objectRetentionPolicies",): "Workloads that are deleted in time",
}
"""Keys of the Configuration."""
_DOMAIN = f"{KUEUE}/"


def not_decided(manifest: Manifest) -> Iterator[FieldError]:
    """Give each field of an object that would have Kueue decide more than the reference does."""
    for path, subject in NOT_DECIDED.get(manifest["kind"], {}).items():
        yield from (_passed_over(field, subject) for field, _ in places(manifest, path))
    if manifest["kind"] in {"Job", "Workload"}:
        yield from _marked(manifest)


def settings_not_decided(
    configuration: Manifest, behaviour: Behaviour
) -> Iterator[FieldError]:
    """Give each key of a Configuration that would have Kueue decide more, or otherwise, than the reference does."""
    for path, subject in _SETTINGS.items():
        found: Any = configuration
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        if found:
            yield _passed_over(".".join(path), subject)
    frameworks = (configuration.get("integrations") or {}).get("frameworks")
    if frameworks and FRAMEWORK not in frameworks:
        yield _passed_over(
            "integrations.frameworks",
            f"which kinds are managed, and {FRAMEWORK} is not among them",
        )
    for name, on in (configuration.get("featureGates") or {}).items():
        gate = behaviour.gates.table.get(name)
        if (
            gate
            and not gate.shared
            and on is not gate.default
            and name not in gates_read_by(behaviour)
        ):
            yield _passed_over(f"featureGates.{name}", "what this gate is for")


def unknown(manifest: Manifest) -> Sequence[str]:
    """Give each field of an object of Kueue that its version does not have; an API server drops it."""
    kind = manifest["kind"]
    return (
        unknown_fields(manifest, schema(kind, version_of(manifest)))
        if KINDS[kind].group == KUEUE
        else ()
    )


def _marked(manifest: Manifest) -> Iterator[FieldError]:
    for holder in ("labels", "annotations"):
        for name in _of_kueue(manifest["metadata"].get(holder)):
            if name in _MARKS:
                yield _passed_over(f"metadata.{holder}[{_DOMAIN}{name}]", _MARKS[name])
    template = (manifest.get("spec") or {}).get("template") or {}
    for name in _of_kueue((template.get("metadata") or {}).get("annotations")):
        if name.startswith("podset-"):
            yield _passed_over(
                f"spec.template.metadata.annotations[{_DOMAIN}{name}]", _TOPOLOGY
            )


def _of_kueue(held: Any) -> Iterator[str]:
    yield from (
        key.removeprefix(_DOMAIN) for key in held or () if key.startswith(_DOMAIN)
    )


def _passed_over(field: str, subject: str) -> FieldError:
    return FieldError(
        field=field,
        type="Not decided",
        detail=f"{subject}: the answer is as if this were not there",
    )
