"""``kueue-dra explain``: how a charge and a verdict came about, with the requirements behind each step."""

from __future__ import annotations

import json

import pytest

from kueue_dra_ref.requirements.catalogue import catalogue
from tests.commands import EXAMPLE, LEFT_OUT, ROOT, kueue_dra
from tests.test_cli_simulate import ON, POD, QUEUES, a_job

KEP_WORLD = ("-f", EXAMPLE, "-f", LEFT_OUT)
BROKEN = ROOT / "tests" / "golden" / "broken.yaml"


@pytest.mark.parametrize("behaviour", [pytest.param((), id="kueue-0.19.2"), pytest.param(ON, id="kep-2025-09")])
def test_the_one_device_of_the_example_is_explained(behaviour: tuple[str, ...]) -> None:
    """From the class over the mapping and the pods to the quota and the verdict."""
    result = kueue_dra("explain", *KEP_WORLD, *behaviour)

    assert result.exit_code == 0
    assert result.stdout == (
        "gpu-test1/job0 → ClusterQueue gpus-cluster-queue: admitted\n"
        "  1. pod set main, claim gpu: ResourceClaimTemplate single-gpu requests 1 \N{MULTIPLICATION SIGN} "
        "gpu.example.com   [COUNT-001]\n"
        "  2. gpu.example.com is mapped to whole-gpus   [CLASS-001]\n"
        "  3. 1 per pod \N{MULTIPLICATION SIGN} 1 pod = 1 whole-gpus   [COUNT-006]\n"
        "  4. flavor default-gpu-flavor: cpu 1 of 9 available, memory 200Mi of 1200Mi available, "
        "whole-gpus 1 of 2 available: fits   "
        "[QUOTA-001]\n"
        "  5. quota is reserved; admitted   [STATUS-005, STATUS-006]\n"
    )


def test_a_gate_that_is_off_is_the_first_step() -> None:
    """With the integration off the charge of devices is missing for a reason."""
    result = kueue_dra("explain", *KEP_WORLD, "--behaviour", "kep-2025-09")

    assert "1. the gate DynamicResourceAllocation is off, so claims are not charged   [GATE-003]" in result.stdout


@pytest.mark.parametrize(
    ("change", "step"),
    [
        pytest.param(
            ("nominalQuota: 2", "nominalQuota: 1"),
            "flavor flavor: whole-gpus 2 of 1 available: can never fit   [QUOTA-004]",
            id="never-fits",
        ),
        pytest.param(
            ("[gpu.example.com]", "[other.example.com]"),
            'Not found: "DeviceClass gpu.example.com is not mapped in DRA configuration for podset main"   [CLAIM-014]',
            id="unmapped",
        ),
        pytest.param(
            ("resourceClaimTemplateName: two", "resourceClaimName: two"),
            "does not support use of resource claims   [CLAIM-001]",
            id="direct-claim",
        ),
        pytest.param(
            ("Name: two", "Name: three"), 'ResourceClaimTemplate.resource.k8s.io "three" not found', id="none"
        ),
        pytest.param(
            ("clusterQueue: all", "clusterQueue: other"), "ClusterQueue other doesn't exist   [QUEUE-018]", id="queue"
        ),
        pytest.param(
            ("[{name: flavor,", "[{name: other,"), "ClusterQueue all is inactive   [QUEUE-008]", id="inactive"
        ),
        pytest.param(
            ("namespaceSelector: {}", "cohort: "),
            "workload namespace doesn't match ClusterQueue selector   [QUEUE-013]",
            id="namespace",
        ),
        pytest.param(
            ("coveredResources: [whole-gpus]", "coveredResources: [others]"),
            "resource whole-gpus unavailable in ClusterQueue   [QUOTA-005]",
            id="not-covered",
        ),
    ],
)
def test_a_verdict_that_is_no_admission_is_explained(change: tuple[str, str], step: str) -> None:
    """The step that decided is there, with its requirement."""
    world = f"{QUEUES}---\n{a_job()}".replace(*change)
    world = world.replace("resources: [{name: whole-gpus", "resources: [{name: others") if "others" in world else world

    result = kueue_dra("explain", "-f", "-", "--allow-missing", stdin=world)

    assert result.exit_code == 0
    assert step in result.stdout


def test_work_behind_a_head_that_does_not_fit_is_explained() -> None:
    """A StrictFIFO queue makes the second Job wait for the first."""
    queues = QUEUES.replace("namespaceSelector: {}", "namespaceSelector: {}\n  queueingStrategy: StrictFIFO")
    queues = queues.replace("nominalQuota: 2", "nominalQuota: 1")

    result = kueue_dra("explain", "-f", "-", "late", stdin=f"{queues}---\n{a_job()}---\n{a_job('name: late')}")

    assert "it is pending behind another workload   [QUEUE-004]" in result.stdout


def test_work_that_waits_for_its_checks_is_explained() -> None:
    """Its quota is reserved, and what admits it is still to come."""
    check = "admissionChecksStrategy: {admissionChecks: [{name: check}]}"
    active = "{type: Active, status: 'True', reason: Active, message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}"
    made = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {name: check}\n"
    made += f"spec: {{controllerName: example.com/check}}\nstatus: {{conditions: [{active}]}}\n"
    queues = QUEUES.replace("namespaceSelector: {}", f"namespaceSelector: {{}}\n  {check}")

    result = kueue_dra("explain", "-f", "-", stdin=f"{queues}---\n{made}---\n{a_job()}")

    assert "quota is reserved; it waits for the admission checks of its ClusterQueue   [STATUS-005, " in result.stdout
    assert "; admitted" not in result.stdout


def test_what_an_earlier_pod_set_takes_is_not_available() -> None:
    """The second of two pod sets sees what the first leaves."""
    queues = QUEUES.replace("nominalQuota: 2", "nominalQuota: 5")
    queues += "integrations: {frameworks: [jobset.x-k8s.io/jobset]}\n"
    pods = f"{{{POD}, resourceClaims: [{{name: g, resourceClaimTemplateName: two}}]}}"
    jobs = [f"{{name: {name}, template: {{spec: {{template: {{spec: {pods}}}}}}}}}" for name in ("a", "b")]
    work = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n"
    work += "metadata: {name: set, labels: {kueue.x-k8s.io/queue-name: mine}}\n"
    work += f"spec: {{replicatedJobs: [{', '.join(jobs)}]}}\n"

    result = kueue_dra("explain", "-f", "-", stdin=f"{queues}---\n{work}")

    assert result.exit_code == 0
    assert "flavor flavor: whole-gpus 2 of 5 available: fits" in result.stdout
    assert "flavor flavor: whole-gpus 2 of 3 available: fits" in result.stdout


def test_every_id_that_is_shown_is_in_the_catalogue() -> None:
    """With --texts each requirement stands with its sentence."""
    result = kueue_dra("explain", "-f", BROKEN, "-o", "json", "--texts")

    found = json.loads(result.stdout)
    assert {each["verdict"] for each in found} == {"pending", "inadmissible"}
    for each in found:
        assert {one for step in each["steps"] for one in step["requirements"]} == set(each["requirements"])
        assert all(catalogue()[id_].text == text for id_, text in each["requirements"].items())


def test_texts_are_printed_below() -> None:
    """Each sentence once, with its level and source."""
    result = kueue_dra("explain", *KEP_WORLD, "--texts")

    assert "\nCOUNT-001 (MUST; KEP-2941 2025-09, Workload Processing Flow)\n  A request is charged" in result.stdout


@pytest.mark.parametrize("name", ["job0", "gpu-test1/job0"])
def test_one_job_is_chosen_by_name(name: str) -> None:
    """With or without its namespace."""
    assert kueue_dra("explain", *KEP_WORLD, name).stdout.startswith("gpu-test1/job0 ")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("missing", "found no Job or Workload missing; known: gpu-test1/job0", id="unknown"),
        pytest.param("default/job0", "found no Job or Workload default/job0", id="other-namespace"),
    ],
)
def test_an_unknown_job_is_answered_with_the_known_ones(name: str, expected: str) -> None:
    """The message lists the known names."""
    result = kueue_dra("explain", *KEP_WORLD, name)

    assert result.exit_code == 2
    assert expected in result.stderr


def test_a_refused_job_is_answered_with_its_refusal() -> None:
    """It has no decision: the API server did not take it."""
    other = "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n"

    result = kueue_dra("explain", "-f", EXAMPLE, "-f", "-", "job0", stdin=other)

    assert result.exit_code == 2
    assert "job0: metadata.namespace: Not found" in result.stderr
