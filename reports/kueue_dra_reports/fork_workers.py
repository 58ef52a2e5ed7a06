"""Run the cases on the reference in several processes, forked after collection (``--forks``).

The forks load and collect nothing again; workers of pytest-xdist start from scratch, which takes half the time of a
short run.  The cases of a fork that exits early are missing from the report, which fails the run.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

import pytest

from kueue_dra_reports.collection import LEDGER

ALONE = ("collectonly", "maxfail", "usepdb")
"""Options that need the cases one after another."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup(
        "kueue-dra", "conformance of Kueue's DRA support (KEP-2941)"
    )
    group.addoption(
        "--forks",
        type=int,
        default=1,
        metavar="N",
        help="run the cases in N processes, forked after collection; for the reference only",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Reject options that forks do not support."""
    forks, target = config.getoption("forks"), config.getoption("target", "reference")
    if forks < 1:
        raise pytest.UsageError(f"--forks: found {forks}; expected 1 or more")
    if forks > 1 and target != "reference":
        raise pytest.UsageError(
            f"--forks: for the reference only; with --target {target} use -n {forks}"
        )
    if forks > 1 and config.getoption("numprocesses", None):
        raise pytest.UsageError(
            "--forks: cannot be combined with -n, which starts its own workers"
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Run a part of the cases here and the rest in forks, and add their reports to ours."""
    count = min(at_once(session.config), len(session.items))
    if count < 2:
        return (yield)
    own, *others = (session.items[part::count] for part in range(count))
    with _forks(session, others) as forks:
        session.items = own
        done = yield
        for fork in forks:
            _receive(session, fork)
    return done


def at_once(config: pytest.Config) -> int:
    """Give the number of processes: one if the cases must run one after another, or if the system cannot fork."""
    alone = any(config.getoption(name, None) for name in ALONE)
    return (
        1
        if alone or "fork" not in multiprocessing.get_all_start_methods()
        else int(config.getoption("forks"))
    )


@dataclass(frozen=True, slots=True)
class _Fork:
    process: BaseProcess
    pipe: Connection


@contextmanager
def _forks(
    session: pytest.Session, parts: Sequence[list[pytest.Item]]
) -> Iterator[list[_Fork]]:
    """Run each part of the cases in a fork; all forks end with the block, which SIGTERM ends as Ctrl-C does."""
    forking, forks = multiprocessing.get_context("fork"), list[_Fork]()
    before = signal.getsignal(signal.SIGTERM)
    if before is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for part in parts:
            here, there = forking.Pipe(duplex=False)
            forks.append(
                _Fork(
                    forking.Process(
                        target=_run, args=(session, part, there), daemon=True
                    ),
                    here,
                )
            )
            forks[-1].process.start()
            there.close()
        yield forks
    finally:
        signal.signal(signal.SIGTERM, before)
        for fork in forks:
            fork.process.terminate()
            fork.process.join()


def _run(session: pytest.Session, items: list[pytest.Item], pipe: Connection) -> None:
    """Run cases in a fork, and send their reports at the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # our parent ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    config = session.config
    manager = config.pluginmanager
    manager.unregister(manager.get_plugin("terminalreporter"))
    if capturing := manager.get_plugin("capturemanager"):  # into our own files
        capturing.stop_global_capturing()
        capturing.start_global_capturing()
    received: list[pytest.TestReport] = []
    manager.register(_Listener(received))
    for item, following in zip(items, [*items[1:], None], strict=True):
        config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    reports = [
        config.hook.pytest_report_to_serializable(config=config, report=report)
        for report in received
    ]
    pipe.send((reports, config.stash[LEDGER].hand_over()))


class _Listener:
    def __init__(self, received: list[pytest.TestReport]) -> None:
        self.received = received

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.received.append(report)


def _receive(session: pytest.Session, fork: _Fork) -> None:
    """Add the results of a fork; if it exited early, print that, because its cases are missing from the report."""
    try:
        reports, facts = fork.pipe.recv()
    except EOFError:
        fork.process.join()
        text = f"\na process that ran a part of the cases exited early, with code {fork.process.exitcode}"
        session.config.get_terminal_writer().line(text, red=True)
        return
    session.config.stash[LEDGER].take_over(facts)
    for each in reports:
        report: Any = session.config.hook.pytest_report_from_serializable(
            config=session.config, data=each
        )
        session.config.hook.pytest_runtest_logreport(report=report)
