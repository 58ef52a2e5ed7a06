"""Jobs that Kueue itself denies, in its own words, when they are made or changed (Kueue 0.19, webhooks)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab, Queue
from kueue_dra_fixtures.manifests import LEAST_ANNOTATION, PRIORITY_LABEL, QUEUE_LABEL, marked, with_spec
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import admitted
from kueue_dra_ref.api.topologies import PREFERRED, REQUIRED, UNCONSTRAINED
from kueue_dra_ref.target import Manifest

DENIED = 'admission webhook "vjob.kb.io" denied the request: metadata.'
QUEUE = f"{DENIED}labels[kueue.x-k8s.io/queue-name]: Invalid value: "
LEAST = f"{DENIED}annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value: "
PRIORITY = f"{DENIED}labels[kueue.x-k8s.io/priority-class]: Invalid value: "
IMMUTABLE = "field is immutable"
NO_NAME = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


@covers("QUEUE-045")
@pytest.mark.parametrize(
    ("labels", "words"),
    [
        pytest.param({QUEUE_LABEL: "elsewhere"}, f'{QUEUE}"elsewhere": {IMMUTABLE}', id="moved"),
        pytest.param({QUEUE_LABEL: None}, f'{QUEUE}"": {IMMUTABLE}', id="taken-out"),
        pytest.param({"team": "a"}, "", id="stays"),
    ],
)
def test_a_running_job_stays_in_its_queue(lab: Lab, labels: Mapping[str, str | None], words: str) -> None:
    """A running Job stays in the queue that it is charged to."""
    job = lab.queue({"whole-gpus": 1}).submit(a_job(claims=[a_template(gpu())]))

    assert lab.denied(marked(job.made, labels)) == words


def annotated(lab: Lab, queue: Queue) -> Manifest:
    """A Job that names a queue in an annotation alone."""
    return marked(lab.written(a_job(cpu="1"), queue), {QUEUE_LABEL: None}, {QUEUE_LABEL: queue.local})


@covers("QUEUE-065")
def test_an_annotation_names_the_queue(lab: Lab) -> None:
    """The Job is admitted to that queue and stays there; it gets no label."""
    made = annotated(lab, lab.queue({"cpu": 1}))
    job = lab.submit_manifest(made)

    assert lab.verdict(job) == admitted({"cpu": 1})
    assert QUEUE_LABEL not in lab.read(job.ref)["metadata"].get("labels", {})
    assert lab.denied(marked(made, annotations={QUEUE_LABEL: "elsewhere"})) == f'{QUEUE}"elsewhere": {IMMUTABLE}'


@covers("QUEUE-066")
def test_an_annotation_names_no_queue(lab: Lab) -> None:
    """The Job is none of Kueue's."""
    job = lab.submit_manifest(annotated(lab, lab.queue({"cpu": 1})))

    assert not lab.workloads(job)


@covers("QUEUE-045")
def test_a_waiting_job_may_be_moved(lab: Lab) -> None:
    """A Job that waits in one queue may move to another."""
    job = lab.missing_queue().submit(a_job(cpu="1"))

    assert not lab.denied(marked(job.made, {QUEUE_LABEL: "elsewhere"}))


@covers("QUEUE-059")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("default", f'{QUEUE}"": queue-name must not be empty in namespace with default queue', id="there"),
        pytest.param("another", "", id="not-there"),
    ],
)
def test_a_job_leaves_no_queue_where_there_is_a_default_one(lab: Lab, name: str, words: str) -> None:
    """A pending Job may leave its queue, unless a Job without a queue gets the default one."""
    queue = lab.local_queue(lab.cluster_queue({"cpu": 0}), lab.namespace(), name=name)
    job = queue.submit(a_job(cpu="1"))

    assert lab.denied(marked(job.made, {QUEUE_LABEL: None})) == words


@covers("QUEUE-045")
@pytest.mark.parametrize(
    ("suspended", "words"),
    [
        pytest.param(False, f'{QUEUE}"some": {IMMUTABLE}', id="it-runs"),
        pytest.param(True, "", id="it-is-suspended"),
    ],
)
def test_a_job_that_runs_already_is_not_queued(lab: Lab, suspended: bool, words: str) -> None:
    """A Job without a queue is not Kueue's; once it runs it cannot become so."""
    made = marked(lab.written(a_job(cpu="1"), lab.queue({"cpu": 0})), {QUEUE_LABEL: None})
    lab.apply(with_spec(made, suspend=suspended))

    assert lab.denied(marked(made, {QUEUE_LABEL: "some"})) == words


@covers("QUEUE-046")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("some.queue", "", id="a-name"),
        pytest.param("Some_Queue", f'{QUEUE}"Some_Queue": {NO_NAME}', id="no-name"),
    ],
)
def test_a_queue_is_named_as_objects_are(lab: Lab, name: str, words: str) -> None:
    """A queue that cannot be there is refused at once; one that is not there yet is waited for."""
    made = lab.written(a_job(cpu="1"), lab.queue({"cpu": 0}))

    assert lab.denied(marked(made, {QUEUE_LABEL: name})) == words


@covers("PARTIAL-006")
@pytest.mark.parametrize(
    ("least", "spec", "words"),
    [
        pytest.param("1", {}, "", id="one"),
        pytest.param("2", {}, "", id="all-but-one"),
        pytest.param("3", {}, f"{LEAST}3: should be between 0 and 2", id="all"),
        pytest.param("0", {}, f"{LEAST}0: should be between 0 and 2", id="none"),
        pytest.param("-1", {}, f"{LEAST}-1: should be between 0 and 2", id="less-than-none"),
        pytest.param("2", {"completions": 2}, f"{LEAST}2: should be between 0 and 1", id="all-to-be-completed"),
        pytest.param("x", {}, f'{LEAST}"x": strconv.Atoi: parsing "x": invalid syntax', id="no-number"),
    ],
)
def test_the_fewest_pods_are_fewer_than_all(lab: Lab, least: str, spec: Mapping[str, Any], words: str) -> None:
    """The minimum number of pods of a Job with three is positive and below three."""
    made = marked(lab.written(a_job(pods=3, cpu="1"), lab.queue({"cpu": 0})), annotations={LEAST_ANNOTATION: least})

    assert lab.denied(with_spec(made, **spec)) == words


@covers("PARTIAL-006")
@pytest.mark.parametrize(
    ("least", "words"),
    [
        pytest.param("2", "", id="fewer"),
        pytest.param("3", f"{LEAST}3: should be between 0 and 2", id="as-many"),
    ],
)
def test_the_fewest_pods_stay_fewer_than_all(lab: Lab, least: str, words: str) -> None:
    """The webhook checks a changed annotation like a new one."""
    job = lab.queue({"cpu": 0}).submit(a_job(pods=3, least=1, cpu="1"))

    assert lab.denied(marked(job.made, annotations={LEAST_ANNOTATION: least})) == words


@covers("PARTIAL-007")
@pytest.mark.parametrize(
    ("quota", "words"),
    [
        pytest.param(
            3,
            'admission webhook "vjob.kb.io" denied the request: spec.parallelism: Forbidden: cannot change when '
            "partial admission is enabled and the job is not suspended",
            id="running",
        ),
        pytest.param(0, "", id="waiting"),
    ],
)
def test_a_running_job_with_fewest_pods_keeps_its_parallelism(lab: Lab, quota: int, words: str) -> None:
    """Kueue itself says how many pods of such a Job run."""
    job = lab.queue({"cpu": quota}).submit(a_job(pods=3, least=1, cpu="1"))

    assert lab.denied(with_spec(job.made, parallelism=2)) == words


@covers("PREEMPT-039")
@pytest.mark.parametrize(
    ("quota", "words"),
    [
        pytest.param(
            1, f'{PRIORITY}"{{name}}": WorkloadPriorityClass cannot be added to a non-suspended workload', id="running"
        ),
        pytest.param(0, "", id="waiting"),
    ],
)
def test_a_running_job_is_given_no_priority_class(lab: Lab, quota: int, words: str) -> None:
    """A running Job without a priority class continues without one."""
    some = lab.priority_class(1)
    job = lab.queue({"cpu": quota}).submit(a_job(cpu="1"))

    assert lab.denied(marked(job.made, {PRIORITY_LABEL: some})) == words.format(name=some)


@covers("PREEMPT-040")
@pytest.mark.parametrize("quota", [pytest.param(1, id="running"), pytest.param(0, id="waiting")])
@pytest.mark.parametrize(
    ("another", "words"),
    [
        pytest.param(False, f'{PRIORITY}"": WorkloadPriorityClass cannot be removed from a workload', id="no-class"),
        pytest.param(True, "", id="another-class"),
    ],
)
def test_a_job_keeps_a_priority_class(lab: Lab, quota: int, another: bool, words: str) -> None:
    """Another class may take the place of the first, whether the Job runs or waits."""
    some = lab.priority_class(1)
    job = lab.queue({"cpu": quota}).submit(a_job(priority=5, cpu="1"))

    assert lab.denied(marked(job.made, {PRIORITY_LABEL: some if another else None})) == words.format(name=some)


@covers("PREEMPT-041")
@pytest.mark.parametrize(
    ("quota", "priority", "another", "words"),
    [
        pytest.param(1, 0, True, f'{PRIORITY}"{{name}}": {IMMUTABLE}', id="running-given-one"),
        pytest.param(1, 5, True, f'{PRIORITY}"{{name}}": {IMMUTABLE}', id="running-given-another"),
        pytest.param(1, 5, False, f'{PRIORITY}"": {IMMUTABLE}', id="running-deprived"),
        pytest.param(0, 0, True, "", id="waiting-given-one"),
        pytest.param(0, 5, True, "", id="waiting-given-another"),
        pytest.param(0, 5, False, f'{PRIORITY}"": {IMMUTABLE}', id="waiting-deprived"),
    ],
)
def test_a_running_job_keeps_its_priority_class(lab: Lab, quota: int, priority: int, another: bool, words: str) -> None:
    """The priority class is immutable while the Job runs, and a Job that has one keeps one."""
    some = lab.priority_class(1)
    job = lab.queue({"cpu": quota}).submit(a_job(priority=priority, cpu="1"))

    assert lab.denied(marked(job.made, {PRIORITY_LABEL: some if another else None})) == words.format(name=some)


TOPOLOGY = 'admission webhook "vjob.kb.io" denied the request: spec.template.metadata.annotations'
SEVERAL = (
    "must not contain more than one topology annotation: "
    '["kueue.x-k8s.io/podset-required-topology", "kueue.x-k8s.io/podset-preferred-topology", '
    '"kueue.x-k8s.io/podset-unconstrained-topology"]'
)


@pytest.mark.parametrize(
    ("annotations", "words"),
    [
        pytest.param({UNCONSTRAINED: "false"}, "", id="one", marks=covers("TAS-047", "TAS-048")),
        pytest.param(
            {REQUIRED: "rack", UNCONSTRAINED: "true"},
            f"{TOPOLOGY}: Invalid value: {SEVERAL}",
            id="two",
            marks=covers("TAS-047"),
        ),
        pytest.param(
            {UNCONSTRAINED: "yes"},
            f'{TOPOLOGY}[{UNCONSTRAINED}]: Invalid value: "yes": must be a boolean value',
            id="no-boolean",
            marks=covers("TAS-048"),
        ),
        pytest.param(
            {PREFERRED: "a rack"},
            f'{TOPOLOGY}[{PREFERRED}]: Invalid value: "a rack": ',
            id="no-label",
            marks=covers("TAS-048"),
        ),
    ],
)
def test_a_job_requests_one_topology(lab: Lab, annotations: Mapping[str, str], words: str) -> None:
    """With the annotations of its pods, whether there is such a topology or not."""
    made = lab.written(a_job(cpu="1", annotations=annotations), lab.queue({"cpu": 0}))

    assert lab.denied(made).startswith(words)
    assert bool(lab.denied(made)) is bool(words)
