"""The cases of a judge in memory in several processes, forked when all is collected (``--forks``).

Nothing is loaded or collected twice then; workers of pytest-xdist begin with nothing, and half the time of a short run
is theirs.  What a fork does not tell, because it died, is missing from the report and fails the run.
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
"""Options that want the cases one after another."""


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
        help="judge in N processes at once, forked when everything is collected; for the reference",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse what forks cannot do."""
    forks, target = config.getoption("forks"), config.getoption("target", "reference")
    if forks < 1:
        raise pytest.UsageError(
            f"--forks: {forks} is too few; at least one process judges"
        )
    if forks > 1 and target != "reference":
        raise pytest.UsageError(
            f"--forks: for the reference only; with --target {target} say -n {forks}"
        )
    if forks > 1 and config.getoption("numprocesses", None):
        raise pytest.UsageError(
            "--forks: not together with -n, whose workers are other processes"
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Run a part of the cases here and the others in forks, whose reports are heard as if they were ours."""
    count = min(at_once(session.config), len(session.items))
    if count < 2:
        return (yield)
    own, *others = (session.items[part::count] for part in range(count))
    with _forks(session, others) as forks:
        session.items = own
        done = yield
        for fork in forks:
            _hear(session, fork)
    return done


def at_once(config: pytest.Config) -> int:
    """Say how many processes judge: one where cases have to come one after another, or nothing can be forked."""
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
    """Have each part of the cases run in a fork; none of them outlives the block."""
    forking, forks = multiprocessing.get_context("fork"), list[_Fork]()
    try:
        for part in parts:
            here, there = forking.Pipe(duplex=False)
            forks.append(
                _Fork(
                    forking.Process(
                        target=_judge, args=(session, part, there), daemon=True
                    ),
                    here,
                )
            )
            forks[-1].process.start()
            there.close()
        yield forks
    finally:
        for fork in forks:
            fork.process.terminate()
            fork.process.join()


def _judge(session: pytest.Session, items: list[pytest.Item], pipe: Connection) -> None:
    """Run cases in a fork, and tell of them when all are done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever forked us ends us
    config = session.config
    manager = config.pluginmanager
    manager.unregister(manager.get_plugin("terminalreporter"))
    if capturing := manager.get_plugin("capturemanager"):  # into files of our own
        capturing.stop_global_capturing()
        capturing.start_global_capturing()
    heard: list[pytest.TestReport] = []
    manager.register(_Listener(heard))
    for item, following in zip(items, [*items[1:], None], strict=True):
        config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    told = [
        config.hook.pytest_report_to_serializable(config=config, report=report)
        for report in heard
    ]
    pipe.send((told, config.stash[LEDGER].hand_over()))


class _Listener:
    def __init__(self, heard: list[pytest.TestReport]) -> None:
        self.heard = heard

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.heard.append(report)


def _hear(session: pytest.Session, fork: _Fork) -> None:
    """Take over what a fork tells; when it died before, say so: its cases are missing from the report."""
    try:
        told, facts = fork.pipe.recv()
    except EOFError:
        fork.process.join()
        words = f"\na process that judged a part of the cases ended early, with exit code {fork.process.exitcode}"
        session.config.get_terminal_writer().line(words, red=True)
        return
    session.config.stash[LEDGER].take_over(facts)
    for each in told:
        report: Any = session.config.hook.pytest_report_from_serializable(
            config=session.config, data=each
        )
        session.config.hook.pytest_runtest_logreport(report=report)
