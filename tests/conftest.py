"""Fixtures for all of the project's own tests."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import settings

from kueue_dra_reports.shards import Shard
from tests import wheels
from tests.toys import Toy

WHOLE = Shard(1, 1)
settings.register_profile("untimed", deadline=None)  # a loaded machine takes long over an example, now and then
settings.load_profile("untimed")

PARTS = {
    "--stories": "replay only part I of N of the recorded scenarios",
    "--texts": "run the whole suite for only part I of N of the texts and releases",
    "--rules": "take out only part I of N of the rules",
    "--files": "run only part I of N of the files with tests",
}
MARKED = {"whole_suite": "--texts", "without_a_rule": "--rules"}
"""The mark of tests that come in parts, and the option."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run take a part of what is recorded, of what takes long, or of the files."""
    for name, text in PARTS.items():
        parser.addoption(name, metavar="I/N", type=Shard.read, default=WHOLE, help=text)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the files, and the tests of each mark, that are not in the part that was asked for."""
    missed: set[pytest.Item] = set()
    for mark, option in MARKED.items():
        marked = [item for item in items if item.get_closest_marker(mark)]
        missed.update(set(marked).difference(config.getoption(option).of_list(marked)))
    paths = list(dict.fromkeys(item.path for item in items))
    files = set(config.getoption("--files").of_list(paths))
    left_out = {item for item in items if item in missed or item.path not in files}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_sessionstart() -> None:
    """Let Ctrl-C reach what the tests start: a shell's background job ignores it, and its children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def toy(pytester: pytest.Pytester) -> Toy:
    """Give an empty toy suite; a module that uses it names the plugin ``pytester``."""
    return Toy(pytester)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from this checkout."""
    return wheels.build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the dependencies of the wheel, to import from."""
    return wheels.dependencies(tmp_path_factory.mktemp("packages"))


@pytest.fixture(scope="session")
def installed(wheel: Path, packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a fresh environment, and give its folder of programs."""
    return wheels.install(wheel, packages, tmp_path_factory.mktemp("environment"))
