"""Take moments of a real Kueue, and compare what the commands answer about them: ``python -m tests.moments --help``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from kueue_dra_cli.differential import Duration
from kueue_dra_clusters.binaries import binaries
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.releases import release
from kueue_dra_clusters.waiting import elapsed_since, limits_of, moment_now
from kueue_dra_ref.behaviours import behaviour
from tests.moments.compared import Moment, compared
from tests.moments.drawn import plans
from tests.moments.figures import Figures, lines
from tests.moments.recorded import Recording, dump_of, read, record, write

EPILOG = """\
examples:
  python -m tests.moments --seed 7 --budget 10m     a real Kueue 0.19; recordings in out/moments
  python -m tests.moments --again out/moments       compare recordings again, without a Kueue
"""


def main() -> None:
    """Compare moments, print each difference, and the figures at the end."""
    options = _parser().parse_args()
    figures = Figures()
    for recording in _recordings(options):
        if recording.ending:
            print(f"{recording.name}: {recording.ending}", flush=True)
        for moment in _compared(recording, options):
            figures.add(moment)
            for line in lines(moment):
                print(line, flush=True)
    print(figures)
    sys.exit(figures.differ)


def _compared(recording: Recording, options: argparse.Namespace) -> Iterator[Moment]:
    """Compare a recording, unless only recordings are wanted."""
    if not options.record_only:
        yield from compared(recording)


def _recordings(options: argparse.Namespace) -> Iterator[Recording]:
    if options.again:
        yield from map(read, sorted(options.again.glob("*.json")))
        return
    for each in _recorded(options):
        write(each, options.folder)
        yield each


def _recorded(options: argparse.Namespace) -> Iterator[Recording]:
    """Record plans on one real Kueue, until the time is up or there are enough dumps."""
    seconds = Duration().convert(options.budget, None, None)
    limits = limits_of(os.environ)
    brief = replace(limits, settle=limits.settle / 3)
    began, dumps = moment_now(), 0
    with ControlPlane(binaries(options.kueue)) as plane, closing(LiveTarget(plane, limits=brief)) as target:
        for plan in plans(behaviour(release(options.kueue).name), options.seed):
            if dumps >= options.moments or elapsed_since(began) > seconds:
                return
            found = record(plan, options.kueue, target, partial(dump_of, plane))
            target.clean()
            dumps += len(found.dumps)
            yield found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.moments",
        description="Dump a real Kueue in the middle of generated scenarios, and compare what explain, audit and a "
        "reference that goes on from the dump say with what Kueue says and does next.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--kueue", default="0.19", help="the minor of Kueue (default: 0.19)")
    add("--seed", type=int, default=1, help="the seed of the scenarios (default: 1)")
    add("--budget", default="10m", help="for how long to record, such as 90s or 10m (default: 10m)")
    add("--moments", type=int, default=1_000_000, help="stop after this number of dumps")
    add("--folder", type=Path, default=Path("out/moments"), help="where to write the recordings (default: out/moments)")
    add("--record-only", action="store_true", help="write the recordings, and compare nothing")
    add("--again", type=Path, metavar="FOLDER", help="compare the recordings of a folder again")
    return parser


if __name__ == "__main__":
    main()
