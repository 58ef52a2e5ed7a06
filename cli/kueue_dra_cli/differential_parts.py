"""Joins the parts of a run of generated scenarios, from the logs of the pods that ran them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from kueue_dra_cli.differential_summary import (
    EXITED,
    SCENARIOS,
    SUMMARY,
    Summary,
    append,
    empty,
    figures,
    is_red,
    write,
)
from kueue_dra_cli.errors import CliError
from kueue_dra_differential.oracle import OutcomeKind
from kueue_dra_reports.log_archive import NoResults, unpacked
from kueue_dra_reports.shards import Shard

ADDED = (SCENARIOS, "steps", *map(str, OutcomeKind), EXITED)
SAME = ("kueue", "seed", "features", "together", "planned", "shards")
"""What all parts of one run have in common."""
Files = Mapping[str, bytes]


def is_part(log: str) -> bool:
    """Whether the log of a pod has a part of generated scenarios."""
    try:
        return SUMMARY in unpacked(log)
    except NoResults:
        return False


def files_of_log(log: str, name: str) -> Files:
    """Give the files of a part in the log of its pod.

    Raises:
        CliError: the log has none, or they are damaged.

    """
    try:
        files = unpacked(log)
    except NoResults as fault:
        raise CliError([f"{name}: {fault}"]) from None
    if SUMMARY not in files:
        raise CliError([f"{name}: found no {SUMMARY}; expected the log of a part"])
    return files


def join_parts(
    parts: Mapping[str, Files], folder: Path, log: Path | None = None
) -> int:
    """Write and print the whole of the parts, which are named as in messages; give the exit code.

    Raises:
        CliError: they are no parts of one run.

    """
    summaries = {}
    for name, files in parts.items():
        summaries[name] = _summary(files, name)
    _insist_on_one_run(summaries)
    whole = _whole(summaries.values())
    empty(folder)
    for files in parts.values():
        _write_scenarios(files, folder)
    write(whole, folder)
    if log:
        append(whole, log)
    number = whole["parts"]
    seed = whole["seed"]
    missing = whole["missing"]
    for index in missing:
        line = f"part {index} of {number} is missing"
        click.echo(line, err=True)
    found = figures(whole)
    click.echo(f"{found}, in {number} parts; seed {seed}")
    return int(is_red(whole) or bool(missing))


def _summary(files: Files, name: str) -> Summary:
    """Read the summary of a part, with its number and that of all parts."""
    try:
        found: dict[str, Any] = json.loads(files[SUMMARY])
        shard = Shard.read(found["shard"])
    except (ValueError, KeyError, TypeError):
        fault = f"{name}: {SUMMARY} is none of a part (--shard I/N)"
        raise CliError([fault]) from None
    return {**found, "shards": shard.of, "index": shard.index}


def _insist_on_one_run(summaries: Mapping[str, Summary]) -> None:
    """Refuse parts of several runs, and a part that is there twice."""
    first, *others = summaries
    shard = summaries[first]["shard"]
    taken = {shard: first}
    for name in others:
        shard = summaries[name]["shard"]
        for key in SAME:
            found = summaries[name].get(key)
            expected = summaries[first].get(key)
            if found != expected:
                fault = f"{name}: found {key} {found}; {first} has {expected}"
                raise CliError([f"{fault}: they are parts of two runs"])
        before = taken.setdefault(shard, name)
        if before != name:
            fault = f"{name}: found part {shard}, as in {before}"
            raise CliError([fault])


def _whole(summaries: Iterable[Summary]) -> dict[str, Any]:
    parts = list(summaries)
    first = parts[0]
    number = first["shards"]
    today = datetime.now(UTC).date()
    whole = {
        "date": today.isoformat(),
        "kueue": first["kueue"],
        "seed": first["seed"],
        "features": first.get("features", []),
    }
    for key in ADDED:
        whole[key] = sum(part[key] for part in parts)
    there = [part["index"] for part in parts]
    missing = set(range(1, number + 1)).difference(there)
    whole["seconds"] = max(part["seconds"] for part in parts)
    whole["parts"] = number
    whole["missing"] = sorted(missing)
    return whole


def _write_scenarios(files: Files, folder: Path) -> None:
    """Write the scenarios of a part; those of other parts have other names."""
    for name, content in files.items():
        if name != SUMMARY:
            file = folder / Path(name).name
            file.write_bytes(content)
