"""Kueue's Configuration, loaded strictly (Configuration API Extension for DRA; Kueue 0.19, config loading)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.admission_fair_sharing import (
    AdmissionFairSharing,
    settings_of,
)
from kueue_dra_ref.api.jobs import FRAMEWORK
from kueue_dra_ref.api.labels import NAME_LABEL
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.pods_ready import WaitForPodsReady, wait_for_pods_ready
from kueue_dra_ref.api.quantities import Quantity, parse
from kueue_dra_ref.api.retention import ObjectRetention, retention_of
from kueue_dra_ref.api.schema_config import Versions
from kueue_dra_ref.api.strict_decoding import decoding_faults
from kueue_dra_ref.target import FieldError, Manifest

NAMESPACE = "kueue-system"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClassMapping:
    """Device classes that are charged to one resource of the quota."""

    name: str
    device_classes: tuple[str, ...] = ()
    sources: tuple[Manifest, ...] = ()
    """Counter and capacity sources, as written."""

    @property
    def counter(self) -> str:
        """Name the counter that the first source charges; empty when it charges none."""
        first = self.sources[0] if self.sources else {}
        return str((first.get("counter") or {}).get("name") or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transformation:
    """The resources that Kueue charges instead of, or in addition to, a requested resource."""

    input: str
    strategy: str = "Retain"
    multiply_by: str = ""
    outputs: Mapping[str, Quantity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Kueue's configuration at start; sections that the reference does not use stay in ``document``."""

    mappings: tuple[DeviceClassMapping, ...] = ()
    gates: Mapping[str, bool] = field(default_factory=dict)
    """Gates that the file sets; what they come to is for `kueue_dra_ref.features.kube_features.effective`."""
    namespace: str = NAMESPACE
    frameworks: tuple[str, ...] = (FRAMEWORK,)
    manage_jobs_without_queue_name: bool = False
    managed_jobs_namespace_selector: Manifest = field(default_factory=dict)
    exclude_resource_prefixes: tuple[str, ...] = ()
    transformations: tuple[Transformation, ...] = ()
    quota_check_strategy: str = "BlockUndeclared"
    fair_sharing: tuple[str, ...] | None = None
    """The preemption strategies of fair sharing, in order; None: borrowing is first come, first served."""
    admission_fair_sharing: AdmissionFairSharing | None = None
    """The settings of admission fair sharing; None: usage over time decides nothing."""
    waiting: WaitForPodsReady = field(default_factory=WaitForPodsReady)
    retention: ObjectRetention = field(default_factory=ObjectRetention)
    document: Manifest = field(default_factory=dict)


def load(
    document: Manifest, versions: Versions
) -> Configuration | tuple[FieldError, ...]:
    """Decode a Configuration strictly and fill in defaults, or report what the decoder refuses.

    A missing apiVersion means the newest of ``versions``, as it does to Kueue.
    """
    version = document.get("apiVersion") or next(iter(versions))
    if document.get("kind") not in (None, "", "Configuration"):
        return (_unsupported("kind", document["kind"], ["Configuration"]),)
    if not isinstance(version, str):
        return decoding_faults(document, next(iter(versions.values())))
    if version not in versions:
        return (_unsupported("apiVersion", version, versions),)
    return decoding_faults(document, versions[version]) or _configuration(document)


def quota_resource(configuration: Configuration, device_class: str) -> str | None:
    """Name the resource that a device class is charged to: the first mapping that names the class wins."""
    return next(
        (m.name for m in configuration.mappings if device_class in m.device_classes),
        None,
    )


def _configuration(document: Manifest) -> Configuration:
    resources = document.get("resources") or {}
    integrations = document.get("integrations") or {}
    namespace = _or(document, "namespace", NAMESPACE)
    outside = _outside_system(namespace)
    return Configuration(
        mappings=_mappings(resources),
        gates=_gates(document),
        namespace=namespace,
        frameworks=_texts(integrations, "frameworks") or (FRAMEWORK,),
        manage_jobs_without_queue_name=_or(
            document, "manageJobsWithoutQueueName", False
        ),
        managed_jobs_namespace_selector=_or(
            document, "managedJobsNamespaceSelector", outside
        ),
        exclude_resource_prefixes=_texts(resources, "excludeResourcePrefixes"),
        transformations=_transformations(resources),
        quota_check_strategy=_or(resources, "quotaCheckStrategy", "BlockUndeclared"),
        fair_sharing=_fair_sharing(document),
        admission_fair_sharing=settings_of(document),
        waiting=wait_for_pods_ready(document),
        retention=retention_of(document),
        document=document,
    )


def _mappings(resources: Manifest) -> tuple[DeviceClassMapping, ...]:
    mappings = resources.get("deviceClassMappings") or ()
    return tuple(_mapping(each or {}) for each in mappings)


def _transformations(resources: Manifest) -> tuple[Transformation, ...]:
    transformations = resources.get("transformations") or ()
    return tuple(_transformation(each or {}) for each in transformations)


def _gates(document: Manifest) -> dict[str, bool]:
    gates = document.get("featureGates") or {}
    return {name: bool(enabled) for name, enabled in gates.items()}


def _mapping(written: Manifest) -> DeviceClassMapping:
    return DeviceClassMapping(
        name=_or(written, "name", ""),
        device_classes=_texts(written, "deviceClassNames"),
        sources=tuple(each or {} for each in written.get("sources") or ()),
    )


def _transformation(written: Manifest) -> Transformation:
    return Transformation(
        input=_or(written, "input", ""),
        strategy=written.get("strategy") or "Retain",
        multiply_by=_or(written, "multiplyBy", ""),
        outputs={
            name: parse(amount or 0)
            for name, amount in (written.get("outputs") or {}).items()
        },
    )


def _fair_sharing(document: Manifest) -> tuple[str, ...] | None:
    """The first version of the Configuration switches fair sharing on with a key of its own; the second by asking."""
    written = document.get("fairSharing")
    if (
        written is None
        or written.get("enable") is False
        or ("enable" not in written and _is_first(document))
    ):
        return None
    return _texts(written, "preemptionStrategies") or (
        "LessThanOrEqualToFinalShare",
        "LessThanInitialShare",
    )


def _is_first(document: Manifest) -> bool:
    return str(document.get("apiVersion", "")).endswith("/v1beta1")


def _outside_system(namespace: str) -> Manifest:
    """Select, as Kueue does by default, every namespace but Kubernetes' and Kueue's own."""
    outside = {
        "key": NAME_LABEL,
        "operator": "NotIn",
        "values": ["kube-system", namespace],
    }
    return {"matchExpressions": [outside]}


def _or(written: Manifest, key: str, default: Any) -> Any:
    value = written.get(key)
    return default if value is None else value


def _texts(written: Manifest, key: str) -> tuple[str, ...]:
    return tuple(text or "" for text in written.get(key) or ())


def _unsupported(path: str, found: Any, supported: Any) -> FieldError:
    words = ", ".join(f'"{each}"' for each in supported)
    return FieldError(
        field=path,
        type="Unsupported value",
        value=printed(found),
        detail=f"supported values: {words}",
    )
