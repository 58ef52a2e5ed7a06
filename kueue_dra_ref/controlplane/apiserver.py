"""The in-memory API server: what Kubernetes stores of an object that is written, or why it rejects it.

No counterpart: the in-memory API server.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from kueue_dra_ref.api.conversion import stored
from kueue_dra_ref.api.deepcopy import MemoizedCopy
from kueue_dra_ref.api.scheme import kind_of, version_of
from kueue_dra_ref.api.status_errors import ManifestError
from kueue_dra_ref.api.unstructured import part
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

T = TypeVar("T")

_REMEMBERED = MemoizedCopy()


class RequestRejected(ManifestError):
    """The answer of an API server that does not store an object."""

    def __init__(self, rejected: RejectedRequest) -> None:
        first, *others = rejected.errors
        super().__init__(first, rejected.code, rejected.message, others)


class WrongTypes(ManifestError):
    """The fields of one of Kueue's objects whose types differ from its CRD."""

    def __init__(self, wrong: tuple[FieldError, ...]) -> None:
        super().__init__(wrong[0], others=wrong[1:])


@dataclass(slots=True, kw_only=True)
class ApiServer:
    """The API server of one minor of Kubernetes, as far as it changes or rejects what is written."""

    kubernetes: Kubernetes = CONTROL_PLANE
    only_served: bool = False
    """Reject the versions of resource.k8s.io that the minor does not serve, instead of warning about them."""
    warnings: list[str] = field(default_factory=list)
    """The warnings for clients, each with the object that it is about."""

    def storable(
        self,
        manifest: Manifest,
        store: Store,
    ) -> Manifest:
        """Give what is stored of a manifest.

        Raises:
            ManifestError: it is rejected; `RequestRejected` for an object of resource.k8s.io.

        """
        kind = kind_of(manifest)
        old = _stored(kind.name, manifest, store)
        if kind.group == GROUP:
            return self._resource(manifest, old, store)
        is_new = old is None

        def decode() -> Manifest:
            return self._other(manifest, store, is_new=is_new)

        return self.once(manifest, (is_new,), decode)

    def _resource(
        self, manifest: Manifest, old: Manifest | None, store: Store
    ) -> Manifest:
        """Give what is stored of an object of resource.k8s.io."""
        _, namespace = _name_of(manifest)
        insist_on_namespace(manifest, store)
        found = store.find("Namespace", namespace) or {}
        labels = part(part(found, "metadata"), "labels")
        context = RequestContext(
            kubernetes=self.kubernetes,
            namespace_labels=labels,
            only_served=self.only_served,
        )

        def admit() -> Manifest:
            answer = admitted(manifest, old, context)
            return self._accepted(answer, manifest)

        if old is not None:
            return admit()
        return self.once([manifest, labels], (), admit)

    def once(
        self, document: object, situation: tuple[Hashable, ...], make: Callable[[], T]
    ) -> T:
        """Give the result for a document in a situation, memoized together with its warnings."""
        first = len(self.warnings)
        server = (type(self).__name__, self.kubernetes, self.only_served)

        def with_warnings() -> tuple[T, list[str]]:
            return make(), self.warnings[first:]

        found, warnings = _REMEMBERED.once(
            document, (*server, *situation), with_warnings
        )
        self.warnings[first:] = warnings
        return found

    def _other(
        self,
        manifest: Manifest,
        store: Store,
        *,
        is_new: bool,
    ) -> Manifest:
        """Give what is stored of an object that is not of resource.k8s.io."""
        shape = BUILT_IN.get(manifest["kind"])
        if shape is None:
            custom = self._custom(manifest, store, is_new=is_new)
            return stored(custom)
        answer = decoded(manifest, shape, self.kubernetes)
        return stored(self._accepted(answer, manifest))

    def _custom(
        self,
        manifest: Manifest,
        store: Store,
        *,
        is_new: bool,
    ) -> Manifest:
        """Give what Kueue's CRDs keep of an object; a mutating webhook rejects a new one with wrong types first.

        Raises:
            RequestRejected: its metadata cannot be decoded, or the webhook cannot decode it.
            WrongTypes: the API server finds wrong types.

        """
        kind = manifest["kind"]
        shape = schema(kind, version_of(manifest))
        rejected = identified(manifest, self.kubernetes)
        if not rejected and is_new and kind in COMPLETED:
            spec = dict(manifest)
            spec.pop("status", None)
            answer = completed(spec, shape, self.kubernetes)
            if isinstance(answer, RejectedRequest):
                insist_on_namespace(manifest, store)
                rejected = answer
            else:
                manifest = manifest | answer
        if rejected:
            raise RequestRejected(rejected)
        wrong = tuple(misfits(manifest, shape))
        if wrong:
            raise WrongTypes(wrong)
        found: Manifest = pruned(manifest, shape, "", [])
        return found

    def _accepted(
        self, answer: AcceptedRequest | RejectedRequest, manifest: Manifest
    ) -> Manifest:
        kind = manifest["kind"]
        name, _ = _name_of(manifest)
        for warning in answer.warnings:
            self.warnings.append(f"{kind} {name}: {warning}")
        if isinstance(answer, RejectedRequest):
            raise RequestRejected(answer)
        return answer.obj

    def rejecting(
        self, obj: Manifest, faults: Iterable[FieldError]
    ) -> tuple[FieldError, ...]:
        """Give the faults that reject an object."""
        return tuple(faults)

    def metadata_faults(self, obj: Manifest) -> tuple[FieldError, ...]:
        """Validate the metadata of an object; decoding has validated those of resource.k8s.io before."""
        return tuple(errors_of_metadata(obj, self.kubernetes))


def insist_on_namespace(obj: Manifest, store: Store) -> None:
    """Reject an object whose namespace does not exist.

    Raises:
        ManifestError: it does not exist.

    """
    if not kind_of(obj).namespaced:
        return
    _, namespace = _name_of(obj)
    if store.find("Namespace", namespace) is not None:
        return
    missing = FieldError(
        field="metadata.namespace", type="Not found", value=f'"{namespace}"'
    )
    message = f'namespaces "{namespace}" not found'
    raise ManifestError(missing, code=404, message=message)


def _stored(
    kind: str,
    manifest: Manifest,
    store: Store,
) -> Manifest | None:
    name, namespace = _name_of(manifest)
    return store.find(kind, name, namespace)


def _name_of(manifest: Manifest) -> tuple[str, str]:
    """Give the name and the namespace of an object that may be malformed."""
    meta = part(manifest, "metadata")
    name = meta.get("name", "")
    namespace = meta.get("namespace", "")
    return str(name), str(namespace)
