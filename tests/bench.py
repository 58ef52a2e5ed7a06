"""How the cost of a decision grows: ratios measured in one run, so that a slow machine does not matter.

Run it with ``make bench``.  Nothing is asserted: it prints.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from tabulate import tabulate

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from tests import bench_selectors, bench_tree, bench_vendor
from tests.labs import a_lab

SIZES = (50, 100, 200, 400)
"""Numbers of Jobs."""


def seconds(act: Callable[[], object]) -> float:
    """How long something takes, in seconds of the processor."""
    began = time.process_time()
    act()
    return time.process_time() - began


def admitted(jobs: int) -> None:
    """Submit Jobs that are all admitted."""
    _submitted(jobs, quota=jobs)


def waiting(jobs: int) -> None:
    """Submit Jobs of which all but one wait."""
    _submitted(jobs, quota=1)


def _submitted(jobs: int, quota: int) -> None:
    lab = a_lab(suffix="bench")
    queue = lab.queue({"whole-gpus": quota})
    template = a_template(gpu())
    for index in range(jobs):
        queue.submit(a_job(claims=[template], priority=index % 3))


def main() -> None:
    """Print the time of one decision for each size, and how it compares with the smallest."""
    admitted(SIZES[0])  # warm up: imports, caches
    rows = []
    for story in (admitted, waiting):
        each = [seconds(lambda size=size, story=story: story(size)) / size for size in SIZES]  # type: ignore[misc]
        rows.append([story.__name__, *(f"{1000 * one:.1f} ms ({one / each[0]:.1f}x)" for one in each)])
    print(tabulate(rows, headers=["one decision among", *map(str, SIZES)]))
    print()
    headers = ["Workloads in 30 ClusterQueues", "processor", "each", "than among the fewest"]
    print(tabulate(bench_tree.rows(), headers=headers))
    print()
    print(tabulate(bench_selectors.rows(), headers=["devices", "engine alone", "selector", "ratio"]))
    print()
    print(tabulate(bench_vendor.rows(), headers=bench_vendor.HEADERS))


if __name__ == "__main__":
    main()
