"""Storing objects of resource.k8s.io in the reference as its Kubernetes would: what comes of them, or why not.

No counterpart: the in-memory API server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kueue_dra_ref.api.conversion import stored
from kueue_dra_ref.api.deepcopy import MemoizedCopy
from kueue_dra_ref.api.scheme import kind_of, version_of
from kueue_dra_ref.api.status_errors import ManifestError
from kueue_dra_ref.apiserver import (
    CONTROL_PLANE,
    AcceptedRequest,
    Kubernetes,
    RejectedRequest,
    RequestContext,
    admitted,
)
from kueue_dra_ref.apiserver.object_validation import errors_of_metadata
from kueue_dra_ref.apiserver.request_handler import (
    GROUP,
    completed,
    decoded,
    identified,
)
from kueue_dra_ref.apiserver.schema_core import BUILT_IN
from kueue_dra_ref.apiserver.schema_kueue import COMPLETED, schema
from kueue_dra_ref.apiserver.structural_schema import misfits, pruned
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.target import FieldError, Manifest

_LACKED = re.compile(
    r"spec\.template\.spec\.(restartPolicy|(c|initC)ontainers\[\d+]\.(name|image|resources\.limits))"
)

T = TypeVar("T")

_REMEMBERED = MemoizedCopy()


class RequestRejected(ManifestError):
    """What an API server answers instead of storing an object."""

    def __init__(self, refused: RejectedRequest) -> None:
        first = (
            refused.errors[0]
            if refused.errors
            else FieldError(field="", type="Refused", detail=refused.message)
        )
        super().__init__(first, refused.code, refused.message, refused.errors[1:])


class WrongTypes(ManifestError):
    """What in an object of Kueue is not of the type that its definition says."""

    def __init__(self, wrong: tuple[FieldError, ...]) -> None:
        super().__init__(wrong[0], others=wrong[1:])


@dataclass(slots=True, kw_only=True)
class ApiServer:
    """The API server of one minor of Kubernetes, as far as it changes or refuses what is written."""

    kubernetes: Kubernetes = CONTROL_PLANE
    only_served: bool = False
    """Refuse the versions of resource.k8s.io that the minor does not serve, instead of warning of them."""
    sketches: bool = False
    """Take Jobs that lack what quota does not depend on, and warn of it: names, images, limits, when pods end."""
    warnings: list[str] = field(default_factory=list)
    """What writers were warned of, each with the object that it is about."""

    def storable(self, manifest: Manifest, store: Store, now: str) -> Manifest:
        """Give what is stored of a manifest.

        Raises:
            ManifestFault: it is refused; `NotStored` for an object of resource.k8s.io.

        """
        kind, meta = kind_of(manifest), _mapping(manifest, "metadata")
        old = store.find(
            kind.name, str(meta.get("name", "")), str(meta.get("namespace", ""))
        )
        if kind.group != GROUP:
            return self.once(
                manifest,
                (old is None,),
                lambda: self._other(manifest, store, is_new=old is None),
            )
        namespace = str(meta.get("namespace", ""))
        if old is None and namespace:
            insist_on_namespace(manifest, store)
        labels = _mapping(
            _mapping(store.find("Namespace", namespace) or {}, "metadata"), "labels"
        )
        under = RequestContext(
            kubernetes=self.kubernetes,
            namespace_labels=labels,
            only_served=self.only_served,
            now=now,
        )
        if old is not None:
            return self._taken(admitted(manifest, old, under), manifest)
        return self.once(
            [manifest, labels],
            (now,),
            lambda: self._taken(admitted(manifest, None, under), manifest),
        )

    def once(
        self, document: object, situation: tuple[Hashable, ...], make: Callable[[], T]
    ) -> T:
        """Give what comes of a document in a situation, remembered together with what writers are warned of."""
        told = len(self.warnings)
        server = (self.kubernetes, self.only_served, self.sketches)
        found, self.warnings[told:] = _REMEMBERED.once(
            document, (*server, *situation), lambda: (make(), self.warnings[told:])
        )
        return found

    def _other(self, manifest: Manifest, store: Store, *, is_new: bool) -> Manifest:
        """Give what is stored of an object that is not of resource.k8s.io."""
        if shape := BUILT_IN.get(manifest["kind"]):
            return stored(
                self._taken(decoded(manifest, shape, self.kubernetes), manifest)
            )
        return stored(self._of_its_types(manifest, store, is_new=is_new))

    def _of_its_types(
        self, manifest: Manifest, store: Store, *, is_new: bool
    ) -> Manifest:
        """Give what Kueue's definitions have of an object; other types in a new one are refused by who completes it.

        Raises:
            NotStored: its metadata cannot be decoded, or it cannot by the webhook.
            WrongTypes: the API server finds it out.

        """
        kind, version = manifest["kind"], version_of(manifest)
        shape, spec = (
            schema(kind, version),
            {key: value for key, value in manifest.items() if key != "status"},
        )
        refused = identified(manifest, self.kubernetes)
        if (
            not refused
            and is_new
            and kind in COMPLETED
            and (refused := completed(spec, shape, self.kubernetes))
        ):
            insist_on_namespace(manifest, store)
        if refused:
            raise RequestRejected(refused)
        if wrong := tuple(misfits(manifest, shape)):
            raise WrongTypes(wrong)
        found: Manifest = pruned(manifest, shape, "", [])
        return found

    def _taken(
        self, answer: AcceptedRequest | RejectedRequest, manifest: Manifest
    ) -> Manifest:
        named = f"{manifest['kind']} {_mapping(manifest, 'metadata').get('name', '')}"
        self.warnings.extend(f"{named}: {warning}" for warning in answer.warnings)
        if isinstance(answer, RejectedRequest):
            raise RequestRejected(answer)
        return answer.obj

    def not_to_be_taken(
        self, obj: Manifest, faults: Iterable[FieldError]
    ) -> tuple[FieldError, ...]:
        """Give the faults for which an object is refused; a sketch of a Job is not, for what it lacks."""
        found = tuple(faults)
        lacking = [
            each
            for each in found
            if self.sketches and obj["kind"] == "Job" and _is_lacking(each)
        ]
        named = f"Job {obj['metadata']['name']}"
        self.warnings.extend(
            f"{named}: an API server would refuse it for this: {each}"
            for each in lacking
        )
        return tuple(each for each in found if each not in lacking)

    def metadata_faults(self, obj: Manifest) -> tuple[FieldError, ...]:
        """Say what is wrong with the metadata of an object; those of resource.k8s.io were looked at when decoded."""
        return (
            ()
            if kind_of(obj).group == GROUP
            else tuple(errors_of_metadata(obj, self.kubernetes))
        )


def insist_on_namespace(obj: Manifest, store: Store) -> None:
    """Refuse an object whose namespace is not there.

    Raises:
        ManifestFault: it is not there.

    """
    namespace = str(_mapping(obj, "metadata").get("namespace", ""))
    if kind_of(obj).namespaced and store.find("Namespace", namespace) is None:
        missing = FieldError(
            field="metadata.namespace", type="Not found", value=f'"{namespace}"'
        )
        raise ManifestError(
            missing, code=404, message=f'namespaces "{namespace}" not found'
        )


def _is_lacking(fault: FieldError) -> bool:
    return fault.type == "Required value" and _LACKED.fullmatch(fault.field) is not None


def _mapping(holder: Manifest, key: str) -> dict[str, Any]:
    found = holder.get(key)
    return found if isinstance(found, dict) else {}
