"""What the definitions of Kueue's kinds refuse (Kueue 0.19, CRDs): fields that stay as they are."""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.names import printed
from kueue_dra_ref.rule import rule
from kueue_dra_ref.target import FieldError, Manifest


@rule("QUEUE-042")
def a_local_queue_stays_with_its_cluster_queue(new: Manifest, old: Manifest) -> Iterator[FieldError]:
    """Refuse another ClusterQueue for a LocalQueue that is there."""
    named = (new.get("spec") or {}).get("clusterQueue")
    if new["kind"] == "LocalQueue" and named != (old.get("spec") or {}).get("clusterQueue"):
        yield FieldError(
            field="spec.clusterQueue", type="Invalid value", value=printed(named), detail="field is immutable"
        )
