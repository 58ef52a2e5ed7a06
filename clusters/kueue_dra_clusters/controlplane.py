"""A node-less control plane: an API server of its own with a real Kueue release, both as local processes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from http import HTTPStatus
from types import TracebackType
from typing import Self

from kubernetes.client import ApiClient

from kueue_dra_clusters import manifests
from kueue_dra_clusters.api_client import APIClient, RequestRejected, body_of
from kueue_dra_clusters.apiserver import ApiServer
from kueue_dra_clusters.binaries import Binaries, binaries
from kueue_dra_clusters.certificates import Authority
from kueue_dra_clusters.job_definitions import JobDefinitions
from kueue_dra_clusters.kueue_process import KueueProcess
from kueue_dra_clusters.manager_config import ManagerEnvironment
from kueue_dra_clusters.manifests import (
    NAMESPACE,
    SERVICE_ACCOUNT,
    WEBHOOK_HOST,
    Manifest,
    Webhook,
)
from kueue_dra_clusters.ports import Ports
from kueue_dra_clusters.processes import Processes
from kueue_dra_clusters.releases import NEWEST, release
from kueue_dra_clusters.waiting import NotYet, Pauses, WaitLimits, eventually, limits_of

TOKEN_SECONDS = 24 * 3600
WORKERS = 8
PATIENCE = 5
"""The factor of the limits of an API server that starts: it serves some CRDs only after it has read all others."""
WEBHOOK_CERTIFICATES = "webhook"
ETC = "etc"
METRICS_CERTIFICATES = f"{ETC}/kueue/metrics/certs"
"""Where Kueue reads them if it does not manage its certificates itself."""


class ControlPlane:
    """An API server with Kueue's CRDs, webhooks and roles, and a Kueue that starts with its Configuration.

    While it is open, ``api`` is a client with all permissions, and ``kueue`` the Kueue of this control plane.
    """

    api: ApiClient
    kueue: KueueProcess
    _server: ApiServer

    def __init__(
        self, programs: Binaries | None = None, limits: WaitLimits | None = None
    ) -> None:
        self._programs = programs
        self._release = programs.release if programs else release(NEWEST)
        self._limits = limits or limits_of(os.environ)
        self._held = ExitStack()

    def start(self) -> Self:
        """Start everything; if that fails, stop what was started."""
        programs = self._programs or binaries(self._release.minor)
        with ExitStack() as held:
            ports = held.enter_context(Ports())
            processes = held.enter_context(Processes())
            server = ApiServer(
                programs=programs, processes=processes, ports=ports, limits=self._limits
            )
            self.api, self._server = server.api, server
            objects = APIClient(
                api=server.api, limits=self._limits, alive=server.insist
            )
            self.kueue = _install(programs, server, objects)
            self._held = held.pop_all()
        return self

    def _insist(self) -> None:
        """Raise an error with the end of the log if a process has exited."""
        self._server.insist()
        self.kueue.insist()

    def objects(self, limits: WaitLimits) -> APIClient:
        """Give a client for the newest version of Kueue's API, whatever the release serves."""
        return self._release.objects(api=self.api, limits=limits, alive=self._insist)

    def administrator(self) -> str:
        """Give a kubeconfig with all permissions as text, for a manager of MultiKueue."""
        return self._server.administrator()

    @property
    def pauses(self) -> Pauses:
        """The delays of the release."""
        return self._release.pauses

    def close(self) -> None:
        """Stop every process and remove every file."""
        self._held.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        trouble: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _install(programs: Binaries, server: ApiServer, objects: APIClient) -> KueueProcess:
    """Install a Kueue release in an API server that may still be starting."""
    authority = Authority("kueue-ca")
    webhook = Webhook(port=server.ports.reserve(), authority=authority.pair.certificate)
    certificates = _certificates(authority)
    for folder in (WEBHOOK_CERTIFICATES, METRICS_CERTIFICATES):
        for name, content in certificates.items():
            server.processes.keep(f"{folder}/{name}", content)
    definitions = list(manifests.definitions(programs.kueue_module, webhook))
    others = [
        *manifests.permissions(programs.kueue_module),
        *manifests.surroundings(certificates),
    ]
    hooks = list(manifests.webhooks(programs.kueue_module, webhook))
    server.await_answer("/api/v1/namespaces", PATIENCE)
    namespace, *others = sorted(
        others, key=lambda manifest: manifest["kind"] != "Namespace"
    )
    _create(objects, namespace)
    _create_all(objects, [*definitions, *hooks, *others])
    _await_kinds(server, objects, definitions)
    return _kueue(programs, server, objects, webhook)


def _certificates(authority: Authority) -> dict[str, bytes]:
    serving = authority.vouch_for(WEBHOOK_HOST)
    return {
        "ca.crt": authority.pair.certificate,
        "ca.key": authority.pair.key,
        "tls.crt": serving.certificate,
        "tls.key": serving.key,
    }


def _create_all(objects: APIClient, found: Sequence[Manifest]) -> None:
    """Create many objects in parallel; CRDs of many kinds at once keep a slow API server busy for long."""
    patient = replace(objects, limits=objects.limits.scaled(PATIENCE))
    with ThreadPoolExecutor(WORKERS) as workers:
        pending = [workers.submit(_create, patient, manifest) for manifest in found]
        for created in pending:
            created.result()


def _await_kinds(
    server: ApiServer, objects: APIClient, definitions: Sequence[Manifest]
) -> None:
    """Wait until the API server serves and lists Kueue's kinds, and is ready."""
    collections = list(manifests.collections(definitions))
    for path in collections:
        server.await_answer(path, PATIENCE)
    _await_discovery(objects, collections, server.limits.scaled(PATIENCE))
    server.await_answer("/readyz", PATIENCE)


def _kueue(
    programs: Binaries, server: ApiServer, objects: APIClient, webhook: Webhook
) -> KueueProcess:
    etc = server.processes.directory / ETC
    place = ManagerEnvironment(
        kubeconfig=server.kubeconfig("kueue", _token(objects)),
        certificates=server.processes.directory / WEBHOOK_CERTIFICATES,
        etc=etc if server.processes.can_give_etc(etc) else None,
        webhook=webhook.port,
        health=server.ports.reserve(),
        metrics=server.ports.reserve(),
    )

    def install(definitions: Sequence[Manifest]) -> None:
        _create_all(objects, definitions)
        _await_kinds(server, objects, definitions)

    return KueueProcess(
        definitions=JobDefinitions(folder=programs.release.folder, install=install),
        binary=programs.kueue,
        objects=objects,
        place=place,
        processes=server.processes,
        limits=server.limits,
    )


def _await_discovery(
    objects: APIClient, paths: Iterable[str], limits: WaitLimits
) -> None:
    """Wait until the API server lists all kinds, which may be after it serves them; Kueue needs the lists to start."""
    wanted = [path.rpartition("/")[::2] for path in paths]

    def listed() -> None:
        groups = objects.call("GET", "/apis").body.get("groups") or []
        known = {
            f"/apis/{version['groupVersion']}"
            for group in groups
            for version in group["versions"]
        }
        found = {
            root: _names(objects.call("GET", root).body)
            for root in {root for root, _ in wanted} & known
        }
        if missing := [
            f"{root}/{name}" for root, name in wanted if name not in found.get(root, ())
        ]:
            raise NotYet(f"not listed: {', '.join(missing)}")

    eventually(
        listed,
        within=limits.ready,
        every=0.02,
        what="the API server to list Kueue's kinds",
    )


def _names(listing: Manifest) -> set[str]:
    return {each["name"] for each in listing.get("resources") or []}


def _create(objects: APIClient, manifest: Manifest) -> None:
    """Create one object; an earlier try without an answer may have created it already."""
    answer = objects.create(manifest)
    if not answer.ok and answer.code != HTTPStatus.CONFLICT:
        raise RequestRejected(
            did=f"create {manifest['kind']} {manifest['metadata']['name']}",
            answer=answer,
        )


def _token(objects: APIClient) -> str:
    """Request a token of Kueue's own service account."""
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{SERVICE_ACCOUNT}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
    answer = objects.call(
        "POST", path, request | {"spec": {"expirationSeconds": TOKEN_SECONDS}}
    )
    token: str = body_of(answer, "ask for a token for Kueue")["status"]["token"]
    return token
