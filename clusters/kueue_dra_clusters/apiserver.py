"""etcd and kube-apiserver as local processes on loopback: no nodes, no controllers, no root needed."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

from kubernetes.client import ApiClient, Configuration

from kueue_dra_clusters.api_client import APIClient, auth_headers
from kueue_dra_clusters.binaries import Binaries
from kueue_dra_clusters.certificates import Authority, KeyPair, a_signing_key
from kueue_dra_clusters.errors import ProcessError
from kueue_dra_clusters.kubernetes_gates import gate_flags
from kueue_dra_clusters.ports import LOOPBACK, Ports
from kueue_dra_clusters.processes import Processes
from kueue_dra_clusters.waiting import NotYet, TimedOut, WaitLimits, eventually

ETCD = "etcd"
API_SERVER = "kube-apiserver"
CONNECTIONS = 16
FIXED_FLAGS: tuple[str, ...] = (
    f"--bind-address={LOOPBACK}",
    f"--advertise-address={LOOPBACK}",
    "--endpoint-reconciler-type=none",  # it would reject a loopback address
    "--service-account-issuer=https://kubernetes.default.svc",
    "--authorization-mode=RBAC",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--enable-priority-and-fairness=false",  # only one client and one Kueue
    "--disable-admission-plugins=ServiceAccount",  # no controller creates the default service accounts
    "--feature-gates=DRAExtendedResource=true,DRAPartitionableDevices=true,DRAConsumableCapacity=true"
    ",DRAListTypeAttributes=true",
    "--runtime-config=resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true",
)


@dataclass(slots=True, kw_only=True)
class ApiServer:
    """An API server with an empty etcd of its own."""

    programs: Binaries
    processes: Processes
    ports: Ports
    limits: WaitLimits
    fixed: tuple[str, ...] = FIXED_FLAGS
    """The flags of every API server: those of Kubernetes 1.36 by default."""
    authority: Authority = field(default_factory=lambda: Authority("kueue-dra"))
    port: int = field(init=False)
    api: ApiClient = field(init=False)

    def __post_init__(self) -> None:
        """Start both processes; `await_answer` waits until they are ready."""
        self.port = self.ports.reserve()
        token = secrets.token_urlsafe()
        etcd = self._start_etcd()
        flags = [
            *self.fixed,
            *gate_flags(),
            f"--etcd-servers={etcd}",
            f"--secure-port={self.port}",
            *self._credentials(token),
        ]
        self.processes.start(API_SERVER, [self.programs.kube_apiserver, *flags])
        self.api = self._client(token)

    def await_answer(self, path: str, patience: float = 1) -> None:
        """Wait until a path answers 200, longer by a factor; the error shows the log of the API server."""
        impatient = APIClient(api=self.api, limits=replace(self.limits, ready=0.0))

        def answers() -> None:
            self.insist()
            try:
                answer = impatient.call("GET", path)
            except TimedOut as trouble:
                raise NotYet(trouble.seen) from None
            if answer.code != HTTPStatus.OK:
                raise NotYet(f"{path}: {answer.code} {answer.message}")

        try:
            eventually(
                answers,
                within=self.limits.ready * patience,
                every=0.05,
                what=f"the API server to answer {path}",
            )
        except TimedOut as trouble:
            raise ProcessError(
                API_SERVER, str(trouble), self.processes.log(API_SERVER)
            ) from trouble

    def insist(self) -> None:
        """Raise an error with the end of the log if a process has exited."""
        for name in (ETCD, API_SERVER):
            self.processes.insist(name)

    def kubeconfig(self, name: str, token: str) -> Path:
        """Write a kubeconfig with a token."""
        authority = str(self.processes.directory / "ca.crt")
        cluster = {"server": self._address(), "certificate-authority": authority}
        content = _kubeconfig(name, cluster, token)
        return self.processes.keep(f"{name}.kubeconfig", json.dumps(content).encode())

    def administrator(self) -> str:
        """Give a kubeconfig with all permissions as text, which names no files."""
        authority = base64.b64encode(self.authority.pair.certificate).decode()
        cluster = {
            "server": self._address(),
            "certificate-authority-data": authority,
        }
        header = auth_headers(self.api)["authorization"]
        token = header.removeprefix("Bearer ")
        return json.dumps(_kubeconfig("administrator", cluster, token))

    def _start_etcd(self) -> str:
        client, peer = (f"http://{LOOPBACK}:{self.ports.reserve()}" for _ in range(2))
        flags = [
            f"--data-dir={self.processes.directory / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
        ]
        self.processes.start(ETCD, [self.programs.etcd, *flags])
        return client

    def _credentials(self, token: str) -> list[str]:
        """Write the server's keys and the administrator's token, and the flags that name them."""
        keep = self.processes.keep
        keep("ca.crt", self.authority.pair.certificate)
        serving: KeyPair = self.authority.vouch_for("localhost", LOOPBACK)
        signing, verifying = a_signing_key()
        signing_key = keep("service-accounts.key", signing)
        return [
            f"--tls-cert-file={keep('apiserver.crt', serving.certificate)}",
            f"--tls-private-key-file={keep('apiserver.key', serving.key)}",
            f"--token-auth-file={keep('tokens.csv', f'{token},administrator,administrator,system:masters'.encode())}",
            f"--service-account-key-file={keep('service-accounts.pub', verifying)}",
            f"--service-account-signing-key-file={signing_key}",
        ]

    def _address(self) -> str:
        return f"https://{LOOPBACK}:{self.port}"

    def _client(self, token: str) -> ApiClient:
        """Create a client with all permissions."""
        settings = Configuration(
            host=self._address(), ssl_ca_cert=str(self.processes.directory / "ca.crt")
        )
        settings.api_key["authorization"] = f"Bearer {token}"
        settings.proxy = None  # the user's proxy does not lead to loopback
        settings.connection_pool_maxsize = CONNECTIONS
        return ApiClient(settings)


def _kubeconfig(name: str, cluster: Mapping[str, str], token: str) -> dict[str, Any]:
    """Give a kubeconfig of one cluster, with a token."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    }
