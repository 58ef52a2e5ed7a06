"""``kueue-dra show``: the cohort tree, its quotas and what each workload waits for, as a page and as a diagram."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_cli.inputs import simulation_of
from kueue_dra_cli.show import EPILOG
from kueue_dra_ref.simulation.cluster_tree import ClusterTree, cluster_tree
from kueue_dra_ref.target import Manifest
from kueue_dra_reports.cluster_page import mermaid
from kueue_dra_reports.cluster_page.mermaid import cluster_diagram, escaped
from tests.clusters_live.manifests import KUEUE, a_job, an_object
from tests.commands import kueue_dra
from tests.show_clusters import CONFIGURATION, a_cluster, a_queue
from tests.test_reports_render import Page
from tests.test_running_cluster import LACKS_ONE, a_dump

HOSTILE = "</script><img src=x onerror=alert(1)> & \"quotes\" 'and' `ticks` " + "long " * 400


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """Have a dump in which zeta holds both GPUs and alpha is pending."""
    return write(tmp_path / "cluster.yaml", *a_dump(), CONFIGURATION)


def write(path: Path, *objects: Manifest) -> Path:
    """Write objects to a file."""
    path.write_text(yaml.safe_dump_all(objects), "utf-8")
    return path


def shown(*arguments: object, command: str = "show") -> str:
    """Give the page of a command that succeeds."""
    result = kueue_dra(command, *arguments, "-o", "html")
    assert result.exit_code == 0, result.stderr
    return result.stdout


def data_of(page: str) -> Any:
    """Give the data inside a page."""
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    return json.loads(found)


def steps_of(data: Any, name: str, side: int = 0) -> list[tuple[str, list[str]]]:
    """Give the steps of a Workload, with the requirements of each."""
    (row,) = (row for rows in data["queues"].values() for row in rows if row[1] == name)
    found = []
    for text, *cites in data["derivations"][row[5 + side][4]]:
        found.append((data["texts"][text], [data["requirements"][cite][0] for cite in cites]))
    return found


def decision_of(data: Any, name: str, side: int = 0) -> tuple[str, ...]:
    """Give the verdict, the reason and the message of a Workload."""
    (row,) = (row for rows in data["queues"].values() for row in rows if row[1] == name)
    return tuple(data["texts"][at] for at in row[5 + side][:3])


def figures(page: str) -> dict[str, list[str]]:
    """Give the figures of each node, without those of cpu."""
    found: dict[str, list[str]] = {}
    for name, body in re.findall(r'<li class="node [^>]*data-name="([^"]*)"(.*?)</li>', page, re.DOTALL):
        cells = re.findall(r'<tr data-resource="= whole-gpus".*?<span class="figures">(.*?)</td>', body, re.DOTALL)
        found[name] = [re.sub(r"<[^>]*>|\n", "", each).strip() for each in cells]
    return found


def test_a_workload_has_its_decision_and_the_steps_of_explain(cluster: Path) -> None:
    """The names are those of kubectl, and the state is that of the running cluster."""
    data = data_of(shown(cluster))
    explained = json.loads(kueue_dra("explain", "-f", cluster, "-o", "json").stdout)

    assert decision_of(data, "job/alpha") == ("pending", "not enough quota is left", LACKS_ONE)
    assert decision_of(data, "job/zeta") == ("admitted", "", "1 cpu, 2 whole-gpus in flavor team-flavor")
    for each in explained:
        steps = [(step["text"], step["requirements"]) for step in each["steps"]]
        assert steps_of(data, f"job/{each['job']}") == steps
        assert steps
    assert data["explain"] == f"kueue-dra explain -f {cluster}"


def test_the_tree_has_what_is_used_borrowed_and_lent(tmp_path: Path) -> None:
    """A Cohort has the totals below it; limits are named; a ClusterQueue outside any Cohort is there too."""
    queues = [
        a_queue("a", 1, cohort="org", borrowingLimit=3),
        a_queue("b", 4, cohort="org", lendingLimit=2),
        a_queue("c", 2),
    ]
    local = [an_object(KUEUE, "LocalQueue", name, "team", spec={"clusterQueue": name}) for name in "abc"]
    jobs = [a_job(f"on-{name}", template, queue=name) for name, template in (("a", "gpus-2"), ("b", "gpus-1"))]
    base = [each for each in a_cluster(0, 0) if each.get("metadata", {}).get("name") != "org"]
    page = shown(write(tmp_path / "cluster.yaml", *base, *queues, *local, *jobs))

    assert figures(page) == {
        "org": ["3 of 5 used, 0 borrowed, 0 lent"],
        "a": ["2 of 1 used, 1 borrowed, 0 lent (borrowing limit 3)"],
        "b": ["1 of 4 used, 0 borrowed, 1 lent (lending limit 2)"],
        "c": ["0 of 2 used, 0 borrowed, 0 lent"],
    }
    assert "no Cohort object: only its members name it" in page


def test_what_is_borrowed_is_what_the_status_says(tmp_path: Path) -> None:
    """Kueue itself writes the use and the borrowed part of each ClusterQueue."""
    file = write(tmp_path / "cluster.yaml", *a_cluster(16, 40))
    page = figures(shown(file))
    objects = json.loads(kueue_dra("simulate", "-f", file, "-o", "json").stdout)["items"]

    borrowing = 0
    for each in (one for one in objects if one["kind"] == "ClusterQueue"):
        (flavor,) = each["status"]["flavorsReservation"]
        (gpus,) = (one for one in flavor["resources"] if one["name"] == "whole-gpus")
        (text,) = page[each["metadata"]["name"]]
        assert text.startswith(f"{gpus['total']} of ")
        assert f"used, {gpus.get('borrowed', '0')} borrowed, " in text
        borrowing += gpus.get("borrowed", "0") != "0"
    assert borrowing >= 3


def test_the_page_is_one_file_without_the_network(cluster: Path, tmp_path: Path) -> None:
    """Well-formed, each id once, each link inside the page; so is the page of a change."""
    change = shown(cluster, "--set", "clusterqueue/team:whole-gpus=3", command="what-if")
    large = shown(write(tmp_path / "large.yaml", *a_cluster(20, 30)))

    for text in (shown(cluster), change, large):
        page = Page(text)
        assert page.open == []
        assert len(page.ids) == len(set(page.ids))
        inside = [one for one in page.references if one != "data:,"]
        assert {one.removeprefix("#") for one in inside} <= set(page.ids)
        assert not re.search(r"@import|url\(|https?://", text)
        assert "default-src 'none'" in text


def test_work_without_a_clusterqueue_is_shown(cluster: Path, tmp_path: Path) -> None:
    """It waits for what is missing, and the error is in the page as well."""
    lost = write(tmp_path / "lost.yaml", a_job("lost", queue="nowhere"))
    result = kueue_dra("show", cluster, lost)

    assert result.exit_code == 2
    assert 'data-name="No ClusterQueue"' in result.stdout
    assert decision_of(data_of(result.stdout), "job/lost") == ("pending", "", "LocalQueue nowhere doesn't exist")
    assert "expected a LocalQueue team/nowhere, and there is none" in result.stderr
    assert "expected a LocalQueue team/nowhere, and there is none" in result.stdout


def test_a_circle_of_cohorts_is_named(tmp_path: Path) -> None:
    """Nothing below it is admitted."""
    cohorts = [an_object(KUEUE, "Cohort", one, spec={"parentName": other}) for one, other in ("ab", "ba")]
    file = write(tmp_path / "circle.yaml", *a_cluster(0, 0), *cohorts, a_queue("q", 1, cohort="a"))

    assert "cohorts form a circle: a → b → a; Kueue admits nothing below them" in shown(file)
    assert "in a circle of cohorts" in kueue_dra("show", file, "-o", "mermaid").stdout


def test_cohorts_of_many_levels_are_shown(tmp_path: Path) -> None:
    """60 of them above each other."""
    cohorts = [an_object(KUEUE, "Cohort", f"c{n}", spec={"parentName": f"c{n + 1}"}) for n in range(60)]
    file = write(tmp_path / "deep.yaml", *a_cluster(0, 0), *cohorts, a_queue("q", 1, cohort="c0"))

    assert figures(shown(file))["c60"] == ["0 of 1 used, 0 borrowed, 0 lent"]
    assert kueue_dra("show", file, "-o", "mermaid").exit_code == 0


def hostile_dump() -> list[Manifest]:
    """Give a dump whose pending Workload has a hostile message, and a finished one too."""
    objects = a_dump()
    for each in objects:
        if each["kind"] == "Workload" and each["metadata"]["name"] == "job-alpha-one":
            each["status"]["conditions"][0]["message"] = HOSTILE
    return objects


def test_hostile_texts_are_escaped(tmp_path: Path) -> None:
    """Of messages in a dump, and of the file's own name; nothing is cut off either."""
    file = write(tmp_path / "<b>&'\"<script>alert(1)<.yaml", *hostile_dump(), CONFIGURATION)
    text = shown(file)
    page = Page(text)

    assert page.open == []
    assert text.count("<script") == 2
    assert "<img" not in text
    assert "<b>&" not in text
    last, _ = steps_of(data_of(text), "job/alpha")[-1]
    assert HOSTILE.strip() in last
    assert str(file) in data_of(text)["explain"].replace("'\"'\"'", "'")


def test_equal_texts_are_in_the_page_once(tmp_path: Path) -> None:
    """So 400 Workloads take less than 600 kB; a page of 2,000 stays far below 10 MB."""
    file = write(tmp_path / "large.yaml", *a_cluster(8, 400))
    text = shown(file)

    assert len(data_of(text)["queues"]) == 8
    assert sum(map(len, data_of(text)["queues"].values())) == 400
    assert len(text) < 600_000


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        pytest.param(["nowhere.yaml"], "nowhere.yaml: ", id="file"),
        pytest.param(
            ["cluster.yaml", "--output-file", "no/such/page.html"], "kueue-dra: no/such/page.html: ", id="out"
        ),
        pytest.param(["cluster.yaml", "--output-file", "."], "kueue-dra: .: ", id="folder"),
        pytest.param([], "Usage: kueue-dra show", id="nothing"),
        pytest.param(["--context", "no-such"], "kueue-dra show: ", id="context"),
        pytest.param(["bad.yaml"], "bad.yaml:4: ClusterQueue q: spec.cohortName: ", id="field"),
    ],
)
def test_bad_input_is_an_error(cluster: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], line: str) -> None:
    """One line with what is wrong, and exit code 2."""
    monkeypatch.chdir(cluster.parent)
    bad = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\nspec: {cohortName: 7}\n"
    (cluster.parent / "bad.yaml").write_text(bad)
    (cluster.parent / "none.kubeconfig").write_text("{}")
    monkeypatch.setenv("KUBECONFIG", str(cluster.parent / "none.kubeconfig"))

    result = kueue_dra("show", *arguments)

    assert result.exit_code == 2
    assert result.stderr.startswith(line)
    assert "Traceback" not in result.stderr


def test_a_file_is_written_whole_or_not_at_all(cluster: Path, tmp_path: Path) -> None:
    """An error leaves the file of before; a device stays a device."""
    page = tmp_path / "page.html"
    assert kueue_dra("show", cluster, "--output-file", page).stdout == ""
    before = page.read_text("utf-8")
    assert before == shown(cluster)

    assert kueue_dra("show", tmp_path / "nowhere.yaml", "--output-file", page).exit_code == 2

    assert page.read_text("utf-8") == before
    assert kueue_dra("show", cluster, "--output-file", "/dev/null").exit_code == 0
    assert Path("/dev/null").is_char_device()
    assert {each.name for each in tmp_path.iterdir()} == {"page.html", "cluster.yaml"}


def test_the_examples_of_the_help_run(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each one but that of a context, which needs a cluster."""
    folder = cluster.parent
    monkeypatch.chdir(folder)
    write(folder / "new-job.yaml", a_job("new"))
    (folder / "my-manifests").mkdir()
    write(folder / "my-manifests" / "all.yaml", *a_cluster(2, 3)[1:])
    write(folder / "kueue-config.yaml", CONFIGURATION)
    lines = [line.split() for line in EPILOG.splitlines() if line.startswith("  kueue-dra show")]
    examples = [line[1:] if ">" not in line else line[1 : line.index(">")] for line in lines]

    ran = [kueue_dra(*each) for each in examples if "--context" not in each]

    assert len(ran) == 3
    assert [each.exit_code for each in ran] == [0, 0, 0], [each.stderr for each in ran]


def test_a_change_has_both_sides(cluster: Path) -> None:
    """The waiting Workload is admitted; its steps after the change are not compared with the cluster."""
    page = shown(cluster, "--set", "clusterqueue/team:whole-gpus=3", command="what-if")
    data = data_of(page)

    assert decision_of(data, "job/alpha") == ("pending", "not enough quota is left", LACKS_ONE)
    assert decision_of(data, "job/alpha", 1) == ("admitted", "", "1 cpu, 1 whole-gpus in flavor team-flavor")
    after = [text for text, _ in steps_of(data, "job/alpha", 1)]
    assert "quota is reserved; admitted" in after
    assert not any("the cluster differs" in text for text in after)
    assert "<h1>The change has an effect on 1 workload: 1 newly admitted</h1>" in page
    assert "with --set clusterqueue/team:whole-gpus=3, decided as kueue-0.19" in page
    row = re.search(r'<tr data-resource="= whole-gpus".*?</tr>', page, re.DOTALL)
    assert row
    assert re.findall(r"<b>(.*?)</b>", row[0]) == ["2 of 2", "3 of 3"]
    assert 'class="changed"' in row[0]


def test_a_change_without_effect_says_so(cluster: Path) -> None:
    """Both sides are the same."""
    page = shown(cluster, "--set", "clusterqueue/team:whole-gpus=2", command="what-if")

    assert "<h1>The change has an effect on 0 workloads</h1>" in page
    assert 'class="changed"' not in page


def test_the_diagram_has_quotas_and_what_waits(cluster: Path) -> None:
    """One box for each ClusterQueue and Cohort."""
    result = kueue_dra("show", cluster, "-o", "mermaid")

    assert result.exit_code == 0
    assert result.stdout.startswith("flowchart LR\n")
    label = "<b>ClusterQueue team</b><br/>whole-gpus (team-flavor): 2 of 2 used<br/>cpu (team-flavor): 1 of 100 used"
    assert f'  n0["{label}<br/>1 pending: not enough quota is left"]:::waits\n' in result.stdout


def a_large_tree(file: Path, jobs: int, times: int) -> ClusterTree:
    """Give a tree of many copies of a cluster of eight ClusterQueues, all below one Cohort."""
    simulation = simulation_of([write(file, *a_cluster(8, jobs))], None, "kueue-0.19", {})
    tree = cluster_tree(simulation.run())
    root, *others = tree.nodes
    nodes = [root]
    work = {}
    for number in range(times):
        for node in others:
            parent = node.parent if node.parent == root.name else f"{node.parent}-{number}"
            nodes.append(replace(node, name=f"{node.name}-{number}", parent=parent))
            work[nodes[-1].name] = tree.work.get(node.name, ())
    return replace(tree, nodes=tuple(nodes), work=work)


@pytest.mark.parametrize(
    ("jobs", "times", "left_out", "boxes"),
    [
        pytest.param(20, 10, "", 1 + 9 * 10, id="small"),
        pytest.param(20, 30, "cpu and memory", 1 + 9 * 30, id="large"),
        pytest.param(20, 45, "cpu, memory and reasons", 1 + 9 * 45, id="larger"),
        pytest.param(10, 70, "cpu, memory, reasons, and ClusterQueues in which nothing waits", 1 + 4 * 70, id="huge"),
        pytest.param(20, 200, "cpu, memory and ClusterQueues", 1 + 200, id="only-cohorts"),
    ],
)
def test_a_large_diagram_leaves_out_what_mermaid_would_not_draw(
    tmp_path: Path, jobs: int, times: int, left_out: str, boxes: int
) -> None:
    """50,000 characters and 500 edges are mermaid's limits. In the huge one three of eight ClusterQueues wait."""
    diagram = cluster_diagram(a_large_tree(tmp_path / "cluster.yaml", jobs, times))

    assert diagram.fits
    assert len(diagram.text) <= 50_000
    assert diagram.text.count("-->") <= 500
    assert (diagram.left_out, len(re.findall(r"^  n\d+[(\[]", diagram.text, re.MULTILINE))) == (left_out, boxes)


def test_a_diagram_that_mermaid_does_not_draw_is_noted(tmp_path: Path) -> None:
    """More than 500 Cohorts."""
    diagram = cluster_diagram(a_large_tree(tmp_path / "cluster.yaml", 10, 600))

    assert not diagram.fits


def test_what_a_diagram_leaves_out_is_a_note(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On standard error, so that the diagram can be piped."""
    monkeypatch.setattr(mermaid, "MOST_CHARACTERS", 250)
    first = kueue_dra("show", cluster, "-o", "mermaid")
    monkeypatch.setattr(mermaid, "MOST_CHARACTERS", 10)
    second = kueue_dra("show", cluster, "-o", "mermaid")

    assert "note: the diagram leaves out cpu and memory, because mermaid draws at most 250 char" in first.stderr
    assert "mermaid does not draw this diagram" not in first.stderr
    assert "note: mermaid does not draw this diagram unless maxTextSize and maxEdges are raised" in second.stderr


@pytest.mark.parametrize(
    ("text", "label"),
    [
        pytest.param('a "b" <c> & #d;', "a #34;b#34; #60;c#62; #38; #35;d;", id="html"),
        pytest.param("`x` [y] {z} %% ~ \\", "#96;x#96; #91;y#93; #123;z#125; #37;#37; #126; #92;", id="mermaid"),
        pytest.param("style:#1", "style#58;#35;1", id="colon"),
        pytest.param("two\nlines", "two lines", id="lines"),
        pytest.param("é … 語", "é … 語", id="letters"),
        pytest.param("x" * 121, "x" * 119 + "…", id="long"),
    ],
)
def test_labels_are_escaped(text: str, label: str) -> None:
    """What mermaid gives a meaning is written as a number."""
    assert escaped(text) == label
