"""``kueue-dra what-if``: what a change of a cluster affects, before it is made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_cli.what_if import EPILOG
from kueue_dra_ref.target import Manifest
from tests.clusters_live.manifests import GPU, KUEUE, a_job, a_template, a_world, an_object
from tests.commands import kueue_dra
from tests.test_running_cluster import CONFIGURATION, LACKS_ONE, a_dump

RAISED = ("--set", "clusterqueue/team:whole-gpus=3")


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """Have a dump in which zeta holds both GPUs and alpha is pending."""
    return _file(tmp_path / "cluster.yaml", *a_dump(), CONFIGURATION)


def _file(path: Path, *objects: Manifest) -> Path:
    path.write_text(yaml.safe_dump_all(objects), "utf-8")
    return path


def _facts(*arguments: object) -> Any:
    result = kueue_dra("what-if", *arguments, "-o", "json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def _effects(found: Any) -> dict[str, str]:
    return {each["job"]: each["effect"] for each in found["workloads"]}


def _quota(found: Any, kind: str, name: str, resource: str = "whole-gpus") -> tuple[Any, Any]:
    places = {(each["kind"], each["name"], each["resource"]): each for each in found["quotas"]}
    place = places[kind, name, resource]
    return place["before"], place["after"]


def test_a_change_in_a_namespace_that_does_not_exist_has_a_hint(cluster: Path, tmp_path: Path) -> None:
    """With the option the namespace is created, and the change is made."""
    queue = an_object(KUEUE, "LocalQueue", "late", "nowhere", spec={"clusterQueue": "team"})
    file = _file(tmp_path / "change.yaml", queue)

    rejected = kueue_dra("what-if", cluster, "-f", file)
    accepted = kueue_dra("what-if", cluster, "-f", file, "--allow-missing")

    assert rejected.exit_code == 2
    assert "LocalQueue nowhere/late: metadata.namespace: Not found: " in rejected.stderr
    assert "expected a Namespace nowhere, and there is none" in rejected.stderr
    assert "--allow-missing creates Namespaces" in rejected.stderr
    assert accepted.exit_code == 0, accepted.stderr


def test_more_quota_admits_the_pending_job(cluster: Path) -> None:
    """The table has the workload, both decisions, and the quotas that change."""
    result = kueue_dra("what-if", cluster, *RAISED)

    assert result.exit_code == 0, result.stderr
    assert "team/alpha  team            newly admitted  pending: " in result.stdout
    assert "admitted: 1 cpu, 1 whole-gpus in flavor" in result.stdout
    assert "ClusterQueue team  team-flavor  whole-gpus  2 → 3   2 → 3" in result.stdout


def test_the_json_has_the_same_facts(cluster: Path) -> None:
    """Decision and quota, before and after."""
    found = _facts(cluster, *RAISED)

    (change,) = found["workloads"]
    assert (change["effect"], change["clusterQueue"]) == ("newly admitted", "team")
    assert (change["before"]["verdict"], change["before"]["message"]) == ("pending", LACKS_ONE)
    assert {"flavor": "team-flavor", "resource": "whole-gpus", "amount": "1"} in change["after"]["holds"]
    assert _quota(found, "ClusterQueue", "team") == ({"used": "2", "nominal": "2"}, {"used": "3", "nominal": "3"})


def test_markdown_is_a_table_of_markdown(cluster: Path) -> None:
    """It can be pasted into an issue."""
    result = kueue_dra("what-if", cluster, *RAISED, "-o", "md")

    assert result.stdout.startswith("| workload   | ClusterQueue   | effect")
    assert "| ClusterQueue team | team-flavor | whole-gpus | 2 → 3  | 2 → 3" in result.stdout


@pytest.mark.parametrize("name", ["zeta", "job/zeta", "team/odd", "workload/odd", "zeta-ab1c2"])
def test_without_a_workload_its_quota_is_free(cluster: Path, name: str) -> None:
    """The Job ends, and the pending one is admitted."""
    found = _facts(cluster, "--without", name)

    assert _effects(found) == {"alpha": "newly admitted", "zeta": "ended"}
    assert _quota(found, "ClusterQueue", "team")[1] == {"used": "1", "nominal": "2"}


def test_nothing_changes(cluster: Path) -> None:
    """Quota that no workload lacks: the output says so, and what changed in the queue."""
    result = kueue_dra("what-if", cluster, "--set", "clusterqueue/team:cpu=200")

    assert result.exit_code == 0
    assert result.stdout.startswith("nothing changes: each workload is decided as before\n")
    assert "100 → 200" in result.stdout
    assert _facts(cluster, "--set", "clusterqueue/team:cpu=200")["changes"] is False


def test_less_quota_leaves_what_is_admitted(cluster: Path) -> None:
    """As in Kueue, a workload keeps quota that is taken away later; what is available is 0, not less."""
    found = _facts(cluster, "--set", "clusterqueue/team:whole-gpus=1")

    assert found["changes"] is False
    assert _quota(found, "ClusterQueue", "team")[1] == {"used": "2", "nominal": "1"}


def test_a_file_changes_some_fields_of_an_object(cluster: Path, tmp_path: Path) -> None:
    """The other fields stay: a queue that is drained keeps its quota, and evicts its work."""
    stop = an_object(KUEUE, "ClusterQueue", "team", spec={"stopPolicy": "HoldAndDrain"})

    found = _facts(cluster, "-f", _file(tmp_path / "stop.yaml", stop))

    effects = _effects(found)
    assert effects["zeta"] == "no longer admitted"
    assert _quota(found, "ClusterQueue", "team") == ({"used": "2", "nominal": "2"}, {"used": "0", "nominal": "2"})


def test_a_new_job_of_higher_priority_preempts(cluster: Path, tmp_path: Path) -> None:
    """The policy and the Job are parts of one change."""
    policy = {"preemption": {"withinClusterQueue": "LowerPriority"}}
    urgent = a_job("urgent", "gpus-2")
    urgent["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = "high"
    change = [
        urgent,
        an_object(KUEUE, "ClusterQueue", "team", spec=policy),
        an_object(KUEUE, "WorkloadPriorityClass", "high", value=100),
    ]

    found = _facts(cluster, "-f", _file(tmp_path / "change.yaml", *change))

    assert _effects(found) == {"urgent": "newly admitted", "zeta": "preempted"}
    by_job = {each["job"]: each for each in found["workloads"]}
    assert "Preempted to accommodate a workload" in by_job["zeta"]["after"]["evicted"]
    assert by_job["urgent"]["before"] is None


def test_the_quota_of_a_cohort_counts_everything_below_it(tmp_path: Path, cluster: Path) -> None:
    """A queue joins a cohort that another queue lends to."""
    flavor = {
        "name": "team-flavor",
        "resources": [{"name": "cpu", "nominalQuota": 0}, {"name": "whole-gpus", "nominalQuota": 1}],
    }
    groups = [{"coveredResources": ["cpu", "whole-gpus"], "flavors": [flavor]}]
    lender = an_object(KUEUE, "ClusterQueue", "lender", spec={"cohortName": "all", "resourceGroups": groups})
    joins = an_object(KUEUE, "ClusterQueue", "team", spec={"cohortName": "all"})

    found = _facts(cluster, "-f", _file(tmp_path / "change.yaml", lender, joins))

    assert _effects(found) == {"alpha": "newly admitted"}
    assert _quota(found, "Cohort", "all") == (None, {"used": "3", "nominal": "3"})
    assert _quota(found, "ClusterQueue", "lender") == (None, {"used": "0", "nominal": "1"})


@pytest.mark.parametrize("whole", [False, True])
def test_another_mapping(cluster: Path, tmp_path: Path, whole: bool) -> None:
    """A class that is not mapped any more cannot be charged; what is admitted keeps its quota."""
    mappings = [{"name": "whole-gpus", "deviceClassNames": ["other.example.com"]}]
    written: Manifest = {"deviceClassMappings": mappings}
    if whole:
        written = {**CONFIGURATION, "resources": written}

    found = _facts(cluster, "--mapping", _file(tmp_path / "mapping.yaml", written))

    assert _effects(found) == {"alpha": "another decision"}
    assert GPU in found["workloads"][0]["after"]["message"]


def test_quota_of_a_flavor_is_named_with_the_flavor(tmp_path: Path) -> None:
    """The pending workload is admitted in the flavor whose quota is raised."""
    objects = a_world(gpus=1)
    queue = next(each for each in objects if each["kind"] == "ClusterQueue")
    quotas = [{"name": "cpu", "nominalQuota": 100}, {"name": "whole-gpus", "nominalQuota": 0}]
    queue["spec"]["resourceGroups"][0]["flavors"].append({"name": "spare", "resources": quotas})
    cluster = _file(
        tmp_path / "manifests.yaml",
        *objects,
        an_object(KUEUE, "ResourceFlavor", "spare", spec={}),
        a_job("first"),
        a_job("second"),
        CONFIGURATION,
    )

    found = _facts(cluster, "--set", "cq/team:whole-gpus@spare=1")

    assert _effects(found) == {"second": "newly admitted"}
    holds = found["workloads"][0]["after"]["holds"]
    assert {each["flavor"] for each in holds} == {"spare"}


def test_an_upgrade_shows_what_the_next_release_decides_otherwise(cluster: Path) -> None:
    """Kueue 0.17 supports no selector; Kueue 0.19 does, and the Job lacks quota."""
    world = [each for each in a_dump() if each["metadata"]["name"] != "gpus-1"]
    selector = {"cel": {"expression": "device.driver == 'gpu.example.com'"}}
    template = a_template("gpus-1")
    template["spec"]["spec"]["devices"]["requests"][0]["exactly"]["selectors"] = [selector]
    _file(cluster, *world, template, CONFIGURATION)

    found = _facts(cluster, "--behaviour", "kueue-0.17.1", "--feature-gates", GATE_0_17, "--kueue", "0.19")

    assert _effects(found) == {"alpha": "another reason"}
    assert "selector" in found["workloads"][0]["before"]["message"]


GATE_0_17 = "DynamicResourceAllocation=true"


def test_an_upgrade_that_charges_devices(tmp_path: Path) -> None:
    """Kueue 0.17 charges no devices unless its gate is on; Kueue 0.19 does."""
    cluster = _file(tmp_path / "manifests.yaml", *a_world(), a_job("one"), CONFIGURATION)

    found = _facts(cluster, "--behaviour", "kueue-0.17.1", "--kueue", "0.19")

    assert _effects(found) == {"one": "charged otherwise"}
    (change,) = found["workloads"]
    held = [[each["resource"] for each in change[side]["holds"]] for side in ("before", "after")]
    assert held == [["cpu"], ["cpu", "whole-gpus"]]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["--set", "clusterqueue/tem:cpu=1"], "found no ClusterQueue tem; known: team", id="queue"),
        pytest.param(["--set", "cohort/all:cpu=1"], "found no Cohort all", id="cohort"),
        pytest.param(["--set", "cq/team:gpu=1"], "ClusterQueue team has no quota for gpu", id="resource"),
        pytest.param(["--set", "cq/team:cpu@x=1"], "has no quota for cpu in flavor x", id="flavor"),
        pytest.param(["--set", "cq/team:cpu=lots"], "'lots' is not a quantity", id="quantity"),
        pytest.param(["--set", "cq/team:cpu=-1"], "nominalQuota: Invalid value", id="negative"),
        pytest.param(["--set", "team:cpu=1"], "expected clusterqueue/NAME:RESOURCE[@FLAVOR]=AMOUNT", id="form"),
        pytest.param(["--without", "nope"], "found no Job or Workload nope; known: team/alpha, team/zeta", id="work"),
        pytest.param(["-f", "missing.yaml"], "missing.yaml: ", id="file"),
        pytest.param(["--mapping", "missing.yaml"], "missing.yaml: ", id="mapping"),
        pytest.param(["--kueue", "0.1"], "'0.1' is not known", id="release"),
        pytest.param([], "no change: give -f, --set, --without, --mapping or --kueue", id="none"),
    ],
)
def test_a_change_that_names_what_does_not_exist_is_an_error(
    cluster: Path, arguments: list[str], expected: str
) -> None:
    """The line has what was found and what was expected."""
    result = kueue_dra("what-if", cluster, *arguments)

    assert result.exit_code == 2
    assert expected in result.stderr
    assert result.stdout == ""


def test_a_new_object_that_names_what_does_not_exist_is_an_error(cluster: Path, tmp_path: Path) -> None:
    """The line has the file and the field."""
    change = _file(tmp_path / "change.yaml", a_job("new", queue="nowhere"))

    result = kueue_dra("what-if", cluster, "-f", change)

    assert result.exit_code == 2
    assert f"{change}:" in result.stderr
    assert 'Not found: "nowhere": expected a LocalQueue team/nowhere, and there is none' in result.stderr


def test_a_new_object_with_a_name_like_another_is_noted(cluster: Path, tmp_path: Path) -> None:
    """A typo would create a queue instead of changing one."""
    change = _file(tmp_path / "change.yaml", an_object(KUEUE, "ClusterQueue", "taem", spec={"stopPolicy": "Hold"}))

    result = kueue_dra("what-if", cluster, "-f", change)

    assert f"note: {change}:4: ClusterQueue taem is new; known: team; did you mean team?" in result.stderr


def test_a_field_that_kueue_does_not_know_is_a_warning(cluster: Path, tmp_path: Path) -> None:
    """An API server drops it, so that nothing changes."""
    change = _file(tmp_path / "change.yaml", an_object(KUEUE, "ClusterQueue", "team", spec={"stopPolcy": "Hold"}))

    result = kueue_dra("what-if", cluster, "-f", change)

    assert result.exit_code == 0
    assert f'warning: {change}:6: ClusterQueue team: unknown field "spec.stopPolcy"' in result.stderr
    assert result.stdout.startswith("nothing changes")


def test_an_object_of_an_unknown_kind_is_an_error(cluster: Path, tmp_path: Path) -> None:
    """Kueue's admission does not depend on it."""
    change = _file(tmp_path / "change.yaml", an_object("v1", "Widget", "a"))

    result = kueue_dra("what-if", cluster, "-f", change)

    assert result.exit_code == 2
    assert f"{change}:2: found Widget; expected a kind that the simulation decides about" in result.stderr


def test_a_mapping_that_kueue_rejects_is_an_error_with_its_line(cluster: Path, tmp_path: Path) -> None:
    """The same class twice."""
    mappings = [{"name": name, "deviceClassNames": [GPU]} for name in ("a", "b")]

    result = kueue_dra("what-if", cluster, "--mapping", _file(tmp_path / "m.yaml", {"deviceClassMappings": mappings}))

    assert result.exit_code == 2
    assert f"{tmp_path / 'm.yaml'}:6: resources.deviceClassMappings[1].deviceClassNames[0]" in result.stderr


def test_a_flavor_must_be_named_if_there_are_several(cluster: Path, tmp_path: Path) -> None:
    """The line has the flavors."""
    dump = a_dump()
    queue = next(each for each in dump if each["kind"] == "ClusterQueue")
    (flavor,) = queue["spec"]["resourceGroups"][0]["flavors"]
    queue["spec"]["resourceGroups"][0]["flavors"].append({**flavor, "name": "spot"})
    _file(cluster, *dump, an_object(KUEUE, "ResourceFlavor", "spot", spec={}), CONFIGURATION)

    result = kueue_dra("what-if", cluster, "--set", "cq/team:cpu=1")

    assert "ClusterQueue team has cpu in several flavors: add one of @team-flavor, @spot" in result.stderr
    assert kueue_dra("what-if", cluster, "--set", "cq/team:cpu@spot=1").exit_code == 0


def test_the_examples_of_the_help_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each one on a cluster of that shape; the one of a context needs a cluster."""
    text = json.dumps([*a_world("team-a"), a_job("training", "gpus-2", "team-a")])
    _file(tmp_path / "cluster.yaml", *json.loads(text.replace("team-a-flavor", "spot")), CONFIGURATION)
    _file(tmp_path / "new-queue.yaml", an_object(KUEUE, "LocalQueue", "new", "team-a", spec={"clusterQueue": "team-a"}))
    _file(tmp_path / "new-job.yaml", a_job("new", "gpus-1", "team-a", queue="new"))
    mappings = [{"name": "whole-gpus", "deviceClassNames": [GPU]}]
    _file(tmp_path / "deviceClassMappings.yaml", {"deviceClassMappings": mappings})
    monkeypatch.chdir(tmp_path)
    examples = [line.split()[1:] for line in EPILOG.splitlines() if line.startswith("  kueue-dra what-if")]

    ran = {" ".join(each): kueue_dra(*each) for each in examples if "--context" not in each}

    assert len(ran) == 6
    assert (tmp_path / "change.html").read_text("utf-8").startswith("<!doctype html>")
    assert {line: result.stderr for line, result in ran.items() if result.exit_code} == {}
