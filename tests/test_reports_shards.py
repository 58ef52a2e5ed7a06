"""Shards: parts that are the same on each machine; the joined report is that of the whole run, or red."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kueue_dra_reports.changes import changes
from kueue_dra_reports.merge import CannotMerge, merged
from kueue_dra_reports.shards import Shard, parts
from kueue_dra_reports.validate import document_faults
from tests.commands import kueue_dra
from tests.test_cli_run import run
from tests.test_reports_check import change
from tests.toys import GOOD, Toy

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[1]
CASES = "suites/kueue_dra_suites/conformance"
NAMES = st.sets(st.text(alphabet="abc", min_size=1, max_size=5), min_size=1, max_size=30)


@pytest.mark.parametrize("number", [1, 3, 7])
def test_parts_of_a_list_make_the_whole(number: int) -> None:
    """Each thing is in one of them, as `--stories I/N` divides the recorded scenarios."""
    whole = [*range(5)]
    found = [Shard.read(f"{index}/{number}") for index in range(1, number + 1)]

    assert sorted(each for part in found for each in part.of_list(whole)) == whole
    assert str(found[-1]) == f"{number}/{number}"


@given(rows=NAMES, number=st.integers(1, 6), data=st.data())
def test_parts_are_a_partition_whatever_the_order(rows: set[str], number: int, data: st.DataObject) -> None:
    """Each case is in one part, and the parts do not depend on the order of collection."""
    durations = {row: data.draw(st.floats(0, 100)) for row in rows if data.draw(st.booleans())}
    found = parts(sorted(rows), number, durations)

    assert len(found) == number
    assert sorted(row for part in found for row in part) == sorted(rows)
    assert list(found) == list(parts(sorted(rows, reverse=True), number, durations))


def test_parts_are_balanced_by_duration() -> None:
    """A long case has a part of its own; an unknown one counts as the mean."""
    long, *others = parts(["a", "b", "c", "d", "new"], 2, {"a": 9.0, "b": 1.0, "c": 1.0, "d": 1.0})

    assert (long, others) == ({"a"}, [{"b", "c", "d", "new"}])


def test_every_target_divides_the_same_cases() -> None:
    """A real Kueue cannot run the cases of another API server; they are in no other part than on the reference."""
    places = {target: _places(target) for target in ("reference", "kueue")}
    more = places["reference"].keys() - places["kueue"].keys()

    assert more
    assert places["kueue"].items() < places["reference"].items()


def _places(target: str) -> dict[str, int]:
    """Give the part of three that each case about devices is in."""
    found: dict[str, int] = {}
    for index in (1, 2, 3):
        listed = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "--collect-only",
                f"{CASES}/devices",
                f"--target={target}",
                f"--shard={index}/3",
            ],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        found |= {line: index for line in listed.stdout.splitlines() if "::" in line}
    return found


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "1 / 2", "a/b", "1/" + "9" * 50])
def test_a_wrong_shard_is_answered(text: str) -> None:
    """With what is expected."""
    with pytest.raises(ValueError, match="expected I/N with I from 1 to N"):
        Shard.read(text)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the report of a run and those of its three shards, the last two balanced and parallel."""
    folder = tmp_path_factory.mktemp("shards")
    assert run(folder, "quota", "status", "--report-dir", "whole").returncode == 0
    for index in (1, 2, 3):
        more = ("-n", "2") if index == 3 else ()
        shard = (f"--shard={index}/3", "--durations-of=whole/report.json", f"--report-dir={index}")
        assert run(folder, "quota", "status", *shard, *more).returncode == 0
    return folder


def reports(runs: Path, *indexes: int) -> dict[str, Any]:
    """Read the reports of some shards."""
    return {str(index): json.loads((runs / str(index) / "report.json").read_text("utf-8")) for index in indexes}


def test_all_shards_make_the_report_of_the_whole_run(runs: Path) -> None:
    """Whatever their order; and each of them alone proves less."""
    files = [runs / str(index) / "report.yaml" for index in (3, 1, 2)]
    result = kueue_dra("report", "merge", *files, "--report-dir", runs / "merged")

    assert result.exit_code == 0, result.output
    for name in ("report.json", "report.yaml"):
        assert kueue_dra("report", "validate", runs / "merged" / name).exit_code == 0
        assert kueue_dra("report", "diff", runs / "whole" / "report.json", runs / "merged" / name).exit_code == 0
    assert (runs / "merged" / "junit.xml").exists()
    joined = json.loads((runs / "merged" / "report.json").read_text("utf-8"))
    assert "shard" not in joined["target"]["environment"]
    assert "--shard" not in joined["target"]["reproduce"]["command"]
    assert all(one["verdict"]["result"] == "partial" for one in reports(runs, 1, 2, 3).values())


def test_a_missing_shard_is_red(runs: Path) -> None:
    """Its cases did not run, and the report is valid and says so."""
    result = kueue_dra("report", "merge", runs / "1/report.json", runs / "3/report.json", "--report-dir", runs / "less")

    assert result.exit_code == 1
    assert "  - shard 2 of 3 is missing" in result.stdout
    joined = json.loads((runs / "less" / "report.json").read_text("utf-8"))
    assert document_faults(joined) == []
    assert joined["statistics"]["notRun"] == len(reports(runs, 2)["2"]["checks"])
    assert (joined["verdict"]["result"], joined["gate"]["result"]) == ("failure", "failed")


def test_a_row_that_no_shard_ran_is_red(runs: Path) -> None:
    """All shards are there, but one planned less than its part."""
    found = reports(runs, 1, 2, 3)
    lost = found["2"]["checks"].pop()
    row = {"id": lost["id"], "requirements": lost["requirements"], "reason": "it belongs to another shard than 2 of 3"}
    found["2"]["leftOut"].append(row)

    joined = merged(found)

    assert joined["gate"]["result"] == "failed"
    assert f"1 case of no given shard did not run: {lost['id']}" in joined["integrity"]["faults"]


def test_a_failure_in_a_shard_is_one_of_the_whole(runs: Path) -> None:
    """Requirements are computed again from the cases of all shards."""
    found = reports(runs, 1, 2, 3)
    check = found["2"]["checks"][0]
    check["outcome"] = "failed"

    joined = merged(found)

    by_id = {one["id"]: one for one in joined["requirements"]}
    assert {by_id[one]["verdict"] for one in check["requirements"]} <= {"failed", "questioned"}
    assert joined["gate"]["red"] == [check["id"]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(change("specification.behaviour", "kueue-0.18.3"), "2: specification differs", id="behaviour"),
        pytest.param(change("suite.version", "9"), "2: suite.version differs from that of 1", id="suite"),
        pytest.param(change("intent", "certify"), "2: intent differs", id="intent"),
        pytest.param(change("target.name", "kueue"), "2: target.name differs", id="target"),
        pytest.param(change("gate.level", "must"), "2: gate.level differs", id="gate"),
        pytest.param(change("notApplicable", []), "2: the list of cases differs", id="selection"),
        pytest.param(change("target.environment.shard", "1/3"), "2: shard 1/3 is in 1 too", id="twice"),
        pytest.param(change("target.environment.shard", "2/4"), "found shards of 3 and 4", id="numbers"),
        pytest.param(change("target.environment", {}), "2: found the report of a whole run", id="whole"),
        pytest.param(lambda report: report.pop("gate"), "2: it has no gate, so an older", id="old"),
    ],
)
def test_reports_of_different_runs_are_not_joined(runs: Path, change: Callable[[Any], None], words: str) -> None:
    """The file and what differs are named."""
    found = copy.deepcopy(reports(runs, 1, 2))
    change(found["2"])

    with pytest.raises(CannotMerge, match=words):
        merged(found)


def test_a_case_that_ran_in_two_shards_is_answered(runs: Path) -> None:
    """The shards were balanced by different reports."""
    found = reports(runs, 1, 2)
    twice = found["1"]["checks"][0]
    found["2"]["checks"].append(twice)
    found["2"]["leftOut"] = [row for row in found["2"]["leftOut"] if row["id"] != twice["id"]]

    with pytest.raises(CannotMerge, match="ran in two shards, so their parts differ"):
        merged(found)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        pytest.param(("--shard", "3/2"), "*--shard: found '3/2'; expected I/N*", id="wrong"),
        pytest.param(("--shard", "4/4"), "*--shard 4/4: it would be empty, because 3 cases are selected*", id="empty"),
        pytest.param(("--durations-of", "x"), "*--durations-of: needs --shard*", id="alone"),
        pytest.param(
            ("--shard", "1/2", "--durations-of", "x"), "*--durations-of: *x: found no such file*", id="absent"
        ),
    ],
)
def test_a_shard_that_cannot_be_is_answered(toy: Toy, args: tuple[str, ...], words: str) -> None:
    """Before anything runs."""
    result = toy.run(GOOD, *args)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([words])


def test_a_difference_begins_with_what_matters(runs: Path) -> None:
    """The verdict, then requirements by level, then cases; what follows from them is not repeated."""
    old = json.loads((runs / "whole" / "report.json").read_text("utf-8"))
    new = copy.deepcopy(old)
    new["suite"]["python"] = "9.9"
    new["target"]["name"] = "another"
    assert changes(old, new) == []

    levels = {"MUST": ("proven", "failed"), "INFERRED": ("proven", "questioned")}
    for level, (before, after) in levels.items():
        one = next(each for each in new["requirements"] if (each["level"], each["verdict"]) == (level, before))
        one["verdict"] = after
    new["checks"][0] |= {"outcome": "failed", "expected": "a\nb", "observed": "c"}
    new["verdict"]["result"] = "failure"
    new["suite"]["version"] = "9.9"
    lines = [change.line for change in changes(old, new)]

    assert [line.split(":")[0].split(" (")[0] for line in lines[:2]] == ["worse", "worse"]
    assert lines[0] == "worse: verdict: partial -> failure"
    assert "(MUST): proven -> failed: " in lines[1]
    assert "(INFERRED): proven -> questioned: " in lines[2]
    assert lines[3] == f"worse: case {new['checks'][0]['id']}: passed -> failed: expected a b, observed c"
    assert lines[4].startswith("suite.version: ")
    assert len(lines) == 5
    assert [change.kind for change in changes(new, old)][:4] == ["better"] * 4
