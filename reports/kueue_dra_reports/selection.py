"""Which cases run: those that ``--case`` names, and of these the part of one machine with ``--shard I/N``."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kueue_dra_ref.api.files import DocumentError
from kueue_dra_ref.api.suggest import nearest
from kueue_dra_reports.collection import LEDGER, OF_TARGET, ROW
from kueue_dra_reports.results import RAN
from kueue_dra_reports.shards import Durations, Shard, parts
from kueue_dra_reports.validate import document_faults
from kueue_dra_reports.validate import read as read_report

Items = list[pytest.Item]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup(
        "kueue-dra", "conformance of Kueue's DRA support (KEP-2941)"
    )
    group.addoption(
        "--case",
        action="append",
        default=[],
        metavar="ID",
        help="only this case, as the report names it; a test without a row, or a file, is all of its cases. Repeatable",
    )
    group.addoption(
        "--shard",
        default="",
        metavar="I/N",
        help="only the I-th of N parts of the cases, the same on each machine; kueue-dra report merge joins them",
    )
    group.addoption(
        "--durations-of",
        default="",
        metavar="REPORT",
        help="with --shard: balance the parts by the durations in this report; the same report on each machine",
    )


def shard_of(config: pytest.Config) -> Shard | None:
    """Give the shard of this run, if it has one."""
    text = config.getoption("shard", "")
    if not text:
        return None
    try:
        return Shard.read(str(text))
    except ValueError as fault:
        raise pytest.UsageError(f"--shard: {fault}") from None


def pytest_configure(config: pytest.Config) -> None:
    """Reject a wrong shard or report of durations before anything is collected."""
    shard = shard_of(config)
    if config.getoption("durations_of") and shard is None:
        raise pytest.UsageError("--durations-of: needs --shard")
    _durations_of(config)


def _durations_of(config: pytest.Config) -> Durations:
    name = config.getoption("durations_of")
    if not name:
        return {}
    try:
        report = read_report(config.invocation_params.dir / str(name))
    except DocumentError as fault:
        raise pytest.UsageError(f"--durations-of: {fault.worded}") from None
    for fault_ in document_faults(report):
        raise pytest.UsageError(f"--durations-of: {name}: {fault_}")
    checks = report["checks"]
    return {
        one["id"]: float(one["durationSeconds"])
        for one in checks
        if one["outcome"] in RAN
    }


def pytest_collection_modifyitems(config: pytest.Config, items: Items) -> None:
    """Keep the cases that ``--case`` names."""
    wanted = list(config.getoption("case"))
    if wanted:
        rows = _rows(items)
        _refuse_unknown(wanted, rows)
        _keep(config, items, {row for row in rows if _is_named(row, wanted)})


def _names_of(row: str) -> tuple[str, str, str]:
    """Give the names that select a case: its own, that of its test, and that of its file."""
    return row, row.partition("[")[0], row.partition("::")[0]


def _is_named(row: str, wanted: Sequence[str]) -> bool:
    return any(name in wanted for name in _names_of(row))


def _refuse_unknown(wanted: Sequence[str], rows: Sequence[str]) -> None:
    known = set[str]()
    for row in rows:
        known.update(_names_of(row))
    for one in wanted:
        if one not in known:
            near = nearest(one, sorted(known))
            hint = f"; {near}" if near.startswith("did") else ""
            raise pytest.UsageError(f"the suite has no case {one}{hint}")


@pytest.hookimpl(specname="pytest_collection_modifyitems", trylast=True)
def pytest_take_shard(config: pytest.Config, items: Items) -> None:
    """Keep the cases of this shard, after all that select cases; the ledger has the reason for the others.

    Cases that this target cannot run count as well, so that every target divides the same cases.
    """
    shard = shard_of(config)
    if shard is None:
        return
    rows = _rows(items)
    divided = [*rows, *config.stash.get(OF_TARGET, ())]
    mine = parts(divided, shard.of, _durations_of(config))[shard.index - 1]
    if rows and mine.isdisjoint(rows):
        raise pytest.UsageError(
            f"--shard {shard}: it would be empty, because {len(rows)} cases are selected"
        )
    others = {row: shard.reason for row in rows if row not in mine}
    config.stash[LEDGER].elsewhere.update(others)
    _keep(config, items, mine)


def _rows(items: Items) -> list[str]:
    return [item.stash[ROW].id for item in items if ROW in item.stash]


def _keep(config: pytest.Config, items: Items, wanted: set[str]) -> None:
    """Deselect the cases that have no ID of these; other tests stay."""
    dropped = []
    for item in items:
        if ROW in item.stash and item.stash[ROW].id not in wanted:
            dropped.append(item)
    if dropped:
        items[:] = [item for item in items if item not in dropped]
        config.hook.pytest_deselected(items=dropped)
