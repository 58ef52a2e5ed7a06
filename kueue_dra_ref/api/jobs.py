"""What users write on a Job for Kueue to read."""

from __future__ import annotations

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
LEAST_ANNOTATION = "kueue.x-k8s.io/job-min-parallelism"
