"""The sample pipelines run from a repository with one file in it: each step's shell, with what a runner gives."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.pipelines import GitHub, GitLab, Machine, names
from tests.wheels import ROOT, offline

CI = ROOT / "examples" / "ci"
FORMS = ("github", "gitlab")
SAMPLES = {
    "github": ("github-workflow.yaml", ".github/workflows/kueue-dra.yaml", "conformance", "success", "failure"),
    "gitlab": ("gitlab-ci.yml", ".gitlab-ci.yml", "kueue-dra", "success", "failed"),
}
WRONG = {"PYTEST_ADDOPTS": "--knock-out=multiply_by_pod_count"}
"""A target that does not do what COUNT-006 says."""
TODAY = datetime.now(UTC).date()
Pipeline = Callable[..., "Ended"]


class Ended:
    """A pipeline that ended: whether it is green, and its machine."""

    def __init__(self, form: str, result: str, machine: Machine) -> None:
        _, _, _, green, red = SAMPLES[form]
        assert result in (green, red)
        self.green = result == green
        self.machine = machine
        self.log = machine.log
        self.folder = machine.folder

    @property
    def summary(self) -> str:
        """Give the Markdown on the page of the job, or in its artifacts."""
        file = self.machine.artifacts / "out" / "summary.md"
        return self.machine.summary or (file.read_text("utf-8") if file.is_file() else "")

    def junit(self) -> ElementTree.Element:
        """Give the JUnit of the artifacts."""
        (file,) = self.machine.artifacts.rglob("junit.xml")
        return ElementTree.parse(file).getroot()


@pytest.fixture(scope="module")
def machines() -> dict[str, Machine]:
    """Keep what the first job of each form installed."""
    return {}


@pytest.fixture(params=FORMS)
def pipeline(
    request: pytest.FixtureRequest,
    machines: dict[str, Machine],
    wheel: Path,
    packages: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Pipeline:
    """Give a function that runs the sample of one form with other inputs."""
    form = request.param
    sample, place, job, _, _ = SAMPLES[form]

    def run(target: dict[str, str] | None = None, **inputs: str) -> Ended:
        folder = tmp_path_factory.mktemp("repository")
        file = folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_with((CI / sample).read_text("utf-8"), inputs), "utf-8")
        machine = _machine(folder, wheel, packages, target or {}, machines.get(form))
        runner = GitHub if form == "github" else GitLab
        result = runner(machine, file).run(job)
        machines[form] = machine
        return Ended(form, result, machine)

    return run


def _with(sample: str, inputs: dict[str, str]) -> str:
    """Change inputs in the text of a sample, where it has them."""
    for name, value in inputs.items():
        key = name.replace("_", "-")
        text = value if "\n" not in value else "|\n" + re.sub("(?m)^", " " * 12, value)
        sample, count = re.subn(rf"(?m)^( +{key}: )\S+ #.*$", r"\1" + text.replace("\\", r"\\"), sample)
        assert count == 1, f"the sample has no {key}"
    return sample


def _machine(folder: Path, wheel: Path, packages: Path, more: dict[str, str], before: Machine | None) -> Machine:
    temporary, artifacts = folder.parent / f"{folder.name}-temp", folder.parent / f"{folder.name}-artifacts"
    temporary.mkdir()
    artifacts.mkdir()
    environment = {**offline(wheel, packages), "PIP_NO_BUILD_ISOLATION": "0", **more}
    machine = Machine(folder=folder, temporary=temporary, environment=environment, artifacts=artifacts)
    if before is not None:
        machine.installed, machine.path = before.installed, before.path
        kept = before.folder / ".kueue-dra"
        if kept.is_dir():
            (folder / ".kueue-dra").symlink_to(kept.resolve())
    return machine


def _known(until: str) -> str:
    return f"- id: COUNT-006\n  reason: our fork does not multiply\n  until: {until}\n"


def test_a_sound_target_is_green(pipeline: Pipeline) -> None:
    """A summary that people read, and the files for others."""
    ended = pipeline(arguments="quota")

    assert ended.green, ended.log
    assert ended.summary.startswith("## ")
    assert "cases passed" in ended.summary
    assert "Gate `inferred`: **passed**, 0 known failures" in ended.summary
    assert len(ended.summary) < 5000
    found = {Path(each).name for each in names(ended.machine.artifacts)}
    assert found >= {"report.yaml", "report.json", "report.html", "junit.xml"}
    assert int(ended.junit()[0].get("tests", "0")) > 1


def test_a_wrong_target_is_red(pipeline: Pipeline) -> None:
    """The summary has the sentence of the text, and both sides of the first failures."""
    ended = pipeline(WRONG, arguments="quota")

    assert not ended.green
    assert "COUNT-006: " in ended.summary
    assert re.search(r"(?m)^-.*whole-gpus", ended.summary)
    assert re.search(r"(?m)^\+.*whole-gpus", ended.summary)
    assert "Traceback" not in ended.log
    assert ended.junit().findall(".//testcase/failure")


def test_a_known_failure_is_accepted(pipeline: Pipeline) -> None:
    """With its reason and last day in the summary; JUnit has it as skipped."""
    until = (TODAY + timedelta(days=30)).isoformat()
    ended = pipeline(WRONG, arguments="quota -k 'charged_for_each_pod and fits'", expected_failures=_known(until))

    assert ended.green, ended.log
    assert "1 known failure" in ended.summary
    assert f"known until {until}: COUNT-006: our fork does not multiply" in ended.summary
    skipped = [each.get("message", "") for each in ended.junit().findall(".//testcase/skipped")]
    assert "known failure: our fork does not multiply" in skipped


def test_an_expired_known_failure_is_refused(pipeline: Pipeline) -> None:
    """The summary names the entry and its last day."""
    until = (TODAY - timedelta(days=2)).isoformat()
    ended = pipeline(WRONG, arguments="quota -k 'charged_for_each_pod and fits'", expected_failures=_known(until))

    assert not ended.green
    assert f"COUNT-006: the entry was valid until {until}" in ended.summary


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"arguments": "nosuch"}, "unknown suite nosuch"),
        ({"expected_failures": "nosuch.yaml"}, "nosuch.yaml"),
    ],
)
def test_a_run_that_cannot_start_is_red(inputs: dict[str, str], message: str, pipeline: Pipeline) -> None:
    """The log has the reason; no summary says anything else."""
    ended = pipeline(**inputs)

    assert not ended.green
    assert message in ended.log
    assert "Traceback" not in ended.log
    assert ended.summary == ""


def test_an_open_quotation_is_one_line(
    machines: dict[str, Machine], wheel: Path, packages: Path, tmp_path: Path
) -> None:
    """GitHub shows it at the step."""
    (tmp_path / "repository").mkdir()
    file = tmp_path / "repository" / "workflow.yaml"
    file.write_text(_with((CI / "github-workflow.yaml").read_text("utf-8"), {"arguments": '"quota \'"'}), "utf-8")
    machine = _machine(file.parent, wheel, packages, {}, machines.get("github"))

    assert GitHub(machine, file).run("conformance") == "failure"

    assert "::error::arguments: No closing quotation\n" in machine.log
    assert "Traceback" not in machine.log
    assert machine.outputs["run"]["result"] == "error"


def test_parts_on_four_machines_are_joined(
    machines: dict[str, Machine], wheel: Path, packages: Path, tmp_path: Path
) -> None:
    """A part that is missing is red, and the summary says which."""
    folder = tmp_path / "repository"
    folder.mkdir()
    file = folder / "workflow.yaml"
    sample = (CI / "github-shards.yaml").read_text("utf-8")
    file.write_text(sample.replace("arguments: --shard", "arguments: mapping --shard"), "utf-8")
    machine = _machine(folder, wheel, packages, {}, machines.get("github"))
    workflow = GitHub(machine, file)

    def part(number: str) -> None:
        assert workflow.run("part", part=number) == "success", machine.log
        shutil.rmtree(folder / "out")

    for number in "134":
        part(number)
    assert machine.summary == ""
    assert workflow.run("conformance") == "failure"
    assert machine.summary.startswith("## ")
    assert "shard 2 of 4 is missing" in machine.summary

    machine.summary = ""
    shutil.rmtree(machine.artifacts / "kueue-dra-conformance")
    part("2")
    assert workflow.run("conformance") == "success", machine.log
    assert "missing" not in machine.summary
