"""Storing objects of resource.k8s.io in the reference as its Kubernetes would: what comes of them, or why not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.faults import ManifestFault
from kueue_dra_ref.api.scheme import kind_of
from kueue_dra_ref.api.versions import stored
from kueue_dra_ref.apiserver import CONTROL_PLANE, Admitted, Circumstances, Kubernetes, Refused, admitted
from kueue_dra_ref.apiserver.objects import errors_of_metadata
from kueue_dra_ref.cluster.store import Store
from kueue_dra_ref.target import FieldError, Manifest

GROUP = "resource.k8s.io"


class NotStored(ManifestFault):
    """What an API server answers instead of storing an object."""

    def __init__(self, refused: Refused) -> None:
        first = refused.errors[0] if refused.errors else FieldError(field="", type="Refused", detail=refused.message)
        super().__init__(first, refused.code, refused.message, refused.errors[1:])


@dataclass(slots=True, kw_only=True)
class ApiServer:
    """The API server of one minor of Kubernetes, as far as it changes or refuses what is written."""

    kubernetes: Kubernetes = CONTROL_PLANE
    only_served: bool = False
    """Refuse the versions of resource.k8s.io that the minor does not serve, instead of warning of them."""
    warnings: list[str] = field(default_factory=list)
    """What writers were warned of, each with the object that it is about."""

    def storable(self, manifest: Manifest, store: Store, now: str) -> Manifest:
        """Give what is stored of a manifest.

        Raises:
            ManifestFault: it is refused; `NotStored` for an object of resource.k8s.io.

        """
        if kind_of(manifest).group != GROUP:
            return stored(manifest)
        meta = _mapping(manifest, "metadata")
        name, namespace = str(meta.get("name", "")), str(meta.get("namespace", ""))
        old = store.find(manifest["kind"], name, namespace)
        if old is None and namespace:
            insist_on_namespace(manifest, store)
        labels = _mapping(_mapping(store.find("Namespace", namespace) or {}, "metadata"), "labels")
        under = Circumstances(
            kubernetes=self.kubernetes, namespace_labels=labels, only_served=self.only_served, now=now
        )
        answer = admitted(manifest, old, under)
        self.warnings.extend(f"{manifest['kind']} {name}: {warning}" for warning in answer.warnings)
        match answer:
            case Refused():
                raise NotStored(answer)
            case Admitted(obj=obj):
                return obj

    def metadata_faults(self, obj: Manifest) -> tuple[FieldError, ...]:
        """Say what is wrong with the metadata of an object; those of resource.k8s.io were looked at when decoded."""
        return () if kind_of(obj).group == GROUP else tuple(errors_of_metadata(obj, self.kubernetes))


def insist_on_namespace(obj: Manifest, store: Store) -> None:
    """Refuse an object whose namespace is not there.

    Raises:
        ManifestFault: it is not there.

    """
    namespace = obj["metadata"].get("namespace", "")
    if kind_of(obj).namespaced and store.find("Namespace", namespace) is None:
        missing = FieldError(field="metadata.namespace", type="Not found", value=f'"{namespace}"')
        raise ManifestFault(missing, code=404, message=f'namespaces "{namespace}" not found')


def _mapping(holder: Manifest, key: str) -> dict[str, Any]:
    found = holder.get(key)
    return found if isinstance(found, dict) else {}
