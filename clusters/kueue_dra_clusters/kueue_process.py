"""Kueue as a local process of a control plane: started with a Configuration or refusing it, restarted, judged alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import urllib3

from kueue_dra_clusters.api_client import APIClient, body_of
from kueue_dra_clusters.errors import ClusterError, ProcessError
from kueue_dra_clusters.manager_config import (
    DEFAULTS,
    ManagerEnvironment,
    check,
    merged,
    version,
)
from kueue_dra_clusters.manifests import (
    MANAGER_ROLE,
    NAMESPACE,
    SERVICE_ACCOUNT,
    WEBHOOK_HOST,
    Manifest,
    without_permission,
)
from kueue_dra_clusters.ports import LOOPBACK
from kueue_dra_clusters.processes import Processes
from kueue_dra_clusters.waiting import NotYet, TimedOut, WaitLimits, eventually
from kueue_dra_ref.target import FieldError, Ref

NAME = "kueue"
LOG_LEVEL = "--zap-log-level=2"  # as the release's Deployment

DEVICE_RESOURCES = (
    "deviceclasses",
    "resourceclaims",
    "resourceclaimtemplates",
    "resourceslices",
)
ROLE = Ref(
    api_version="rbac.authorization.k8s.io/v1", kind="ClusterRole", name=MANAGER_ROLE
)


@dataclass(slots=True, kw_only=True)
class KueueProcess:
    """The one Kueue of a control plane."""

    binary: Path
    objects: APIClient
    place: ManagerEnvironment
    processes: Processes
    limits: WaitLimits = field(default_factory=WaitLimits)
    _running: bool = False
    _version: str = ""
    _granted: list[Manifest] | None = None
    _pool: urllib3.HTTPSConnectionPool | None = None

    def check(self, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
        """Have the real Kueue judge a Configuration; the running one goes on."""
        return check(self.binary, configuration)

    def start(self, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
        """Run Kueue with a Configuration in place of the one that runs, or say why it refuses (the old one goes on)."""
        if faults := self.check(configuration):
            return faults
        self.stop()
        file = self.processes.directory / "kueue.yaml"
        file.write_text(
            json.dumps(self._complete(configuration), default=str, sort_keys=True),
            encoding="utf-8",
        )
        environment = {"KUBECONFIG": str(self.place.kubeconfig)}
        words: list[str | Path] = [self.binary, "--config", file, LOG_LEVEL]
        self.processes.start(NAME, words, env=environment, etc=self.place.etc)
        self._running = True
        self._await_webhooks()
        return ()

    def restart(self, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
        """Start again, with another Configuration or with the same; objects stay."""
        return self.start(configuration)

    def stop(self) -> None:
        """End Kueue, if it runs."""
        if self._running:
            self._running = False
            self.processes.stop(NAME)

    def insist(self) -> None:
        """Fail with its last words when a Kueue that should run has ended by itself.

        Raises:
            ProcessTrouble: it has.

        """
        if self._running:
            self.processes.insist(NAME)

    def log(self) -> str:
        """Read what the Kueue that was started last has logged."""
        return self.processes.log(NAME).read_text(encoding="utf-8", errors="replace")

    def describe(self) -> Manifest:
        """Say which Kueue this is, running or not, as it says itself."""
        self._version = self._version or version(self.binary)
        return {"kueue": self._version}

    def metrics(self) -> str:
        """Read Kueue's own metrics; empty where it makes its certificates itself, whom nobody could believe."""
        if self.place.etc is None:
            return ""
        settings = self.objects.api.configuration.auth_settings()
        headers = {
            way["key"]: way["value"]
            for way in settings.values()
            if way["in"] == "header"
        }
        answer = self._scraper().request("GET", "/metrics", headers=headers)
        if answer.status != HTTPStatus.OK:
            raise ProcessError(
                NAME,
                f"answers {answer.status} to who asks for its metrics",
                self.processes.log(NAME),
            )
        return answer.data.decode()

    def rules(self) -> list[Manifest]:
        """Give the rules for resource.k8s.io of the ClusterRole that Kueue runs under."""
        return [
            rule
            for rule in self._role_rules()
            if "resource.k8s.io" in rule["apiGroups"]
        ]

    def permit(self, rules: Sequence[Manifest]) -> None:
        """Set the rules of Kueue's ClusterRole; a Kueue that watches already notices when restarted."""
        granted = self._granted or self._role_rules()
        self._granted = None if rules == granted else granted
        self._bind(rules)
        for resource in DEVICE_RESOURCES:
            self._await_access(
                resource, allowed=any(resource in rule["resources"] for rule in rules)
            )

    def is_denied(self) -> bool:
        """Whether Kueue has met with a permission that was taken: it waits, and says so in its log."""
        return self._granted is not None and "is forbidden" in self.log()

    def remove_permission(self, resource: str) -> None:
        """Take one resource from Kueue's ClusterRole."""
        self.permit(without_permission(self._role_rules(), resource))

    def restore_permissions(self) -> None:
        """Give Kueue's ClusterRole back what was taken; Kueue tries again by itself within some seconds."""
        if self._granted is not None:
            self.permit(self._granted)

    def _scraper(self) -> urllib3.HTTPSConnectionPool:
        if self._pool is None:
            self._pool = urllib3.HTTPSConnectionPool(
                LOOPBACK,
                self.place.metrics,
                timeout=self.limits.request,
                ca_certs=str(self.place.certificates / "ca.crt"),
                assert_hostname=WEBHOOK_HOST,
                server_hostname=WEBHOOK_HOST,
            )
        return self._pool

    def _complete(self, configuration: Mapping[str, Any]) -> Manifest:
        """Lay a Configuration over the defaults, and what the surroundings fix over both."""
        return merged(merged(DEFAULTS, configuration), self.place.settings())

    def _await_webhooks(self) -> None:
        """Return once Kueue says that its webhooks answer."""
        address = f"http://{LOOPBACK}:{self.place.health}/readyz"

        def ready() -> None:
            self.processes.insist(NAME)
            try:
                status = urllib3.request(
                    "GET", address, retries=False, timeout=1.0
                ).status
            except urllib3.exceptions.HTTPError as trouble:
                raise NotYet(type(trouble).__name__) from None
            if status != HTTPStatus.OK:
                raise NotYet(f"{address} answers {status}")

        try:
            eventually(
                ready, within=self.limits.ready, every=0.02, what="Kueue's webhooks"
            )
        except TimedOut as trouble:
            raise ProcessError(
                NAME, str(trouble), self.processes.log(NAME)
            ) from trouble

    def _role_rules(self) -> list[Manifest]:
        role = self.objects.read(ROLE)
        if role is None:
            raise ClusterError(f"{ROLE} is not there")
        rules: list[Manifest] = role["rules"]
        return rules

    def _bind(self, rules: Sequence[Manifest]) -> None:
        body_of(self.objects.patch(ROLE, {"rules": rules}), f"change {ROLE}")

    def _await_access(self, resource: str, *, allowed: bool) -> None:
        """Return once the API server's authorizer has seen the change of a role."""
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "metadata": {"name": ""},
            "spec": {
                "user": f"system:serviceaccount:{NAMESPACE}:{SERVICE_ACCOUNT}",
                "resourceAttributes": {
                    "group": "resource.k8s.io",
                    "resource": resource,
                    "verb": "get",
                },
            },
        }

        def seen() -> None:
            if self.objects.create(review).body["status"]["allowed"] is not allowed:
                raise NotYet(
                    f"access to {resource} is not yet {'given' if allowed else 'taken'}"
                )

        eventually(
            seen,
            within=self.limits.ready,
            every=0.02,
            what=f"the role's change for {resource}",
        )
