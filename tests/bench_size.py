"""How the cost of a Job grows with their number, and how it is shared by reading, deciding and printing.

Run it with ``make bench-size``, or ``make bench-size ARGS="1000 10000"`` for other sizes.  Each size runs in a process
of its own, which measures the time of its processor, so that a busy machine matters little.  Nothing is asserted: it
prints.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tabulate import tabulate

from kueue_dra_cli.inputs import simulation_of
from kueue_dra_ref.api.garbage import collect_rarely
from kueue_dra_ref.api.yaml_text import written
from kueue_dra_ref.behaviours import NAMES
from kueue_dra_ref.target import Manifest
from tests import bench_inputs

SIZES = (1_000, 50_000)
"""Numbers of Jobs."""
HEAD: Manifest = {
    "apiVersion": "kueue-dra.dev/v1alpha1",
    "kind": "ClusterDump",
    "spec": {"kubernetes": "v1.36.3", "notRead": []},
}
HEADERS = ("Jobs", "input", "each, ms", "than the fewest", "reading", "deciding", "printing", "peak, MiB")
KUEUE_SECONDS, KUEUE_WORKLOADS = 1179.4, 50_000
KUEUE_URL = (
    "https://github.com/kubernetes-sigs/kueue/blob/main/test/performance/scheduler/configs/large-scale/rangespec.yaml"
)
KUEUE_FIGURE = f"""\
Kueue's own figure, for orientation: {KUEUE_WORKLOADS:,} Workloads in {KUEUE_SECONDS:,.0f} s, \
{1000 * KUEUE_SECONDS / KUEUE_WORKLOADS:.1f} ms each, the mean of 19 of its runs
({KUEUE_URL}).
No comparison of equals: that is a real Kueue against an API server, in 1,000 ClusterQueues, whose Workloads request
no devices, arrive, run and end; it is wall clock time, and the figures above are seconds of the processor."""

T = TypeVar("T")


def manifests(jobs: int) -> list[Manifest]:
    """Give the Configuration, a cluster, and suspended Jobs."""
    return [bench_inputs.configuration(), *bench_inputs.cluster(jobs), *bench_inputs.work(jobs)]


def measured(file: Path, dumps: Sequence[Path]) -> dict[str, float]:
    """Measure what ``simulate`` does with a file; then write what it prints as dumps of a cluster."""
    reading, simulation = _timed(lambda: simulation_of([file], None, NAMES[0], {}, from_scratch=False))
    deciding, result = _timed(simulation.run)
    is_json = file.suffix == ".json"

    def printed() -> list[Manifest]:
        objects = list(result.objects)
        json.dumps({"items": objects}, indent=2) if is_json else written(objects)
        return objects

    printing, objects = _timed(printed)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for dump in dumps:
        write(dump, [HEAD, bench_inputs.configuration(), *objects])
    return {"reading": reading, "deciding": deciding, "printing": printing, "peak": peak}


def write(file: Path, objects: Sequence[Manifest]) -> None:
    """Write manifests as a list in JSON, or as documents in YAML."""
    if file.suffix == ".json":
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=1))
    else:
        file.write_text(written(objects))


def _timed(act: Callable[[], T]) -> tuple[float, T]:
    began = time.process_time()
    found = act()
    return time.process_time() - began, found


def rows(measures: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    """Give a row for each measure: the cost of a Job next to that of the fewest, and the shares of the phases."""
    fewest: dict[str, float] = {}
    for each in measures:
        total = each["reading"] + each["deciding"] + each["printing"]
        cost = 1000 * total / each["jobs"]
        first = fewest.setdefault(each["input"], cost)
        shares = [f"{each[phase] / total:.0%}" for phase in ("reading", "deciding", "printing")]
        yield [
            f"{each['jobs']:,}",
            each["input"],
            f"{cost:.1f}",
            f"{cost / first:.2f}x",
            *shares,
            f"{each['peak']:,.0f}",
        ]


def _of_size(jobs: int) -> Iterator[dict[str, Any]]:
    """Measure manifests, and the dump of the cluster that they lead to, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        inside = Path(folder)
        plain = inside / "manifests.json"
        dumps = [inside / "dump.json", inside / "dump.yaml"]
        write(plain, manifests(jobs))
        yield _in_a_process(jobs, plain, dumps)
        for dump in dumps:
            yield _in_a_process(jobs, dump)


def _in_a_process(jobs: int, file: Path, dumps: Sequence[Path] = ()) -> dict[str, Any]:
    names = [str(each) for each in (file, *dumps)]
    command = [sys.executable, "-m", "tests.bench_size", "--file", *names]
    child = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found = json.loads(child.stdout)
    print(jobs, file.name, found, file=sys.stderr, flush=True)
    return {"jobs": jobs, "input": file.name, **found}


def main(arguments: Sequence[str]) -> None:
    """Measure the sizes that the command line names."""
    collect_rarely()
    if arguments[:1] == ["--file"]:
        file, *dumps = map(Path, arguments[1:])
        print(json.dumps(measured(file, dumps)))
        return
    sizes = [int(each) for each in arguments] or SIZES
    measures = [each for size in sizes for each in _of_size(size)]
    print(tabulate(rows(measures), headers=HEADERS, disable_numparse=True))
    print(f"\n{KUEUE_FIGURE}")


if __name__ == "__main__":
    main(sys.argv[1:])
