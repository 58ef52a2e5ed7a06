"""Collect the cases: each cites requirements, and the ledger records each row and why it does not apply."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

import pytest

from kueue_dra_ref.behaviours.releases import NEWEST
from kueue_dra_ref.requirements.catalogue import Requirement
from kueue_dra_reports.applicability import applies, citation_faults
from kueue_dra_reports.ledger import Ledger, Row

LEDGER = pytest.StashKey[Ledger]()
Catalogue = Mapping[str, Requirement]
CATALOGUE = pytest.StashKey[Catalogue]()
OWN = pytest.StashKey[Sequence[Path]]()
"""Folders with cases of your own, see `kueue_dra_fixtures.own_cases`."""
ROW = pytest.StashKey[Row]()
NOT_HERE = pytest.StashKey[dict[str, str]]()
"""The cases that the target of this run cannot serve, with the reasons; another plugin finds them out."""
OF_TARGET = pytest.StashKey[set[str]]()
"""The cases of the behaviour that do not run on this target."""
Collecting = Generator[None, pytest.CollectReport, pytest.CollectReport]
"""The collection of a file, as pluggy runs it."""
SUITE = "/kueue_dra_suites/conformance/"
"""The path of the cases, inside a checkout or an installation."""
NOT_ATTACHED = {
    "needs_workers": "it needs two further clusters as workers of MultiKueue, and a run uses yours alone",
    "needs_provisioning": "it acts as the cluster autoscaler, which a run on your cluster never does",
    "owns_kueue": "it restarts Kueue with its own Configuration, which a run on your cluster never does",
    "on_kubernetes": "it needs the API server of one minor, with gates of its own, and a run never changes yours",
    "newer_api_server": "it needs an API server with alpha features, and a run never changes that of your cluster",
}


def place(path: Path, config: pytest.Config) -> str | None:
    """Give the path of a file inside the suite, the same on each machine; None for a file outside.

    A file of cases of your own begins with the name of their folder.
    """
    root = config.rootpath
    for folder in own_folders(config):
        if path.resolve().is_relative_to(folder):
            inside = path.resolve().relative_to(folder.parent)
            return inside.as_posix().removesuffix(".py")
    if path.is_relative_to(root):
        path = path.relative_to(root)
    name = path.as_posix().removesuffix(".py")
    _, found, rest = f"/{name}".rpartition(SUITE)
    return rest if found else None


def own_folders(config: pytest.Config) -> Sequence[Path]:
    """Give the folders with cases of your own."""
    return config.stash.get(OWN, ())


def catalogue_of(config: pytest.Config) -> Catalogue:
    """Load the catalogue that the cases of this run cite, once."""
    if CATALOGUE not in config.stash:
        config.stash[CATALOGUE] = config.hook.pytest_kueue_dra_catalogue(config=config)
    return config.stash[CATALOGUE]


def cited(item: pytest.Item) -> tuple[str, ...]:
    """Give the requirement IDs that a case cites, sorted, each once."""
    found = set[str]()
    for mark in item.iter_markers("covers"):
        found.update(map(str, mark.args))
    return tuple(sorted(found))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Collecting:
    """Reject a file that skips itself, or whose cases cite no requirement or an unknown one."""
    report = yield
    if not place(collector.path, collector.config):
        return report
    if report.skipped:
        return _rejected(
            report,
            [f"skips itself ({report.longrepr}); a conformance file may not, it fails"],
        )
    faults = []
    for item in report.result or []:
        if isinstance(item, pytest.Item):
            faults += [f"{item.name} {fault}" for fault in _faults(item)]
    return _rejected(report, faults) if faults else report


def _faults(item: pytest.Item) -> list[str]:
    wrong = citation_faults(cited(item), catalogue_of(item.config))
    expected_to_fail = item.get_closest_marker("xfail")
    if expected_to_fail:
        wrong.append("is marked xfail; a conformance case is never expected to fail")
    return wrong


def _rejected(report: pytest.CollectReport, faults: list[str]) -> pytest.CollectReport:
    text = "\n".join(f"{report.nodeid}: {fault}" for fault in faults)
    return pytest.CollectReport(report.nodeid, "failed", text, [])


def pytest_itemcollected(item: pytest.Item) -> None:
    """Record a row as soon as it exists, and add its id to its results."""
    file = place(item.path, item.config)
    if file is None:
        return
    name = item.nodeid.partition("::")[2]
    row = Row(
        id=f"{file}::{name}",
        requirements=cited(item),
        title=_title(item),
    )
    item.stash[ROW] = row
    item.user_properties += [
        ("case", row.id),
        ("requirements", " ".join(row.requirements)),
    ]
    item.config.stash[LEDGER].enter(row)


def _title(item: pytest.Item) -> str:
    """Give the first line of the docstring of a case."""
    function = getattr(item, "obj", None)
    docstring = getattr(function, "__doc__", None) or ""
    return docstring.strip().partition("\n")[0]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Remove the cases that do not apply to this behaviour or target, and record why."""
    ledger = config.stash[LEDGER]
    kept = []
    removed = []
    for item in items:
        reason = reason_not_here(item) if ROW in item.stash else None
        if reason is None:
            kept.append(item)
            continue
        removed.append(item)
        ledger.not_applicable[item.stash[ROW].id] = reason
        if not _reason_of_behaviour(item):
            config.stash.setdefault(OF_TARGET, set()).add(item.stash[ROW].id)
    if removed:
        items[:] = kept
        config.hook.pytest_deselected(items=removed)


def reason_not_here(item: pytest.Item) -> str | None:
    """Give the reason why a case does not apply to the behaviour and target of this run, if there is one."""
    return _reason_of_behaviour(item) or _reason_of_target(item)


def _reason_of_behaviour(item: pytest.Item) -> str | None:
    config = item.config
    behaviour = str(config.getoption("behaviour", None) or NEWEST.name)
    return applies(item.stash[ROW].requirements, behaviour, catalogue_of(config))


def _reason_of_target(item: pytest.Item) -> str | None:
    config = item.config
    row = item.stash[ROW]
    if NOT_HERE in config.stash:
        return config.stash[NOT_HERE].get(row.id)
    if config.getoption("context", None):
        for mark, text in NOT_ATTACHED.items():
            if item.get_closest_marker(mark):
                return text
    return None


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Record the cases that the user's selection excludes."""
    for item in items:
        if ROW in item.stash:
            ledger = item.config.stash[LEDGER]
            row = item.stash[ROW]
            if row.id in ledger.not_applicable or row.id in ledger.elsewhere:
                continue
            ledger.left_out.add(row.id)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Record the cases that run, after each plugin had its turn."""
    ledger = session.config.stash[LEDGER]
    for item in session.items:
        if ROW in item.stash:
            row = item.stash[ROW]
            ledger.collected.add(row.id)
