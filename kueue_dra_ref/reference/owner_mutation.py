"""What Kueue's webhooks make of work whose pods it queues, each time that it is written.

Kueue: pkg/controller/jobs/deployment/deployment_webhook.go (Default)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kueue_dra_ref.api.job_kind import replaced, template_at
from kueue_dra_ref.api.jobs import PRIORITY_LABEL, QUEUE_LABEL
from kueue_dra_ref.api.metadata import annotations_of, labels_of
from kueue_dra_ref.api.pod_owners import template_paths
from kueue_dra_ref.behaviours.phases_pods import PodRules
from kueue_dra_ref.controllers.job_management import ManagedJobs
from kueue_dra_ref.rules.jobframework.pod_owners import PodMarks
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerMutation:
    """Marks the pod templates of work."""

    rules: PodRules
    managed: ManagedJobs
    priority_class: Callable[[Manifest], str]
    """Names the WorkloadPriorityClass of work; empty for none."""

    def of(self, owner: Manifest) -> Manifest:
        """Give an object as it is stored."""
        if self.managed.is_off(owner):
            return owner
        found = {**owner, "metadata": dict(owner["metadata"])}
        labels = {
            QUEUE_LABEL: self.managed.queue(found),
            PRIORITY_LABEL: self.priority_class(found),
        }
        given = {label: value for label, value in labels.items() if value}
        if given:
            found["metadata"]["labels"] = {**labels_of(found), **given}
        if not self.managed.claims(found):
            return found
        marks = self.rules.marks(self.managed.labelled(found))
        return found if marks is None else _marked(found, marks)


def _marked(owner: Manifest, marks: PodMarks) -> Manifest:
    for path in template_paths(owner):
        template = dict(template_at(owner, path))
        head = {"metadata": template.get("metadata") or {}}
        template["metadata"] = {
            **head["metadata"],
            "labels": {**labels_of(head), **marks.labels},
            "annotations": {**annotations_of(head), **marks.annotations},
        }
        owner = replaced(owner, path, template)
    return owner
