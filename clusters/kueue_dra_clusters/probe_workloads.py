"""The fence's pawns: workloads that no queue has room for, so that whatever they are told is the scheduler's word."""

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
PATIENCE = 0.5  # seconds until who was told nothing asks for something else


@dataclass(slots=True, kw_only=True)
class ProbeWorkload:
    """One Workload of the fence, and what it asked for last."""

    objects: APIClient
    mirror: InformerCache
    ref: Ref
    asked: int = TOO_MUCH
    _at: float = field(default_factory=moment_now)

    def create(self, labels: Mapping[str, str], role: str, queue: str) -> ProbeWorkload:
        """Have it wait in a queue."""
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
        """Have it tried once more; no two may ask for the same, or Kueue refuses them together."""
        self.asked = amount
        body_of(
            self.objects.patch(self.ref, {"spec": _pods(amount)}),
            f"change the fence's {self.ref}",
        )
        self._at = moment_now()

    @property
    def is_passed_over(self) -> bool:
        """Whether it was told nothing of what it asks for, and should have been by now.

        Kueue may take a workload for refused that was changed while it was tried, and comes back to it with the next
        sweep only (docs/explanation/differences.md).
        """
        return not self._is_told(self.asked) and elapsed_since(self._at) > PATIENCE

    def assert_observed(self, number: int) -> None:
        """Insist that it was refused in words that name a number, its own or a quota: only the scheduler knows of any.

        That Kueue has seen the newest workload is no proof: the Workload controller may say so in the words of before.
        """
        if not self._is_told(number):
            raise NotYet(
                f"{self.ref.name} is told nothing of {number}, but: {self._words or 'nothing'}"
            )

    def _is_told(self, number: int) -> bool:
        return bool(re.search(rf"(?<![\w-]){number}(?![\w-])", self._words))

    @property
    def _words(self) -> str:
        return str(
            condition_of(self.mirror.read(self.ref) or {}, "QuotaReserved").get(
                "message", ""
            )
        )


def _pods(amount: int) -> Manifest:
    return {
        "podSets": [{"name": "main", "count": 1, "template": a_template(amount=amount)}]
    }
