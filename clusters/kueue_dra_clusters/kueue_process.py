"""Kueue as a local process of a control plane: starts, restarts and checks Configurations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import urllib3

from kueue_dra_clusters.api_client import APIClient, auth_headers, body_of
from kueue_dra_clusters.errors import ClusterError, ProcessError
from kueue_dra_clusters.job_definitions import PROVISIONING, JobDefinitions
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
from kueue_dra_clusters.own_build import build_facts
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
    definitions: JobDefinitions | None = None
    """The CRDs of the work that a Configuration names."""
    limits: WaitLimits = field(default_factory=WaitLimits)
    _running: bool = False
    _version: str = ""
    _granted: list[Manifest] | None = None
    _pool: urllib3.HTTPSConnectionPool | None = None

    def check(self, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
        """Check a Configuration with a separate Kueue process; the running one continues."""
        return check(self.binary, configuration)

    def start(self, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
        """Restart Kueue with a Configuration, or give the errors of the Configuration (the running one continues)."""
        if faults := self.check(configuration):
            return faults
        self.stop()
        self._ensure_definitions(configuration)
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

    def _ensure_definitions(self, configuration: Mapping[str, Any]) -> None:
        """Install the CRDs of the work that a Configuration names, and that of ProvisioningRequests."""
        integrations = configuration.get("integrations") or {}
        if self.definitions:
            frameworks = integrations.get("frameworks") or ()
            self.definitions.ensure([PROVISIONING, *frameworks])

    def restart(self, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
        """Restart, with another Configuration or with the same; objects stay."""
        return self.start(configuration)

    def stop(self) -> None:
        """Stop Kueue, if it runs."""
        if self._running:
            self._running = False
            self.processes.stop(NAME)

    def insist(self) -> None:
        """Check that a Kueue that should run has not exited.

        Raises:
            ProcessError: it has; with the end of its log.

        """
        if self._running:
            self.processes.insist(NAME)

    def log(self) -> str:
        """Read the log of the Kueue that was started last."""
        return self.processes.log(NAME).read_text(encoding="utf-8", errors="replace")

    def describe(self) -> Manifest:
        """Give the version that Kueue reports, running or not, and what is known of a build of the user."""
        self._version = self._version or version(self.binary)
        facts = build_facts(self.binary)
        return {"kueue": self._version, **({"build": facts} if facts else {})}

    def metrics(self) -> str:
        """Read Kueue's own metrics; empty if it manages its certificates itself, which no client could verify."""
        if self.place.etc is None:
            return ""
        headers = auth_headers(self.objects.api)
        answer = self._scraper().request("GET", "/metrics", headers=headers)
        if answer.status != HTTPStatus.OK:
            raise ProcessError(
                NAME,
                f"answers {answer.status} to a request for its metrics",
                self.processes.log(NAME),
            )
        return answer.data.decode()

    def rules(self) -> list[Manifest]:
        """Give the rules for resource.k8s.io of Kueue's ClusterRole."""
        return [
            rule
            for rule in self._role_rules()
            if "resource.k8s.io" in rule["apiGroups"]
        ]

    def permit(self, rules: Sequence[Manifest]) -> None:
        """Set the rules of Kueue's ClusterRole; running watches notice at the next restart."""
        granted = self._granted or self._role_rules()
        self._granted = None if rules == granted else granted
        self._bind(rules)
        for resource in DEVICE_RESOURCES:
            self._await_access(
                resource, allowed=any(resource in rule["resources"] for rule in rules)
            )

    def is_denied(self) -> bool:
        """Whether the log of Kueue reports a permission that was removed; Kueue then waits for it."""
        return self._granted is not None and "is forbidden" in self.log()

    def remove_permission(self, resource: str) -> None:
        """Remove one resource from Kueue's ClusterRole."""
        self.permit(without_permission(self._role_rules(), resource))

    def restore_permissions(self) -> None:
        """Restore Kueue's ClusterRole; Kueue retries within some seconds."""
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
        """Merge a Configuration into the defaults, and the settings of the environment into both."""
        return merged(merged(DEFAULTS, configuration), self.place.settings())

    def _await_webhooks(self) -> None:
        """Wait until Kueue is ready, webhooks included."""
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
            raise ClusterError(f"{ROLE} does not exist")
        rules: list[Manifest] = role["rules"]
        return rules

    def _bind(self, rules: Sequence[Manifest]) -> None:
        body_of(self.objects.patch(ROLE, {"rules": rules}), f"change {ROLE}")

    def _await_access(self, resource: str, *, allowed: bool) -> None:
        """Wait until the API server's authorizer has observed the change of a role."""
        review = _access_review(resource)

        def seen() -> None:
            if self.objects.create(review).body["status"]["allowed"] is not allowed:
                wanted = "granted" if allowed else "removed"
                raise NotYet(f"access to {resource} is not yet {wanted}")

        eventually(
            seen,
            within=self.limits.ready,
            every=0.02,
            what=f"the role's change for {resource}",
        )


def _access_review(resource: str) -> Manifest:
    """Ask whether Kueue may read a resource of resource.k8s.io."""
    attributes = {"group": "resource.k8s.io", "resource": resource, "verb": "get"}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {"name": ""},
        "spec": {
            "user": f"system:serviceaccount:{NAMESPACE}:{SERVICE_ACCOUNT}",
            "resourceAttributes": attributes,
        },
    }
