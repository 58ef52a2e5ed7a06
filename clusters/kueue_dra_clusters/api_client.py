"""A client of an API server: plain manifests over one kept-alive connection, with discovery in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import urllib3

from kueue_dra_clusters.waiting import NotYet, WaitLimits, eventually
from kueue_dra_ref.target import Manifest, Ref

if TYPE_CHECKING:  # it takes a quarter of a second, which a run on the reference does not have to spend
    from kubernetes.client import ApiClient

EPOCH = "Thu, 01 Jan 1970 00:00:00 GMT"
MERGE_PATCH = "application/merge-patch+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer of the API server: the HTTP status code and the object, or the Status with the error."""

    code: int
    body: Manifest
    second: int = 0
    """The server's clock, in seconds since 1970."""

    @property
    def ok(self) -> bool:
        """Whether the request succeeded."""
        return self.code < 300

    @property
    def message(self) -> str:
        """The error message."""
        return str(self.body.get("message", ""))

    @property
    def transient(self) -> bool:
        """Whether a retry may succeed, because the API server or a webhook of Kueue is not ready yet."""
        return self.code in (0, 429, 503, 504) or (
            self.code == 500 and "failed calling webhook" in self.message
        )


class RequestRejected(Exception):
    """The API server rejected a request that the target itself needs."""

    def __init__(self, *, did: str, answer: Answer) -> None:
        super().__init__(f"{did}: {answer.code} {answer.message}")
        self.did = did
        self.answer = answer


@dataclass(frozen=True, slots=True, kw_only=True)
class APIResource:
    """The resource of one kind in the API."""

    plural: str
    namespaced: bool


@dataclass(slots=True, kw_only=True)
class APIClient:
    """The requests of the live targets to an API server; it retries transient errors."""

    api: ApiClient
    limits: WaitLimits = field(default_factory=WaitLimits)
    alive: Callable[[], None] = lambda: None
    """Raises `ClusterError` if the API server or Kueue has exited, so that no call waits for it."""
    _kinds: dict[str, dict[str, APIResource]] = field(default_factory=dict)
    _newest: dict[str, int] = field(default_factory=dict)
    _written: dict[str, int] = field(default_factory=dict)

    def create(self, manifest: Manifest) -> Answer:
        """Create one object."""
        ref = Ref.of(manifest)
        return self.call("POST", self.path(ref, collection=True), manifest)

    def replace(self, manifest: Manifest, *, subresource: str = "") -> Answer:
        """Replace one object (or one subresource of it) if the resourceVersion of the manifest is current."""
        return self.call(
            "PUT", self.path(Ref.of(manifest), subresource=subresource), manifest
        )

    def patch(self, ref: Ref, change: Manifest) -> Answer:
        """Patch one object."""
        return self.call("PATCH", self.path(ref), change, content=MERGE_PATCH)

    def delete(self, ref: Ref) -> Answer:
        """Delete one object, and its dependents in the background."""
        return self.call("DELETE", self.path(ref), {"propagationPolicy": "Background"})

    def read(self, ref: Ref) -> Manifest | None:
        """Give one object as stored, or None."""
        if not self.serves(ref):
            return None
        answer = self.call("GET", self.path(ref))
        return None if answer.code == 404 else body_of(answer, f"read {ref}")

    def list(
        self, api_version: str, kind: str, namespace: str = "", *, labels: str = ""
    ) -> list[Manifest]:
        """Give all objects of a kind, of one namespace or of all, at least as new as the last answer about that kind.

        A list without a resourceVersion waits until the API server's cache has the newest write of *any* kind, which
        takes up to 100 ms.
        """
        ref = Ref(api_version=api_version, kind=kind, name="", namespace=namespace)
        path = self.path(ref, collection=True)
        query = {"labelSelector": labels} if labels else {}
        if newest := self._newest.get(_stem(path)):
            query |= {
                "resourceVersion": str(newest),
                "resourceVersionMatch": "NotOlderThan",
            }
        answer = self.call("GET", f"{path}?{urlencode(query)}")
        items = body_of(answer, f"list {kind}").get("items") or []
        return [{"apiVersion": api_version, "kind": kind, **item} for item in items]

    def now(self) -> int:
        """Give the second of the API server's clock, which sets creation times."""
        return self.call("GET", "/version").second

    def written(self, group: str, plural: str) -> int:
        """Give the newest resourceVersion that a write of a kind returned; 0 without any."""
        return self._written.get(f"{group} {plural}", 0)

    def serves(self, ref: Ref) -> bool:
        """Whether the API server knows the kind in that version."""
        return ref.kind in self._kinds_of(ref.api_version)

    def version_asked(self, api_version: str) -> str:
        """Give the API version that the cluster serves for a version of ours."""
        return api_version

    def as_ours(self, body: Manifest) -> Manifest:
        """Convert an object or a list of the API server to our version."""
        return body

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content: str = "application/json",
    ) -> Answer:
        """Make one request; retry transient errors for `WaitLimits.ready`."""

        def once() -> Answer:
            answer = self._request(method, path, body, content)
            if answer.transient:
                self.alive()
                raise NotYet(f"{answer.code} {answer.message}")
            _note(self._newest, path, answer.body)
            if method != "GET" and answer.ok:
                _note(self._written, path, answer.body)
            return answer

        return eventually(
            once,
            within=self.limits.ready,
            every=0.05,
            what=f"an answer to {method} {path}",
        )

    def _request(self, method: str, path: str, body: Any, content: str) -> Answer:
        try:
            response = self.api.rest_client.pool_manager.request(
                method,
                self.api.configuration.host + path,
                body=None if body is None else _written(body),
                headers=self._headers(content),
                timeout=urllib3.Timeout(total=self.limits.request),
                retries=False,
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            message = f"{type(error).__name__}: no answer from the API server"
            return Answer(code=0, body={"message": message})
        date = parsedate_to_datetime(response.headers.get("Date") or EPOCH)
        return Answer(
            code=response.status,
            body=_json(response.data),
            second=int(date.timestamp()),
        )

    def _headers(self, content: str) -> dict[str, str]:
        headers = {
            "Accept": "application/json",
            "Content-Type": content,
            **self.api.default_headers,
        }
        return headers | auth_headers(self.api)

    def path(self, ref: Ref, *, collection: bool = False, subresource: str = "") -> str:
        """Give the path of an object, of its subresource, or of all of its kind in its namespace."""
        kind = self._kinds_of(ref.api_version).get(
            ref.kind, APIResource(plural=ref.kind.lower() + "s", namespaced=True)
        )
        parts: Sequence[str] = (
            _root(ref.api_version),
            f"namespaces/{ref.namespace}" if kind.namespaced and ref.namespace else "",
            kind.plural,
            "" if collection else ref.name,
            subresource,
        )
        return "/".join(part for part in parts if part)

    def _kinds_of(self, api_version: str) -> dict[str, APIResource]:
        if api_version not in self._kinds:
            answer = self.call("GET", _root(api_version))
            found = answer.body.get("resources") or [] if answer.ok else []
            self._kinds[api_version] = {
                kind["kind"]: APIResource(
                    plural=kind["name"], namespaced=kind["namespaced"]
                )
                for kind in found
                if "/" not in kind["name"]
            }
        return self._kinds[api_version]


def auth_headers(api: ApiClient) -> dict[str, str]:
    """Give the headers that authenticate requests."""
    settings: Mapping[str, Any] = api.configuration.auth_settings()
    headers = {}
    for each in settings.values():
        if each["in"] == "header":
            headers[each["key"]] = each["value"]
    return headers


def _note(versions: dict[str, int], path: str, body: Manifest) -> None:
    """Record the resourceVersion of an answer if it is the newest of its kind."""
    version = str((body.get("metadata") or {}).get("resourceVersion", ""))
    if version.isdigit() and body.get("kind") != "APIResourceList":
        stem = _stem(path)
        versions[stem] = max(versions.get(stem, 0), int(version))


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _stem(path: str) -> str:
    """Reduce a path to its group and plural: ``/apis/batch/v1/namespaces/a/jobs/b`` to ``batch jobs``."""
    parts = path.partition("?")[0].split("/")[1:]
    group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
    inside = (
        rest[:1] == ["namespaces"]
        and len(rest) > 2
        and rest[2] not in ("status", "finalize")
    )
    return f"{group} {(rest[2:] if inside else rest or [''])[0]}"


def _written(body: Any) -> bytes:
    """Write text as it is, as clients in Go do: an API server counts the bytes of parameters as they came."""
    return json.dumps(body, ensure_ascii=False).encode()


def _json(data: bytes) -> Manifest:
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        return {"message": data.decode(errors="replace").strip()}
    return found if isinstance(found, dict) else {"message": str(found)}


def body_of(answer: Answer, did: str) -> Manifest:
    """Give the object of an answer; `RequestRejected` for an error."""
    if not answer.ok:
        raise RequestRejected(did=did, answer=answer)
    return answer.body
