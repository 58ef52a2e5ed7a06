"""Negative controls: on a cluster broken on purpose the named cases go red, and the cause can be read at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kueue_dra_clusters.kind.failure_summary import summary
from kueue_dra_clusters.waiting import TimedOut
from kueue_dra_fixtures.on_nodes import NodeLab
from kueue_dra_suites.e2e import test_devices, test_integration_off, test_waiting

Case = Callable[[NodeLab], None]
SECONDS = 10.0
"""A working case takes two or three; a failing case takes all of them."""
NEED_DEVICES: tuple[Case, ...] = (
    test_devices.test_a_job_runs_and_finishes,
    test_waiting.test_the_third_starts_when_one_ends,
)
NEED_NONE: Case = test_integration_off.test_other_work_runs
WAIT: Case = test_waiting.test_two_queues_do_not_share


def goes_red(site: NodeLab, case: Case, *message: str) -> None:
    """A case has to fail, and the first page of its evidence has to say why."""
    site.patience = SECONDS
    with pytest.raises((AssertionError, TimedOut)):
        case(site)
    page = summary(site.cluster, site.namespace)
    assert [words for words in message if words not in page] == [], page


@pytest.mark.profile("driver-gone")
@pytest.mark.parametrize("case", NEED_DEVICES)
def test_a_missing_driver_is_noticed(site: NodeLab, case: Case) -> None:
    """Kueue admits by quota, and the page says that no device is published."""
    goes_red(site, case, "cannot allocate all claims", "none: no driver has published a complete pool")


@pytest.mark.profile("driver-gone")
@pytest.mark.parametrize("case", [WAIT, NEED_NONE])
def test_a_missing_driver_turns_nothing_else_red(site: NodeLab, case: Case) -> None:
    """Pending workloads have no pods in any case, and ordinary workloads run."""
    case(site)


@pytest.mark.profile("mapped-wrong")
@pytest.mark.parametrize("case", [*NEED_DEVICES, WAIT])
def test_a_wrong_mapping_is_noticed(site: NodeLab, case: Case) -> None:
    """No workload with devices is admitted, and the page shows the mapping next to the covered resources."""
    mapping = f"nobodys-gpus: {site.driver.device_class}"
    goes_red(site, case, "nobodys-gpus unavailable in ClusterQueue", mapping, "whole-gpus")


@pytest.mark.profile("mapped-wrong")
def test_a_wrong_mapping_turns_nothing_else_red(site: NodeLab) -> None:
    """Ordinary work asks for no device."""
    NEED_NONE(site)
