"""The ``target`` block of a report: the target, its Kueue Configuration, and how and where the run took place."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kueue_dra_reports.fork_workers import at_once
from kueue_dra_reports.ledger import Ledger
from kueue_dra_reports.report import DISTRIBUTION, digest, suite_version

TIME_FACTOR_VARIABLE = "KUEUE_DRA_TIME_FACTOR"
KUEUE = {
    "organization": "kubernetes-sigs",
    "project": "kueue",
    "url": "https://github.com/kubernetes-sigs/kueue",
}
FILES = (
    "--report-dir",
    "--junitxml",
    "--junit-xml",
    "--alluredir",
    "--rootdir",
    "-c",
    "--config-file",
    "--basetemp",
    "--cluster-kubeconfig",
)
"""Options with paths of this machine; none changes the result."""


def target_block(config: pytest.Config, ledger: Ledger) -> dict[str, Any]:
    """Collect all that depends on the target and the machine, so that the rest can be compared."""
    name = str(config.getoption("target", "reference"))
    about = next((fact for fact in ledger.abouts if fact), {})
    configurations = [_configuration(one) for one in ledger.configurations if one]
    return {
        "name": name,
        "implementation": _implementation(name, about),
        "about": about,
        "kueue": {
            "configurations": sorted(configurations, key=lambda one: str(one["digest"]))
        },
        "environment": {
            **_shard(config),
            "timeFactor": os.environ.get(TIME_FACTOR_VARIABLE, "1"),
            "parallelism": int(
                config.getoption("numprocesses", None) or at_once(config)
            ),
        },
        "reproduce": {"command": command(config)},
    }


def _shard(config: pytest.Config) -> dict[str, str]:
    text = str(config.getoption("shard", ""))
    return {"shard": text} if text else {}


def _implementation(name: str, about: Mapping[str, Any]) -> dict[str, str]:
    if name == "kueue":
        found = str(about.get("version") or about.get("kueue") or "unknown")
        return {**KUEUE, "version": found}
    return {
        "organization": DISTRIBUTION,
        "project": "reference",
        "url": "",
        "version": suite_version(),
    }


def _configuration(document: Mapping[str, Any]) -> dict[str, Any]:
    resources = document.get("resources") or {}
    return {
        "digest": digest([document]),
        "featureGates": document.get("featureGates") or {},
        "deviceClassMappings": resources.get("deviceClassMappings") or [],
    }


def command(config: pytest.Config) -> str:
    """Give the command that repeats this run: of ``kueue-dra run``, or of pytest without paths of this machine."""
    if given := str(config.getoption("repeated_by", "")):
        return given
    raw = [
        *shlex.split(os.environ.get("PYTEST_ADDOPTS", "")),
        *map(str, config.invocation_params.args),
    ]
    asked = list(_elsewhere(raw, config))
    options = {"--target": "target", "--behaviour": "behaviour", "--intent": "intent"}
    named = {one.partition("=")[0] for one in asked}
    for option, name in options.items():
        if option not in named and (value := config.getoption(name, None)):
            asked += [option, str(value)]
    return shlex.join(["python", "-m", "pytest", *asked])


def _elsewhere(raw: Iterable[str], config: pytest.Config) -> Iterator[str]:
    """Remove the options about files, and name the files of the suite by their path inside it."""
    rest = iter(raw)
    for one in rest:
        if one in FILES:
            next(rest, None)
        elif not one.startswith(
            tuple(f"{option}=" for option in FILES if option.startswith("--"))
        ):
            yield _movable(one, config)


def _movable(argument: str, config: pytest.Config) -> str:
    """Turn a path of this machine into one that works in each checkout."""
    option, equals, value = (
        argument.rpartition("=") if argument.startswith("--") else ("", "", argument)
    )
    file, separator, rest = value.partition("::")
    if not file.startswith(("/", "~", "./", "../")):
        return argument
    path = (config.invocation_params.dir / Path(file).expanduser()).resolve()
    name = _name(path, config.rootpath)
    return option + equals + name + separator + rest


def _name(path: Path, root: Path) -> str:
    _, suite, inside = path.as_posix().rpartition("/kueue_dra_suites/conformance")
    if suite:
        return f"suites{suite}{inside}"
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
