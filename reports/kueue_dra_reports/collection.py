"""Collection: every case cites requirements, every row is written down, what does not apply is counted."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from kueue_dra_ref.behaviours.releases import NEWEST
from kueue_dra_ref.requirements.catalogue import Requirement
from kueue_dra_reports.applicability import applies, citation_faults
from kueue_dra_reports.ledger import Ledger, Row

LEDGER = pytest.StashKey[Ledger]()
CATALOGUE = pytest.StashKey[Mapping[str, Requirement]]()
ROW = pytest.StashKey[Row]()
SUITE = "/kueue_dra_suites/conformance/"
"""Where the cases are, below the folder that holds them in a checkout or in an installation."""
NOT_ATTACHED = {
    "owns_kueue": "it restarts Kueue with a configuration of its own, and a cluster that you have is not restarted",
    "newer_api_server": "it needs an API server with alpha features, and that of a cluster that you have is as it is",
}


def place(path: Path, root: Path) -> str | None:
    """Name a file by its place in the suite, the same on every machine; None when it is not of the suite."""
    inside = path.relative_to(root) if path.is_relative_to(root) else path
    _, found, rest = f"/{inside.as_posix().removesuffix('.py')}".rpartition(SUITE)
    return rest if found else None


def catalogue_of(config: pytest.Config) -> Mapping[str, Requirement]:
    """Load the catalogue that this run's cases cite, once."""
    if CATALOGUE not in config.stash:
        config.stash[CATALOGUE] = config.hook.pytest_kueue_dra_catalogue(config=config)
    return config.stash[CATALOGUE]


def cited(item: pytest.Item) -> tuple[str, ...]:
    """Give the requirement IDs that a case cites, sorted, each once."""
    return tuple(
        sorted({str(one) for mark in item.iter_markers("covers") for one in mark.args})
    )


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Refuse a file whose cases cite nothing or something unknown, or that skips itself."""
    report = yield
    if not place(collector.path, collector.config.rootpath):
        return report
    if report.skipped:
        return _refused(
            report,
            [f"skips itself ({report.longrepr}); a conformance file may not, it fails"],
        )
    items = [one for one in report.result or [] if isinstance(one, pytest.Item)]
    faults = [f"{item.name} {fault}" for item in items for fault in _faults(item)]
    return _refused(report, faults) if faults else report


def _faults(item: pytest.Item) -> list[str]:
    wrong = citation_faults(cited(item), catalogue_of(item.config))
    if item.get_closest_marker("xfail"):
        wrong.append("is marked xfail; a conformance case is never expected to fail")
    return wrong


def _refused(report: pytest.CollectReport, faults: list[str]) -> pytest.CollectReport:
    words = "\n".join(f"{report.nodeid}: {fault}" for fault in faults)
    return pytest.CollectReport(report.nodeid, "failed", words, [])


def pytest_itemcollected(item: pytest.Item) -> None:
    """Write a row down as soon as it exists, and let its results carry its name."""
    file = place(item.path, item.config.rootpath)
    if file is None:
        return
    doc = str(getattr(getattr(item, "obj", None), "__doc__", None) or "").strip()
    row = Row(
        id=f"{file}::{item.nodeid.partition('::')[2]}",
        requirements=cited(item),
        title=doc.splitlines()[0] if doc else "",
    )
    item.stash[ROW] = row
    item.user_properties += [
        ("case", row.id),
        ("requirements", " ".join(row.requirements)),
    ]
    item.config.stash[LEDGER].enter(row)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Take out the cases that are not for this behaviour or target, and keep why."""
    ledger = config.stash[LEDGER]
    reasons = {
        item: reason
        for item in items
        if ROW in item.stash and (reason := reason_not_here(item))
    }
    ledger.not_applicable |= {
        item.stash[ROW].id: reason for item, reason in reasons.items()
    }
    if reasons:
        items[:] = [item for item in items if item not in reasons]
        config.hook.pytest_deselected(items=list(reasons))


def reason_not_here(item: pytest.Item) -> str | None:
    """Say why a case is not for the behaviour and target of this run; None when it is."""
    config = item.config
    behaviour = str(config.getoption("behaviour", NEWEST.name))
    if reason := applies(item.stash[ROW].requirements, behaviour, catalogue_of(config)):
        return reason
    reasons = NOT_ATTACHED if config.getoption("context", None) else {}
    return next(
        (reason for mark, reason in reasons.items() if item.get_closest_marker(mark)),
        None,
    )


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count what the user's own selection leaves out."""
    for item in items:
        if ROW in item.stash:
            ledger, row = item.config.stash[LEDGER], item.stash[ROW]
            if row.id not in ledger.not_applicable:
                ledger.left_out.add(row.id)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Count what is left to run after every plugin had its say."""
    rows = {item.stash[ROW].id for item in session.items if ROW in item.stash}
    session.config.stash[LEDGER].collected |= rows
