"""Generated selectors with the answers of Kubernetes' own CEL code, as recordings that need no Go.

    python -m tests.generated_selectors >tests/golden/generated_selectors.jsonl

The first line has the devices, each other line a selector and one letter for each device: T, F, E (an error), or ?
where the reference gives no answer; one word for all devices: refused, if the selector does not compile, or undecided.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from kueue_dra_clusters.cel_oracle import cel_oracle
from kueue_dra_ref.cel import CompileError, Device, EvaluationError, Undecided, compiled
from kueue_dra_ref.cel.kubernetes_backend import OracleProgram
from tests.selector_grammar import Grammar

FILE = Path(__file__).parent / "golden" / "generated_selectors.jsonl"
SEED = 20261127
SELECTORS, DEVICES = 1500, 6
DEPTHS = (1, 2, 2, 2, 3)
WRITTEN = (
    "'abcabc'.lastIndexOf('c', -1) == -1",
    "'abcabc'.lastIndexOf('c', 0) == -1",
    "'abcabc'.indexOf('c', -1) == -1",
    "!format.date().validate('2020-01-01').hasValue()",
    "!format.date().validate('2020-1-01').hasValue()",
    "!format.date().validate('20200101').hasValue()",
    "!format.date().validate('2020-02-30').hasValue()",
    "double(1) < 2.0",
    "-double(1) < 2.0",
    "double('1') < 2.0",
    "[double(1), 2.0].max() == 2.0",
    "[double(2), 1.0].isSorted()",
    "double(1) in [1.0]",
    "ip('ff02::1').isLinkLocalMulticast()",
    "ip('ff12::1').isLinkLocalMulticast()",
    "ip('ff05::1').isLinkLocalMulticast()",
    "ip('fe02::1').isLinkLocalMulticast()",
    "ip('224.0.1.1').isLinkLocalMulticast()",
)
"""Selectors that mutants of the reference asked for; the source of random numbers does not write them."""
REFUSED, UNDECIDED = "refused", "undecided"


class Generated(NamedTuple):
    """A selector and its answers."""

    selector: str
    answers: str


def devices() -> Sequence[Device]:
    """Read the devices."""
    first, *_ = FILE.read_text("utf-8").splitlines()
    found = []
    for fields in json.loads(first):
        device = Device(**fields)
        found.append(device)
    return found


def rows() -> Sequence[Generated]:
    """Read the selectors."""
    _, *others = FILE.read_text("utf-8").splitlines()
    found = []
    for line in others:
        selector, given = json.loads(line)
        found.append(Generated(selector, given))
    return found


def answers(selector: str, to: Sequence[Device]) -> str:
    """Give the answers of the reference."""
    made = compiled(selector)
    if isinstance(made, CompileError):
        return REFUSED
    if isinstance(made, Undecided):
        return UNDECIDED
    letters = [_letter(made.matches(device)) for device in to]
    return "".join(letters)


def _letter(answer: bool | EvaluationError | Undecided) -> str:
    if isinstance(answer, Undecided):
        return "?"
    if isinstance(answer, EvaluationError):
        return "E"
    return "T" if answer else "F"


def _of_kubernetes(selector: str, to: Sequence[Device], kubernetes: OracleProgram) -> str:
    found = kubernetes.ask(selector, list(to))
    if isinstance(found, CompileError):
        return REFUSED
    letters = map(_letter, found.verdicts)
    return "".join(letters)


def _recorded(ours: str, theirs: str) -> str:
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


def _generated(to: Sequence[Device], grammar: Grammar) -> Iterator[Generated]:
    kubernetes = OracleProgram(str(cel_oracle()))
    for selector in (*WRITTEN, *_selectors(grammar)):
        ours = answers(selector, to)
        theirs = _of_kubernetes(selector, to, kubernetes)
        recorded = _recorded(ours, theirs)
        yield Generated(selector, recorded)
    kubernetes.close()


def _selectors(grammar: Grammar) -> Iterator[str]:
    for _ in range(SELECTORS):
        depth = grammar.source.choice(DEPTHS)
        yield grammar.selector(depth)


def main() -> None:
    """Print the recording."""
    source = random.Random(SEED)
    grammar = Grammar(source)
    to = [grammar.device() for _ in range(DEVICES)]
    first = [asdict(device) for device in to]
    print(json.dumps(first))
    found = _generated(to, grammar)
    for each in dict.fromkeys(found):
        line = json.dumps(each)
        print(line)


if __name__ == "__main__":
    main()
