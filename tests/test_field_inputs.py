"""Questions as people ask them: amounts, gates of Kubernetes, selectors, limits, and options that must agree."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kueue_dra_clusters import dump, installation
from kueue_dra_ref.explain.step import TIMES
from kueue_dra_ref.features.manager_flags import gates_of_arguments
from tests.commands import kueue_dra
from tests.test_field_folders import LABEL, MAPPING, POD, QUEUES, a_folder

PLAIN = "containers: [{name: c, image: x, resources: {claims: [{name: g}]}}]"
CLAIM = "resourceClaims: [{name: g, resourceClaimTemplateName: card}]"
CLASS = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: card.example.com}
spec: {selectors: [{cel: {expression: "device.driver == 'card.example.com'"}}]}
"""
MEMORY = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
featureGates: {KueueDRAIntegrationPartitionableDevices: true}
resources:
  deviceClassMappings:
  - name: RESOURCE
    deviceClassNames: [card.example.com]
    sources:
    - counter: {name: COUNTER, driver: card.example.com, deviceSelector: {cel: {expression: "true"}}}
"""


def a_job(name: str = "train", pod: str = f"{PLAIN}, {CLAIM}", more: str = "", spec: str = "") -> str:
    """Give a Job of the queue."""
    return (
        f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, namespace: lab, {LABEL}{more}}}\n"
        f"spec: {{{spec}template: {{spec: {{restartPolicy: Never, {pod}}}}}}}\n"
    )


def slices(*devices: str, counters: str = "") -> str:
    """Give the slices of one pool; the first one has the counters."""
    spec = "driver: card.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: COUNT}"
    head = f"apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: NAME}}\nspec: {{{spec}, "
    parts = {"devices": f"devices: [{', '.join(devices)}]"}
    if counters:
        parts["counters"] = f"sharedCounters: [{{name: set, counters: {{{counters}}}}}]"
    texts = []
    for name, part in parts.items():
        text = head.replace("COUNT", str(len(parts))).replace("NAME", name)
        texts.append(f"{text}{part}}}\n")
    return "---\n".join(texts)


def table(folder: Path, *options: object) -> tuple[list[str], str]:
    """Give the words of the only row of the table, and standard error."""
    result = kueue_dra("simulate", folder, "-o", "table", *options)
    assert result.exit_code == 0, result.stderr
    return result.stdout.splitlines()[2].split(), result.stderr


def explained(folder: Path, *options: object) -> list[str]:
    """Give the steps of the only Workload."""
    result = kueue_dra("explain", "-f", folder, "-o", "json", *options)
    assert result.exit_code == 0, result.stderr
    (found,) = json.loads(result.stdout)
    return [step["text"] for step in found["steps"]]


def test_partial_admission_is_charged_as_admitted(tmp_path: Path) -> None:
    """Six pods are asked for and four fit: table, explain and status say four."""
    least = ', annotations: {kueue.x-k8s.io/job-min-parallelism: "3"}'
    job = a_job(more=least, spec="parallelism: 6, completions: 6, completionMode: Indexed, ")
    folder = a_folder(tmp_path, config=MAPPING, queues=QUEUES, work=job)

    row, _ = table(folder)
    steps = explained(folder)

    assert row == ["lab", "train", "line", "admitted", "cards", "4"]
    assert (
        "partial admission: pod set main has 6 pods, at least 3; 4 is the largest number that can be admitted" in steps
    )


def test_a_resource_that_the_quota_lacks_is_not_charged(tmp_path: Path) -> None:
    """With IgnoreUndeclared, before and after admission."""
    both = MAPPING.replace("resources:\n", "resources:\n  quotaCheckStrategy: IgnoreUndeclared\n")
    both += "  - {name: links, deviceClassNames: [link.example.com]}\n"
    card = "{name: r, exactly: {deviceClassName: card.example.com}}"
    link = "{name: l, exactly: {deviceClassName: link.example.com}}"
    queues = QUEUES.replace(card, f"{card}, {link}")
    folder = a_folder(tmp_path, config=both, queues=queues, work=a_job())

    row, _ = table(folder)
    steps = explained(folder)
    a_folder(folder, work=a_job(spec="parallelism: 5, completions: 5, "))
    waiting, _ = table(folder)

    assert row[3:] == ["admitted", "cards", "1"]
    assert "links is not in the quota of the ClusterQueue: not charged" in steps
    assert waiting[3] == "pending"
    assert waiting[-2:] == ["cards", "5"]


@pytest.mark.parametrize(
    ("resource", "amount", "shown"),
    [
        pytest.param("memory-of-cards", "4864Mi", "4864Mi", id="bytes"),
        pytest.param("cpu", "16", "16", id="cpu"),
    ],
)
def test_an_amount_has_the_unit_that_was_written(tmp_path: Path, resource: str, amount: str, shown: str) -> None:
    """In the table, in each step and in the status."""
    device = f"{{name: d, consumesCounters: [{{counterSet: set, counters: {{total: {{value: {amount}}}}}}}]}}"
    quota = f"- coveredResources: [{resource}]\n    flavors: [{{name: pool, resources: [{{name: {resource}, "
    covered = QUEUES[
        QUEUES.index("- coveredResources") : QUEUES.index("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Local")
    ]
    queues = QUEUES.replace(covered, f"{quota}nominalQuota: 20Gi}}]}}]\n")
    config = MEMORY.replace("RESOURCE", resource).replace("COUNTER", "total")
    inventory = slices(device, counters="total: {value: 40Gi}")
    folder = a_folder(tmp_path, config=config, queues=queues, classes=CLASS, slices=inventory, work=a_job())

    row, _ = table(folder)
    steps = explained(folder)

    assert row[3:] == ["admitted", resource, shown]
    assert f"{shown} per pod {TIMES} 1 pod = {shown} {resource}" in steps
    charge = f"counter total of card.example.com is at most {shown} on 1 matching device: {shown} {TIMES} 1 device"
    assert any(f"{charge} = {shown} {resource}" in step for step in steps)


EXTENDED = CLASS.replace("spec: {", "spec: {extendedResourceName: example.com/card, ")
REQUESTS = "resources: {requests: {example.com/card: 1}, limits: {example.com/card: 1}}"


def test_a_field_that_a_gate_of_kubernetes_drops_is_named(tmp_path: Path) -> None:
    """And the option that turns the gate on makes it count."""
    job = a_job(pod=f"containers: [{{name: c, image: x, {REQUESTS}}}]")
    folder = a_folder(tmp_path, config=MAPPING, queues=QUEUES, classes=EXTENDED, work=job)
    gate = "DRAExtendedResource"

    off, note = table(folder, "--kubernetes", "1.35")
    on, silent = table(folder, "--kubernetes", "1.35", "--kubernetes-feature-gates", f"{gate}=true")

    assert off[3] == "pending"
    assert note == (
        f"note: {folder}/classes.yaml:1: Kubernetes 1.35 drops extendedResourceName of DeviceClass card.example.com, "
        f"because its gate {gate} is off; turn it on with --kubernetes-feature-gates {gate}=true\n"
    )
    assert on[3:] == ["admitted", "cards", "1"]
    assert silent == ""


@pytest.mark.parametrize(
    ("device", "gate", "fields"),
    [
        pytest.param(
            "{name: d, consumesCounters: [{counterSet: set, counters: {total: {value: 1}}}]}",
            "DRAPartitionableDevices",
            "consumesCounters, sharedCounters of 2 ResourceSlices",
            id="counters",
        ),
        pytest.param(
            "{name: d, allowMultipleAllocations: true}",
            "DRAConsumableCapacity",
            "allowMultipleAllocations of ResourceSlice devices",
            id="shared",
        ),
        pytest.param(
            "{name: d, taints: [{key: broken, effect: NoSchedule}]}",
            "DRADeviceTaints",
            "taints of ResourceSlice devices",
            id="taints",
        ),
    ],
)
def test_dropped_fields_of_slices_are_named_once_for_each_gate(
    tmp_path: Path, device: str, gate: str, fields: str
) -> None:
    """However many slices have them."""
    counters = "total: {value: 1}" if "Counters" in device else ""
    folder = a_folder(tmp_path, config=MAPPING, queues=QUEUES, slices=slices(device, counters=counters))

    result = kueue_dra("simulate", folder, "--kubernetes", "1.35")

    assert result.exit_code == 0
    (note,) = result.stderr.splitlines()
    assert f"Kubernetes 1.35 drops {fields}, because its gate {gate} is off" in note


def test_a_list_as_an_attribute_is_rejected_with_its_gate(tmp_path: Path) -> None:
    """What is left of the attribute has no value."""
    device = "{name: d, attributes: {sizes: {ints: [1, 2]}}}"
    folder = a_folder(tmp_path, config=MAPPING, queues=QUEUES, slices=slices(device))
    gate = "DRAListTypeAttributes"

    off = kueue_dra("simulate", folder, "--kubernetes", "1.36")
    on = kueue_dra("simulate", folder, "--kubernetes", "1.36", "--kubernetes-feature-gates", f"{gate}=true")

    assert off.exit_code == 2
    assert f"drops ints of ResourceSlice devices, because its gate {gate} is off" in off.stderr
    assert (on.exit_code, on.stderr) == (0, "")


def test_an_unknown_gate_of_kubernetes_is_answered(tmp_path: Path) -> None:
    """With the nearest one."""
    folder = a_folder(tmp_path, queues=QUEUES)

    result = kueue_dra("simulate", folder, "--kubernetes-feature-gates", "DRAExtendedResources=true")

    assert result.exit_code == 2
    assert "Kubernetes 1.36 has no such gate for devices; " in result.stderr
    assert "did you mean DRAExtendedResource?" in result.stderr


def test_a_kubernetes_that_does_not_serve_what_kueue_reads_admits_nothing(tmp_path: Path) -> None:
    """Unless Kueue does not read devices, or there are none."""
    folder = a_folder(tmp_path, config=MAPPING, queues=QUEUES, work=a_job())
    without = QUEUES[: QUEUES.index("---\napiVersion: resource.k8s.io")]
    idle = a_folder(tmp_path / "idle", queues=without, work=a_job(pod="containers: [{name: c, image: x}]"))

    old = kueue_dra("simulate", folder, "--kubernetes", "1.31")
    other = kueue_dra("simulate", idle, "--kubernetes", "1.31")

    assert (old.exit_code, old.stdout) == (2, "")
    assert old.stderr == (
        "--kubernetes 1.31: Kueue 0.19.2 reads resource.k8s.io/v1, and Kubernetes 1.31 serves only v1alpha3; "
        "expected Kubernetes 1.34 or later, or the gate KueueDRAIntegration off\n"
    )
    assert other.exit_code == 0


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param("sharing == 'fractions'", "fails on device n1/card-0: no such key: sharing", id="fails"),
        pytest.param("model == 'huge'", "holds for 0 of 2 devices", id="none"),
    ],
)
def test_a_selector_that_excludes_devices_is_explained(tmp_path: Path, expression: str, expected: str) -> None:
    """Selector by selector, and the device on which one fails."""
    selector = f"selectors: [{{cel: {{expression: \"device.attributes['card.example.com'].{expression}\"}}}}]"
    queues = QUEUES.replace("deviceClassName: card.example.com", f"deviceClassName: card.example.com, {selector}")
    first = "{name: card-0, attributes: {model: {string: small}}}"
    second = "{name: card-1, attributes: {model: {string: small}, sharing: {string: fractions}}}"
    folder = a_folder(
        tmp_path, config=MAPPING, queues=queues, classes=CLASS, slices=slices(first, second), work=a_job()
    )

    steps = explained(folder)

    where = "pod set main, claim g, request r"
    assert f"{where}: selector 0 of DeviceClass card.example.com holds for 2 of 2 devices" in steps
    assert f"{where}: selector 0 of the request {expected}" in steps


def test_selectors_without_slices_are_noted(tmp_path: Path) -> None:
    """Folders of demos have none; the selectors of a class alone are not checked against devices."""
    folder = a_folder(tmp_path, config=MAPPING, queues=QUEUES, classes=CLASS, work=a_job())

    selector = "selectors: [{cel: {expression: 'true'}}]"
    queues = QUEUES.replace("deviceClassName: card.example.com", f"deviceClassName: card.example.com, {selector}")

    by_class = kueue_dra("explain", "-f", folder)
    a_folder(folder, queues=queues)
    by_request = kueue_dra("explain", "-f", folder)

    note = "note: no ResourceSlice is given: add those of the cluster (kubectl get resourceslices -o yaml)"
    assert by_class.stderr == ""
    assert by_request.stderr.startswith(note)


def test_explain_takes_the_kubernetes_of_simulate(tmp_path: Path) -> None:
    """All three options."""
    folder = a_folder(tmp_path, config=MAPPING, queues=QUEUES, work=a_job())
    options = ("--kubernetes", "1.34", "--only-served", "--kubernetes-feature-gates", "DRAConsumableCapacity=true")

    result = kueue_dra("explain", "-f", folder, *options)

    assert result.exit_code == 0, result.stderr
    assert "admitted" in result.stdout


def test_gates_in_two_places_are_refused_as_kueue_does(tmp_path: Path) -> None:
    """``config check`` asks whether Kueue starts; a simulation goes on with a note."""
    one, two = "KueueDRAIntegrationConsumableCapacity", "KueueDRAIntegrationPartitionableDevices"
    folder = a_folder(tmp_path, config=f"featureGates: {{{one}: true}}\n{MAPPING}", queues=QUEUES)

    checked = kueue_dra("config", "check", folder / "config.yaml", "--feature-gates", f"{two}=true")
    run = kueue_dra("simulate", folder, "--feature-gates", f"{two}=true")

    assert checked.exit_code == 1
    assert checked.stderr == (
        f"{folder}/config.yaml:1: featureGates: Invalid value: feature gates for CLI and configuration "
        f"cannot both specified (in the arguments: {two})\n"
    )
    assert run.exit_code == 0
    assert "note: Kueue itself refuses feature gates in its arguments and in its Configuration" in run.stderr


def test_another_spec_of_a_template_is_refused(tmp_path: Path) -> None:
    """The spec of a template is immutable; the same one, with or without defaults, is none."""
    template = QUEUES[QUEUES.index("apiVersion: resource.k8s.io") :]
    same = template.replace("card.example.com", "card.example.com, count: 1")
    other = template.replace("card.example.com", "card.example.com, count: 3")
    folder = a_folder(tmp_path, config=MAPPING, queues=QUEUES, work=a_job(), z=same)
    merged, _ = table(folder)

    a_folder(folder, z=other)
    result = kueue_dra("simulate", folder)

    assert merged[3:] == ["admitted", "cards", "1"]
    assert result.exit_code == 2
    assert result.stderr == (
        f"{folder}/z.yaml:4: spec: found another spec of ResourceClaimTemplate lab/card, "
        f"after the one in {folder}/queues.yaml line 23; expected the same spec: it is immutable\n"
    )


def test_the_default_namespace_exists_in_a_scenario(tmp_path: Path) -> None:
    """As in each cluster."""
    file = tmp_path / "m.yaml"
    file.write_text(f"{QUEUES}---\n{a_job()}".replace("namespace: lab", "namespace: default"))

    result = kueue_dra("record", "-f", file, "--target", "reference", "--config", _written(tmp_path, MAPPING))

    assert result.exit_code == 0, result.stderr
    assert "not found" not in result.stdout
    assert "message: The workload is admitted" in result.stdout


def _written(folder: Path, text: str) -> Path:
    file = folder / "config.yml"
    file.write_text(text)
    return file


def test_the_inventory_of_a_scenario_is_observed(tmp_path: Path) -> None:
    """Queues and namespaces that exist before the first step."""
    documents = [each for each in QUEUES.split("---\n") if each.strip()]
    inventory = "".join(f"  -\n{_indented(each)}" for each in documents)
    scenario = (
        "apiVersion: kueue-dra.dev/v1alpha1\nkind: Scenario\nmetadata: {name: before}\nspec:\n"
        f"  configuration:\n{_indented(MAPPING)}  inventory:\n{inventory}  steps:\n  - apply:\n    -\n"
        f"{_indented(a_job(), 6)}"
    )
    file = tmp_path / "scenario.yaml"
    file.write_text(scenario)

    result = kueue_dra("record", file, "--target", "reference")

    assert result.exit_code == 0, result.stderr
    assert "message: The workload is admitted" in result.stdout
    assert "reserving: 1" in result.stdout


def _indented(text: str, width: int = 4) -> str:
    return "".join(f"{' ' * width}{line}\n" for line in text.splitlines())


def a_cohort(name: str, parent: str) -> str:
    """Give a Cohort."""
    spec = f"metadata: {{name: {name}}}\nspec: {{parentName: {parent}}}\n"
    return f"apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\n{spec}"


def test_cohorts_in_a_circle_are_named(tmp_path: Path) -> None:
    """The status of the ClusterQueue says Active, as Kueue's does, so the answer says both."""
    queues = QUEUES.replace("  namespaceSelector: {}\n", "  namespaceSelector: {}\n  cohortName: a\n")
    circle = f"{a_cohort('a', 'b')}---\n{a_cohort('b', 'c')}---\n{a_cohort('c', 'b')}"
    folder = a_folder(tmp_path, config=MAPPING, queues=queues, cohorts=circle, work=a_job())

    row, note = table(folder)
    steps = explained(folder)

    assert row[3] == "pending"
    assert note == (
        "note: cohorts form a circle: b → c → b; Kueue admits nothing below them, "
        "although the status of ClusterQueue shared says Active\n"
    )
    assert any(step.startswith("cohorts form a circle: b → c → b, so nothing below them") for step in steps)


def test_cohorts_that_are_too_deep_are_an_error(tmp_path: Path) -> None:
    """500 above each other are computed, 2,000 are not."""
    queues = QUEUES.replace("  namespaceSelector: {}\n", "  namespaceSelector: {}\n  cohortName: c0\n")
    deep = [a_cohort(f"c{number}", f"c{number + 1}") for number in range(2000)]
    folder = a_folder(tmp_path, config=MAPPING, queues=queues, cohorts="---\n".join(deep[:499]), work=a_job())
    row, _ = table(folder)

    a_folder(folder, cohorts="---\n".join(deep))
    result = kueue_dra("simulate", folder)

    assert row[3] == "admitted"
    assert result.exit_code == 2
    assert result.stderr == (
        f"{folder}/cohorts.yaml:4: spec.parentName: found more than 500 cohorts above Cohort c0; expected at most 500\n"
    )


def test_an_amount_of_100_000_digits_is_one_line(tmp_path: Path) -> None:
    """Which does not repeat it."""
    pod = POD[1:-1].replace("cpu: 1", f'cpu: "{"9" * 100_000}"')
    folder = a_folder(tmp_path, config=MAPPING, queues=QUEUES, work=a_job(pod=pod))

    result = kueue_dra("simulate", folder)

    assert result.exit_code == 2
    assert result.stderr == f"{folder}/work.yaml:4: found a number of 100000 digits; expected at most 10000 digits\n"


@pytest.mark.parametrize(
    ("arguments", "redirection", "message"),
    [
        pytest.param("simulate -", "<&-", "-: found standard input closed; expected manifests", id="stdin"),
        pytest.param("config check -", "<&-", "-: found standard input closed; expected manifests", id="config"),
        pytest.param("requirements COUNT-006", ">&-", "kueue-dra: standard output is closed", id="stdout"),
    ],
)
def test_a_closed_stream_is_one_line(arguments: str, redirection: str, message: str) -> None:
    """Exit code 2, and no traceback."""
    program = f"{sys.executable} -m kueue_dra_cli {arguments} {redirection}"

    result = subprocess.run(["sh", "-c", program], capture_output=True, text=True, check=False)

    assert (result.returncode, result.stderr) == (2, f"{message}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--config=/x", "--feature-gates=A=true,B=false"], id="one"),
        pytest.param(["--feature-gates", "A=true,B=false", "--config=/x"], id="two"),
        pytest.param(["--feature-gates=A=true", "-feature-gates", "B=false"], id="both"),
    ],
)
def test_gates_of_a_manager_are_read_in_each_form(arguments: Sequence[str]) -> None:
    """By the dump, which keeps nothing else, by the check of an existing cluster, and by a simulation."""
    container = {"name": "manager", "image": "k", "args": [*arguments, "--secret=x"]}
    pods = {"spec": {"containers": [container]}}
    manager = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "kueue", "namespace": "k"},
        "spec": {"template": pods},
    }

    kept = dump._manager(manager)["spec"]["template"]["spec"]["containers"][0]["args"]

    gates = {"A": True, "B": False}
    assert gates_of_arguments(kept) == installation._gates_of(manager) == gates_of_arguments(arguments) == gates
    assert not [each for each in kept if "secret" in each or "config" in each]
