"""The pytest plugin that keeps the ledger of a conformance run and writes its report.

Load it as ``pytest_plugins = ["kueue_dra_reports.plugin"]``.  It does nothing in a run without conformance cases.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kueue_dra_ref.api.files import DocumentError
from kueue_dra_ref.api.suggest import nearest
from kueue_dra_ref.behaviours.releases import NEWEST
from kueue_dra_ref.requirements.catalogue import CatalogueError, Requirement, catalogue
from kueue_dra_reports import (
    case_result,
    collection,
    digests,
    fork_workers,
    gate,
    hooks,
    junit,
    known_failures,
    selection,
)
from kueue_dra_reports.collection import LEDGER, catalogue_of
from kueue_dra_reports.document import Report
from kueue_dra_reports.ending import Unfinished
from kueue_dra_reports.ledger import Ledger
from kueue_dra_reports.repeat import command_of
from kueue_dra_reports.report import Run, report_of, write
from kueue_dra_reports.summary import explained, rendered
from kueue_dra_reports.target_block import target_block

INTENTS = ("certify", "ci", "develop")
STARTED = pytest.StashKey[float]()
GATE = pytest.StashKey[gate.Settings]()
WRITTEN = pytest.StashKey[tuple[Report, list[Path]]]()
NOT_EVEN_COUNTS = -2
"""The verbosity at which pytest prints no last line."""
RETRIERS = {
    "rerunfailures": "pytest-rerunfailures",
    "pytest-retry": "pytest-retry",
    "flaky": "flaky",
}
MARKERS = (
    "covers(*ids): the requirements of the catalogue that this case proves; every conformance case needs one",
    "owns_kueue: the case restarts Kueue with its own Configuration, so it is not for an attached cluster",
    "needs_workers: the case needs two clusters as workers of MultiKueue, so it is not for an attached cluster",
    "needs_provisioning: the case acts as a cluster autoscaler, so it is not for an attached cluster",
    "breaks_law(law, why): the case creates a state in which this invariant is known not to hold",
    "on_kubernetes(minor, *gates): the case needs the API server of a minor, with some feature gates on",
    "newer_api_server: the case needs an API server with alpha features, so it is not for an attached cluster",
    "any_devices: the case holds whatever devices the drivers of a cluster publish",
)


def record_target(
    config: pytest.Config, describe: Mapping[str, Any], configuration: Mapping[str, Any]
) -> None:
    """Record the target (``target.describe()``) and its Kueue Configuration for the report, from any process."""
    config.stash[LEDGER].record(dict(describe), dict(configuration))


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the plugins for collection and results, and declare our own hooks."""
    pluginmanager.add_hookspecs(hooks)
    pluginmanager.register(collection, "kueue-dra-collecting")
    pluginmanager.register(selection, "kueue-dra-selection")
    pluginmanager.register(case_result, "kueue-dra-results")
    pluginmanager.register(fork_workers, "kueue-dra-forked")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options about the report."""
    group = parser.getgroup(
        "kueue-dra", "conformance of Kueue's DRA support (KEP-2941)"
    )
    group.addoption(
        "--report-dir",
        default="out",
        metavar="DIR",
        help="the folder for the report files (default: out); write --report-dir=DIR with =, "
        "because pytest collects an existing folder after a space",
    )
    group.addoption(
        "--intent",
        choices=INTENTS,
        default="ci",
        help="certify runs the whole suite, and only it may claim conformance; ci (default); develop",
    )
    # From kueue-dra run: the command line that repeats the run.
    group.addoption("--repeated-by", default="", help=argparse.SUPPRESS)
    _add_gate_options(group)


def _add_gate_options(group: pytest.OptionGroup) -> None:
    group.addoption(
        "--gate",
        choices=gate.LEVELS,
        default=gate.LEVELS[-1],
        help="the weakest level of requirements whose failures turn the exit code red (default: inferred, all)",
    )
    group.addoption(
        "--expected-failures",
        default="",
        metavar="FILE",
        help="known failures: a YAML list of entries with id, reason, until, and link if there is one",
    )


@pytest.hookimpl(trylast=True)
def pytest_kueue_dra_catalogue() -> Mapping[str, Requirement]:
    """Give the project's own catalogue, unless a conftest gives another one."""
    return catalogue()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Open the ledger, and reject options that would make a green run worthless."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    config.stash[LEDGER] = Ledger()
    config.stash[STARTED] = time.monotonic()
    config.pluginmanager.register(case_result.Listener(config), "kueue-dra-listener")
    unfinished = Unfinished()
    config.pluginmanager.register(unfinished)
    config.add_cleanup(unfinished.end)  # after what pytest's own plugins restore
    if not runs_the_suite(config) or config.option.collectonly:
        return
    _refuse_retries(config)
    _refuse_unknown_behaviour(config)
    if not is_worker(config):
        config.stash[GATE] = _gate_settings(config)
        _prepare_files(config)


def _gate_settings(config: pytest.Config) -> gate.Settings:
    """Read what the user accepts; a certified run accepts nothing."""
    name, level = config.getoption("expected_failures"), config.getoption("gate")
    certify = config.getoption("intent") == "certify"
    if certify and (name or level != gate.LEVELS[-1]):
        option = "--expected-failures" if name else f"--gate {level}"
        raise pytest.UsageError(
            f"{option}: a run with --intent certify accepts no failure"
        )
    path = config.invocation_params.dir / str(name)
    try:
        known = known_failures.read(path) if name else ()
    except DocumentError as fault:
        raise pytest.UsageError(f"--expected-failures: {fault.worded}") from None
    homes = [_home(config), *(one.parent for one in collection.own_folders(config))]
    return gate.Settings(
        level=str(level),
        known=known,
        has_file=lambda file: any((home / f"{file}.py").is_file() for home in homes),
    )


def _home(config: pytest.Config) -> Path:
    """Give the folder of the suite that the arguments of this run name or hold."""
    for arg in config.args:
        path = (config.invocation_params.dir / arg.partition("::")[0]).resolve()
        head, found, _ = f"{path.as_posix()}/".partition(collection.SUITE)
        if found:
            return Path(head + found)
        for above in (path, path.parent, path / "suites"):
            if (above / collection.SUITE.strip("/")).is_dir():
                return above / collection.SUITE.strip("/")
    return config.rootpath


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is a worker of a parallel run, which reports to a controller and writes no files."""
    return hasattr(config, "workerinput")


def _prepare_files(config: pytest.Config) -> None:
    """Reject a folder that cannot be written; it is created at the end of the run.

    (If it existed now, a worker would collect it, because it parses its arguments before it knows our options.)
    """
    folder = folder_of(config)
    above = next(path for path in (folder, *folder.parents) if path.exists())
    if not (above.is_dir() and os.access(above, os.W_OK)):
        raise pytest.UsageError(
            f"--report-dir {config.getoption('report_dir')}: {above} is not a writable folder"
        )


def folder_of(config: pytest.Config) -> Path:
    """Give the folder of the report files."""
    return config.invocation_params.dir / str(config.getoption("report_dir"))


def runs_the_suite(config: pytest.Config) -> bool:
    """Whether the arguments of this run name a path in the suite, or a folder that holds it."""
    paths = (
        (config.invocation_params.dir / arg.partition("::")[0]).resolve()
        for arg in config.args
    )
    own = collection.own_folders(config)
    return any(_holds_cases(path) or _meets(path, own) for path in paths)


def _meets(path: Path, folders: Sequence[Path]) -> bool:
    """Whether a path is in one of the folders, or holds one."""
    return any(
        path.is_relative_to(folder) or folder.is_relative_to(path) for folder in folders
    )


def _holds_cases(path: Path) -> bool:
    inside = collection.SUITE in f"{path.as_posix()}/"
    return inside or any(
        (above / collection.SUITE.strip("/")).is_dir()
        for above in (path, path.parent, path / "suites")
    )


def _refuse_retries(config: pytest.Config) -> None:
    for plugin, name in RETRIERS.items():
        if config.pluginmanager.hasplugin(plugin):
            raise pytest.UsageError(
                f"{name} is active: a case that passes at the second attempt would look like success. "
                f"Run without it: -p no:{plugin}"
            )


def _refuse_unknown_behaviour(config: pytest.Config) -> None:
    name = behaviour_of(config)
    try:
        known = sorted(
            {
                one
                for requirement in catalogue_of(config).values()
                for one in requirement.holds
            }
        )
    except CatalogueError as fault:
        raise pytest.UsageError(f"the catalogue is wrong: {fault}") from None
    if name not in known:
        raise pytest.UsageError(
            f"--behaviour {name}: no requirement holds in it; {nearest(name, known)}"
        )


def behaviour_of(config: pytest.Config) -> str:
    """Give the name of the behaviour of this run."""
    return str(config.getoption("behaviour", None) or NEWEST.name)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the ledger to the controller, or write the report and fail a run that did less than planned."""
    config, ledger = session.config, session.config.stash[LEDGER]
    if is_worker(config):
        config.workeroutput["kueue_dra"] = ledger.hand_over()  # type: ignore[attr-defined]  # xdist's own attribute
        return
    if config.option.collectonly or not (ledger.rows or runs_the_suite(config)):
        return
    if session.exitstatus == pytest.ExitCode.INTERRUPTED and not ledger.rows:
        _collect_here(session)
    if reason := _nothing_matches(session, ledger):
        session.exitstatus = pytest.ExitCode.USAGE_ERROR
        print(f"kueue-dra: {reason}", file=sys.stderr)
    if session.exitstatus == pytest.ExitCode.USAGE_ERROR:
        # No case could run; the one line of the error is all there is to print.
        config.option.no_summary = True
        config.option.verbose = NOT_EVEN_COUNTS
        return
    report = _report(config, ledger)
    config.stash[WRITTEN] = (report, _write(report, config))
    session.exitstatus = _exit_code(int(session.exitstatus), report, ledger)


def _report(config: pytest.Config, ledger: Ledger) -> Report:
    run = Run(
        date=datetime.now(UTC),
        seconds=time.monotonic() - config.stash[STARTED],
        intent=str(config.getoption("intent")),
        behaviour=behaviour_of(config),
        target=target_block(config, ledger),
        gate=config.stash.get(GATE, gate.Settings()),
    )
    return report_of(ledger, catalogue_of(config), run)


def _write(report: Report, config: pytest.Config) -> list[Path]:
    """Write the files of a report; JUnit XML too, unless --junitxml asks pytest for it."""
    folder = folder_of(config)
    paths = write(report, folder)
    own = config.getoption("xmlpath", None)
    if own:
        digests.write(paths)
        return [*paths, Path(str(own))]
    file = folder / junit.FILE
    junit.write(report, file)
    digests.write([*paths, file])
    return [*paths, file]


def _collect_here(session: pytest.Session) -> None:
    """Collect the cases of a parallel run whose workers were interrupted before they sent their rows."""
    capturing = session.config.pluginmanager.get_plugin("capturemanager")
    if capturing:
        capturing.start_global_capturing()
    session.perform_collect()
    if capturing:
        capturing.stop_global_capturing()


def _nothing_matches(session: pytest.Session, ledger: Ledger) -> str:
    """Give the reason why a selection left no case to run; empty if there is one, or if the run failed earlier."""
    if session.exitstatus != pytest.ExitCode.NO_TESTS_COLLECTED:
        return ""
    if not ledger.left_out or ledger.planned or ledger.uncollectable:
        return ""
    named = [
        f"{option} {value}"
        for option, value in _selecting(session.config).items()
        if value
    ]
    chosen = " and ".join(named) or "the selection"
    absent = len(ledger.not_applicable)
    return f"no case matches {chosen} ({len(ledger.left_out)} do not, {absent} do not apply)"


def _selecting(config: pytest.Config) -> Mapping[str, str]:
    names = {
        "-k": "keyword",
        "-m": "markexpr",
        "--citing": "citing",
        "--shard": "shard",
    }
    found = {option: str(config.getoption(name, "")) for option, name in names.items()}
    return found | {"--case": ", ".join(config.getoption("case"))}


def _exit_code(code: int, report: Report, ledger: Ledger) -> int:
    """Give the exit code: the gate decides, unless the run was interrupted or another test failed."""
    ended = (
        pytest.ExitCode.OK,
        pytest.ExitCode.TESTS_FAILED,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    )
    if code not in ended:
        return code
    if ledger.others_failed or report["gate"]["result"] == "failed":
        return int(pytest.ExitCode.TESTS_FAILED)
    return int(pytest.ExitCode.OK)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(
    report: pytest.CollectReport | pytest.TestReport, config: pytest.Config
) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Show a known failure as such, and not among the failures."""
    if isinstance(report, pytest.CollectReport) or not report.failed:
        return None
    facts = dict(report.user_properties)
    if facts.get("outcome") != "failed" or GATE not in config.stash:
        return None
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    cited = str(facts["requirements"]).split()
    for known in config.stash[GATE].known:
        if known.names(str(facts["case"]), cited) and not known.expired(today):
            return "known failures", "k", ("KNOWN FAILURE", {"yellow": True})
    return None


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the summary after pytest's own lines."""
    if WRITTEN not in config.stash:
        return
    report, paths = config.stash[WRITTEN]
    terminalreporter.section("conformance", sep="=")
    unaccepted = {*report["gate"]["red"], *report["gate"]["below"]}
    for check in report["checks"]:
        if check["id"] in unaccepted:
            repeat = command_of(check["id"], report)
            terminalreporter.write_line(explained(check, repeat))
    terminalreporter.write_line(
        rendered(report, [_near(path, config.invocation_params.dir) for path in paths])
    )


def _near(path: Path, start: Path) -> str:
    return str(path.relative_to(start) if path.is_relative_to(start) else path)
