"""Runs the steps of a GitHub workflow and of a GitLab pipeline in a folder, as their runners do it with bash.

Actions of others are not run: checkout does nothing, upload-artifact copies there, download-artifact back.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.wheels import ROOT

ACTION = "OWNER/kueue-dra-conformance@"
COMPONENT = "/OWNER/kueue-dra-conformance/kueue-dra@"
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
PATH = f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin"
Values = Mapping[str, str]


@dataclass(kw_only=True)
class Machine:
    """A machine that runs jobs; ``installed`` keeps what the first job installed for the ones after it."""

    folder: Path
    temporary: Path
    environment: Values
    artifacts: Path
    path: str = PATH
    installed: bool = False
    log: str = ""
    summary: str = ""
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    def bash(self, script: str, environment: Values) -> int:
        """Run a script in the folder of the repository, and give its exit code."""
        variables = {"PATH": self.path, "HOME": str(self.temporary), **self.environment, **environment}
        ran = subprocess.run(
            [*BASH, "-c", script], cwd=self.folder, env=variables, capture_output=True, text=True, check=False
        )
        self.log += ran.stdout + ran.stderr
        return ran.returncode


class GitHub:
    """The jobs of a workflow."""

    def __init__(self, machine: Machine, workflow: Path) -> None:
        self.machine = machine
        self.jobs: dict[str, Any] = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]

    def run(self, job: str, **matrix: str) -> str:
        """Run the steps of a job, and give its result; after a failure only steps with ``always()`` run."""
        values = {f"matrix.{name}": value for name, value in matrix.items()}
        failed = False
        for step in self.jobs[job]["steps"]:
            if not failed or step.get("if") == "always()":
                failed |= self._step(step, values) != 0
        return "failure" if failed else "success"

    def _step(self, step: dict[str, Any], values: Values) -> int:
        uses = step.get("uses", "")
        given = {name: resolved(str(value), values) for name, value in step.get("with", {}).items()}
        if uses.startswith(ACTION):
            return self._composite(given)
        if uses.startswith("actions/upload-artifact@"):
            self._upload(self.machine.folder / given["path"], given["name"])
        elif uses.startswith("actions/download-artifact@"):
            shutil.copytree(self.machine.artifacts, self.machine.folder / given["path"], dirs_exist_ok=True)
        elif uses:
            assert uses.split("@")[0] in ("actions/checkout", "actions/setup-python", "actions/setup-go"), uses
        else:
            return self._script(step, values)
        return 0

    def _upload(self, folder: Path, name: str) -> None:
        """Copy a folder; one that does not exist is a warning."""
        if folder.is_dir():
            shutil.copytree(folder, self.machine.artifacts / name)

    def _composite(self, given: Values) -> int:
        action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
        assert set(given) <= set(action["inputs"])
        values = {f"inputs.{name}": given.get(name, one["default"]) for name, one in action["inputs"].items()}
        values["github.action_path"] = str(ROOT)
        for step in action["runs"]["steps"]:
            assert step["shell"] == "bash"
            if self.machine.installed and step["name"].startswith("Install"):
                continue
            if code := self._script(step, values):
                return code
        self.machine.installed = True
        return 0

    def _script(self, step: dict[str, Any], values: Values) -> int:
        """Run a script with the files in which a step writes what it gives to the runner."""
        names = ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
        files = {name: self.machine.temporary / name for name in names}
        for file in files.values():
            file.write_text("", "utf-8")
        environment = {name: resolved(value, values) for name, value in step.get("env", {}).items()}
        environment |= {name: str(file) for name, file in files.items()} | {"RUNNER_TEMP": str(self.machine.temporary)}
        code = self.machine.bash(resolved(step["run"], values), environment)
        paths, outputs, summary = (file.read_text("utf-8") for file in files.values())
        self.machine.path = ":".join([*reversed(paths.split()), self.machine.path])
        self.machine.outputs[step.get("id", "")] = dict(line.split("=", 1) for line in outputs.splitlines())
        self.machine.summary += summary
        return code


def resolved(text: str, values: Values) -> str:
    """Replace the expressions in a text; an unknown one is an error of the test."""
    return re.sub(r"\$\{\{ *(\S+) *\}\}", lambda found: values[found[1]], text)


class GitLab:
    """The jobs of a pipeline that includes the component."""

    def __init__(self, machine: Machine, pipeline: Path) -> None:
        self.machine = machine
        (include,) = yaml.safe_load(pipeline.read_text("utf-8"))["include"]
        assert COMPONENT in include["component"]
        head, body = yaml.safe_load_all((ROOT / "templates" / "kueue-dra.yml").read_text("utf-8"))
        known = head["spec"]["inputs"]
        assert set(include["inputs"]) <= set(known)
        inputs = {name: include["inputs"].get(name, one.get("default")) for name, one in known.items()}
        for name, one in known.items():
            assert inputs[name] in one.get("options", [inputs[name]])
        self.jobs: dict[str, Any] = _filled(body, inputs)

    def run(self, job: str) -> str:
        """Run the scripts of a job in one shell, collect its artifacts, and give its result."""
        steps = self.jobs[job]
        before = [] if self.machine.installed else steps["before_script"][:-1]
        lines = [*before, steps["before_script"][-1], *steps["script"]]
        environment = {name: str(value) for name, value in steps["variables"].items()}
        code = self.machine.bash("\n".join(lines), environment)
        self.machine.installed = True
        artifacts = steps["artifacts"]
        for path in [*artifacts["paths"], artifacts["reports"]["junit"]]:
            self._collect(path, artifacts["when"] == "always" or code == 0)
        return "failed" if code else "success"

    def _collect(self, path: str, wanted: bool) -> None:
        found = self.machine.folder / path
        if wanted and found.exists():
            copy = shutil.copytree if found.is_dir() else shutil.copy
            target = self.machine.artifacts / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                copy(found, target)


def _filled(node: Any, inputs: Mapping[str, Any]) -> Any:
    """Fill in the inputs of a component, in keys and values, as GitLab does after it has read the YAML."""
    match node:
        case str():
            return re.sub(r"\$\[\[ *inputs\.(\S+) *\]\]", lambda found: str(inputs[found[1]]), node)
        case list():
            return [_filled(each, inputs) for each in node]
        case dict():
            return {_filled(name, inputs): _filled(each, inputs) for name, each in node.items()}
    return node


def names(folder: Path) -> Iterator[str]:
    """Give the files below a folder."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix()
