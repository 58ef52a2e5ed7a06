"""``kueue-dra behaviour``: the rules in force in a text or a release, phase by phase."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from kueue_dra_cli.errors import CliError
from kueue_dra_cli.options import (
    BehaviourChoice,
    NamedChoice,
    gate_option,
    output_option,
)
from kueue_dra_cli.printing import as_json, as_table
from kueue_dra_ref.behaviours import NAMES
from kueue_dra_ref.behaviours import behaviour as behaviour_of
from kueue_dra_ref.behaviours.behaviour import Behaviour, rules_of
from kueue_dra_ref.behaviours.description import (
    PHASES,
    DescribedPhase,
    DescribedSlot,
    condition,
    headline,
    phases,
    relevant_gates,
)
from kueue_dra_ref.behaviours.facts import as_document, facts, gate_state
from kueue_dra_ref.behaviours.releases import BY_NAME
from kueue_dra_ref.features.kube_features import effective
from kueue_dra_ref.model.rule import Rule

EPILOG = """\
\b
Examples
  kueue-dra behaviour                                      the behaviours: texts and releases
  kueue-dra behaviour kueue-0.17                           every rule of Kueue 0.17, and every question without a rule
  kueue-dra behaviour kueue-0.17 --phase preprocessing     one phase
  kueue-dra behaviour kueue-0.19 --gate UnadmittedWorkloadsObservability=true
"""
WIDTH = 120


@click.command("behaviour", epilog=EPILOG)
@click.argument("name", required=False, metavar="[NAME]", type=BehaviourChoice())
@click.option(
    "--phase",
    type=NamedChoice(tuple(PHASES.values())),
    help="Only one phase, such as preprocessing or preemption.",
)
@gate_option
@output_option("text", "table", "json")
def command(
    name: str | None, phase: str | None, gates: Mapping[str, bool], output: str
) -> None:
    """Print the rules in force in a text or a release.

    Phases, slots and rules come in the order of application. A slot is one question; its rules decide it, and a slot
    without rules says what follows. Each rule has its requirements and its counterpart in Kueue or Kubernetes.

    Without --gate, each rule shows the feature gates that it depends on. With --gate, only the rules in force are
    printed, and gates that are not named have their defaults.
    """
    if name is None:
        _list(output)
        return
    found = _under(behaviour_of(name), gates)
    chosen = [each for each in phases(found) if phase in (None, each.name)]
    if output == "json":
        as_json(as_document(found, chosen))
    elif output == "table":
        as_table(
            ("phase", "slot", "rule", "gates", "requirements"), list(_rows(chosen))
        )
    else:
        click.echo("\n".join(_text(found, chosen, whole=phase is None)))


def _list(output: str) -> None:
    """Print the behaviours, each with what is known about it."""
    if output == "json":
        as_json([as_document(behaviour_of(name), ()) for name in NAMES])
        return
    rows = []
    for name in NAMES:
        registered, found = BY_NAME[name], behaviour_of(name)
        rows.append(
            (
                name,
                found.title,
                registered.version if registered.pinned else "-",
                registered.reads or "-",
                found.integration_gate,
                len({rule.name for rule in rules_of(found)}),
            )
        )
    headers = ("name", "title", "real Kueue", "resource.k8s.io", "gate", "rules")
    as_table(headers, rows)


def _under(found: Behaviour, gates: Mapping[str, bool]) -> Behaviour:
    """Give a behaviour under some gates, or as it is if none is named.

    Raises:
        CliError: the behaviour does not accept the gates.

    """
    if not gates:
        return found
    state = effective(found.gates, gates)
    if isinstance(state, tuple):
        raise CliError(
            [
                *(f"--gate: {error.detail}" for error in state),
                *filter(None, (_hint(gate, found) for gate in gates)),
            ]
        )
    return found.under(state)


def _hint(gate: str, found: Behaviour) -> str:
    """Name the gates that may be meant by an unknown name; empty for a gate that the behaviour knows."""
    known = found.gates.table
    near = difflib.get_close_matches(gate, known, n=3)
    return f"did you mean {' or '.join(near)}?" if near and gate not in known else ""


def _rows(chosen: Sequence[DescribedPhase]) -> Iterator[Sequence[str]]:
    """Give one row for each rule, and for each slot without rules."""
    for phase in chosen:
        for slot in phase.slots:
            for rule in slot.rules:
                ids = ", ".join(rule.requirements)
                yield (phase.name, slot.name, rule.name, condition(rule), ids)
            if not slot.rules:
                yield (phase.name, slot.name, "-", "", "")


def _text(
    found: Behaviour, chosen: Sequence[DescribedPhase], *, whole: bool
) -> Iterator[str]:
    if whole:
        yield from _head(found)
    for phase in chosen:
        title = f"{phase.name.upper()} (behaviour.{phase.field}): "
        yield from _wrapped(phase.about, title)
        yield ""
        for slot in phase.slots:
            yield from _slot(slot)
            yield ""


def _head(found: Behaviour) -> Iterator[str]:
    for paragraph in headline(found).splitlines():
        yield from _wrapped(paragraph, "") or [""]
    yield ""
    width = max(len(label) for label, _ in facts(found))
    for label, value in facts(found):
        yield from _wrapped(value, f"  {label:{width}}  ")
    yield ""
    yield "  feature gates that concern devices, or that a rule depends on:"
    for gate in relevant_gates(found):
        yield f"    {gate.name}: {gate_state(gate)}"
    yield ""


def _slot(slot: DescribedSlot) -> Iterator[str]:
    yield from _wrapped(slot.question, f"  {slot.name}: ")
    if not slot.rules:
        yield from _wrapped(f"no rule: {slot.without}", "    ")
    if len(slot.rules) > 1:
        yield f"    ({slot.combines})"
    for rule in slot.rules:
        yield from _rule(rule)


def _rule(rule: Rule[..., Any]) -> Iterator[str]:
    yield from _wrapped(rule.sentence, "    - ")
    yield from _wrapped(
        "; ".join(filter(None, (rule.name, condition(rule)))), "        "
    )
    yield from _wrapped(", ".join(rule.requirements), "        ")
    yield from _wrapped(rule.counterpart, "        ")


def _wrapped(text: str, before: str) -> list[str]:
    """Wrap a text; later lines are indented like the first one, at most by eight columns."""
    indent = " " * min(len(before), 8)
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=before,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
