"""The work of a ClusterQueue in a few words: how much waits and what for, and what a change does to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from kueue_dra_ref.explain.step import listed, named
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.simulation.cluster_tree import PlacedWorkload
from kueue_dra_reports.cluster_page.sides import WorkSides
from kueue_dra_reports.cluster_page.work_data import decision_texts

SHOWN_REASONS = 3
SHOWN_NAMES = 3


def counts(side: Sequence[PlacedWorkload | None]) -> str:
    """Say how many Workloads of a ClusterQueue wait, hold quota and are finished."""
    work = [each for each in side if each is not None]
    waiting = sum(each.waits for each in work)
    holding = sum(each.decision.holds for each in work)
    finished = len(work) - waiting - holding
    text = f"{waiting} waiting, {holding} with quota"
    if finished:
        text = f"{text}, {finished} finished"
    return text


def reasons(work: Iterable[PlacedWorkload]) -> list[str]:
    """Say how many Workloads wait for what, the most frequent first."""
    found: Counter[str] = Counter()
    for each in work:
        if not each.waits:
            continue
        word, reason, message = decision_texts(each)
        waits_for = reason or message
        found[f"{word}: {waits_for}"] += 1
    shown = []
    for text, count in found.most_common(SHOWN_REASONS):
        shown.append(f"{count} {text}")
    more = len(found) - SHOWN_REASONS
    if more > 0:
        others = named(more, "more reason")
        shown.append(others)
    return shown


def effects(work: Iterable[WorkSides], by_key: Mapping[Key, str]) -> list[str]:
    """Name what a change does to the Workloads of a ClusterQueue."""
    names: dict[str, list[str]] = {}
    for sides in work:
        placed = next(each for each in sides if each is not None)
        effect = by_key.get(placed.decision.key)
        if effect is None:
            continue
        found = placed.explanation
        job = found.job or found.workload
        names.setdefault(effect, []).append(f"{found.namespace}/{job}")
    lines = []
    for effect, named_work in names.items():
        shown = listed(named_work, SHOWN_NAMES)
        line = f"{effect}: {shown}"
        lines.append(line)
    return lines
