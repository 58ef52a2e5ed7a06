"""Folders as people have them: only what is Kueue's is read as Kueue's, and what decides nothing is left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import kueue_dra

QUEUES = """\
apiVersion: v1
kind: Namespace
metadata: {name: lab}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: pool}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: shared}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, cards]
    flavors: [{name: pool, resources: [{name: cpu, nominalQuota: 10}, {name: cards, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: line, namespace: lab}
spec: {clusterQueue: shared}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: card, namespace: lab}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: card.example.com}}]}}}
"""
MAPPING = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources:
  deviceClassMappings:
  - name: cards
    deviceClassNames: [card.example.com]
"""
POD = (
    "{containers: [{name: c, image: x, resources: {requests: {cpu: 1}, claims: [{name: g}]}}], "
    "resourceClaims: [{name: g, resourceClaimTemplateName: card}]}"
)
LABEL = "labels: {kueue.x-k8s.io/queue-name: line}"
JOB = f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: train, namespace: lab, {LABEL}}}
spec: {{template: {{spec: {{restartPolicy: Never, {POD[1:-1]}}}}}}}
"""
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: lab}\n"
HINT = "note: to simulate such work, give the Workload"


def indented(text: str, width: int = 4) -> str:
    """Indent each line of a text, as a value of a ConfigMap."""
    return "".join(f"{' ' * width}{line}\n" for line in text.splitlines())


def a_config_map(text: str, key: str = "controller_manager_config.yaml") -> str:
    """Give a ConfigMap with a text."""
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata:\n  {key}: |\n{indented(text)}"


def a_folder(root: Path, **files: str) -> Path:
    """Write files; two underscores in a name are a folder, and each gets the suffix of YAML."""
    for name, text in files.items():
        file = root.joinpath(*f"{name}.yaml".split("__"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def verdicts(folder: Path, *options: object) -> tuple[dict[str, str], list[str]]:
    """Give the verdict and the devices of each Job of an input, and the lines of standard error."""
    result = kueue_dra("explain", "-f", folder, "-o", "json", *options)
    assert result.exit_code == 0, result.stderr
    found = {}
    for each in json.loads(result.stdout):
        found[each["job"]] = f"{each['verdict']} {each['devices']}"
    return found, result.stderr.splitlines()


ADMITTED = {"train": "admitted {'cards': 1}"}


@pytest.mark.parametrize(
    ("other", "noted"),
    [
        pytest.param(a_config_map("lr: 0.1", "config.yaml"), "1 ConfigMap", id="settings"),
        pytest.param(a_config_map("{{ .x }}\n: : no [", "config.yaml"), "1 ConfigMap", id="no-yaml"),
        pytest.param(
            a_config_map("apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration"),
            "1 ConfigMap",
            id="other-controller",
        ),
        pytest.param(a_config_map("# apiVersion: config.kueue.x-k8s.io/v1beta2"), "1 ConfigMap", id="comment"),
        pytest.param("apiVersion: config.jobset.x-k8s.io/v1alpha1\nkind: Configuration\n", "1 document", id="alone"),
        pytest.param("replicas: 2\n", "1 document", id="values"),
        pytest.param("apiVersion: v2\nname: chart\nversion: 1.0.0\n", "1 document", id="chart"),
        pytest.param("- {op: replace, path: /spec/replicas, value: 2}\n", "1 document", id="patch"),
    ],
)
def test_only_the_configuration_of_kueue_is_read(tmp_path: Path, other: str, noted: str) -> None:
    """What has another apiVersion, or none, is not Kueue's; it is counted."""
    folder = a_folder(tmp_path, a_other=other, config=MAPPING, queues=QUEUES, work=JOB)

    found, notes = verdicts(folder)

    assert found == ADMITTED
    assert [line for line in notes if f"left out {noted}" in line or noted in line] == notes


@pytest.mark.parametrize(
    "holder",
    [
        pytest.param(a_config_map(MAPPING), id="config-map"),
        pytest.param(a_config_map(MAPPING, "settings"), id="another-key"),
        pytest.param(f"managerConfig:\n  controllerManagerConfigYaml: |-\n{indented(MAPPING)}", id="values"),
        pytest.param(f"kueue:\n  managerConfig:\n    any: |\n{indented(MAPPING, 6)}", id="subchart"),
        pytest.param(f"apiVersion: v1\nkind: List\nitems:\n- {json.dumps({'kind': 'Configuration'})}\n", id="empty"),
    ],
)
def test_the_configuration_is_found_where_people_keep_it(tmp_path: Path, holder: str) -> None:
    """A ConfigMap, values of Kueue's chart, or of a chart that has it as a subchart."""
    folder = a_folder(tmp_path, holder=holder, queues=QUEUES, work=JOB)

    result = kueue_dra("explain", "-f", folder, "-o", "json")

    (found,) = json.loads(result.stdout)
    is_empty = "deviceClassMappings" not in holder
    assert found["verdict"] == ("inadmissible" if is_empty else "admitted")
    assert "no Configuration was given" not in result.stderr


def test_an_error_in_values_names_the_line_of_their_file(tmp_path: Path) -> None:
    """The Configuration inside values is checked as any other."""
    values = tmp_path / "values.yaml"
    wrong = MAPPING.replace("deviceClassNames", "deviceClasses")
    values.write_text(f"replicas: 2\nmanagerConfig:\n  controllerManagerConfigYaml: |\n{indented(wrong)}")

    result = kueue_dra("config", "check", values)

    assert result.exit_code == 1
    assert result.stderr == f"{values}:9: resources.deviceClassMappings[0].deviceClasses: Unknown field\n"


def test_config_wins_over_the_one_among_the_manifests(tmp_path: Path) -> None:
    """The one that is not used is named with its place."""
    named = tmp_path / "named.yml"
    named.write_text(MAPPING)
    folder = a_folder(tmp_path / "in", config=MAPPING.replace("cards", "other"), queues=QUEUES, work=JOB)

    found, notes = verdicts(folder, "--config", named)

    assert found == ADMITTED
    assert notes == [f"note: {folder}/config.yaml:1: Configuration not used: --config names another one"]


def test_two_configurations_of_kueue_are_an_error(tmp_path: Path) -> None:
    """Which of them is meant is not guessed."""
    folder = a_folder(tmp_path, a=MAPPING, b=a_config_map(MAPPING), queues=QUEUES)

    result = kueue_dra("simulate", folder)

    assert result.exit_code == 2
    assert f"{folder}/b.yaml:6: found a second Configuration, after the one in {folder}/a.yaml line 1" in result.stderr


GATE = "KueueDRAIntegrationExtendedResource"
PARTITIONS = "KueueDRAIntegrationPartitionableDevices"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(f"[--feature-gates={GATE}=false]", id="one-argument"),
        pytest.param(f"[--zap-log-level=2, --feature-gates, {GATE}=false]", id="two-arguments"),
    ],
)
def test_gates_of_the_deployment_are_read(tmp_path: Path, arguments: str) -> None:
    """Extended resources are not charged when the Deployment turns their gate off."""
    manager = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: kueue-controller-manager, namespace: kueue-system}}
spec: {{template: {{spec: {{containers: [{{name: manager, image: k, args: {arguments}}}]}}}}}}
"""
    resources = "requests: {example.com/card: 1}, limits: {example.com/card: 1}"
    extended = JOB.replace(POD[1:-1], f"containers: [{{name: c, image: x, resources: {{{resources}}}}}]")
    device_class = (
        "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: card.example.com}\n"
        "spec: {extendedResourceName: example.com/card}\n"
    )
    folder = a_folder(tmp_path, config=MAPPING, queues=QUEUES, work=extended, classes=device_class)
    on, _ = verdicts(folder)
    a_folder(folder, manager=manager)

    off, _ = verdicts(folder)

    assert on == ADMITTED
    assert off == {"train": "pending {}"}


def test_gates_of_the_chart_and_of_the_configuration_are_refused_together(tmp_path: Path) -> None:
    """Kueue does not start with gates in both places."""
    both = f"featureGates: {{{GATE}: true}}\n{MAPPING}"
    gates = f"controllerManager: {{featureGates: [{{name: {GATE}, enabled: false}}]}}\n"
    values = f"{gates}managerConfig:\n  controllerManagerConfigYaml: |\n{indented(both)}"
    folder = a_folder(tmp_path, values=values, queues=QUEUES)

    result = kueue_dra("simulate", folder)

    assert result.exit_code == 2
    assert result.stderr == (
        f"{folder}/values.yaml:4: featureGates: Invalid value: feature gates for CLI and configuration "
        f"cannot both specified (in the arguments: {GATE})\n"
    )


def test_gates_in_values_alone_are_read(tmp_path: Path) -> None:
    """A file of values may override the gates only."""
    off = ", ".join(f"{{name: {name}, enabled: false}}" for name in (GATE, "KueueDRAIntegration", PARTITIONS))
    values = f"kueue: {{controllerManager: {{featureGates: [{off}]}}}}\n"
    folder = a_folder(tmp_path, values=values, queues=QUEUES, work=JOB)

    result = kueue_dra("simulate", folder, "-o", "table")

    assert result.exit_code == 0
    assert "Workload uses DRA resources but the KueueDRAIntegration" in result.stdout
    assert "without an object" not in result.stderr


OPERATOR = """\
apiVersion: kueue.openshift.io/v1
kind: Kueue
metadata: {name: cluster}
spec:
  config:
    integrations: {frameworks: [BatchJob]}
    resources:
      deviceClassMappings:
      - name: cards
        deviceClassNames: [card.example.com]
        sources:
        - type: Counter
          counter:
            name: slots
            driver: card.example.com
            deviceSelector: {type: CEL, cel: {expression: "true"}}
"""


def test_openshifts_object_is_a_configuration_in_its_own_words(tmp_path: Path) -> None:
    """Sources and selectors name their type there; an error has the line in this file."""
    file = tmp_path / "operator.yaml"
    file.write_text(OPERATOR)
    right = kueue_dra("config", "check", file, "-o", "json")
    file.write_text(OPERATOR.replace("name: cards", "name: 'no name'"))

    wrong = kueue_dra("config", "check", file)

    assert json.loads(right.stdout)["mappings"] == [{"name": "cards", "deviceClassNames": ["card.example.com"]}]
    assert wrong.exit_code == 1
    assert f"{file}:9: resources.deviceClassMappings[0].name: Invalid value" in wrong.stderr


@pytest.mark.parametrize("field", ["sources", "deviceClassNames", "deviceClassMappings", "resources", "integrations"])
def test_openshifts_object_of_wrong_types_is_answered(tmp_path: Path, field: str) -> None:
    """Each is one line with its place, as in a Configuration."""
    file = tmp_path / "operator.yaml"
    lines = OPERATOR.splitlines()
    index = next(number for number, line in enumerate(lines) if f"{field}:" in line)
    end = len(lines) if field != "integrations" else index + 1
    file.write_text("\n".join((*lines[:index], f"{lines[index].partition(':')[0]}: 3", *lines[end:])))

    result = kueue_dra("config", "check", file)

    assert result.exit_code in (0, 1)
    for line in result.stderr.splitlines():
        assert line.startswith(f"{file}:"), line


def test_kinds_that_take_no_quota_are_counted_in_one_line(tmp_path: Path) -> None:
    """The exit code is 0, and the Job is decided about."""
    idle = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: lab}\nspec: {}\n"
    crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\n"
    role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r, namespace: lab}\n"
    others = "---\n".join((SERVICE, SERVICE, idle, crd, role))
    folder = a_folder(tmp_path, others=others, config=MAPPING, queues=QUEUES, work=JOB)

    found, notes = verdicts(folder)

    assert found == ADMITTED
    counted = "1 CustomResourceDefinition, 1 Role, 2 Service"
    unnamed = "objects that name no queue (label kueue.x-k8s.io/queue-name), so Kueue does not queue them"
    assert notes == [
        f"note: left out objects of kinds that take no quota: {counted}",
        f"note: left out {unnamed}: 1 Deployment",
    ]


def test_an_unknown_kind_is_named_once(tmp_path: Path) -> None:
    """The note has the number of objects, and how many name a queue; the Job of another group is none of Kubernetes."""
    volcano = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: a, namespace: lab, labels: {}}\n"
    labelled = volcano.replace("labels: {}", LABEL)
    folder = a_folder(tmp_path, a=f"{volcano}---\n{labelled}", config=MAPPING, queues=QUEUES, work=JOB)

    found, notes = verdicts(folder)

    assert found == ADMITTED
    kind = "batch.volcano.sh/v1alpha1 Job"
    labels = "1 with a queue label, whose quota is not considered"
    assert notes == [f"note: {folder}/a.yaml:1: unknown kind {kind}: left out 2 objects, {labels}"]


@pytest.mark.parametrize(
    ("kind", "spec", "requested"),
    [
        pytest.param(
            "apps/v1 DaemonSet",
            "{}",
            "it is queued in LocalQueue line; this object alone does not say what its pods request",
            id="daemon-set",
        ),
    ],
)
def test_work_that_is_no_job_is_named_with_what_it_would_take(
    tmp_path: Path, kind: str, spec: str, requested: str
) -> None:
    """The table says so in the row of the Job."""
    version, name = kind.split()
    work = f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: w, namespace: lab, {LABEL}}}\nspec: {spec}\n"
    folder = a_folder(tmp_path, other=work, config=MAPPING, queues=QUEUES, work=JOB)

    result = kueue_dra("simulate", folder, "-o", "table")

    assert result.exit_code == 0, result.stderr
    note, hint = result.stderr.splitlines()
    of_queue = "" if "alone" in requested else " of LocalQueue line"
    assert note == f"note: {folder}/other.yaml:1: {name} lab/w is not simulated: {requested}{of_queue}"
    assert hint.startswith(HINT)
    assert "1 object of other kinds in its queues" in result.stdout


def test_explain_answers_for_work_that_is_not_simulated(tmp_path: Path) -> None:
    """By its name, with or without its kind."""
    spec = f"{{template: {{metadata: {{{LABEL}}}, spec: {POD}}}}}"
    made = f"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: w, namespace: lab}}\nspec: {spec}\n"
    folder = a_folder(tmp_path, other=made, config=MAPPING, queues=QUEUES, work=JOB)

    result = kueue_dra("explain", "-f", folder, "w")

    assert result.exit_code == 2
    expected = "ReplicaSet lab/w is not simulated: its 1 pod requests cards 1, cpu 1 of LocalQueue line"
    assert result.stderr == f"{folder}/other.yaml:1: {expected}\n"


def test_missing_namespaces_are_created_where_missing_objects_are_allowed(tmp_path: Path) -> None:
    """Without the option their objects are rejected, if the input has other Namespaces."""
    queues = QUEUES.partition("---\n")[2] + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n"
    folder = a_folder(tmp_path, config=MAPPING, queues=queues, work=JOB)

    rejected = kueue_dra("simulate", folder)
    found, notes = verdicts(folder, "--allow-missing")

    assert rejected.exit_code == 2
    assert "expected a Namespace lab, and there is none" in rejected.stderr
    assert (found, notes) == (ADMITTED, [])


def test_a_cron_job_is_queued_by_the_label_of_its_jobs(tmp_path: Path) -> None:
    """Its own labels do not count."""
    spec = f"{{jobTemplate: {{metadata: {{{LABEL}}}, spec: {{template: {{spec: {POD}}}}}}}}}"
    work = f"apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: nightly, namespace: lab}}\nspec: {spec}\n"
    folder = a_folder(tmp_path, other=work, config=MAPPING, queues=QUEUES, work=JOB)

    found, notes = verdicts(folder)

    assert found["nightly-1"] == "admitted {'cards': 1}"
    expected = f"note: {folder}/other.yaml:1: of the Jobs of CronJob nightly, one is considered: Job nightly-1"
    assert expected in notes


def test_a_suspended_cron_job_takes_nothing(tmp_path: Path) -> None:
    """It makes no Jobs."""
    spec = f"{{suspend: true, jobTemplate: {{metadata: {{{LABEL}}}, spec: {{template: {{spec: {POD}}}}}}}}}"
    work = f"apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: nightly, namespace: lab}}\nspec: {spec}\n"
    folder = a_folder(tmp_path, other=work, config=MAPPING, queues=QUEUES, work=JOB)

    found, notes = verdicts(folder)

    assert found == ADMITTED
    assert "CronJob lab/nightly is not simulated" in notes[0]


def test_kueues_own_other_kinds_are_taken_with_a_note(tmp_path: Path) -> None:
    """What they decide is not considered, which the table says in each row."""
    spec = "spec: {controllerName: example.com/budget}\n"
    check = f"apiVersion: kueue.x-k8s.io/v1beta2\nkind: AdmissionCheck\nmetadata: {{name: budget}}\n{spec}"
    topology = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: MultiKueueCluster\nmetadata: {name: far}\nspec: {}\n"
    queues = QUEUES.replace(
        "metadata: {name: pool}\n", "metadata: {name: pool}\nspec: {topologyName: racks, nodeLabels: {pool: ours}}\n"
    )
    queues = queues.replace(
        "  namespaceSelector: {}\n",
        "  namespaceSelector: {}\n  admissionChecksStrategy: {admissionChecks: [{name: budget}]}\n",
    )
    folder = a_folder(tmp_path, a=f"{check}---\n{topology}", config=MAPPING, queues=queues, work=JOB)

    table = kueue_dra("simulate", folder, "-o", "table")
    text = kueue_dra("explain", "-f", folder, "train")

    assert (table.exit_code, text.exit_code) == (0, 0)
    assert "what these objects decide is not considered: MultiKueueCluster far" in table.stderr
    assert table.stdout.splitlines()[0].endswith("not considered")
    assert "topology-aware scheduling" in table.stdout
    subjects = "what the controller of an admission check decides; topology-aware scheduling"
    assert text.stdout.rstrip().endswith(f"not considered: {subjects}")


TOPOLOGY = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: racks}
spec: {levels: [{nodeLabel: kubernetes.io/hostname}]}
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {pool: a, kubernetes.io/hostname: n1}}
spec: {}
status:
  allocatable: {pods: "10", cpu: "%s"}
  conditions: [{type: Ready, status: "True"}]
"""


@pytest.mark.parametrize(
    ("cpu", "word", "reason"),
    [
        pytest.param("4", "admitted", "pod set main is placed: 1 pod in n1", id="room"),
        pytest.param("0", "pending", 'topology "racks" doesn\'t allow to fit any of 1 pod(s)', id="no-room"),
        pytest.param("", "admitted", "not considered: topology-aware scheduling", id="no-nodes"),
    ],
)
def test_pods_are_placed_where_the_input_has_nodes(tmp_path: Path, cpu: str, word: str, reason: str) -> None:
    """Without nodes, the topology of the flavor is named as not considered next to the verdict."""
    flavor = "metadata: {name: pool}\n"
    queues = QUEUES.replace(flavor, f"{flavor}spec: {{topologyName: racks, nodeLabels: {{pool: a}}}}\n")
    nodes = NODE % cpu if cpu else ""
    folder = a_folder(tmp_path, a=f"{TOPOLOGY}---{nodes}", config=MAPPING, queues=queues, work=JOB)

    found = kueue_dra("explain", "-f", folder, "train")

    assert found.exit_code == 0, found.stderr
    assert f": {word}" in found.stdout
    assert reason in found.stdout


def test_nested_folders_are_read_and_templates_are_not(tmp_path: Path) -> None:
    """A chart's templates need rendering; hidden folders are not looked into."""
    template = "apiVersion: v1\nkind: Pod\nmetadata: {name: {{ .Release.Name }}}\n"
    folder = a_folder(
        tmp_path,
        base__config=MAPPING,
        base__deep__queues=QUEUES,
        work=JOB,
        chart__Chart="apiVersion: v2\nname: chart\n",
        chart__templates__pod=template,
    )
    hidden = folder / ".git" / "x.yaml"
    hidden.parent.mkdir()
    hidden.write_text(": : no [")

    found, notes = verdicts(folder)

    assert found == ADMITTED
    assert f"left out 1 Helm template, not rendered, the first {folder}/chart/templates/pod.yaml:3" in notes[0]


def test_a_template_that_is_named_itself_is_an_error(tmp_path: Path) -> None:
    """The message says how to render it."""
    file = tmp_path / "job.yaml"
    file.write_text("kind: Job\nmetadata: {name: {{ .Release.Name }}}\n")

    result = kueue_dra("simulate", file)

    assert result.exit_code == 2
    assert result.stderr == (
        f"{file}:2: found a Helm template; expected rendered manifests (helm template prints them)\n"
    )


def test_a_kustomization_is_noted_as_not_applied(tmp_path: Path) -> None:
    """It has no kind, and may change what the other files say."""
    prefix = "apiVersion: builtin\nkind: PrefixSuffixTransformer\nmetadata: {name: p}\nprefix: team-\n"
    resources = "resources: [queues.yaml]\n"
    folder = a_folder(tmp_path, kustomization=resources, z=prefix, config=MAPPING, queues=QUEUES, work=JOB)

    found, notes = verdicts(folder)

    assert found == ADMITTED
    left_out = f"left out 2 kustomizations, not applied, the first {folder}/kustomization.yaml:1"
    assert notes == [f"note: {left_out}; give the output of kubectl kustomize instead"]


def test_an_input_without_any_object_is_an_error(tmp_path: Path) -> None:
    """Settings alone are no manifests, and neither are templates."""
    settings = a_folder(tmp_path / "a", values="replicas: 2\n")
    chart = a_folder(tmp_path / "b", Chart="apiVersion: v2\nname: c\n", templates__x="kind: {{ .Values.kind }}\n")

    one = kueue_dra("simulate", settings)
    other = kueue_dra("simulate", chart)

    assert (one.exit_code, other.exit_code) == (2, 2)
    assert one.stderr == f"{settings}: found no object; expected manifests with apiVersion and kind\n"
    assert (
        other.stderr == f"{chart}: found only Helm templates; expected rendered manifests (helm template prints them)\n"
    )


def test_a_recording_names_what_it_leaves_out(tmp_path: Path) -> None:
    """Work of other kinds, and kinds that take no quota."""
    spec = f"{{template: {{metadata: {{{LABEL}}}, spec: {POD}}}}}"
    made = f"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {{name: w, namespace: lab}}\nspec: {spec}\n"
    folder = a_folder(tmp_path, a=f"{made}---\n{SERVICE}", config=MAPPING, queues=QUEUES, work=JOB)

    result = kueue_dra("record", "-f", folder, "--target", "reference")

    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "note: left out objects of kinds that take no quota: 1 Service",
        "note: not recorded, because only Jobs and Workloads are: ReplicaSet w",
    ]


def test_work_of_a_running_cluster_holds_what_its_workloads_hold(tmp_path: Path) -> None:
    """A Deployment is not named, since its pods decide; pods are, because their framework is off."""
    stored = "creationTimestamp: 2026-11-01T08:00:00Z, uid: UID"
    head = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: NAME, namespace: lab, {stored}, {LABEL}}}\nspec: {POD}\n"
    pods = [head.replace("NAME", name).replace("UID", f"u-{name}") for name in ("runs", "waits")]
    made = head.replace("v1\nkind: Pod", "apps/v1\nkind: Deployment").replace(f"spec: {POD}", "spec: {}")
    owner = "ownerReferences: [{apiVersion: v1, kind: Pod, name: runs, uid: u-runs}]"
    workload = f"""\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {{name: pod-runs, namespace: lab, creationTimestamp: 2026-11-01T08:00:00Z, uid: u-workload, {owner}}}
spec: {{queueName: line, podSets: [{{name: main, count: 1, template: {{spec: {POD}}}}}]}}
status:
  admission:
    clusterQueue: shared
    podSetAssignments: [{{name: main, count: 1, flavors: {{cards: pool}}, resourceUsage: {{cards: 4}}}}]
  conditions:
  - {{type: QuotaReserved, status: "True", reason: QuotaReserved, message: m, lastTransitionTime: 2026-11-01T08:00:00Z}}
"""
    dump = "---\n".join((*pods, made.replace("UID", "u-made"), workload))
    folder = a_folder(tmp_path, dump=dump, config=MAPPING, queues=QUEUES, work=JOB)

    result = kueue_dra("simulate", folder, "-o", "table")

    assert result.exit_code == 0, result.stderr
    unmanaged = "Pod lab/runs, Pod lab/waits each is of a kind that integrations.frameworks does not name (pod)"
    assert unmanaged in result.stderr
    assert "is not simulated" not in result.stderr
    assert "pending" in result.stdout
