"""Print the catalogue as the page docs/requirements.md: ``python -m kueue_dra_ref.requirements``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby

from kueue_dra_ref.requirements.catalogue import Requirement, catalogue
from kueue_dra_ref.requirements.coverage import cases_by_id
from kueue_dra_ref.requirements.ranges import compact

INTRODUCTION = """\
# Requirements

One row per testable sentence. IDs are permanent. *Level* says how strongly the text asks; INFERRED means that the
text is silent and Kueue decides, so a difference is a question and not a violation; so it is for a text that is not
among an entry's *sources*. *Holds* names the behaviours in which the sentence is true; `kueue-..` is every minor of
Kueue that is known here, `kueue-0.18..` that minor and later ones, `kueue-..0.17` that one and earlier ones. Where
texts, or a text and Kueue, differ, each has a requirement of its own (see [differences](differences.md)).

kueue-0.20 is provisional: it says what the change notes and documentation announce, and no release could be asked. It
is the last minor of every range without an end.

This page is made by `python -m kueue_dra_ref.requirements > docs/requirements.md`.
"""
COLUMNS = ("ID", "Level", "Holds", "Text", "Sources", "Cases")


def page(
    requirements: Mapping[str, Requirement], cited: Mapping[str, Collection[str]]
) -> str:
    """Render the catalogue as Markdown, one table per file; ``cited`` gives the IDs that each case cites."""
    cases = cases_by_id(requirements, cited)
    return "\n".join([INTRODUCTION, *_tables(requirements.values(), cases)])


def _tables(
    requirements: Iterable[Requirement], cases: Mapping[str, Collection[str]]
) -> Iterator[str]:
    for file, group in groupby(requirements, key=lambda r: r.file):
        yield f"## {file.removesuffix('.toml').replace('-', ' ').capitalize()}\n"
        yield _row(COLUMNS)
        yield _row(["---"] * len(COLUMNS))
        for r in group:
            yield _row(
                [
                    r.id,
                    r.level,
                    ", ".join(compact(r.holds)),
                    r.text,
                    "; ".join((r.source, *r.also)),
                    _cases(r, cases),
                ]
            )
        yield ""


def _cases(r: Requirement, cases: Mapping[str, Collection[str]]) -> str:
    return (
        f"none: {r.excluded}"
        if r.excluded
        else ", ".join(f"`{case}`" for case in cases.get(r.id, ()))
    )


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    print(page(catalogue(), {}), end="")
