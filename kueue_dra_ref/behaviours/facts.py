"""What a behaviour states apart from its rules: releases, versions, gates, permissions, timing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.description import (
    DescribedPhase,
    DescribedSlot,
    relevant_gates,
)
from kueue_dra_ref.behaviours.releases import BY_NAME, NEWEST
from kueue_dra_ref.features.kube_features import Gate
from kueue_dra_ref.model.rule import Rule

_COUNTERPARTS = (
    f"Kueue: means {NEWEST.version}; a line such as Kueue 0.17: names another release"
)


def facts(behaviour: Behaviour) -> list[tuple[str, str]]:
    """Give what is known about a behaviour, each with a label, for people."""
    release = BY_NAME[behaviour.name]
    known = [
        ("name", behaviour.name),
        ("compared with", _compared(behaviour)),
        ("serves kueue.x-k8s.io", ", ".join(release.serves)),
        ("reads resource.k8s.io", release.reads),
        ("Configuration", ", ".join(behaviour.versions)),
        ("device classes mapped in", str(behaviour.mapping_source)),
        ("more kinds", ", ".join(sorted(behaviour.extra_kinds))),
        ("device integration", f"gate {behaviour.integration_gate}"),
        ("gates that need it", ", ".join(behaviour.dependent_gates)),
        ("gates are set", _setting(behaviour)),
        ("may read", ", ".join(_readable(behaviour))),
        *timing(behaviour).items(),
        ("counterparts", _COUNTERPARTS),
    ]
    return [(label, value) for label, value in known if value]


def timing(behaviour: Behaviour) -> Mapping[str, str]:
    """Say in which order things happen where releases differ."""
    order = "random, as in a Go map" if behaviour.random_map_order else "fixed"
    updates = (
        "the second replaces the first, although it was computed before the first was read"
        if behaviour.overwrites_unread_status
        else "the second may be lost, because it conflicts with the first"
    )
    requeue = (
        "one second after quota is released, once for all releases until then"
        if behaviour.batches_requeues
        else "at once, each time that quota is released"
    )
    return {
        "order of resources": order,
        "two status updates": updates,
        "requeue": requeue,
    }


def gate_state(gate: Gate) -> str:
    """Give default and stage of a gate in words."""
    locked = ", locked" if gate.locked else ""
    needs = f", needs {', '.join(gate.needs)}" if gate.needs else ""
    return f"{'on' if gate.default else 'off'} by default ({gate.stage}{locked}{needs})"


def as_document(
    behaviour: Behaviour, phases: Iterable[DescribedPhase]
) -> dict[str, Any]:
    """Give a behaviour as JSON: what is known about it, and some of its phases."""
    release = BY_NAME[behaviour.name]
    return {
        "name": behaviour.name,
        "title": behaviour.title,
        "pinned": release.version if release.pinned else None,
        "provisional": release.provisional or None,
        "serves": list(release.serves),
        "reads": release.reads or None,
        "configuration": list(behaviour.versions),
        "mappingSource": str(behaviour.mapping_source),
        "extraKinds": sorted(behaviour.extra_kinds),
        "integrationGate": behaviour.integration_gate,
        "dependentGates": list(behaviour.dependent_gates),
        "gates": [_gate(each) for each in relevant_gates(behaviour)],
        "role": [
            {key: list(value) for key, value in each.items()} for each in behaviour.role
        ],
        "randomMapOrder": behaviour.random_map_order,
        "overwritesUnreadStatus": behaviour.overwrites_unread_status,
        "batchesRequeues": behaviour.batches_requeues,
        "phases": [_phase(each) for each in phases],
    }


def _compared(behaviour: Behaviour) -> str:
    release = BY_NAME[behaviour.name]
    if release.provisional:
        return f"no real Kueue (provisional): {release.provisional}"
    return f"Kueue {release.version}" if release.pinned else "the text"


def _setting(behaviour: Behaviour) -> str:
    when = "after" if behaviour.gates.last else "before"
    return f"{when} the rest of the Configuration is validated"


def _readable(behaviour: Behaviour) -> list[str]:
    return [name for rule in behaviour.role for name in rule["resources"]]


def _gate(gate: Gate) -> dict[str, Any]:
    return {
        "name": gate.name,
        "default": gate.default,
        "stage": str(gate.stage),
        "locked": gate.locked,
        "needs": list(gate.needs),
    }


def _phase(phase: DescribedPhase) -> dict[str, Any]:
    slots = [_slot(each) for each in phase.slots]
    return {
        "name": phase.name,
        "field": phase.field,
        "about": phase.about,
        "slots": slots,
    }


def _slot(slot: DescribedSlot) -> dict[str, Any]:
    return {
        "name": slot.name,
        "question": slot.question,
        "combines": slot.combines,
        "withoutRules": slot.without,
        "rules": [_rule(each) for each in slot.rules],
    }


def _rule(rule: Rule[..., Any]) -> dict[str, Any]:
    return {
        "name": rule.name,
        "sentence": rule.sentence,
        "gates": dict(rule.gates),
        "requirements": list(rule.requirements),
        "counterpart": rule.counterpart,
    }
