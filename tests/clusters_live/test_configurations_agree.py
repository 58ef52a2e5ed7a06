"""Configurations with errors, given to the reference and to a real Kueue."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterable
from typing import Any

import pytest

from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.target import FieldError, Manifest
from tests.object_grammar import Grammar

pytestmark = pytest.mark.live

SEED = int(os.environ.get("CONFIGURATIONS_SEED", "20261123"))
CONFIGURATIONS = int(os.environ.get("CONFIGURATIONS", "200"))
_GPUS = {"name": "whole-gpus", "deviceClassNames": ["gpu.example.com"]}
_NICS = {"name": "example.com/nics", "deviceClassNames": ["nic.example.com", "a.b"]}
_DRIVER = {"name": "memory", "driver": "d.example.com"}
_COUNTED = {**_DRIVER, "deviceSelector": {"cel": {"expression": "true"}}}
_MEMORY = {"name": "memory", "deviceClassNames": ["mig.example.com"], "sources": [{"counter": _COUNTED}]}
_SHARES = {"name": "shares", "deviceClassNames": ["share.example.com"], "sources": [{"capacity": _DRIVER}]}
_SOURCES = ("KueueDRAIntegrationPartitionableDevices", "KueueDRAIntegrationConsumableCapacity")
TAKEN: tuple[Manifest, ...] = (
    {"resources": {"deviceClassMappings": [_GPUS, _NICS]}},
    {"resources": {"deviceClassMappings": [_GPUS, _MEMORY, _SHARES]}, "featureGates": dict.fromkeys(_SOURCES, True)},
    {"resources": {"excludeResourcePrefixes": ["x.y/"]}, "featureGates": {"KueueDRAIntegration": False}},
    {"resources": {"transformations": [{"input": "cpu", "strategy": "Replace", "outputs": {"credits": "2"}}]}},
)


def test_configurations_that_are_wrong_are_refused_as_kueue_refuses_them(shared_target: LiveTarget) -> None:
    """CONFIGURATIONS of a seed: the same errors, except for the text of a wrong type, and which of several comes."""
    source = random.Random(SEED)
    grammar = Grammar(source, [{"spec": each} for each in TAKEN])
    reference = ReferenceTarget(behaviour("kueue-0.19.2"))
    wrong = []
    for _ in range(CONFIGURATIONS):
        configuration = grammar.wrong({"spec": source.choice(TAKEN)})["spec"]
        if isinstance(configuration, dict):
            ours, theirs = _told(reference.check(configuration)), _told(shared_target.check(configuration))
            if ours != theirs:
                wrong.append((configuration, theirs, ours))
    assert wrong == [], f"with CONFIGURATIONS_SEED={SEED}"


def _told(errors: Iterable[FieldError]) -> Any:
    messages = sorted(map(str, errors))
    return (
        "undecodable" if len(messages) == 1 and re.search(r"(^|: )(Wrong type|Not decoded)", messages[0]) else messages
    )
