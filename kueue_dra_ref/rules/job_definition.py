"""What the API server refuses of a Job (Kubernetes, JobSpec and PodSpec): as far as quota depends on it, or Kueue."""

from __future__ import annotations

from kueue_dra_ref.apiserver import containers, naming, placing
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid
from kueue_dra_ref.apiserver.pods import claims_of_containers, claims_of_pod
from kueue_dra_ref.apiserver.writes import Write
from kueue_dra_ref.rule import rule
from kueue_dra_ref.target import Manifest

_TEMPLATE = "spec.template"
_PATH = f"{_TEMPLATE}.spec"
_NUMBERS = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")


@rule("API-038")
def a_job_counts_nothing_below_zero(write: Write) -> Errors:
    """Refuse negative numbers of pods, seconds and failures."""
    for key in _NUMBERS:
        if (number := write.new["spec"].get(key, 0)) < 0:
            yield invalid(f"spec.{key}", number, "must be greater than or equal to 0")


@rule("API-036")
def a_claim_of_a_pod_has_a_name_and_comes_from_somewhere(write: Write) -> Errors:
    """Refuse no name, a name twice, and anything but either a claim or a template."""
    return claims_of_pod(_pod(write.new), _PATH)


@rule("API-037")
def containers_use_claims_of_their_pod(write: Write) -> Errors:
    """Refuse a claim that the pod does not have, and one that is used twice."""
    return claims_of_containers(_pod(write.new), _PATH)


@rule("API-039")
def a_container_has_a_name_and_an_image(write: Write) -> Errors:
    """Refuse a pod without containers, and containers that lack either, or the name of another one."""
    return containers.names(_pod(write.new), _PATH)


@rule("API-040")
def a_container_asks_for_what_there_is(write: Write) -> Errors:
    """Refuse unknown resources, amounts that are negative or not whole, and requests that do not fit their limit."""
    return containers.amounts(_pod(write.new), _PATH, write.kubernetes)


@rule("API-041")
def the_pods_of_a_job_end(write: Write) -> Errors:
    """Refuse pods that are started again whatever happens, as they are where nothing is said."""
    return containers.restarts(_pod(write.new), _PATH, write.kubernetes)


@rule("API-042")
def pods_choose_nodes_by_labels(write: Write) -> Errors:
    """Refuse labels, in selectors and required affinity, that no node can have."""
    return placing.chosen_nodes(_pod(write.new), _PATH, write.kubernetes)


@rule("API-043")
def pods_tolerate_what_taints_can_be(write: Write) -> Errors:
    """Refuse tolerations that fit no taint."""
    return placing.tolerations(_pod(write.new), _PATH, write.kubernetes)


@rule("API-044")
def pods_are_named_and_name_as_objects_are(write: Write) -> Errors:
    """Refuse labels and annotations of pods that are none, and classes that no object can be."""
    meta = (write.new["spec"].get("template") or {}).get("metadata") or {}
    yield from naming.label_map(meta.get("labels"), f"{_TEMPLATE}.labels", write.kubernetes)
    yield from naming.annotation_map(meta.get("annotations"), f"{_TEMPLATE}.annotations", write.kubernetes)
    yield from placing.named(_pod(write.new), _PATH)


def _pod(job: Manifest) -> Manifest:
    return (job["spec"].get("template") or {}).get("spec") or {}
