"""The Kueue releases that can be run: where each comes from, and what is different about it as a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.errors import MissingTool
from kueue_dra_clusters.go_tool import Component
from kueue_dra_clusters.v1beta1_conversion import V1beta1Client
from kueue_dra_clusters.waiting import Pauses
from kueue_dra_ref.api.train_jobs import TRAIN_JOB
from kueue_dra_ref.behaviours import releases as registry
from kueue_dra_ref.behaviours.releases import KUEUE, RegisteredRelease

PAUSES: Mapping[str, Pauses] = {
    "0.14": Pauses(sweep=0, device_class=None, retries=3.0),
    "0.15": Pauses(sweep=0, device_class=None, retries=3.0),
    "0.16": Pauses(device_class=None, retries=3.0),
    "0.17": Pauses(device_class=None, retries=3.0),
}
"""How long older minors wait before they act, where that differs from the newest one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One release, pinned under ``binaries/kueue-<minor>``."""

    name: str
    """The name of its behaviour, such as kueue-0.19.2."""
    minor: str
    objects: type[APIClient] = APIClient
    """The client for its objects in v1beta2."""
    pauses: Pauses = field(default_factory=Pauses)
    """Its delays."""
    pins: str = ""
    """The minor whose pinned modules it uses, for the kinds of Jobs that it manages; its own by default."""

    @property
    def folder(self) -> str:
        """The folder below ``binaries/`` with its pinned modules."""
        return f"kueue-{self.pins or self.minor}"

    @property
    def component(self) -> Component:
        """The Go module of its program and manifests."""
        return Component(
            name="kueue",
            folder=f"kueue-{self.minor}",
            module="sigs.k8s.io/kueue",
            package="sigs.k8s.io/kueue/cmd/kueue",
            ldflags="-s -w -X sigs.k8s.io/kueue/pkg/version.GitVersion={version}",
        )


def _program(registered: RegisteredRelease) -> Release:
    """Give the program of a release; cases are written in v1beta2, which is converted if it is not served."""
    converts = "v1beta2" not in registered.serves
    return Release(
        name=registered.name,
        minor=registered.minor,
        objects=V1beta1Client if converts else APIClient,
        pauses=PAUSES.get(registered.minor, Pauses()),
        pins="" if registry.pinned(registered.minor) else registry.NEWEST.minor,
    )


RELEASES = {each.minor: _program(each) for each in registry.PINNED}
"""The releases by their minor, the oldest first."""
NEWEST = registry.NEWEST.minor
_READS_TRAIN_JOBS = (0, 14, 5)


def release(version: str) -> Release:
    """Give the pinned release of a minor, such as 0.19, or of its full version.

    Raises:
        MissingTool: none is pinned.

    """
    pinned = registry.pinned(registry.minor_of(version))
    if pinned and version in (pinned.minor, pinned.version):
        return RELEASES[pinned.minor]
    reason = registry.PROVISIONAL.get(registry.resolved(f"{KUEUE}{version}"), "")
    why = f", which is provisional: {reason}" if reason else ""
    known = ", ".join(each.version for each in registry.PINNED)
    raise MissingTool(f"no real Kueue {version} is available{why}; pinned are {known}")


def unread_by(version: str) -> frozenset[str]:
    """Name the frameworks whose work gets no Workload from a version of Kueue with the role that it publishes."""
    known = registry.numbers(version)
    if known and known < _READS_TRAIN_JOBS:
        return frozenset({TRAIN_JOB.framework})
    return frozenset()


def release_of_any(version: str) -> Release:
    """Give the release of a version, also of one that is provisional: for a Kueue that the user built.

    Raises:
        MissingTool: the reference has no behaviour for it.

    """
    registered = registry.release_of(version)
    if registered is None or registered.pinned:
        return release(version)
    return _program(registered)
