"""The page docs/reference/selectors.md, the undecided selectors: ``python -m tests.selectors_page``."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from tabulate import tabulate

from kueue_dra_ref.cel import CompileError, Device, Undecided, compiled
from tests.selector_grammar import Grammar

GOLDEN: dict[str, Any] = tomllib.loads((Path(__file__).parent / "golden" / "selectors.toml").read_text("utf-8"))
SEED, SELECTORS, DEVICES, DEPTHS = 20261121, 3000, 20, (1, 2, 2, 2, 3, 3, 4)
LONGEST = 90
INTRODUCTION = """\
# Selectors

The reference evaluates the CEL expressions of DeviceClasses and claims as Kueue 0.19 does: with Kubernetes' environment
for stored expressions and every feature of DRA off. Its engine is cel-expr-python, not Kubernetes' cel-go. The project
adds what the engine lacks and rewrites what it evaluates differently. Where neither is certain, the answer is
*undecided*. A workload that depends on such an answer has the verdict `undecided` with the reason, in reports and in
`kueue-dra explain`. A wrong answer is a bug of this project; an undecided one is a known limit, listed here.

## How this is checked

- `tests/golden/selectors.toml` has tables of selectors with Kubernetes' answers for nine devices: no wrong answer.
- `tests/golden/generated_selectors.jsonl` has 2200 more, written (`tests/written_selectors.py`) and generated: what
  Kubernetes answers and says, and whether it is too complex. `python -m tests.generated_selectors` asks it again.
- `make test-live` generates selectors and devices (`tests/selector_grammar.py`) and compares this engine with
  `cel-oracle`, a small Go program of ours that links Kubernetes' own package at the versions that Kueue 0.19.2 links.
  `SELECTORS=5000 SELECTORS_SEED=1` checks more. `python -m kueue_dra_clusters.cel_oracle` builds the program and prints
  its path; `CEL_ORACLE_BIN` names a program that is built already. It reads lines such as
  `{"selector": "...", "devices": [{"driver": "...", "attributes": {...}, "capacity": {...}}]}` and answers with the
  compile error, or with the estimated cost and the result for each device. With `--new`, `--consumable-capacity`,
  `--list-attributes` and `--kubernetes=1.35` it evaluates as an API server of that version does for a new selector.

## Differences that surprise

- `a == b.add(c)` on quantities fails in Kubernetes 1.36 with "no such overload", while `b.add(c) == a` compares.
- `lists.range(n)` has no cost limit: with a large `n` it takes all memory of the process. The tests do not send it to
  the oracle, and it is undecided beyond 1000.
- Constants are converted at compile time, so `bool("x")` is a compile error, not an error on each device.

"""
FOOT = "This page is generated: `make docs` writes it, `python -m tests.selectors_page` prints it."


def page() -> str:
    """Write the whole page."""
    devices = [Device(**each) for each in GOLDEN["devices"]]
    tables = ("selectors", "more", "corners")
    golden = [(table, row[0], reason) for table in tables for row in GOLDEN[table] for reason in _why(row[0], devices)]
    return "\n".join([INTRODUCTION, *_of_the_tables(golden), *_of_the_generated(), FOOT])


def _of_the_tables(golden: list[tuple[str, str, str]]) -> Iterator[str]:
    yield "## Undecided in the tables\n"
    for table in ("selectors", "more", "corners"):
        count = sum(each[0] == table for each in golden)
        yield f"- `{table}`: {count} of {len(GOLDEN[table])}, on at least one device."
    rows = [(f"`{_cell(text)}`", _cell(reason)) for _, text, reason in golden]
    yield f"\n{tabulate(rows, ('selector', 'reason'), tablefmt='github')}\n"


def _of_the_generated() -> Iterator[str]:
    source = random.Random(SEED)
    grammar = Grammar(source)
    found: dict[str, list[str]] = {}
    for _ in range(SELECTORS):
        text = grammar.selector(source.choice(DEPTHS))
        for reason in _why(text, [grammar.device() for _ in range(DEVICES)]):
            found.setdefault(_kind(reason), []).append(text)
    count = sum(map(len, found.values()))
    yield f"## Undecided of {SELECTORS} generated selectors\n"
    yield f"{count} on at least one of {DEVICES} devices, by reason, each with the shortest selector:\n"
    by_count = sorted(found.items(), key=lambda each: (-len(each[1]), each[0]))
    rows = [(len(texts), _cell(reason), f"`{_cell(min(texts, key=len))}`") for reason, texts in by_count]
    yield tabulate(rows, ("count", "reason", "example"), tablefmt="github") + "\n"


def _why(text: str, devices: Iterable[Device]) -> Iterator[str]:
    """Give the first reason for which a selector is undecided on a device."""
    selector = compiled(text)
    match selector:
        case Undecided(reason=reason):
            yield reason
        case CompileError():
            return
        case _:
            answers = (selector.matches(device) for device in devices)
            yield from islice((answer.reason for answer in answers if isinstance(answer, Undecided)), 1)


def _kind(reason: str) -> str:
    """Drop from a reason what is of one selector only."""
    reason = re.sub(r"<input>:\d+:\d+: ", "", reason.split("\n")[0])
    return re.sub(r"(?<=a use of )\w+(?= that)|(?<=the URL ).*|(?<=find\(\) of ).*|(?<=range\(\) of ).*", "...", reason)


def _cell(text: str) -> str:
    short = text.split("\n")[0]
    return (short if len(short) <= LONGEST else f"{short[: LONGEST - 3]}...").replace("|", "\\|")


if __name__ == "__main__":
    print(page())
