"""Probe workloads of the fence: they never fit, so that the message of their condition comes from the scheduler."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from kueue_dra_clusters.api_client import APIClient, body_of
from kueue_dra_clusters.conditions import condition_of
from kueue_dra_clusters.fence_objects import TOO_MUCH, a_template
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.waiting import NotYet, elapsed_since, moment_now
from kueue_dra_ref.target import Manifest, Ref

ROLE = "kueue-dra.dev/fence"
PATIENCE = 0.5  # seconds without a new message until a probe changes its request


@dataclass(slots=True, kw_only=True)
class ProbeWorkload:
    """One Workload of the fence, and its last request."""

    objects: APIClient
    informers: InformerCache
    ref: Ref
    asked: int = TOO_MUCH
    _at: float = field(default_factory=moment_now)

    def create(self, labels: Mapping[str, str], role: str, queue: str) -> ProbeWorkload:
        """Create it in a queue."""
        manifest = {
            "apiVersion": self.ref.api_version,
            "kind": self.ref.kind,
            "metadata": {
                "name": self.ref.name,
                "namespace": self.ref.namespace,
                "labels": {**labels, ROLE: role},
            },
            "spec": {"queueName": queue, **_pods(self.asked)},
        }
        body_of(self.objects.create(manifest), f"create the fence's {self.ref}")
        return self

    def request(self, amount: int) -> None:
        """Change the request, so that Kueue tries it again; two equal probes would be rejected together."""
        self.asked = amount
        body_of(
            self.objects.patch(self.ref, {"spec": _pods(amount)}),
            f"change the fence's {self.ref}",
        )
        self._at = moment_now()

    @property
    def is_ignored(self) -> bool:
        """Whether the message does not name its request, although it should by now.

        Kueue may treat a workload as inadmissible that changed while Kueue tried it, and retries it with the next
        requeue only (docs/explanation/differences.md).
        """
        if self._names(self.asked):
            return False
        return elapsed_since(self._at) > PATIENCE

    def assert_observed(self, number: int) -> None:
        """Raise `NotYet` unless the message names a number, its request or a quota: only the scheduler writes these.

        The observedGeneration alone is no proof: the Workload controller may update it with the old message.
        """
        if not self._names(number):
            message = self._message or "nothing"
            raise NotYet(
                f"the message of {self.ref.name} does not name {number}: {message}"
            )

    def _names(self, number: int) -> bool:
        return bool(re.search(rf"(?<![\w-]){number}(?![\w-])", self._message))

    @property
    def _message(self) -> str:
        stored = self.informers.read(self.ref) or {}
        return str(condition_of(stored, "QuotaReserved").get("message", ""))


def _pods(amount: int) -> Manifest:
    return {
        "podSets": [{"name": "main", "count": 1, "template": a_template(amount=amount)}]
    }
