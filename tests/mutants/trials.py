"""Gathers what a run needs: what the cases reach, and what the recordings show unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kueue_dra_differential.mutants.places import ROOT
from tests.mutants.messages import Profiles, Try
from tests.mutants.recording import NotGreen, at_import, recorded
from tests.mutants.servers import FRESH, Server
from tests.mutants.settings import Settings
from tests.mutants.trial import Trials

UNCHANGED = "kueue_dra_ref/__init__.py"


def trials_of(started: Mapping[str, Server], settings: Settings) -> Trials:
    """Record what has not been recorded, and give what tries the mutants."""
    looking = [started[name] for name in settings.behaviours]
    reaches = recorded(settings, looking)
    files = settings.recordings
    return Trials(
        reaches=reaches,
        at_import=at_import(settings),
        fresh=started[FRESH],
        recordings=files,
        expected=_unchanged(reaches[0].server, files),
        jobs=settings.jobs,
        limit=settings.cases,
        state=settings.state,
        profiles=_profiles(looking),
    )


def _profiles(looking: Sequence[Server]) -> Mapping[str, frozenset[str]]:
    """Give the profiles of each case, of all behaviours."""
    found: dict[str, frozenset[str]] = {}
    for server in looking:
        if answer := server.ask(Profiles()):
            found |= answer.profiles
    return found


def _unchanged(server: Server, recordings: Sequence[str]) -> frozenset[str]:
    """Name the steps of the recordings that differ without a mutant."""
    source = (ROOT / UNCHANGED).read_text("utf-8")
    answer = server.ask(Try(file=UNCHANGED, source=source, recordings=recordings))
    if answer is None:
        raise NotGreen("the recorded scenarios take too long, or cannot be read")
    return frozenset(answer.differing)
