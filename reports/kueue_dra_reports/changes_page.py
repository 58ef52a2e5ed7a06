"""Print the page that lists the changes from each text to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

from kueue_dra_ref.behaviours import marked
from kueue_dra_ref.behaviours.releases import BRANCHES, NEWEST, TEXTS, VARIATIONS
from kueue_dra_ref.requirements.catalogue import catalogue
from kueue_dra_ref.requirements.difference import (
    Change,
    Difference,
    Sentence,
    difference,
)

STEPS = (
    *pairwise(TEXTS),
    (TEXTS[-1], NEWEST.name),
    *((release, name) for name, release in VARIATIONS.items() if name not in BRANCHES),
)
INTRODUCTION = """\
# From text to text

What each text of KEP-2941 adds, changes and drops compared with the previous text, and Kueue 0.19 compared with the
last text, by requirement and heading; at the end what an open text changes in the release that it follows. If two
requirements describe one topic differently, it is a change. INFERRED means that the text itself is silent, so Kueue's
behaviour is used. [Upgrade Kueue](../how-to/upgrade-kueue.md) has the steps from release to release.

This page is generated: `make docs` writes it, `kueue-dra diff-texts A B` prints one step of it.
"""


def lines(found: Difference) -> Iterator[str]:
    """Print a difference as Markdown that can be read on a terminal as well."""
    yield f"## From {marked(found.earlier)} to {marked(found.later)}\n"
    changed = len(found.changed)
    yield f"{len(found.added)} added, {changed} changed, {len(found.dropped)} dropped, {found.kept} kept.\n"
    yield from _listed("Added", found.added)
    if found.changed:
        yield "### Changed\n"
        for change in found.changed:
            yield from _change(change)
        yield ""
    yield from _listed("Dropped", found.dropped)


def page() -> str:
    """Every step from text to text."""
    known = catalogue()
    steps = (
        line
        for earlier, later in STEPS
        for line in lines(difference(known, earlier, later))
    )
    return "\n".join([INTRODUCTION, *steps])


def _listed(title: str, sentences: Iterable[Sentence]) -> Iterator[str]:
    by_source = sorted(sentences, key=lambda one: one.source)
    if by_source:
        yield f"### {title}\n"
    for source, group in groupby(by_source, key=lambda one: one.source):
        yield f"{source}:\n"
        yield from (f"- {one.id} {one.level}: {one.text}" for one in group)
        yield ""


def _change(change: Change) -> Iterator[str]:
    for mark, word, sentences in (
        ("-", "was", change.before),
        (" ", "now", change.after),
    ):
        for position, one in enumerate(sentences):
            yield f"{mark if position == 0 else ' '} {word} {one.id} {one.level} ({one.source}): {one.text}"


if __name__ == "__main__":
    print(page(), end="")
