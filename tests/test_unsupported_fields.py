"""Features that the reference does not decide, and unknown fields: both are reported with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import kueue_dra
from tests.test_cli_simulate import QUEUES, a_job

PASSED_OVER = "ignored by the simulation"


def notes(folder: Path, *documents: str, options: tuple[str, ...] = ()) -> list[str]:
    """Simulate a file of these documents, and give the messages about it, without the name of the file."""
    file = folder / "manifests.yaml"
    file.write_text("---\n".join(documents))
    found = kueue_dra("simulate", "-f", str(file), *options)
    assert found.exit_code == 0, found.stderr
    return [line.replace(f"{file}:", "") for line in found.stderr.splitlines()]


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        pytest.param(
            "kind: Configuration\n",
            "kind: Configuration\nwaitForPodsReady: {timeout: 5m, blockAdmission: true}\n",
            "note: 25: waitForPodsReady.blockAdmission: Not decided: pods that get ready later than in the input",
            id="block",
        ),
        pytest.param(
            "metadata: {name: flavor}\n",
            "metadata: {name: flavor}\nspec: {topologyName: racks, nodeLabels: {pool: ours}}\n",
            "note: 4: ResourceFlavor flavor: spec.topologyName: Not decided: topology-aware scheduling",
            id="topology",
        ),
        pytest.param(
            "kind: Configuration\n",
            "kind: Configuration\nfeatureGates: {PriorityBoost: true, PartialAdmission: false}\n",
            "note: 25: featureGates.PriorityBoost: Not decided: priority boosts",
            id="gate",
        ),
    ],
)
def test_what_the_reference_does_not_decide_is_told(old: str, new: str, note: str, tmp_path: Path) -> None:
    """The note names the field with file, line and purpose; the simulation ignores the field."""
    assert notes(tmp_path, QUEUES.replace(old, new), a_job()) == [f"{note}: {PASSED_OVER}"]


@pytest.mark.parametrize(
    ("gates", "expected"),
    [
        pytest.param("{LocalQueueMetrics: false}", [], id="one-that-decides-nothing"),
        pytest.param("{PriorityBoost: false}", [], id="the-default"),
        pytest.param(
            "{SchedulerLongRequeueInterval: true}", ["pauses of ten seconds in the scheduler"], id="by-its-name"
        ),
    ],
)
def test_a_gate_is_noted_if_kueue_decides_more_with_it(gates: str, expected: list[str], tmp_path: Path) -> None:
    """One that is switched from its default, with what it is for."""
    queues = QUEUES.replace("kind: Configuration\n", f"kind: Configuration\nfeatureGates: {gates}\n")

    found = [note.split(": ")[-2] for note in notes(tmp_path, queues, a_job())]

    assert found == expected


@pytest.mark.parametrize(
    ("release", "frameworks", "expected"),
    [
        pytest.param("0.14.0", "[batch/job, deployment]", True, id="0.14"),
        pytest.param("0.14.0", "[batch/job, deployment, pod]", False, id="with-pods"),
        pytest.param("0.15.2", "[batch/job, deployment]", False, id="0.15"),
    ],
)
def test_early_frameworks_need_that_of_pods(release: str, frameworks: str, *, expected: bool, tmp_path: Path) -> None:
    """Kueue 0.14 does not start otherwise; from 0.15 on it queues the pods of these kinds all the same."""
    config = tmp_path / "config.yaml"
    config.write_text(
        f"apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\nintegrations: {{frameworks: {frameworks}}}\n"
    )
    file = tmp_path / "jobs.yaml"
    file.write_text(a_job())
    options = ("--config", str(config), "--allow-missing", "--behaviour", f"kueue-{release}")

    found = kueue_dra("simulate", "-f", str(file), *options)

    assert ("Kueue 0.14 does not start with deployment without pod" in found.stderr) is expected


def test_a_gate_that_switches_a_whole_stage_is_noted(tmp_path: Path) -> None:
    """With the gates that decide more, but for those that the Configuration sets by name."""
    gates = "{AllAlpha: true, TASBalancedPlacement: false}"
    queues = QUEUES.replace("kind: Configuration\n", f"kind: Configuration\nfeatureGates: {gates}\n")

    (note,) = notes(tmp_path, queues, a_job())

    assert note.startswith("note: 25: featureGates.AllAlpha: Not decided: what ")
    assert "PriorityBoost" in note
    assert "TASBalancedPlacement" not in note
    assert "CustomMetricLabels" not in note


def test_a_gate_is_noted_where_kueue_shares_the_registry_of_kubernetes(tmp_path: Path) -> None:
    """From 0.20 on all gates stand in one registry; those of Kueue are its own all the same."""
    queues = QUEUES.replace("kind: Configuration\n", "kind: Configuration\nfeatureGates: {PriorityBoost: true}\n")

    _, note = notes(tmp_path, queues, a_job(), options=("--behaviour", "kueue-0.20.0"))

    assert note == f"note: 25: featureGates.PriorityBoost: Not decided: priority boosts: {PASSED_OVER}"


@pytest.mark.parametrize(
    ("holder", "key", "subject"),
    [
        ("labels", "kueue.x-k8s.io/prebuilt-workload-name", "Workloads that another client creates"),
        ("annotations", "kueue.x-k8s.io/priority-boost", "priority boosts"),
    ],
)
def test_what_marks_a_job_is_told(holder: str, key: str, subject: str, tmp_path: Path) -> None:
    """A label or an annotation of Kueue's that would change what is decided."""
    marked = a_job().replace("metadata: {", f'metadata: {{{holder}: {{{key}: "7"}}, ')
    if holder == "labels":
        marked = marked.replace(", labels: {kueue.x-k8s.io/queue-name: mine}", "").replace(
            '"7"}', '"7", kueue.x-k8s.io/queue-name: mine}'
        )
    (line,) = notes(tmp_path, QUEUES, marked)
    assert f"Job default/job: metadata.{holder}[{key}]: Not decided: {subject}: " in line


def test_a_topology_that_pods_ask_for_is_told(tmp_path: Path) -> None:
    """It stands in an annotation of the template."""
    asked = a_job().replace(
        "template: {spec", 'template: {metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: "rack"}}, spec'
    )
    (line,) = notes(tmp_path, QUEUES, asked)
    assert "spec.template.metadata.annotations[kueue.x-k8s.io/podset-required-topology]: Not decided" in line


WITH_PODS = """\
kind: Configuration
integrations: {frameworks: [pod, deployment, leaderworkerset.x-k8s.io/leaderworkerset, batch/job]}
"""
SLICES = "kueue.x-k8s.io/podset-slice-size"


def an_object(kind: str, version: str, spec: str) -> str:
    """A manifest of an object in the queue."""
    head = "{name: work, namespace: default, labels: {kueue.x-k8s.io/queue-name: mine}}"
    return f"apiVersion: {version}\nkind: {kind}\nmetadata: {head}\nspec: {spec}\n"


def a_template(key: str) -> str:
    """A pod template with an annotation."""
    pod = "{containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}"
    return f'{{metadata: {{labels: {{app: work}}, annotations: {{{key}: "7"}}}}, spec: {pod}}}'


@pytest.mark.parametrize(
    ("key", "subject"),
    [
        pytest.param("kueue.x-k8s.io/priority-boost", "priority boosts", id="mark"),
        pytest.param("kueue.x-k8s.io/podset-required-topology", "topology-aware scheduling", id="topology"),
        pytest.param(SLICES, "topology-aware scheduling", id="slices"),
    ],
)
def test_templates_of_what_is_queued_through_its_pods_are_noted(key: str, subject: str, tmp_path: Path) -> None:
    """The pods have these annotations; the note stands next to the verdict on each pod, too."""
    queues = QUEUES.replace("kind: Configuration\n", WITH_PODS)
    template = a_template(key)
    deployment = an_object(
        "Deployment", "apps/v1", f"{{selector: {{matchLabels: {{app: work}}}}, template: {template}}}"
    )
    lws = "leaderworkerset.x-k8s.io/v1"
    sets = an_object("LeaderWorkerSet", lws, f"{{leaderWorkerTemplate: {{size: 1, workerTemplate: {template}}}}}")

    (of_deployment,) = notes(tmp_path, queues, deployment)
    (of_sets,) = notes(tmp_path, queues, sets)
    table = kueue_dra("simulate", "-f", str(tmp_path / "manifests.yaml"), "-o", "table").stdout

    detail = f"metadata.annotations[{key}]: Not decided: {subject}: {PASSED_OVER}"
    assert of_deployment.endswith(f"Deployment default/work: spec.template.{detail}")
    assert of_sets.endswith(f"LeaderWorkerSet default/work: spec.leaderWorkerTemplate.workerTemplate.{detail}")
    assert subject in table


A_WORKLOAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: work, namespace: default, uid: "7", creationTimestamp: "2026-01-01T00:00:00Z"}
spec:
  queueName: mine
  podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: i}]}}}]
status: {unhealthyNodes: [{name: lost}]}
"""


def test_what_only_a_running_cluster_has_is_noted(tmp_path: Path) -> None:
    """Kueue looks for other nodes for an admitted Workload, or evicts it."""
    found = notes(tmp_path, QUEUES, A_WORKLOAD)

    note = f"Workload default/work: status.unhealthyNodes: Not decided: nodes that have failed: {PASSED_OVER}"
    assert [each for each in found if each.endswith(note)]


ON_NODES = """\
apiVersion: v1
kind: Node
metadata: {name: node, labels: {kubernetes.io/hostname: node, pool: ours}}
status: {allocatable: {cpu: 1, pods: 9}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: racks}
spec: {levels: [{nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: check}
spec: {controllerName: CONTROLLER}
"""


def test_several_topologies_of_the_same_pods_are_noted(tmp_path: Path) -> None:
    """Kueue denies them; the reference denies those of Jobs and pods alone."""
    key = 'kueue.x-k8s.io/podset-unconstrained-topology: "true", kueue.x-k8s.io/podset-required-topology'
    replicated = f"{{name: jobs, template: {{spec: {{template: {a_template(key)}}}}}}}"
    job_set = an_object("JobSet", "jobset.x-k8s.io/v1alpha2", f"{{replicatedJobs: [{replicated}]}}")

    found = notes(tmp_path, QUEUES, ON_NODES, job_set)

    place = "spec.replicatedJobs[0].template.spec.template.metadata.annotations"
    note = f"{place}: Not decided: several topologies of the same pods: {PASSED_OVER}"
    assert [each for each in found if each.endswith(f"JobSet default/work: {note}")]


@pytest.mark.parametrize(
    ("controller", "expected"),
    [
        pytest.param("kueue.x-k8s.io/multikueue", 1, id="multikueue"),
        pytest.param("example.com/other", 0, id="another"),
    ],
)
def test_checks_before_a_placement_are_noted(controller: str, expected: int, tmp_path: Path) -> None:
    """Kueue reserves quota for such pods without a look at nodes."""
    spec = "metadata: {name: flavor}\nspec: {topologyName: racks, nodeLabels: {pool: ours}}\n"
    checks = "namespaceSelector: {}\n  admissionChecksStrategy: {admissionChecks: [{name: check}]}"
    queues = QUEUES.replace("metadata: {name: flavor}\n", spec).replace("namespaceSelector: {}", checks)

    found = notes(tmp_path, queues, ON_NODES.replace("CONTROLLER", controller), a_job())

    note = f"spec.admissionChecksStrategy: Not decided: placement of pods after admission checks: {PASSED_OVER}"
    assert len([each for each in found if each.endswith(f"ClusterQueue all: {note}")]) == expected


@pytest.mark.parametrize(
    ("old", "new", "field", "line"),
    [
        ("  namespaceSelector: {}", "  namespaceSelectors: {}\n  namespaceSelector: {}", "spec.namespaceSelectors", 9),
        ("  namespaceSelector: {}", "  namespaceSelector: {}\n  cohort: all", "spec.cohort", 10),
        (
            "nominalQuota: 2",
            "nominalQuota: 2, borowingLimit: 1",
            "spec.resourceGroups[0].flavors[0].resources[0].borowingLimit",
            12,
        ),
        ("spec: {clusterQueue: all}", "spec: {clusterQueue: all, stop: Hold}", "spec.stop", 17),
    ],
)
def test_a_field_that_the_version_does_not_have_is_warned_of(
    old: str, new: str, field: str, line: int, tmp_path: Path
) -> None:
    """An API server drops it with a warning, so that a typo is noticed."""
    (message,) = notes(tmp_path, QUEUES.replace(old, new), a_job())
    assert message.startswith(f"warning: {line}: ")
    assert message.endswith(f'unknown field "{field}"')


def test_a_field_of_the_later_version_is_dropped_from_the_earlier(tmp_path: Path) -> None:
    """In v1beta1 a cohort is named by another field, so this ClusterQueue is in none."""
    older = QUEUES.replace("v1beta2", "v1beta1").replace(
        "  namespaceSelector: {}", "  namespaceSelector: {}\n  cohortName: all"
    )
    (message,) = notes(tmp_path, older, a_job())
    assert message.endswith('ClusterQueue all: unknown field "spec.cohortName"')
