"""Rolls out profiles on a kind cluster, and restarts, withdraws and restores Kueue and the driver."""

from __future__ import annotations

import contextlib
import fcntl
import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.kind import charts
from kueue_dra_clusters.kind.charts import (
    KUEUE_DEPLOYMENT,
    KUEUE_NAMESPACE,
    PROFILE_ANNOTATION,
)
from kueue_dra_clusters.kind.cluster import APPLIED, NodeCluster
from kueue_dra_clusters.kind.driver import Driver
from kueue_dra_clusters.kind.driver_description import ProfileOfDriver
from kueue_dra_clusters.kind.driver_install import driver_manifests
from kueue_dra_clusters.kind.profiles import PROFILES, Profile
from kueue_dra_clusters.kind.progress import reported
from kueue_dra_clusters.kind.provider import ProviderError
from kueue_dra_clusters.startup_errors import verdict
from kueue_dra_clusters.waiting import NotYet, eventually
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.target import FieldError, Manifest, Ref

ROLLED = "profile"
ROLL_SECONDS = 180.0
FLAVORS = "/apis/kueue.x-k8s.io/v1beta2/resourceflavors"
PROBE = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ResourceFlavor",
    "metadata": {"name": "probe"},
}
"""A ResourceFlavor for a dry run, which the webhooks of Kueue check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """The profile on a cluster, which several processes share."""

    cluster: NodeCluster

    @contextlib.contextmanager
    def under(self, profile: Profile, *, alone: bool = False) -> Iterator[None]:
        """Run Kueue and the driver with a profile until the block ends.

        Several processes may use one profile at once; ``alone`` waits until no other process uses the cluster.
        """
        folder = self.cluster.record.folder
        with (
            (folder / "users.lock").open("a+") as users,
            (folder / "rolling.lock").open("a+") as rolling,
        ):
            while not self._joined(users, profile, alone=alone):
                # Processes that wait here for the same profile find it rolled out.
                fcntl.flock(rolling, fcntl.LOCK_EX)
                if self._rolled() != profile.name:
                    fcntl.flock(users, fcntl.LOCK_EX)
                    self._roll_out(profile)
                    fcntl.flock(users, fcntl.LOCK_UN)
                fcntl.flock(rolling, fcntl.LOCK_UN)
            yield

    def _joined(self, users: TextIO, profile: Profile, *, alone: bool) -> bool:
        """Lock the cluster, shared or exclusively, unless another profile runs there."""
        fcntl.flock(users, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        if self._rolled() == profile.name:
            return True
        fcntl.flock(users, fcntl.LOCK_UN)
        return False

    def _rolled(self) -> str:
        """Give the name of the current profile."""
        file = self.cluster.record.folder / ROLLED
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def _profile(self) -> Profile:
        """Give the current profile."""
        return PROFILES[self._rolled()]

    def _configuration(self) -> Manifest:
        return self._profile().configuration(self.cluster.driver)

    def _settings(self) -> ProfileOfDriver:
        return self._profile().settings(self.cluster.driver)

    def _roll_out(self, profile: Profile) -> None:
        driver = self.cluster.driver
        (self.cluster.record.folder / ROLLED).write_text("", encoding="utf-8")
        with reported(f"profile {profile.name}: {profile.about}"):
            self.apply_once(
                driver_manifests(driver, profile, self.cluster.images.driver)
            )
            mark = self._start_kueue(profile.configuration(driver))
            self._driver.await_ready(profile.settings(driver))
            self._kueue_ready(mark)
        (self.cluster.record.folder / ROLLED).write_text(profile.name, encoding="utf-8")

    def restart_kueue(self) -> None:
        """Restart Kueue's pod, and wait until it is ready."""
        self._kueue_ready(self._start_kueue(self._configuration()))

    def verdict(self, configuration: Manifest) -> Sequence[FieldError]:
        """Start Kueue with a Configuration, and read the errors from its log; call `restart_kueue` afterwards."""
        mark = self._start_kueue(
            {**self._configuration(), "resources": {}, **configuration}
        )
        objects = self.cluster.objects()

        def logged() -> Sequence[FieldError]:
            pod = _kueue_pod(objects, mark)["metadata"]["name"]
            with contextlib.suppress(ProviderError):  # its container does not run yet
                log = self.cluster.kubectl("-n", KUEUE_NAMESPACE, "logs", pod)
                found = verdict(log)
                if found is not None:
                    return found
            raise NotYet("its log shows neither a start nor an error")

        return eventually(
            logged,
            within=ROLL_SECONDS,
            every=0.5,
            at_most=1.0,
            what="Kueue to check a Configuration",
        )

    def _start_kueue(self, configuration: Manifest) -> str:
        """Restart Kueue's pod with a new mark, and give the mark."""
        mark = secrets.token_hex(4)
        images, minor = self.cluster.images, self.cluster.release
        self.apply_once(
            charts.kueue_manifests(minor, images.kueue, configuration, mark=mark)
        )
        return mark

    def restart_driver(self) -> None:
        """Restart the driver's pods, and wait until they serve devices."""
        self._driver.restart(self._settings())

    def withdraw_driver(self) -> None:
        """Remove the driver from all nodes, and delete its slices."""
        self._driver.withdraw()

    def bring_driver_back(self) -> None:
        """Run the driver again, and wait until it serves devices."""
        self._driver.bring_back(self._settings())

    @property
    def _driver(self) -> Driver:
        return Driver(cluster=self.cluster)

    def apply_once(self, manifests: Sequence[Manifest]) -> None:
        """Apply the manifests that changed; namespaces and CRDs first."""
        file = self.cluster.record.folder / APPLIED
        applied: dict[str, str] = {}
        if file.exists():
            applied = json.loads(file.read_text(encoding="utf-8"))
        first: list[Manifest] = []
        rest: list[Manifest] = []
        for manifest in manifests:
            ref, text = str(Ref.of(manifest)), json.dumps(manifest, sort_keys=True)
            if applied.get(ref) != text:
                is_first = manifest["kind"] in ("Namespace", "CustomResourceDefinition")
                (first if is_first else rest).append(manifest)
            applied[ref] = text
        for some in (first, rest):
            if some:
                words = ("apply", "--server-side", "--force-conflicts", "-f", "-")
                self.cluster.kubectl(*words, stdin=charts.a_list(some))
        file.write_text(json.dumps(applied), encoding="utf-8")

    def _kueue_ready(self, mark: str) -> None:
        """Wait until the pod of this roll-out is ready and its webhooks answer.

        Kueue writes its certificate into a Secret and waits for it in its volume, which the kubelet updates once a
        minute, or at once when the pod changes; so this changes an annotation of the pod until it is ready.
        """
        objects, touches = self.cluster.objects(), 0

        def ready() -> None:
            nonlocal touches
            pod = _kueue_pod(objects, mark)
            if not is_true(pod, "Ready"):
                touches += 1
                annotations = {"kueue-dra.dev/look": str(touches)}
                objects.patch(Ref.of(pod), {"metadata": {"annotations": annotations}})
                phase = pod.get("status", {}).get("phase")
                raise NotYet(f"Kueue's pod is {phase}, not ready")
            answer = objects.call("POST", f"{FLAVORS}?dryRun=All", PROBE)
            if not answer.ok:
                raise NotYet(
                    f"a flavor is answered with {answer.code} {answer.message}"
                )

        eventually(
            ready,
            within=ROLL_SECONDS,
            every=0.5,
            at_most=1.0,
            what=f"Kueue in {KUEUE_DEPLOYMENT} to be ready",
        )


def _kueue_pod(objects: APIClient, mark: str) -> Manifest:
    """Find Kueue's pod of a roll-out."""
    for pod in objects.list("v1", "Pod", KUEUE_NAMESPACE):
        if annotations_of(pod).get(PROFILE_ANNOTATION) == mark:
            return pod
    raise NotYet("no pod of Kueue's")
