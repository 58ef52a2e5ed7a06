"""The pytest plugin of the suite: its options, the report that its tests look at, and the summary.

pytest loads it in every run of an environment that has the wheel. It imports nothing until ``--vendor-dir`` is given.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kueue_dra_vendor.report import VendorReport

SUITE = "kueue_dra_vendor.suite"
FOLDER = Path(__file__).parent / "suite"
REPORT = pytest.StashKey["VendorReport"]()
NO_FILES = f"{SUITE}: found no --vendor-dir; expected a folder with a vendor's files"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, with the meaning that they have for ``kueue-dra vendor check``."""
    group = parser.getgroup("kueue-dra vendor")
    group.addoption(
        "--vendor-dir",
        action="append",
        metavar="DIR",
        help="A vendor's files, or a folder with them. Repeatable.",
    )
    group.addoption("--vendor-config", metavar="FILE", help="Kueue's Configuration.")
    group.addoption("--vendor-descriptor", metavar="FILE", help="The descriptor.")
    group.addoption("--vendor-known", metavar="FILE", help="The known findings.")
    group.addoption(
        "--vendor-kubernetes",
        metavar="MINOR",
        default="1.36",
        help="The minor of the API server that receives the objects. Default: 1.36.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the files once, before collection, so that wrong input is one line and no test."""
    if not config.getoption("--vendor-dir"):
        return
    from kueue_dra_vendor.reading import UnusableInput

    try:
        config.stash[REPORT] = _report(config)
    except UnusableInput as fault:
        raise pytest.UsageError(*fault.lines) from None


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Refuse to run the suite without files."""
    if REPORT in config.stash:
        return
    for item in items:
        folder = item.path.parent
        if folder == FOLDER:
            raise pytest.UsageError(NO_FILES)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the findings and the line that sums them up."""
    report = config.stash.get(REPORT, None)
    if report is None:
        return
    terminalreporter.section("kueue-dra vendor")
    for each in report.findings:
        line = str(each)
        terminalreporter.line(line)
    terminalreporter.line(report.summary)


@pytest.fixture(scope="session")
def vendor_report(pytestconfig: pytest.Config) -> VendorReport:
    """Give what the checks found in the files of ``--vendor-dir``."""
    return pytestconfig.stash[REPORT]


def _report(config: pytest.Config) -> VendorReport:
    from kueue_dra_ref.apiserver import MINORS
    from kueue_dra_vendor import reading
    from kueue_dra_vendor.catalogue import ALL
    from kueue_dra_vendor.report import reported

    kubernetes = config.getoption("--vendor-kubernetes")
    if kubernetes not in MINORS:
        known = ", ".join(MINORS)
        text = f"--vendor-kubernetes: found {kubernetes}; expected one of {known}"
        raise reading.UnusableInput([text])
    folders = config.getoption("--vendor-dir")
    paths = [Path(each) for each in folders]
    configuration = _path(config, "--vendor-config")
    descriptor = _path(config, "--vendor-descriptor")
    given = reading.VendorInput(
        paths=paths,
        kubernetes=kubernetes,
        configuration=configuration,
        descriptor=descriptor,
    )
    context = reading.context_of(given)
    known_file = _path(config, "--vendor-known")
    known_entries = reading.known_findings(paths, known_file)
    return reported(context, ALL, known_entries)


def _path(config: pytest.Config, option: str) -> Path | None:
    value = config.getoption(option)
    if value is None:
        return None
    return Path(value)
