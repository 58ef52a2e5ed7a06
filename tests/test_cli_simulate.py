"""``kueue-dra simulate``: the KEP's own example, and every way in which input can be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import EXAMPLE, KEP, LEFT_OUT, kueue_dra

ON = ("--behaviour", "kep-2025-09", "--feature-gates", "DynamicResourceAllocation=true")
QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: flavor}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: all}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [whole-gpus]
    flavors: [{name: flavor, resources: [{name: whole-gpus, nominalQuota: 2}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: mine}
spec: {clusterQueue: all}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com, count: 2}}]}}}
---
kind: Configuration
resources: {deviceClassMappings: [{name: whole-gpus, deviceClassNames: [gpu.example.com]}]}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {NAME, labels: {kueue.x-k8s.io/queue-name: mine}}
spec: {template: {spec: {POD, resourceClaims: [{name: g, resourceClaimTemplateName: two}]}}}
"""
POD = "restartPolicy: Never, containers: [{name: c, image: none}]"


def a_job(name: str = "name: job", pod: str = POD) -> str:
    """Give a Job that asks for two devices."""
    return JOB.replace("NAME", name).replace("POD", pod)


def workloads(output: str) -> list[dict[str, Any]]:
    """Pick the Workloads of a YAML output."""
    return [each for each in yaml.safe_load_all(output) if each["kind"] == "Workload"]


@pytest.mark.parametrize("behaviour", [pytest.param((), id="kueue-0.19.2"), pytest.param(ON, id="kep-2025-09")])
def test_the_example_of_the_text_is_admitted_as_the_text_says(behaviour: tuple[str, ...]) -> None:
    """The Workload has the admission that the KEP prints."""
    expected = yaml.safe_load((KEP / "expected-workload.yaml").read_text("utf-8"))

    result = kueue_dra("simulate", "-f", EXAMPLE, "-f", LEFT_OUT, *behaviour)

    assert result.exit_code == 0
    (workload,) = workloads(result.stdout)
    assert workload["status"]["admission"] == expected["status"]["admission"]
    assert workload["apiVersion"] == expected["apiVersion"]


def test_every_object_is_printed_in_the_version_it_was_written_in() -> None:
    """An object in v1alpha3 or v1beta1 is printed in the same version."""
    result = kueue_dra("simulate", "-f", EXAMPLE, "-f", LEFT_OUT, "-o", "json")

    assert [(each["apiVersion"], each["kind"]) for each in json.loads(result.stdout)["items"]] == [
        ("kueue.x-k8s.io/v1beta1", "ClusterQueue"),
        ("resource.k8s.io/v1alpha3", "ResourceClaimTemplate"),
        ("batch/v1", "Job"),
        ("v1", "Namespace"),
        ("kueue.x-k8s.io/v1beta1", "ResourceFlavor"),
        ("kueue.x-k8s.io/v1beta1", "LocalQueue"),
        ("kueue.x-k8s.io/v1beta1", "Workload"),
    ]


def test_a_template_comes_out_in_the_shape_of_its_version() -> None:
    """v1alpha3 has no ``exactly``."""
    result = kueue_dra("simulate", "-f", EXAMPLE, "-f", LEFT_OUT)

    (template,) = [each for each in yaml.safe_load_all(result.stdout) if each["kind"] == "ResourceClaimTemplate"]
    assert template["spec"]["spec"]["devices"]["requests"] == [
        {"name": "gpu", "deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": 1}
    ]


def test_what_the_example_leaves_out_is_named() -> None:
    """Without the second file each object that lacks something says what, where, and the exit code is 2."""
    result = kueue_dra("simulate", "-f", EXAMPLE)

    assert result.exit_code == 2
    assert result.stderr.splitlines()[:3] == [
        f"{EXAMPLE}:27: ClusterQueue gpus-cluster-queue: spec.resourceGroups[0].flavors[0].name: Not found: "
        '"default-gpu-flavor": expected a ResourceFlavor default-gpu-flavor, and there is none',
        f"{EXAMPLE}:57: Job gpu-test1/job0: metadata.labels[kueue.x-k8s.io/queue-name]: Not found: "
        '"user-queue": expected a LocalQueue gpu-test1/user-queue, and there is none',
        "note: the input has no Namespace, so gpu-test1 is taken to exist, without labels: "
        "kubectl get namespaces -o yaml prints those of a cluster",
    ]


@pytest.mark.parametrize("selector", ["{}", "{matchLabels: {kubernetes.io/metadata.name: lab}}"])
def test_namespaces_are_taken_to_exist_where_the_input_has_none(selector: str) -> None:
    """One note names them with the command that prints those of a cluster; the Job is decided."""
    result = kueue_dra("simulate", "-f", "-", stdin=_without_namespace(selector))

    assert result.exit_code == 0, result.stderr
    assert result.stderr.splitlines() == [
        "note: the input has no Namespace, so lab is taken to exist, without labels: "
        "kubectl get namespaces -o yaml prints those of a cluster"
    ]
    assert workloads(result.stdout)


@pytest.mark.parametrize(
    ("selector", "more", "why"),
    [
        pytest.param(
            "{}", "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n", "", id="others-are-there"
        ),
        pytest.param(
            "{matchLabels: {team: a}}",
            "",
            ", but the namespaceSelector of ClusterQueue all depends on their labels",
            id="labels-decide",
        ),
    ],
)
def test_namespaces_are_not_taken_to_exist_where_they_matter(selector: str, more: str, why: str) -> None:
    """Their objects are rejected, with a hint."""
    result = kueue_dra("simulate", "-f", "-", stdin=_without_namespace(selector) + more)

    assert result.exit_code == 2
    assert "expected a Namespace lab, and there is none" in result.stderr
    assert f"note: --allow-missing creates Namespaces that are missing, without labels{why}; " in result.stderr


def _without_namespace(selector: str) -> str:
    world = f"{QUEUES}---\n{a_job('namespace: lab, name: job')}"
    for name in ("mine", "two"):
        world = world.replace(f"metadata: {{name: {name}}}", f"metadata: {{namespace: lab, name: {name}}}")
    return world.replace("namespaceSelector: {}", f"namespaceSelector: {selector}")


def test_the_invalid_mapping_of_the_text_is_refused_with_its_field() -> None:
    """The class that appears twice is named with its line."""
    invalid = KEP / "invalid-mapping.yaml"

    result = kueue_dra("simulate", "-f", invalid)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"{invalid}:18: resources.deviceClassMappings[1].deviceClassNames[0]: Invalid value: "
        '"gpus.example.com": device class already mapped to resource whole-gpus\n'
    )


def test_a_gate_that_is_off_is_said() -> None:
    """Under the text's default nothing is charged, and the user learns how to change that."""
    result = kueue_dra("simulate", "-f", EXAMPLE, "-f", LEFT_OUT, "--behaviour", "kep-2025-09")

    assert result.exit_code == 0
    assert "--feature-gates DynamicResourceAllocation=true" in result.stderr
    assert "whole-gpus" not in workloads(result.stdout)[0]["status"]["admission"]["podSetAssignments"][0]["flavors"]


def test_the_table_has_one_row_for_each_workload() -> None:
    """Pending and admitted workloads, their reasons and their devices."""
    result = kueue_dra("simulate", "-f", "-", "-o", "table", stdin=f"{QUEUES}---\n{a_job()}---\n{a_job('name: late')}")

    assert result.exit_code == 0
    rows = [line.split(maxsplit=4) for line in result.stdout.splitlines()[2:4]]
    assert rows[0] == ["default", "job", "mine", "admitted", "whole-gpus 2"]
    assert rows[1][:4] == ["default", "late", "mine", "pending"]
    assert rows[1][4].startswith("couldn't assign flavors to pod set main: insufficient unused")
    assert rows[1][4].endswith("whole-gpus 2")


def test_generated_names_are_told_apart() -> None:
    """A Job with a ``generateName`` gets a name, the same one in every run."""
    jobs = a_job("generateName: try-") + "---\n" + a_job("generateName: try-")

    result = kueue_dra("simulate", "-f", "-", "-o", "table", stdin=f"{QUEUES}---\n{jobs}")

    assert [line.split()[1] for line in result.stdout.splitlines()[2:4]] == ["try-00001", "try-00002"]


def test_jobs_come_after_what_they_need_whatever_the_order_of_files(tmp_path: Path) -> None:
    """Files of a directory are read by name; Jobs are submitted last."""
    (tmp_path / "a-job.yaml").write_text(a_job(), "utf-8")
    (tmp_path / "b-queues.yaml").write_text(QUEUES, "utf-8")

    result = kueue_dra("simulate", tmp_path, "-o", "table")

    assert result.exit_code == 0
    assert " admitted " in result.stdout


def test_fields_that_are_given_again_are_merged_across_versions() -> None:
    """A stop policy that is added in v1beta1 leaves the quota as it was."""
    more = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: all}\nspec: {stopPolicy: Hold}\n"

    result = kueue_dra("simulate", "-f", "-", stdin=f"{QUEUES}---\n{more}")

    (queue,) = [each for each in yaml.safe_load_all(result.stdout) if each["kind"] == "ClusterQueue"]
    assert queue["spec"]["stopPolicy"] == "Hold"
    assert queue["spec"]["resourceGroups"][0]["coveredResources"] == ["whole-gpus"]


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        pytest.param(
            "name: mine}}", 'metadata.labels[kueue.x-k8s.io/queue-name]: Not found: "other"', id="local-queue"
        ),
        pytest.param("Name: two", "resourceClaims[0].resourceClaimTemplateName: Not found", id="template"),
        pytest.param("clusterQueue: all", 'spec.clusterQueue: Not found: "other"', id="cluster-queue"),
        pytest.param("[{name: flavor,", "spec.resourceGroups[0].flavors[0].name: Not found", id="flavor"),
    ],
)
def test_names_that_lead_nowhere_are_told(given: str, missing: str) -> None:
    """The command prints the verdict and the missing reference; the exit code says that objects are missing."""
    named = {
        "name: mine}}": "name: other}}",
        "Name: two": "Name: other",
        "clusterQueue: all": "clusterQueue: other",
        "[{name: flavor,": "[{name: other,",
    }
    world = f"{QUEUES}---\n{a_job()}".replace(given, named[given])

    strict, allowing = (kueue_dra("simulate", "-f", "-", *more, stdin=world) for more in ((), ("--allow-missing",)))

    assert (strict.exit_code, allowing.exit_code) == (2, 0)
    assert missing in strict.stderr
    assert strict.stderr == allowing.stderr
    assert workloads(strict.stdout)


def test_a_priority_class_that_leads_nowhere_is_told() -> None:
    """Kueue makes no Workload for the Job until the class is there."""
    world = f"{QUEUES}---\n{a_job(pod=f'{POD}, priorityClassName: other')}"

    result = kueue_dra("simulate", "-f", "-", stdin=world)

    assert result.exit_code == 2
    assert 'spec.template.spec.priorityClassName: Not found: "other"' in result.stderr
    assert not workloads(result.stdout)


def test_the_workload_of_a_job_that_is_given_too_belongs_to_it() -> None:
    """A dump of a cluster has both; Kueue charges the devices once, and the Workload keeps its name."""
    world = _a_job_and_its_workload()

    again = kueue_dra("simulate", "-f", "-", stdin=world)

    assert again.exit_code == 0
    assert [each["metadata"]["name"] for each in workloads(again.stdout)] == ["from-the-cluster"]


def test_from_scratch_the_workload_of_a_job_is_created_again() -> None:
    """The status of the input is ignored, and Kueue creates the Job's Workload."""
    again = kueue_dra("simulate", "--from-scratch", "-f", "-", stdin=_a_job_and_its_workload())

    assert again.exit_code == 0
    assert "note: Workload default/from-the-cluster is skipped: its Job is in the input too" in again.stderr
    assert [each["metadata"]["name"] for each in workloads(again.stdout)] != ["from-the-cluster"]
    assert len(workloads(again.stdout)) == 1


def _a_job_and_its_workload() -> str:
    first = kueue_dra("simulate", "-f", "-", stdin=f"{QUEUES}---\n{a_job()}")
    (made,) = workloads(first.stdout)
    made["metadata"]["name"] = "from-the-cluster"
    return f"{QUEUES}---\n{a_job()}---\n{yaml.safe_dump(made)}"


def test_a_sketch_of_a_job_is_decided_with_a_warning(tmp_path: Path) -> None:
    """Missing fields do not matter for quota; wrong ones are rejected."""
    file = tmp_path / "manifests.yaml"
    file.write_text("---\n".join((QUEUES, a_job(pod="containers: [{resources: {requests: {example.com/a: 1}}}]"))))
    sketched = kueue_dra("simulate", "-f", str(file))
    file.write_text("---\n".join((QUEUES, a_job(pod="containers: [{resources: {requests: {disk: 1}}}]"))))
    refused = kueue_dra("simulate", "-f", str(file))

    assert sketched.exit_code == 0
    path = "warning: Job job: an API server would refuse it for this: spec.template.spec."
    assert [line for line in sketched.stderr.splitlines() if line.startswith(path)] == [
        f"{path}containers[0].name: Required value",
        f"{path}containers[0].image: Required value",
        f"{path}containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
        f'{path}restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ]
    assert refused.exit_code == 2
    assert 'containers[0].resources.requests[disk]: Invalid value: "disk": must be a standard' in refused.stderr


def test_a_job_without_a_queue_is_left_alone() -> None:
    """Kueue does not see it, and a note gives the reason."""
    job = a_job().replace("labels: {kueue.x-k8s.io/queue-name: mine}", "labels: {}")

    result = kueue_dra("simulate", "-f", "-", stdin=f"{QUEUES}---\n{job}")

    assert result.exit_code == 0
    assert "Job default/job names no queue (label kueue.x-k8s.io/queue-name)" in result.stderr
    assert not workloads(result.stdout)


@pytest.mark.parametrize(
    ("settings", "job", "note"),
    [
        pytest.param("manageJobsWithoutQueueName: true", "labels: {}", "", id="all-are-managed"),
        pytest.param(
            "managedJobsNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: other}}",
            "labels: {kueue.x-k8s.io/queue-name: mine}",
            "is in a namespace that managedJobsNamespaceSelector does not select",
            id="not-selected",
        ),
    ],
)
def test_the_configuration_says_which_jobs_are_managed(settings: str, job: str, note: str) -> None:
    """A Job that Kueue does not manage has no Workload, and a note gives the reason."""
    world = QUEUES.replace("kind: Configuration\n", f"kind: Configuration\n{settings}\n")
    given = a_job().replace("labels: {kueue.x-k8s.io/queue-name: mine}", job)

    result = kueue_dra("simulate", "-f", "-", stdin=f"{world}---\n{given}")

    assert result.exit_code == 0
    assert ("Kueue does not manage it" in result.stderr) == bool(note)
    assert note in result.stderr
    assert len(workloads(result.stdout)) == (not note)


def test_claims_without_a_configuration_are_explained() -> None:
    """No Configuration means no mapping."""
    world = QUEUES.partition("---\nkind: Configuration")[0]

    result = kueue_dra("simulate", "-f", "-", stdin=f"{world}---\n{a_job()}")

    assert "note: no Configuration was given" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: b: c\n", ":1: found mapping values are not allowed in this context; expected YAML", id="yaml"),
        pytest.param("- 1\n", ":1: found a list; expected an object with apiVersion, kind and metadata", id="list"),
        pytest.param(
            "kind: Job\n", ":1: apiVersion: found no apiVersion; expected apiVersion as a string", id="no-version"
        ),
        pytest.param(
            "apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: d}\n",
            ':2: Deploymnet d: kind: Invalid value: "Deploymnet": unknown kind; known: ',
            id="kind",
        ),
        pytest.param(
            "apiVersion: batch/v2\nkind: Job\nmetadata: {name: j}\n",
            ':1: Job default/j: apiVersion: Invalid value: "batch/v2": Job is served as batch/v1',
            id="version",
        ),
        pytest.param(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  parallelism: two\n",
            ":5: Job default/j: spec.parallelism: Wrong type: json: cannot unmarshal string into Go struct field "
            "JobSpec.spec.parallelism of type int32",
            id="type",
        ),
        pytest.param(
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\nspec:\n  resourceGroups:\n"
            "  - coveredResources: [gpus]\n    flavors:\n    - name: f\n      resources:\n      - name: gpus\n"
            "        nominalQuota: many\n",
            ":11: ClusterQueue q: spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Wrong type: "
            "\"many\": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
            id="quantity",
        ),
    ],
)
def test_bad_input_is_answered_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    """File, line, field, what was found and what was expected; never a traceback."""
    file = tmp_path / "bad.yaml"
    file.write_text(text, "utf-8")

    result = kueue_dra("simulate", "-f", file)

    assert result.exit_code == 2
    assert result.stderr.splitlines()[0].startswith(f"{file}{message}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param((), "no manifests: give files or directories with -f", id="no-files"),
        pytest.param(("-f", "nowhere.yaml"), "nowhere.yaml: found no such file or directory", id="no-such-file"),
        pytest.param(("-f", EXAMPLE, "--config", LEFT_OUT), "found no Configuration", id="no-configuration"),
        pytest.param(("-f", EXAMPLE, "--behaviour", "x"), "'x' is not known; known: kueue-0.19.2", id="behaviour"),
        pytest.param(("-f", EXAMPLE, "--feature-gates", "A=yes"), "expected NAME=true or NAME=false", id="gate"),
        pytest.param(
            ("-f", EXAMPLE, "--feature-gates", "Nonsense=true"),
            '--feature-gates: featureGates: Invalid value: {"Nonsense":true}: unrecognized feature gate: Nonsense',
            id="unknown-gate",
        ),
    ],
)
def test_a_wrong_command_line_is_answered(arguments: tuple[object, ...], message: str) -> None:
    """Options are checked as files are."""
    result = kueue_dra("simulate", *arguments)

    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    ("behaviour", "noted"),
    [pytest.param("kueue-0.20.0", True, id="provisional"), pytest.param("kueue-0.19.2", False, id="released")],
)
def test_a_provisional_behaviour_says_so(behaviour: str, noted: bool) -> None:
    """On standard error, so that the objects can be piped on."""
    done = kueue_dra("simulate", "-f", str(LEFT_OUT), "--behaviour", behaviour)

    assert ("kueue-0.20.0 is provisional" in done.stderr) is noted
