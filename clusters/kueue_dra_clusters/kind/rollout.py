"""Profiles on a kind cluster: Kueue and the driver rolled out, restarted, taken away and brought back."""

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
from kueue_dra_clusters.kind.profiles import PROFILES, Profile
from kueue_dra_clusters.kind.progress import told
from kueue_dra_clusters.kind.provider import ProviderError
from kueue_dra_clusters.startup_errors import verdict
from kueue_dra_clusters.waiting import NotYet, eventually
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.target import FieldError, Manifest, Ref

ROLLED = "profile"
ROLL_SECONDS = 180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """What runs on a cluster, whichever process has rolled it out."""

    cluster: NodeCluster

    @contextlib.contextmanager
    def under(self, profile: Profile, *, alone: bool = False) -> Iterator[None]:
        """Have Kueue and the driver run with a profile until the block ends, whoever else uses the cluster.

        Several processes may be under one profile at once; ``alone`` waits until nobody else is under any.
        """
        folder = self.cluster.record.folder
        with (
            (folder / "users.lock").open("a+") as users,
            (folder / "rolling.lock").open("a+") as rolling,
        ):
            while not self._joined(users, profile, alone=alone):
                fcntl.flock(
                    rolling, fcntl.LOCK_EX
                )  # whoever waits here for the same profile finds it rolled out
                if self._rolled() != profile.name:
                    fcntl.flock(users, fcntl.LOCK_EX)
                    self._roll_out(profile)
                    fcntl.flock(users, fcntl.LOCK_UN)
                fcntl.flock(rolling, fcntl.LOCK_UN)
            yield

    def _joined(self, users: TextIO, profile: Profile, *, alone: bool) -> bool:
        """Become one who uses the cluster, or the only one, unless another profile runs there."""
        fcntl.flock(users, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        if self._rolled() == profile.name:
            return True
        fcntl.flock(users, fcntl.LOCK_UN)
        return False

    def _rolled(self) -> str:
        """Name the profile that runs."""
        file = self.cluster.record.folder / ROLLED
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def _profile(self) -> Profile:
        """Give the profile that runs."""
        return PROFILES[self._rolled()]

    def _roll_out(self, profile: Profile) -> None:
        (self.cluster.record.folder / ROLLED).write_text("", encoding="utf-8")
        with told(f"profile {profile.name}: {profile.about}"):
            self._applied_once(
                charts.driver_manifests(self.cluster.images.driver, profile.driver)
            )
            mark = self._start_kueue(profile.configuration())
            self._driver.await_ready(devices=profile.devices)
            self._kueue_ready(mark)
        (self.cluster.record.folder / ROLLED).write_text(profile.name, encoding="utf-8")

    def restart_kueue(self) -> None:
        """End Kueue's pod, and wait for the next one to be ready."""
        self._kueue_ready(self._start_kueue(self._profile().configuration()))

    def verdict(self, configuration: Manifest) -> Sequence[FieldError]:
        """Start Kueue with a Configuration, and read from its log why it refuses it; `restart_kueue` afterwards."""
        mark = self._start_kueue(
            {**self._profile().configuration(), "resources": {}, **configuration}
        )
        objects = self.cluster.objects()

        def judged() -> Sequence[FieldError]:
            pod = _kueue_pod(objects, mark)["metadata"]["name"]
            with contextlib.suppress(ProviderError):  # its container is not there yet
                if (
                    found := verdict(
                        self.cluster.kubectl("-n", KUEUE_NAMESPACE, "logs", pod)
                    )
                ) is not None:
                    return found
            raise NotYet(
                "its log says neither that it took the Configuration nor that it did not"
            )

        return eventually(
            judged,
            within=ROLL_SECONDS,
            every=0.5,
            at_most=1.0,
            what="Kueue to judge a Configuration",
        )

    def _start_kueue(self, configuration: Manifest) -> str:
        """Have Kueue's pod start anew, with a mark by which it is known."""
        mark = secrets.token_hex(4)
        images, minor = self.cluster.images, self.cluster.release
        self._applied_once(
            charts.kueue_manifests(minor, images.kueue, configuration, mark=mark)
        )
        return mark

    def restart_driver(self) -> None:
        """End the driver's pods, and wait for the next ones to serve."""
        self._driver.restart(devices=self._profile().devices)

    def withdraw_driver(self) -> None:
        """Let the driver run on no node, and take its slices away."""
        self._driver.withdraw()

    def bring_driver_back(self) -> None:
        """Let the driver run again, and wait for it to serve."""
        self._driver.bring_back(devices=self._profile().devices)

    @property
    def _driver(self) -> Driver:
        return Driver(cluster=self.cluster)

    def _applied_once(self, manifests: Sequence[Manifest]) -> None:
        """Apply what is not there as it should be; kinds that others need come first."""
        file = self.cluster.record.folder / APPLIED
        before: dict[str, str] = (
            json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        )
        texts = {
            str(Ref.of(each)): json.dumps(each, sort_keys=True) for each in manifests
        }
        fresh = [
            each
            for each in manifests
            if before.get(str(Ref.of(each))) != texts[str(Ref.of(each))]
        ]
        first = [
            each
            for each in fresh
            if each["kind"] in ("Namespace", "CustomResourceDefinition")
        ]
        rest = [each for each in fresh if each not in first]
        for some in (first, rest):
            if some:
                words = ("apply", "--server-side", "--force-conflicts", "-f", "-")
                self.cluster.kubectl(*words, stdin=charts.a_list(some))
        file.write_text(json.dumps(before | texts), encoding="utf-8")

    def _kueue_ready(self, mark: str) -> None:
        """Wait for the pod of this roll-out to be ready and its webhooks to answer.

        Kueue writes its certificate into a Secret and waits to see it in its volume, which the kubelet looks after
        once a minute, or at once when the pod changes; so the pod is touched until it is ready.
        """
        objects, touches = self.cluster.objects(), 0

        def ready() -> None:
            nonlocal touches
            pod = _kueue_pod(objects, mark)
            if not is_true(pod, "Ready"):
                touches += 1
                objects.patch(
                    Ref.of(pod),
                    {"metadata": {"annotations": {"kueue-dra.dev/look": str(touches)}}},
                )
                raise NotYet(
                    f"Kueue's pod is {pod.get('status', {}).get('phase')}, not ready"
                )
            probe = {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "ResourceFlavor",
                "metadata": {"name": "probe"},
            }
            answer = objects.call(
                "POST", "/apis/kueue.x-k8s.io/v1beta2/resourceflavors?dryRun=All", probe
            )
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
        if (pod["metadata"].get("annotations") or {}).get(PROFILE_ANNOTATION) == mark:
            return pod
    raise NotYet("no pod of Kueue's")
