"""What the API server refuses of a LocalQueue by Kueue's definition of it (localqueue_types.go)."""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.writes import Write
from kueue_dra_ref.rule import rule
from kueue_dra_ref.target import FieldError


@rule("QUEUE-042")
def a_local_queue_stays_with_its_cluster_queue(write: Write) -> Iterator[FieldError]:
    """Refuse another ClusterQueue for a LocalQueue that is there."""
    named = write.new["spec"].get("clusterQueue")
    if named != write.before["spec"].get("clusterQueue"):
        yield FieldError(
            field="spec.clusterQueue", type="Invalid value", value=printed(named), detail="field is immutable"
        )
