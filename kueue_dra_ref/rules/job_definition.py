"""What the API server refuses of a Job because of the claims of its pods (Kubernetes, PodSpec)."""

from __future__ import annotations

from kueue_dra_ref.api.writes import Write
from kueue_dra_ref.apiserver.fielderrors import Errors
from kueue_dra_ref.apiserver.pods import claims_of_containers, claims_of_pod
from kueue_dra_ref.rule import rule
from kueue_dra_ref.target import Manifest

_PATH = "spec.template.spec"


@rule("API-036")
def a_claim_of_a_pod_has_a_name_and_comes_from_somewhere(write: Write) -> Errors:
    """Refuse no name, a name twice, and anything but either a claim or a template."""
    return claims_of_pod(_pod(write.new), _PATH)


@rule("API-037")
def containers_use_claims_of_their_pod(write: Write) -> Errors:
    """Refuse a claim that the pod does not have, and one that is used twice."""
    return claims_of_containers(_pod(write.new), _PATH)


def _pod(job: Manifest) -> Manifest:
    return (job["spec"].get("template") or {}).get("spec") or {}
