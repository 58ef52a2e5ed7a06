"""The interfaces of a control plane and of its Kueue that a live target uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.waiting import Pauses, WaitLimits
from kueue_dra_ref.target import FieldError, Manifest


class Kueue(Protocol):
    """The Kueue of a control plane."""

    def start(self, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
        """Run Kueue with a Configuration, or give the errors with which it does not start."""

    def check(self, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
        """Give the errors with which Kueue would not start with a Configuration; the running one continues."""

    def describe(self) -> Manifest:
        """Give the version of Kueue."""

    def metrics(self) -> str:
        """Give Kueue's own metrics as printed; empty if they are not available."""

    def log(self) -> str:
        """Give Kueue's log since its start; empty if it is not available."""

    def permit(self, rules: Sequence[Manifest]) -> None:
        """Set the rules of Kueue's own ClusterRole; they apply from its next start."""

    def is_denied(self) -> bool:
        """Whether Kueue waits forever for a resource that it may not read."""


class Plane(Protocol):
    """A control plane with a Kueue."""

    def objects(self, limits: WaitLimits) -> APIClient:
        """Give a client for the cluster's objects, with all permissions that the cases need."""

    @property
    def kueue(self) -> Kueue:
        """The Kueue."""

    @property
    def pauses(self) -> Pauses:
        """The delays of its Kueue."""
