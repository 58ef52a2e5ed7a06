"""Generated and written selectors with the answers of Kubernetes' own CEL code, as recordings that need no Go.

    python -m tests.generated_selectors >tests/golden/generated_selectors.jsonl

The first line has the devices. Each other line has a selector and what Kubernetes makes of it:

- one letter for each device: T, F, E (an error), or ? where the reference gives no answer; one word for all devices:
  refused, if the selector does not compile, or undecided;
- what it says, each message once; null where the reference says anything else;
- whether its estimate of the cost exceeds the API server's limit; null where the reference does not know.
"""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from kueue_dra_clusters.cel_oracle import cel_oracle
from kueue_dra_ref.cel import CompileError, Device, EvaluationError, Undecided, compiled, cost_trap
from kueue_dra_ref.cel.kubernetes_backend import OracleProgram
from tests.selector_grammar import Grammar
from tests.written_selectors import WRITTEN

GOLDEN = Path(__file__).parent / "golden"
FILE = GOLDEN / "generated_selectors.jsonl"
SEED = 20261127
SELECTORS, DEVICES = 1500, 6
DEPTHS = (1, 2, 2, 2, 3)
REFUSED, UNDECIDED = "refused", "undecided"
MOST_COST = 1_000_000
"""Kubernetes: resource.k8s.io CELSelectorExpressionMaxCost."""


class Answers(NamedTuple):
    """What one engine makes of a selector."""

    letters: str
    words: Sequence[str]


class Generated(NamedTuple):
    """A selector and what Kubernetes makes of it, in so far as the reference answers."""

    selector: str
    answers: str
    words: Sequence[str] | None
    is_too_complex: bool | None


def devices() -> Sequence[Device]:
    """Read the devices."""
    first, *_ = FILE.read_text("utf-8").splitlines()
    return _devices(json.loads(first))


def _devices(described: Sequence[dict[str, Any]]) -> Sequence[Device]:
    return [Device(**fields) for fields in described]


def rows() -> Sequence[Generated]:
    """Read the selectors."""
    _, *others = FILE.read_text("utf-8").splitlines()
    return [Generated(*json.loads(line)) for line in others]


def shown(row: Generated, to: Sequence[Device]) -> Generated:
    """Give what the reference makes of a selector, without what its row leaves out."""
    ours = answers(row.selector, to)
    return Generated(
        row.selector,
        ours.letters,
        None if row.words is None else ours.words,
        None if row.is_too_complex is None else cost_trap(row.selector) is not None,
    )


def answers(selector: str, to: Sequence[Device]) -> Answers:
    """Give the answers of the reference."""
    made = compiled(selector)
    if isinstance(made, CompileError):
        return Answers(REFUSED, [made.detail])
    if isinstance(made, Undecided):
        return Answers(UNDECIDED, [])
    return _answers([made.matches(device) for device in to])


def _answers(given: Sequence[bool | EvaluationError | Undecided]) -> Answers:
    letters = map(_letter, given)
    words = [each.detail for each in given if isinstance(each, EvaluationError)]
    return Answers("".join(letters), list(dict.fromkeys(words)))


def _letter(answer: bool | EvaluationError | Undecided) -> str:
    if isinstance(answer, Undecided):
        return "?"
    if isinstance(answer, EvaluationError):
        return "E"
    return "T" if answer else "F"


def recorded(selector: str, to: Sequence[Device], kubernetes: OracleProgram) -> Generated:
    """Give what Kubernetes makes of a selector, in so far as the reference answers."""
    ours = answers(selector, to)
    found = kubernetes.ask(selector, list(to))
    if isinstance(found, CompileError):
        theirs = Answers(REFUSED, [found.detail])
        is_too_complex = None
    else:
        theirs = _answers(found.verdicts)
        costs_too_much = found.cost is None or found.cost > MOST_COST
        is_known = costs_too_much == (cost_trap(selector) is not None)
        is_too_complex = costs_too_much if is_known else None
    words = theirs.words if ours.words == theirs.words else None
    return Generated(selector, _letters(ours.letters, theirs.letters), words, is_too_complex)


def _letters(ours: str, theirs: str) -> str:
    """Give the answers of Kubernetes, but none where the reference gives none."""
    if ours == UNDECIDED:
        return UNDECIDED
    if REFUSED in (ours, theirs):
        return theirs
    letters = []
    for mine, right in zip(ours, theirs, strict=True):
        letter = "?" if mine == "?" else right
        letters.append(letter)
    return "".join(letters)


def _selectors(grammar: Grammar) -> Iterator[str]:
    for _ in range(SELECTORS):
        depth = grammar.source.choice(DEPTHS)
        yield grammar.selector(depth)


def main() -> None:
    """Print the recording."""
    source = random.Random(SEED)
    grammar = Grammar(source)
    tables = tomllib.loads((GOLDEN / "selectors.toml").read_text("utf-8"))
    to = [grammar.device() for _ in range(DEVICES)]
    to += _devices(tables["devices"])
    first = [asdict(device) for device in to]
    print(json.dumps(first))
    kubernetes = OracleProgram(str(cel_oracle()))
    for selector in dict.fromkeys((*WRITTEN, *_selectors(grammar))):
        row = recorded(selector, to, kubernetes)
        print(json.dumps(row))
    kubernetes.close()


if __name__ == "__main__":
    main()
