"""The pinned Kueue releases, and their differences as programs (Kueue 0.14.0 to 0.19.2)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.errors import MissingTool
from kueue_dra_clusters.go_tool import Component
from kueue_dra_clusters.v1beta1_conversion import V1beta1Client
from kueue_dra_clusters.waiting import Pauses


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One release, pinned under ``binaries/kueue-<minor>``."""

    minor: str
    objects: type[APIClient] = APIClient
    """The client for its objects in v1beta2."""
    pauses: Pauses = field(default_factory=Pauses)
    """Its delays."""

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


KUEUE_0_19 = Release(minor="0.19")
KUEUE_0_18 = replace(KUEUE_0_19, minor="0.18")
KUEUE_0_17 = replace(
    KUEUE_0_18, minor="0.17", pauses=Pauses(device_class=None, retries=3.0)
)
KUEUE_0_16 = replace(KUEUE_0_17, minor="0.16")
KUEUE_0_15 = replace(
    KUEUE_0_16, minor="0.15", pauses=Pauses(sweep=0, device_class=None, retries=3.0)
)
KUEUE_0_14 = replace(KUEUE_0_15, minor="0.14", objects=V1beta1Client)

RELEASES = {
    each.minor: each
    for each in (KUEUE_0_14, KUEUE_0_15, KUEUE_0_16, KUEUE_0_17, KUEUE_0_18, KUEUE_0_19)
}
"""The releases by their minor, the oldest first."""
NEWEST = KUEUE_0_19.minor
ANNOUNCED = {"0.20": "its module is not available, so the reference is the only target"}
"""Minors with a behaviour but without a pinned release, and why."""


def release(minor: str) -> Release:
    """Give the release of a minor.

    Raises:
        MissingTool: none is pinned.

    """
    if minor not in RELEASES:
        why = (
            f", which is provisional: {ANNOUNCED[minor]}" if minor in ANNOUNCED else ""
        )
        raise MissingTool(
            f"no real Kueue of the minor {minor!r} is available{why}; pinned are {', '.join(RELEASES)}"
        )
    return RELEASES[minor]
