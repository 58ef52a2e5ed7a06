"""The hunt on a real Kueue: generated worlds agree, and a reference that lacks a rule is found out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from clusters.binaries import binaries
from kueue_dra_ref.behaviours import behaviour
from suites.differential.campaign import a_judge
from suites.differential.drawing import Batch, batches
from suites.differential.judging import Judge, Kind

pytestmark = pytest.mark.live
KUEUE_0_19 = behaviour("kueue-0.19")


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """Have a Kueue beside the reference."""
    with a_judge(binaries(KUEUE_0_19.kueue), KUEUE_0_19) as found:
        yield found


@pytest.fixture(scope="module")
def batch() -> Batch:
    """Have some worlds without stops and StrictFIFO, which Kueue may answer in more than one way."""
    found = batches(of=6, behaviour=KUEUE_0_19, number=8, count=3)[-1]
    assert not {"stopPolicy", "StrictFIFO"} & set(re.findall(r"\w+", json.dumps([world.steps for world in found])))
    return found


def test_generated_worlds_are_decided_alike(judge: Judge, batch: Batch) -> None:
    """Side by side in one Kueue."""
    assert [each.kind for each in judge.judge(batch)] == [Kind.AGREES] * len(batch)


def test_a_reference_without_a_rule_is_found_out(judge: Judge, batch: Batch) -> None:
    """Charges are not multiplied by pods any more: a world in which that matters differs, and again when alone."""
    blind = replace(judge, behaviour=KUEUE_0_19.without("a_pod_set_is_charged_for_each_pod"))

    (found,) = blind.judge(batch[:1])

    assert found.kind is Kind.DIFFERS
