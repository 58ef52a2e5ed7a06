"""Request policies: how a share of a capacity is rounded before it is charged (Kueue 0.19, consumable capacity)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_template
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, on_kubernetes, owns_kueue
from kueue_dra_fixtures.sources import SHARES, SOURCED, a_range, a_share, a_shared_gpu, some_values
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue

NO_SHARE = inadmissible(Reason.BAD_SHARE)


@covers("CAPACITY-005", "CAPACITY-011")
@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        pytest.param("1Gi", admitted({"vgpu-memory": "10Gi"}), id="below-the-first"),
        pytest.param("10Gi", admitted({"vgpu-memory": "10Gi"}), id="the-first"),
        pytest.param("15Gi", admitted({"vgpu-memory": "20Gi"}), id="between-two"),
        pytest.param("20481Mi", admitted({"vgpu-memory": "40Gi"}), id="just-above"),
        pytest.param("40Gi", admitted({"vgpu-memory": "40Gi"}), id="the-last"),
        pytest.param("40961Mi", NO_SHARE, id="above-the-last"),
    ],
)
def test_a_share_is_raised_to_the_next_value(lab: Lab, asked: str, verdict: Verdict) -> None:
    """Of the values the smallest that is large enough is charged; above the last there is none."""
    lab.start(**SOURCED)
    lab.device_class(SHARES)
    lab.publish(a_shared_gpu("d0", some_values("10Gi", "20Gi", "40Gi"), memory="80Gi"), driver=SHARES)
    queue = lab.queue({"vgpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_share(memory=asked))]))

    assert lab.verdict(job) == verdict


@pytest.mark.parametrize(
    ("policy", "asked", "verdict"),
    [
        pytest.param(
            a_range("1Gi"),
            "500Mi",
            admitted({"vgpu-memory": "1Gi"}),
            id="below-the-least",
            marks=covers("CAPACITY-006"),
        ),
        pytest.param(
            a_range("1Gi"), "1Gi", admitted({"vgpu-memory": "1Gi"}), id="the-least", marks=covers("CAPACITY-006")
        ),
        pytest.param(
            a_range("1Gi"),
            "1025Mi",
            admitted({"vgpu-memory": "1025Mi"}),
            id="without-steps",
            marks=covers("CAPACITY-006"),
        ),
        pytest.param(
            a_range("1Gi", "80Gi", "1Gi"),
            "15500Mi",
            admitted({"vgpu-memory": "16Gi"}),
            id="next-step",
            marks=covers("CAPACITY-007"),
        ),
        pytest.param(
            a_range("10Gi", "70Gi", "20Gi"),
            "25Gi",
            admitted({"vgpu-memory": "30Gi"}),
            id="from-the-least",
            marks=covers("CAPACITY-007"),
        ),
        pytest.param(
            a_range("10Gi", "70Gi", "20Gi"),
            "30Gi",
            admitted({"vgpu-memory": "30Gi"}),
            id="on-a-step",
            marks=covers("CAPACITY-007"),
        ),
        pytest.param(
            a_range("10", "70", "-20"),
            "25",
            admitted({"vgpu-memory": 25}),
            id="negative-steps-up-to-1.36",
            marks=[covers("CAPACITY-007"), on_kubernetes("1.36")],
        ),
        pytest.param(
            a_range("1Gi", "64Gi"),
            "64Gi",
            admitted({"vgpu-memory": "64Gi"}),
            id="the-most",
            marks=covers("CAPACITY-012"),
        ),
        pytest.param(a_range("1Gi", "64Gi"), "65537Mi", NO_SHARE, id="above-the-most", marks=covers("CAPACITY-012")),
        pytest.param(
            a_range("10Gi", "70Gi", "20Gi"), "71Gi", NO_SHARE, id="a-step-too-far", marks=covers("CAPACITY-012")
        ),
        pytest.param(
            a_range("1"),
            "1500m",
            admitted({"vgpu-memory": "2"}),
            id="fractions-are-rounded-up",
            marks=covers("CAPACITY-006"),
        ),
    ],
)
def test_a_share_is_rounded_into_the_range(lab: Lab, policy: dict[str, Any], asked: str, verdict: Verdict) -> None:
    """Raised to the least, then to a whole number of steps above it; beyond the most the device cannot serve."""
    lab.start(**SOURCED)
    lab.device_class(SHARES)
    lab.publish(a_shared_gpu("d0", policy, memory="80Gi"), driver=SHARES)
    queue = lab.queue({"vgpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_share(memory=asked))]))

    assert lab.verdict(job) == verdict


@covers("CAPACITY-011")
@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        pytest.param("4Gi", admitted({"vgpu-memory": "8Gi"}), id="both-can"),
        pytest.param("16Gi", admitted({"vgpu-memory": "16Gi"}), id="one-can"),
        pytest.param("17Gi", NO_SHARE, id="none-can"),
    ],
)
def test_one_device_that_gives_the_share_is_enough(lab: Lab, asked: str, verdict: Verdict) -> None:
    """Kueue skips devices whose policy does not allow the share."""
    lab.start(**SOURCED)
    lab.device_class(SHARES)
    lab.publish(
        a_shared_gpu("d0", a_range("4Gi", "16Gi", "4Gi"), memory="80Gi"),
        a_shared_gpu("d1", some_values("8Gi"), memory="80Gi"),
        driver=SHARES,
    )
    queue = lab.queue({"vgpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_share(memory=asked))]))

    assert lab.verdict(job) == verdict
