"""Fixtures for all of the project's own tests."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from kueue_dra_reports.shards import Shard
from tests import wheels
from tests.toys import Toy

WHOLE = Shard(1, 1)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run take a part of what is recorded."""
    parser.addoption(
        "--stories",
        metavar="I/N",
        type=Shard.read,
        default=WHOLE,
        help="replay only part I of N of the recorded scenarios",
    )
    parser.addoption(
        "--texts",
        metavar="I/N",
        type=Shard.read,
        default=WHOLE,
        help="run the whole suite for only part I of N of the texts and releases",
    )
    parser.addoption(
        "--files",
        metavar="I/N",
        type=Shard.read,
        default=WHOLE,
        help="run only part I of N of the files with tests",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the files, and the runs of the whole suite, that are not in the part that was asked for."""
    runs = [item for item in items if item.get_closest_marker("whole_suite")]
    kept = config.getoption("--texts").of_list(runs)
    files = config.getoption("--files").of_list(list(dict.fromkeys(item.path for item in items)))
    left_out = [item for item in items if item.path not in files or (item in runs and item not in kept)]
    config.hook.pytest_deselected(items=left_out)
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
