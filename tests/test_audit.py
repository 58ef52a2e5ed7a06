"""The audit finds nothing on a sound cluster, and names the cause of each breakage."""

from __future__ import annotations

import copy
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_audit.check import findings
from kueue_dra_audit.cluster import AuditedCluster, DumpedCluster, audited
from kueue_dra_audit.finding import Finding, Sure
from kueue_dra_differential.generate import batches
from kueue_dra_ref.api.documents import parse
from kueue_dra_ref.api.scheme import KINDS
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.sketches import SketchServer
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.requirements.catalogue import catalogue
from kueue_dra_ref.scenarios.files import scenarios
from kueue_dra_ref.scenarios.playback import replayed
from kueue_dra_ref.scenarios.scenario import Scenario
from kueue_dra_ref.simulation.inputs import given
from kueue_dra_ref.simulation.running_cluster import running_cluster
from kueue_dra_ref.target import Manifest
from tests.commands import ROOT, kueue_dra

SOUND = ROOT / "examples" / "audit" / "cluster.yaml"
GPU = "gpu.example.com"
KUEUE = "kueue.x-k8s.io/v1beta2"
HEAD = {"apiVersion": "kueue-dra.dev/v1alpha1", "kind": "ClusterDump", "spec": {"kubernetes": "v1.36.3", "notRead": []}}
GATES = ("KueueDRAIntegration", "KueueDRAIntegrationExtendedResource", "KueueDRAIntegrationPartitionableDevices")
_DUMPED = [kind for kind in KINDS if kind != "ClusterRole"]


class Cluster:
    """The objects of the sound cluster, to break them."""

    def __init__(self) -> None:
        self.head, found = yaml.safe_load_all(SOUND.read_text("utf-8"))
        self.items: list[Manifest] = found["items"]

    def get(self, kind: str, name: str) -> Manifest:
        """Give the one object of a kind whose name begins so."""
        (found,) = [each for each in self.items if each["kind"] == kind and _name(each).startswith(name)]
        return found

    def drop(self, kind: str, name: str = "") -> None:
        """Delete the objects of a kind whose names begin so."""
        self.items = [each for each in self.items if each["kind"] != kind or not _name(each).startswith(name)]

    def workload(self, job: str) -> Manifest:
        """Give the Workload of a Job."""
        return self.get("Workload", f"job-{job}-")

    def usage(self, job: str) -> dict[str, str]:
        """Give the resourceUsage of the only pod set of a Job."""
        found: dict[str, str] = self.workload(job)["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]
        return found

    def set_condition(self, job: str, kind: str, status: str, reason: str, message: str) -> None:
        """Set a condition of the Workload of a Job."""
        status_of = self.workload(job)["status"]
        others = [each for each in status_of["conditions"] if each["type"] != kind]
        new = {"type": kind, "status": status, "reason": reason, "message": message}
        status_of["conditions"] = [*others, {**new, "lastTransitionTime": "2026-11-02T08:30:00Z"}]

    def configure(self, old: str, new: str) -> None:
        """Replace a text in Kueue's Configuration."""
        data = self.get("ConfigMap", "kueue")["data"]
        (key,) = data
        assert old in data[key]
        data[key] = data[key].replace(old, new)

    @property
    def text(self) -> str:
        """The dump."""
        return yaml.safe_dump_all([self.head, {"apiVersion": "v1", "kind": "List", "items": self.items}])


def _name(obj: Manifest) -> str:
    return str(obj["metadata"]["name"])


def _audit(cluster: Cluster, *arguments: str, at: Path | None = None) -> Any:
    if at:
        at.write_text(cluster.text, "utf-8")
    return kueue_dra("audit", at or "-", *arguments, stdin=cluster.text)


def _found(cluster: Cluster) -> list[dict[str, str]]:
    result = _audit(cluster, "-o", "json")
    found: list[dict[str, str]] = json.loads(result.stdout)["findings"]
    assert result.exit_code == (1 if found else 0), result.stderr
    return found


def test_nothing_is_found_on_a_sound_cluster() -> None:
    """It has admitted, pending, evicted, inadmissible and finished work, counters, allocated devices, a gated pod."""
    result = kueue_dra("audit", SOUND)

    assert result.exit_code == 0
    assert result.stdout == "0 findings; checked 1 ClusterQueue, 1 LocalQueue, 6 Workload, 6 Job, 2 Pod\n"
    assert result.stderr == ""


# Breakages: each changes one thing, as a person or a defect may.


def _charge(cluster: Cluster) -> None:
    cluster.usage("zeta")["whole-gpus"] = "1"


def _cpu(cluster: Cluster) -> None:
    cluster.usage("zeta")["cpu"] = "500m"


def _counter_charge(cluster: Cluster) -> None:
    cluster.usage("part")["gpu-memory"] = "10Gi"


def _admitted_by_hand(cluster: Cluster) -> None:
    cluster.set_condition("alpha", "Admitted", "True", "Admitted", "The workload is admitted")


def _admission_by_hand(cluster: Cluster) -> None:
    cluster.workload("alpha")["status"]["admission"] = cluster.workload("zeta")["status"]["admission"]
    _admitted_by_hand(cluster)


def _no_admission(cluster: Cluster) -> None:
    del cluster.workload("zeta")["status"]["admission"]


def _other_message(cluster: Cluster) -> None:
    cluster.set_condition("alpha", "QuotaReserved", "False", "Pending", "ask Bob")


def _impossible_message(cluster: Cluster) -> None:
    text = "couldn't assign flavors to pod set main: insufficient unused quota for whole-gpus in flavor team-flavor, "
    cluster.set_condition("alpha", "QuotaReserved", "False", "Pending", f"{text}7 more needed")


def _other_reason(cluster: Cluster) -> None:
    found = next(each for each in cluster.workload("alpha")["status"]["conditions"] if each["type"] == "QuotaReserved")
    found["reason"] = "PendingEvaluation"


def _gate_off(cluster: Cluster) -> None:
    # Kueue does not start with a mapping that needs the gate.
    rows = {"resources": {"deviceClassMappings": [{"name": "whole-gpus", "deviceClassNames": [GPU]}]}}
    text = yaml.safe_dump({"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **rows})
    cluster.get("ConfigMap", "kueue")["data"] = {"controller_manager_config.yaml": text}
    (container,) = cluster.get("Deployment", "kueue")["spec"]["template"]["spec"]["containers"]
    container["args"] = ["--feature-gates=" + ",".join(f"{gate}=false" for gate in GATES)]


def _gate_was_off(cluster: Cluster) -> None:
    (assignment,) = cluster.workload("zeta")["status"]["admission"]["podSetAssignments"]
    del assignment["resourceUsage"]["whole-gpus"], assignment["flavors"]["whole-gpus"]


def _mapping(cluster: Cluster) -> None:
    cluster.configure("whole-gpus", "big-gpus")


def _unmapped(cluster: Cluster) -> None:
    cluster.configure(GPU, "other.example.com")


def _template(cluster: Cluster) -> None:
    found = cluster.get("ResourceClaimTemplate", "gpus-2")
    found["metadata"]["creationTimestamp"] = "2026-11-02T09:00:00Z"
    found["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"] = 1


def _reservation(cluster: Cluster) -> None:
    resources = cluster.get("ClusterQueue", "team")["status"]["flavorsReservation"][0]["resources"]
    next(each for each in resources if each["name"] == "whole-gpus")["total"] = "0"


def _local_usage(cluster: Cluster) -> None:
    cluster.get("LocalQueue", "main")["status"]["admittedWorkloads"] = 7


def _pending_count(cluster: Cluster) -> None:
    cluster.get("ClusterQueue", "team")["status"]["pendingWorkloads"] = 5


def _local_pending(cluster: Cluster) -> None:
    cluster.get("LocalQueue", "main")["status"]["pendingWorkloads"] = 0


def _unlisted(cluster: Cluster) -> None:
    (flavor,) = cluster.get("ClusterQueue", "team")["status"]["flavorsUsage"]
    flavor["resources"] = [each for each in flavor["resources"] if each["name"] != "gpu-memory"]


def _ungated(cluster: Cluster) -> None:
    del cluster.get("Pod", "solo")["spec"]["schedulingGates"]


def _resumed(cluster: Cluster) -> None:
    cluster.get("Job", "alpha")["spec"]["suspend"] = False


def _class(cluster: Cluster) -> None:
    cluster.drop("DeviceClass", GPU)


def _counter_class(cluster: Cluster) -> None:
    cluster.drop("DeviceClass", "mig")


def _slices(cluster: Cluster) -> None:
    cluster.drop("ResourceSlice")


def _pool(cluster: Cluster) -> None:
    cluster.drop("ResourceSlice", "node-1-gpus")


def _parts(cluster: Cluster) -> None:
    found = cluster.get("ResourceSlice", "node-1-parts")
    found["metadata"]["generation"] = 2
    for each in found["spec"]["devices"]:
        each["consumesCounters"][0]["counters"]["memory"]["value"] = "40Gi"


def _over_quota(cluster: Cluster) -> None:
    alpha = cluster.workload("alpha")["status"]
    alpha["admission"] = copy.deepcopy(cluster.workload("zeta")["status"]["admission"])
    cluster.usage("alpha")["whole-gpus"] = "3"
    cluster.set_condition("alpha", "QuotaReserved", "True", "QuotaReserved", "Quota reserved in ClusterQueue team")


def _declared_late(cluster: Cluster) -> None:
    cluster.configure("resources:", "resources:\n  quotaCheckStrategy: IgnoreUndeclared")
    cluster.get("ClusterQueue", "team")["metadata"]["generation"] = 2
    (assignment,) = cluster.workload("zeta")["status"]["admission"]["podSetAssignments"]
    for part in ("resourceUsage", "flavors"):
        del assignment[part]["whole-gpus"]


def _lowered(cluster: Cluster) -> None:
    queue = cluster.get("ClusterQueue", "team")
    queue["metadata"]["generation"] = 2
    resources = queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
    next(each for each in resources if each["name"] == "whole-gpus")["nominalQuota"] = 1


def _other_flavor(cluster: Cluster) -> None:
    (assignment,) = cluster.workload("zeta")["status"]["admission"]["podSetAssignments"]
    assignment["flavors"]["whole-gpus"] = "other"


def _other_queue(cluster: Cluster) -> None:
    queue = copy.deepcopy(cluster.get("ClusterQueue", "team"))
    queue["metadata"] |= {"name": "west", "uid": "0c1b2a39-0000-4000-8000-000000000099"}
    del queue["status"]
    cluster.items.append(queue)
    cluster.workload("zeta")["status"]["admission"]["clusterQueue"] = "west"


def _more_pods(cluster: Cluster) -> None:
    (assignment,) = cluster.workload("zeta")["status"]["admission"]["podSetAssignments"]
    assignment["count"] = 4


def _third_device(cluster: Cluster) -> None:
    results = cluster.get("ResourceClaim", "zeta")["status"]["allocation"]["devices"]["results"]
    results.append({**results[0], "device": "gpu-3"})


LAG, CERTAIN = "may lag", "certain"
ZETA, ALPHA, PART = "Workload team/job-zeta-", "Workload team/job-alpha-", "Workload team/job-part-"
CLAIM = "ResourceClaim team/zeta-7hq2x-devices-v5k8m"
QUEUE, LOCAL = "ClusterQueue team", "LocalQueue team/main"
Break = Callable[[Cluster], None]
BREAKAGES: dict[str, tuple[Break, str, str, str, str, str]] = {
    "charge": (_charge, "COUNT-006", ZETA, "whole-gpus 1", CERTAIN, "changed by hand"),
    "cpu": (_cpu, "STATUS-003", ZETA, "cpu 500m", CERTAIN, "changed by hand"),
    "counter-charge": (_counter_charge, "COUNT-006", PART, "gpu-memory 10Gi", CERTAIN, "changed by hand"),
    "admitted-by-hand": (_admitted_by_hand, "STATUS-001", ALPHA, "holds quota", CERTAIN, "changed by hand"),
    "admission-by-hand": (_admission_by_hand, "STATUS-010", ALPHA, "an admission", CERTAIN, "changed by hand"),
    "no-admission": (_no_admission, "STATUS-001", ZETA, "holds quota", CERTAIN, "changed by hand"),
    "other-message": (_other_message, "STATUS-007", ALPHA, "ask Bob", CERTAIN, "changed by hand"),
    "impossible-message": (_impossible_message, "STATUS-007", ALPHA, "7 more needed", CERTAIN, "changed by hand"),
    "other-reason": (_other_reason, "STATUS-007", ALPHA, "PendingEvaluation", CERTAIN, "changed by hand"),
    "gate-off": (
        _gate_off,
        "GATE-005",
        ZETA,
        "while KueueDRAIntegration is off",
        CERTAIN,
        "the gate KueueDRAIntegration is off",
    ),
    "gate-was-off": (_gate_was_off, "COUNT-006", ZETA, "whole-gpus none", CERTAIN, "while KueueDRAIntegration was off"),
    "stale-mapping": (_mapping, "COUNT-006", ZETA, "whole-gpus 2", CERTAIN, "the mapping"),
    "unmapped": (_unmapped, "CLAIM-014", ZETA, "it holds quota", CERTAIN, "the mapping"),
    "template-replaced": (_template, "COUNT-006", ZETA, "whole-gpus 2", "template changed since", "gpus-2 was created"),
    "reservation": (_reservation, "STATUS-016", QUEUE, "0", LAG, "Kueue writes the status of a queue after"),
    "local-count": (_local_usage, "STATUS-018", LOCAL, "7", LAG, "Kueue writes the status of a queue after"),
    "pending-count": (_pending_count, "STATUS-013", QUEUE, "5", LAG, "Kueue writes the status of a queue after"),
    "local-pending": (_local_pending, "STATUS-018", LOCAL, "0", LAG, "Kueue writes the status of a queue after"),
    "unlisted": (_unlisted, "STATUS-016", QUEUE, "absent", LAG, "Kueue writes the status of a queue after"),
    "pod-ungated": (_ungated, "STATUS-024", "Pod team/solo", "no gate", CERTAIN, "the gate was removed by hand"),
    "job-resumed": (_resumed, "STATUS-024", "Job team/alpha", "not suspended", CERTAIN, "resumed by hand"),
    "class-deleted": (_class, "CLASS-001", f"DeviceClass {GPU}", "hold quota", CERTAIN, "the class was deleted"),
    "counter-class-deleted": (_counter_class, "DEVICE-010", PART, "holds quota", CERTAIN, "does not exist"),
    "slices-withdrawn": (_slices, "DEVICE-", PART, "holds quota", CERTAIN, "the slices were withdrawn"),
    "pool-withdrawn": (_pool, "CEL-016", CLAIM, "gpu-0, gpu-1", LAG, "withdrew its slices"),
    "slices-changed": (_parts, "COUNT-006", PART, "gpu-memory 20Gi", "slices changed since", "node-1-parts was"),
    "over-quota": (_over_quota, "QUOTA-002", QUEUE, "hold 5", CERTAIN, "more was admitted than there is quota"),
    "quota-lowered": (_lowered, "QUOTA-002", QUEUE, "hold 2", "quota changed since", "Kueue evicts nothing"),
    "declared-late": (_declared_late, "COUNT-006", ZETA, "whole-gpus none", "quota changed since", "IgnoreUndeclared"),
    "other-flavor": (_other_flavor, "STATUS-002", ZETA, "other", CERTAIN, "changed by hand"),
    "other-queue": (_other_queue, "STATUS-001", ZETA, "west", CERTAIN, "changed by hand"),
    "more-pods": (_more_pods, "STATUS-004", ZETA, "4", CERTAIN, "changed by hand"),
    "third-device": (_third_device, "COUNT-001", ZETA, "3 allocated devices", CERTAIN, "pods run that are not charged"),
}


@pytest.mark.parametrize("name", BREAKAGES)
def test_a_breakage_is_found_with_its_cause(name: str) -> None:
    """Requirement, object, what the cluster says, how sure, and the cause."""
    broken, requirement, subject, says, sure, cause = BREAKAGES[name]
    cluster = Cluster()
    broken(cluster)

    found = _found(cluster)

    matching = [each for each in found if _matches(each, requirement, subject, says, sure, cause)]
    assert matching, "\n".join(map(str, found))
    assert all(each["requirement"] in catalogue() for each in found)
    assert all(each["look"].startswith(("kubectl ", "kueue-dra ")) for each in found)


def _matches(found: dict[str, str], requirement: str, subject: str, says: str, sure: str, cause: str) -> bool:
    is_about = found["requirement"].startswith(requirement) and found["object"].startswith(subject)
    return is_about and says in found["says"] and found["sure"] == sure and cause in found["cause"]


ONCE = ("counter-charge", "cpu", "pod-ungated", "job-resumed", "local-count", "pool-withdrawn")


@pytest.mark.parametrize("name", ONCE)
def test_a_breakage_is_found_once(name: str) -> None:
    """What follows from one change is not reported again elsewhere, except for sums."""
    cluster = Cluster()
    BREAKAGES[name][0](cluster)

    sums = ("STATUS-016", "STATUS-017", "STATUS-019")
    assert len([each for each in _found(cluster) if each["requirement"] not in sums]) == 1


# What is no finding.


def test_a_figure_that_is_right_a_moment_later_is_no_finding(tmp_path: Path) -> None:
    """Of two dumps only the common findings count; one alone finds it."""
    late, later = Cluster(), Cluster()
    _pending_count(late)
    _charge(late)
    _charge(later)
    second = tmp_path / "later.yaml"
    second.write_text(later.text, "utf-8")

    alone = _audit(late, "-o", "json", at=tmp_path / "first.yaml")
    both = _audit(late, "-o", "json", "--again", str(second), at=tmp_path / "first.yaml")

    assert "STATUS-013" in alone.stdout
    assert "STATUS-013" not in both.stdout
    assert {each["requirement"] for each in json.loads(both.stdout)["findings"]} >= {"COUNT-006"}


def test_a_message_of_an_earlier_moment_is_a_note() -> None:
    """One more GPU was lacking when Kueue evaluated it; two are now."""
    cluster = Cluster()
    text = "couldn't assign flavors to pod set main: insufficient unused quota for whole-gpus in flavor team-flavor, "
    cluster.set_condition("alpha", "QuotaReserved", "False", "Pending", f"{text}1 more needed")

    result = _audit(cluster)

    assert result.exit_code == 0, result.stdout
    assert "note: reasons of an earlier moment, which is no fault" in result.stderr
    assert "Workload team/job-alpha-" in result.stderr


def test_a_reason_that_depends_on_the_usage_is_a_note() -> None:
    """With distinct reasons, which flavors Kueue tries, and so which reason it gives, depends on the moment."""
    cluster = Cluster()
    cluster.configure("resources:", "featureGates: {UnadmittedWorkloadsObservability: true}\nresources:")
    text = "couldn't assign flavors to pod set main: insufficient unused quota for whole-gpus in flavor team-flavor, "
    cluster.set_condition("alpha", "QuotaReserved", "False", "NoMatchingFlavor", f"{text}2 more needed")
    cluster.set_condition("alpha", "Admitted", "False", "NoReservation", "The workload has no reservation")

    result = _audit(cluster)

    assert "STATUS-007" not in result.stdout, result.stdout
    assert "note: reasons of an earlier moment, which is no fault" in result.stderr


def _work(kind: str, api_version: str) -> Manifest:
    meta = {"name": "nightly", "namespace": "team", "uid": "0c1b2a39-0000-4000-8000-000000000077"}
    labels = {"kueue.x-k8s.io/queue-name": "main"}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta | {"labels": labels}, "spec": {"suspend": False}}


@pytest.mark.parametrize(
    ("kind", "api_version", "frameworks", "code"),
    [
        pytest.param("CronJob", "batch/v1", ["batch/job"], 0, id="no-work-of-kueue"),
        pytest.param("JobSet", "jobset.x-k8s.io/v1alpha2", ["batch/job"], 0, id="not-enabled"),
        pytest.param("JobSet", "jobset.x-k8s.io/v1alpha2", ["batch/job", "jobset.x-k8s.io/jobset"], 1, id="enabled"),
    ],
)
def test_work_runs_without_quota_if_kueue_does_not_manage_its_kind(
    kind: str, api_version: str, frameworks: list[str], code: int
) -> None:
    """The Configuration lists the kinds; a CronJob is none of them, its Jobs are."""
    cluster = Cluster()
    cluster.configure(
        "kind: Configuration", f"kind: Configuration\nintegrations: {{frameworks: {json.dumps(frameworks)}}}"
    )
    cluster.items.append(_work(kind, api_version))

    result = _audit(cluster)

    assert result.exit_code == code, result.stdout
    assert ("STATUS-024" in result.stdout) == bool(code)


def test_a_job_of_a_namespace_that_is_not_selected_may_run() -> None:
    """Kueue does not manage it, although it names a queue."""
    cluster = Cluster()
    _resumed(cluster)
    cluster.drop("Workload", "job-alpha")
    selector = "{matchLabels: {kueue: managed}}"
    cluster.configure("kind: Configuration", f"kind: Configuration\nmanagedJobsNamespaceSelector: {selector}")

    assert "STATUS-024" not in _audit(cluster).stdout


def test_a_requeued_workload_may_have_the_message_of_its_eviction() -> None:
    """Until Kueue evaluates it again."""
    cluster = Cluster()
    cluster.set_condition("alpha", "Evicted", "True", "Preempted", "Preempted to accommodate a workload")
    cluster.set_condition("alpha", "Requeued", "True", "Preempted", "Preempted to accommodate a workload")
    cluster.set_condition("alpha", "QuotaReserved", "False", "Preempted", "Preempted to accommodate a workload")

    result = _audit(cluster)

    assert result.exit_code == 0, result.stdout
    assert "not checked: reasons of evicted Workloads" in result.stderr


def _without_configuration(cluster: Cluster) -> None:
    cluster.drop("ConfigMap")


def _without_slices(cluster: Cluster) -> None:
    cluster.head["spec"]["notRead"] = ["ResourceSlice: 403 forbidden"]
    cluster.drop("ResourceSlice")


def _without_classes(cluster: Cluster) -> None:
    cluster.head["spec"]["notRead"] = ["DeviceClass: 403 forbidden"]
    cluster.drop("DeviceClass")


def _without_templates(cluster: Cluster) -> None:
    cluster.drop("ResourceClaimTemplate")


def _without_pods(cluster: Cluster) -> None:
    cluster.drop("Pod")


@pytest.mark.parametrize(
    ("lose", "remark"),
    [
        pytest.param(_without_configuration, "the input has no Configuration", id="configuration"),
        pytest.param(_without_slices, "the input has no ResourceSlices", id="slices"),
        pytest.param(_without_classes, "the input has none", id="classes"),
        pytest.param(_without_templates, "whose claims cannot be read now", id="templates"),
        pytest.param(_without_pods, "ResourceClaims whose pod the input lacks", id="pods"),
    ],
)
def test_what_the_input_lacks_is_a_note(lose: Break, remark: str) -> None:
    """What cannot be checked is named, and is no finding."""
    cluster = Cluster()
    lose(cluster)

    result = _audit(cluster)

    assert result.exit_code == 0, result.stdout
    assert len([line for line in result.stderr.splitlines() if remark in line]) >= 1


def test_input_of_kubectl_with_some_workloads_is_no_finding() -> None:
    """Without the head of a dump, nothing says that all Workloads are there."""
    cluster = Cluster()
    cluster.drop("Workload", "job-part")
    cluster.drop("Job", "part")
    objects = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": cluster.items})

    result = kueue_dra("audit", "-", stdin=objects)

    assert result.exit_code == 0, result.stdout
    assert "queues that count more Workloads than the input has" in result.stderr


# Output and invalid input.


def test_junit_has_a_failure_for_each_finding() -> None:
    """Checks without a finding are test cases that pass."""
    cluster = Cluster()
    _charge(cluster)

    (suite,) = ET.fromstring(_audit(cluster, "-o", "junit").stdout)

    cases = suite.findall("testcase")
    failed = [each for each in cases if each.find("failure") is not None]
    assert suite.get("tests") == str(len(cases))
    assert suite.get("failures") == str(len(failed))
    assert failed[0].get("name", "").startswith("COUNT-006 Workload team/job-zeta-")
    assert "no quota is exceeded" in [each.get("name") for each in cases]


def test_the_table_names_the_commands_that_show_more(tmp_path: Path) -> None:
    """They name the file that was read."""
    cluster = Cluster()
    _charge(cluster)
    file = tmp_path / "c.yaml"

    result = _audit(cluster, at=file)

    assert result.exit_code == 1
    assert f"  kueue-dra explain -f {file} -n team workload/job-zeta-" in result.stdout
    assert "findings; checked 1 ClusterQueue" in result.stdout


def test_the_release_is_that_of_the_deployment() -> None:
    """The image's tag selects the behaviour unless one is named."""
    cluster = Cluster()
    (container,) = cluster.get("Deployment", "kueue")["spec"]["template"]["spec"]["containers"]
    container["image"] = "registry.k8s.io/kueue/kueue:v0.18.3"

    assert "note: Kueue's Deployment runs 0.18.3, so kueue-0.18.3 decides" in _audit(cluster).stderr
    assert "Deployment runs" not in _audit(cluster, "--behaviour", "kueue-0.19.2").stderr


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((), "give files of a dump, or --context NAME"),
        (("x.yaml", "--context", "a"), "give files of a dump, or --context NAME"),
        (("--context", "a", "--again", "x.yaml"), "a context is read twice anyway"),
        (("no-such-file.yaml",), "no-such-file.yaml"),
        ((ROOT / "examples" / "wrong-quota" / "cluster.yaml",), "found no object with a UID or status of a cluster"),
        (("--context", "no-such-context"), "no-such-context"),
    ],
)
def test_invalid_input_is_one_line(arguments: tuple[Any, ...], error: str) -> None:
    """Exit code 2, and what was expected."""
    result = kueue_dra("audit", *arguments)

    assert result.exit_code == 2
    assert error in result.stderr
    assert "Traceback" not in result.stderr


def test_an_object_that_no_cluster_has_is_named_with_its_place() -> None:
    """The rest is checked all the same."""
    cluster = Cluster()
    cluster.get("ResourceSlice", "node-1-gpus")["spec"]["driver"] = 5
    _charge(cluster)

    result = _audit(cluster)

    assert result.exit_code == 2
    assert "ResourceSlice node-1-gpus: spec.driver: Wrong type" in result.stderr
    assert "whole-gpus 1" in result.stdout


@pytest.mark.parametrize("value", [None, 5, "x", [5], [{"name": "team-flavor"}], [{"resources": [{"name": 5}]}]])
def test_a_malformed_figure_is_an_error_with_its_field(value: Any) -> None:
    """Nothing is summed up with it; an absent list is a finding."""
    cluster = Cluster()
    cluster.get("ClusterQueue", "team")["status"]["flavorsUsage"] = value

    result = _audit(cluster)

    assert result.exit_code == (1 if value is None else 2), result.output
    assert "status.flavorsUsage" in (result.stdout if value is None else result.stderr)


# Generated and recorded scenarios: every state of them.


@pytest.mark.parametrize(("release", "number"), [("0.19", 100), ("0.19", 7), ("0.18", 3), ("0.17", 5)])
def test_no_finding_on_the_states_of_generated_scenarios(release: str, number: int) -> None:
    """Only what the scenario itself changed after an admission is found."""
    rules = behaviour(f"kueue-{release}")
    for (scenario,) in batches(of=1, behaviour=rules, number=number, count=4):
        _check_states(scenario, rules)


@pytest.mark.parametrize("file", sorted((ROOT / "docs" / "scenarios").glob("*")), ids=lambda file: str(file.name))
def test_no_finding_on_the_states_of_recorded_scenarios(file: Path) -> None:
    """Those that the pages refer to."""
    for scenario in scenarios(file):
        minor = ".".join(scenario.kueue.split(".")[:2]) or "0.19"
        _check_states(scenario, behaviour(f"kueue-{minor}"))


def _check_states(scenario: Scenario, rules: Behaviour) -> None:
    for configuration, items in _states(scenario, rules):
        cluster = _cluster(rules, configuration, items)
        assert not cluster.rejected
        for some in findings(cluster).values():
            unexplained = [each for each in some if not _is_explained(each, scenario, cluster)]
            assert unexplained == [], scenario.name


def _states(scenario: Scenario, rules: Behaviour) -> Iterator[tuple[Manifest, list[Manifest]]]:
    """Give the Configuration and all objects after each step."""
    target = ReferenceTarget(rules)
    configuration = scenario.configuration
    for step, _ in zip(scenario.steps, replayed(scenario, target), strict=False):
        if step.get("restart"):
            configuration = step["restart"][-1]
        yield configuration, [each for kind in _DUMPED for each in target.list(KINDS[kind].storage, kind)]


def _cluster(rules: Behaviour, configuration: Manifest, items: list[Manifest]) -> AuditedCluster:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    found = running_cluster(parse(text, "dump"))
    dumped = DumpedCluster(
        behaviour=rules,
        configuration=configuration,
        given=given(found.documents, running=True),
        others=[HEAD],
        seconds=found.seconds,
    )
    return audited(dumped, SketchServer())


def _is_explained(found: Finding, scenario: Scenario, cluster: AuditedCluster) -> bool:
    """Whether the scenario changed what a charge follows from, or never had the class."""
    if found.requirement == "CLASS-001":
        return cluster.kueue.lister.device_class(found.subject.removeprefix("DeviceClass ")) is None
    if found.sure not in (Sure.CERTAIN, Sure.LAG):
        return True
    is_restarted = any(step.get("restart") for step in scenario.steps)
    written = [obj for step in scenario.steps for key in ("apply", "delete") for obj in step.get(key) or ()]
    is_changed = any(obj["kind"] in ("DeviceClass", "ResourceSlice") for obj in written)
    is_later = "after the admission" in found.cause or "any more" in found.cause
    return is_later and (is_restarted or is_changed)


def test_an_admission_of_a_pod_set_that_does_not_exist_is_found() -> None:
    """The API server of a real cluster rejects it; a dump may have it."""
    cluster = Cluster()
    cluster.workload("done")["status"]["admission"]["podSetAssignments"][0]["name"] = "other"

    (found,) = _found(cluster)

    assert 'podSetAssignments[].name: Invalid value: "other": a name in spec.podSets: main' in found["follows"]


@pytest.mark.parametrize(
    "command", [("simulate", "-f"), ("explain", "-f"), ("what-if", "--set", "clusterqueue/team:cpu=1")]
)
def test_a_kind_of_another_type_in_a_dump_is_answered(command: tuple[str, ...], tmp_path: Path) -> None:
    """It is no kind that Kueue reads."""
    cluster = Cluster()
    cluster.get("LocalQueue", "main")["kind"] = []
    dump = tmp_path / "dump.yaml"
    dump.write_text(yaml.safe_dump_all(cluster.items))

    assert kueue_dra(*command, str(dump)).exit_code in (0, 2)
