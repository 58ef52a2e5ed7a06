"""The work of each ClusterQueue as data inside a page, for its script; equal texts are there once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.requirements.catalogue import catalogue
from kueue_dra_ref.simulation.cluster_tree import PlacedWorkload
from kueue_dra_ref.simulation.explanation import Explanation, outcome
from kueue_dra_ref.simulation.what_if import charged_text
from kueue_dra_reports.cluster_page.names import kubectl_name
from kueue_dra_reports.cluster_page.sides import WorkSides


class WorkData:
    """Collects the rows, with each text and each list of steps once."""

    def __init__(self, effects: Mapping[Key, str]) -> None:
        self._effects = effects
        self._texts: dict[str, int] = {}
        self._derivations: dict[tuple[tuple[int, ...], ...], int] = {}
        self._cited: dict[str, int] = {}

    def row(self, sides: WorkSides) -> list[Any]:
        """Give the row of a Workload: its names, what a change does to it, whether it waits, and its sides."""
        (first, *_) = (each for each in sides if each is not None)
        found = first.explanation
        waits = any(each is not None and each.waits for each in sides)
        effect = self._effects.get(first.decision.key, "")
        return [
            self._text(found.namespace),
            kubectl_name(found),
            found.workload,
            self._text(effect),
            int(waits),
            *(self._side(each) for each in sides),
        ]

    def tables(self) -> dict[str, Any]:
        """Give what the rows refer to by number."""
        return {
            "texts": list(self._texts),
            "derivations": list(self._derivations),
            "requirements": [[id_, catalogue()[id_].text] for id_ in self._cited],
        }

    def _side(self, placed: PlacedWorkload | None) -> list[int] | None:
        if placed is None:
            return None
        word, reason, message = decision_texts(placed)
        return [
            self._text(word),
            self._text(reason),
            self._text(message),
            placed.position or 0,
            self._derivation(placed.explanation.steps),
        ]

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _derivation(self, steps: Iterable[Step]) -> int:
        found = []
        for step in steps:
            cites = [self._requirement(each) for each in step.requirements]
            found.append((self._text(step.text), *cites))
        return self._derivations.setdefault(tuple(found), len(self._derivations))

    def _requirement(self, id_: str) -> int:
        return self._cited.setdefault(id_, len(self._cited))


def decision_texts(placed: PlacedWorkload) -> tuple[str, str, str]:
    """Give the verdict, its reason, and the message of a Workload, or what it holds."""
    word, reason = outcome(placed.explanation.verdict)
    return word, reason, _message(placed)


def _message(placed: PlacedWorkload) -> str:
    decision = placed.decision
    if decision.holds:
        return charged_text(decision)
    if not placed.waits:
        return ""
    message = placed.explanation.message or decision.evicted
    return message or _last_step(placed.explanation)


def _last_step(found: Explanation) -> str:
    """Give the last step of a Workload without a message: what it waits for."""
    steps = [each.text for each in found.steps]
    return steps[-1] if steps else "Kueue has not tried it yet"
