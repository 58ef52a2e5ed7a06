"""What a behaviour holds, as data to be printed: phases, slots and rules in the order of application."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from kueue_dra_ref.behaviours.behaviour import Behaviour, gates_read_by
from kueue_dra_ref.behaviours.releases import BY_NAME
from kueue_dra_ref.features.kube_features import Gate
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.slots import (
    AllOf,
    AnyOf,
    Collect,
    Each,
    First,
    Fold,
    Order,
    Slot,
)

COMBINES: Mapping[type[Slot[..., Any]], str] = {
    First: "the first rule that answers decides",
    AnyOf: "one rule that holds is enough",
    AllOf: "every rule has to hold",
    Collect: "everything that the rules find counts",
    Each: "every rule adds its answer",
    Fold: "each rule changes what the rules before it have made",
    Order: "the first rule that ranks two of them differently decides",
}
"""How the answers of the rules of a slot combine, in words."""
PHASES = {
    "gates": "feature-gates",
    "mapping": "configuration",
    "objects": "objects",
    "definitions": "api-validation",
    "webhooks": "webhooks",
    "jobs": "jobs",
    "pods": "pods",
    "priorities": "priority-classes",
    "adjusting": "pod-requests",
    "processing": "preprocessing",
    "charging": "charges",
    "extended": "extended-resources",
    "queueing": "queues",
    "cohorts": "cohorts",
    "assigning": "flavors",
    "topology": "topology",
    "preempting": "preemption",
    "fair_sharing": "fair-sharing",
    "sharing": "admission-fair-sharing",
    "cycle": "scheduling-cycle",
    "checking": "admission-checks",
    "provisioning": "provisioning-requests",
    "dispatching": "multikueue",
    "waiting": "pods-ready",
    "limiting": "execution-time",
    "retaining": "retention",
    "concurrent": "concurrent-admission",
    "gating": "admission-gates",
    "reporting": "status",
}
"""What users call a phase, by the field of a behaviour, in the order of application."""
_WITHOUT = " Without rules: "
NOTHING = "nothing of this kind is decided"
"""What an empty slot means if its docstring does not say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedSlot:
    """One question that a behaviour decides, with the rules that decide it."""

    name: str
    """Its place below the phase, such as ``sourcing.counter``."""
    question: str
    combines: str
    without: str
    """What it means that the slot holds no rule."""
    rules: tuple[Rule[..., Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedPhase:
    """A step of Kueue's work, with its slots in the order of application."""

    name: str
    field: str
    """The field of `Behaviour` that holds its rules."""
    about: str
    slots: tuple[DescribedSlot, ...]


def phases(behaviour: Behaviour) -> tuple[DescribedPhase, ...]:
    """Describe the phases of a behaviour in the order of application."""
    return tuple(_phases(behaviour))


def _phases(behaviour: Behaviour) -> Iterator[DescribedPhase]:
    for field, name in PHASES.items():
        part = getattr(behaviour, field)
        yield DescribedPhase(
            name=name,
            field=field,
            about=_about(part, field),
            slots=tuple(_slots(part, field, Behaviour)),
        )


def relevant_gates(behaviour: Behaviour) -> tuple[Gate, ...]:
    """Give the gates that concern devices or that a rule depends on, as far as the behaviour knows them."""
    names = [
        behaviour.integration_gate,
        *behaviour.dependent_gates,
        *gates_read_by(behaviour),
    ]
    known = behaviour.gates.table
    return tuple(known[name] for name in dict.fromkeys(names) if name in known)


def headline(behaviour: Behaviour) -> str:
    """Give what the module of the behaviour says about it, one line for each paragraph."""
    module = sys.modules[BY_NAME[behaviour.name].behaviour.__module__]
    paragraphs = inspect.cleandoc(module.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(each.split()) for each in paragraphs)


def condition(rule: Rule[..., Any]) -> str:
    """Say under which gates a rule is in force; empty if it always is."""
    states = [f"{gate} is {'on' if on else 'off'}" for gate, on in rule.gates.items()]
    return f"while {' and '.join(states)}" if states else ""


def counterpart_files(rule: Rule[..., Any]) -> str:
    """Give the files of the counterpart without the symbols, so that a search finds the deciding module first."""
    kept, depth = "", 0
    for character in rule.counterpart:
        if character == "(":
            depth += 1
        if depth == 0:
            kept += character
        if character == ")":
            depth -= 1
    return kept.replace(" ;", ";").strip()


def _about(part: object, name: str) -> str:
    if isinstance(part, Slot):
        return _docs(Behaviour)[name].partition(_WITHOUT)[0]
    return (type(part).__doc__ or "").partition("\n")[0]


def _slots(
    part: object, name: str, holder: type[Any], place: str = ""
) -> Iterator[DescribedSlot]:
    """Give the slots of a phase, or of a part of one; ``holder`` documents them."""
    if isinstance(part, Slot):
        question, _, without = _docs(holder).get(name, "").partition(_WITHOUT)
        yield DescribedSlot(
            name=place or name,
            question=question,
            combines=COMBINES[type(part)],
            without=without.rstrip(".") or NOTHING,
            rules=part.rules,
        )
    elif is_dataclass(part):
        for field in fields(part):
            below = f"{place}.{field.name}".lstrip(".")
            yield from _slots(getattr(part, field.name), field.name, type(part), below)


def _docs(holder: type[Any]) -> Mapping[str, str]:
    """Give the docstring below each field of a class."""
    return _docs_of(holder.__module__)[holder.__name__]


@cache
def _docs_of(module: str) -> Mapping[str, Mapping[str, str]]:
    """Give the docstrings of fields by class and field; Python keeps them in the source only."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {node.name: dict(_docs_in(node)) for node in classes}


def _docs_in(holder: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(holder.body):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            text = ast.literal_eval(below.value)
            yield ast.unparse(field.target), " ".join(text.split())
