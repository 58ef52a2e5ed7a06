"""What a live target asks of the control plane that it works on, and of the Kueue there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.waiting import Pauses, WaitLimits
from kueue_dra_ref.target import FieldError, Manifest


class Kueue(Protocol):
    """What a live target asks of the Kueue of its control plane."""

    def start(self, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
        """Run Kueue with a Configuration, or say why it refuses to start."""

    def check(self, configuration: Mapping[str, Any]) -> Sequence[FieldError]:
        """Say why Kueue would refuse to start with a Configuration; the running one goes on."""

    def describe(self) -> Manifest:
        """Say which Kueue this is."""

    def metrics(self) -> str:
        """Give Kueue's own metrics as it prints them; empty where they cannot be had."""

    def log(self) -> str:
        """Give what Kueue has logged since it was started; empty where that cannot be had."""

    def permit(self, rules: Sequence[Manifest]) -> None:
        """Set the rules of Kueue's own ClusterRole; they count from its next start on."""

    def is_denied(self) -> bool:
        """Whether Kueue waits forever for something that it may not read."""


class Plane(Protocol):
    """A control plane with a Kueue."""

    def objects(self, limits: WaitLimits) -> APIClient:
        """Reach the cluster's objects, with the right to do everything that the cases need."""

    @property
    def kueue(self) -> Kueue:
        """The Kueue."""

    @property
    def pauses(self) -> Pauses:
        """How long its Kueue lets things wait."""
