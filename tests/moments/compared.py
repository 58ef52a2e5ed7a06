"""Compares what the commands answer about recorded dumps with what the real Kueue had written, and did next."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kueue_dra_fixtures.forwarding_target import ForwardingTarget
from kueue_dra_ref.api.conditions import condition, is_true, message_of
from kueue_dra_ref.api.documents import parse
from kueue_dra_ref.api.job_kinds import JOB_KINDS, owner_of
from kueue_dra_ref.api.three_way_merge import merged_work
from kueue_dra_ref.api.yaml_text import written
from kueue_dra_ref.apiserver import MINORS
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.controlplane.store import key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.reference.sketches import SketchServer
from kueue_dra_ref.scenarios.diff import difference
from kueue_dra_ref.scenarios.playback import ran, settled, started
from kueue_dra_ref.scenarios.scenario import Observation
from kueue_dra_ref.simulation.cluster_state import difference as decided_otherwise
from kueue_dra_ref.simulation.inputs import given
from kueue_dra_ref.simulation.run import SimulationResult, simulate
from kueue_dra_ref.simulation.running_cluster import running_cluster
from kueue_dra_ref.target import Manifest, Ref, Rejection, Target
from tests.commands import kueue_dra
from tests.moments.broken import is_broken_by
from tests.moments.drawn import Plan
from tests.moments.recorded import Documents, Dumps, Recording, seen_by

_AMOUNT = re.compile(r"\b\d+(?:[a-zA-Z]+)?(?= more needed)")
"""What is lacking, in a message."""


@dataclass(slots=True, kw_only=True)
class Answers:
    """What ``explain`` says about the waiting Workloads of one dump."""

    waiting: int = 0
    told: int = 0
    """For how many the message is that of the cluster."""
    derived: int = 0
    """For how many the reference derives reason and message of the cluster."""
    earlier: int = 0
    """For how many it derives another one, and that of the cluster is of an earlier usage of the quota.

    The cluster has had it since before the last step, or it differs in amounts only.
    """
    differing: list[str] = field(default_factory=list)
    """Those, and the others, with both sides."""

    @property
    def wrong(self) -> int:
        """For how many an earlier usage does not explain the difference."""
        return self.waiting - self.derived - self.earlier


@dataclass(slots=True, kw_only=True)
class Moment:
    """One dump: what was asked about it, and what came of it."""

    name: str
    settled: Answers
    early: Answers
    """Of the dump while Kueue worked; what it had not written yet counts if it wrote so a moment later."""
    findings: list[str] = field(default_factory=list)
    """Findings of the audit that no step of the scenario explains."""
    broken: int = 0
    """Findings that a step of the scenario explains: it deleted a class, lowered a quota, or the like."""
    steps: int = 0
    same: int = 0
    """After how many of the steps that follow the same Workloads hold the same quota."""
    going_on: str = ""
    """The first difference."""
    soon: str = ""
    """How the cluster that the reference derives from the early dump differs from the settled one."""
    errors: list[str] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return not (
            self.settled.wrong or self.early.wrong or self.findings or self.going_on or self.soon or self.errors
        )


def compared(recording: Recording) -> Iterator[Moment]:
    """Compare each dump of a recording."""
    with tempfile.TemporaryDirectory(prefix="moments-") as folder:
        for dumps in recording.dumps:
            yield _compared(recording, dumps, Path(folder))


def _compared(recording: Recording, dumps: Dumps, folder: Path) -> Moment:
    asked = _Asked(recording=recording, dumps=dumps, folder=folder)
    found = Moment(
        name=f"{recording.kueue}-{recording.name}, step {dumps.step}",
        settled=asked.explained(dumps.settled, []),
        early=asked.explained(dumps.early, dumps.settled),
    )
    asked.audited(found)
    _going_on(recording, dumps, found)
    found.errors += asked.errors
    return found


class _Asked:
    """Asks the commands about the dumps after one step."""

    def __init__(self, *, recording: Recording, dumps: Dumps, folder: Path) -> None:
        self._recording, self._plan = recording, recording.plan
        self._dumps, self._folder = dumps, folder
        config = self._file("config.yaml", [recording.plan.configuration(dumps.step)])
        self._options = ("--config", config, "--behaviour", recording.release, "-o", "json")
        self.errors: list[str] = []

    def _file(self, name: str, documents: Sequence[Manifest]) -> Path:
        file = self._folder / name
        file.write_text(written(documents), "utf-8")
        return file

    def explained(self, dump: Documents, later: Documents) -> Answers:
        """Compare what ``explain`` says about the waiting Workloads of a dump with it, and with a later one."""
        file = self._file("dump.yaml", dump)
        done = kueue_dra("explain", "-f", file, *self._options)
        found = Answers()
        if done.exit_code != 0:
            self.errors.append(f"explain: exit code {done.exit_code}: {done.stderr}")
            return found
        answers = {(each["namespace"], each["workload"]): each for each in json.loads(done.stdout)}
        after = _workloads(later)
        for key, workload in _workloads(dump).items():
            is_gone = bool(later) and key not in after
            if _is_waiting(workload) and not is_gone:
                differs = _compare(found, workload, answers.get(key), after.get(key))
                if differs and (_is_same_text(differs) or self._is_earlier(workload)):
                    found.earlier += 1
        return found

    def _is_earlier(self, workload: Manifest) -> bool:
        """Whether the cluster had the same condition of a Workload before the last step."""
        before = self._recording.seen[self._dumps.step - 2]
        owner = owner_of(workload)
        name = owner[1] if owner else workload["metadata"]["name"]
        for scenario in before:
            seen = (scenario.get("workloads") or {}).get(name)
            if seen is not None and seen.get("QuotaReserved") == _condition(workload):
                return True
        return False

    def audited(self, found: Moment) -> None:
        """Audit twice: the dump while Kueue worked with the settled one, and that with the one of a moment later."""
        dumps = self._dumps
        for first, second in ((dumps.early, dumps.settled), (dumps.settled, dumps.again)):
            for each in self._findings(first, second):
                if is_broken_by(self._plan, dumps.step, dumps.settled, each):
                    found.broken += 1
                else:
                    place = f"{each['requirement']} {each['object']} {each['field']}"
                    found.findings.append(f"{place}: {each['says']}, but {each['follows']} ({each['sure']})")

    def _findings(self, first: Documents, second: Documents) -> list[dict[str, str]]:
        files = self._file("first.yaml", first), self._file("second.yaml", second)
        done = kueue_dra("audit", files[0], "--again", files[1], *self._options)
        if done.exit_code == 2:
            self.errors.append(f"audit: {done.stderr}")
            return []
        findings: list[dict[str, str]] = json.loads(done.stdout)["findings"]
        return findings


def _workloads(documents: Documents) -> dict[Key, Manifest]:
    items = documents[1]["items"] if documents else ()
    return {key_of(each): each for each in items if each["kind"] == "Workload"}


def _is_waiting(workload: Manifest) -> bool:
    return not is_true(workload, "Finished") and not is_true(workload, "QuotaReserved")


def _condition(workload: Manifest) -> Observation | None:
    """Give what an observation has of the QuotaReserved condition."""
    stored = condition(workload, "QuotaReserved")
    return stored and {key: stored[key] for key in ("status", "reason", "message")}


def _is_same_text(sides: Mapping[str, str]) -> bool:
    """Whether two conditions differ in amounts only."""
    ours, theirs = (_AMOUNT.sub("N", sides[side]) for side in ("reference", "cluster"))
    return ours == theirs


def _compare(found: Answers, workload: Manifest, answer: Any, after: Manifest | None) -> Mapping[str, str]:
    """Count the answer about one waiting Workload; both sides if the reference derives another condition."""
    found.waiting += 1
    if answer is None:
        found.differing.append(f"{'/'.join(key_of(workload))}: not explained")
        return {}
    found.told += answer["message"] == message_of(workload, "QuotaReserved")
    differs = answer["clusterDiffers"]
    if differs is None or (after is not None and _is_of(after, differs["reference"])):
        found.derived += 1
        return {}
    sides = f"Kueue: {differs['cluster']}; reference: {differs['reference']}"
    found.differing.append(f"{'/'.join(key_of(workload))}: {sides}")
    return dict(differs)


def _is_of(workload: Manifest, decision: str) -> bool:
    """Whether a Workload has the condition that the reference derives."""
    sides = decided_otherwise(workload, {"status": {}})
    return sides is not None and sides[0] == decision


def _going_on(recording: Recording, dumps: Dumps, found: Moment) -> None:
    """Run the steps that follow on a reference that begins with the dump, and compare the admissions."""
    plan, begun = recording.plan, dumps.step
    soon = _begun(recording, begun, dumps.early, found)
    then = _begun(recording, begun, dumps.settled, found)
    if soon is None or then is None:
        return
    now = recording.seen[begun - 1]
    found.soon = _difference(seen_by(soon, plan, begun), now)
    found.going_on = _difference(seen_by(then, plan, begun), now)
    target = _Merging(then, _applied(plan, begun))
    for step in range(begun + 1, len(recording.seen) + 1):
        if found.going_on:
            return
        steps = [each.steps[step - 1] for each in plan.batch]
        for configuration in steps[0].get("restart") or ():
            started(plan.batch[0], configuration, target)
        ran(steps, target)
        if settled(target):
            return
        found.steps += 1
        found.going_on = _difference(seen_by(target, plan, step), recording.seen[step - 1], f"step {step}: ")
        found.same += not found.going_on


def _begun(recording: Recording, step: int, dump: Documents, found: Moment) -> Target | None:
    """Start a reference over a dump, read as a file is."""
    cluster = running_cluster(parse(written(dump), "dump.yaml"))
    server = SketchServer(kubernetes=MINORS[cluster.kubernetes])
    objects = given(cluster.documents, running=True)
    rules, configuration = behaviour(recording.release), recording.plan.configuration(step)
    result = simulate(rules, configuration, objects, server, cluster.seconds)
    if isinstance(result, SimulationResult):
        return result.target
    found.errors.append(f"Kueue does not start: {result}")
    return None


def _difference(ours: Sequence[Observation], theirs: Sequence[Observation], place: str = "") -> str:
    """Give the first difference in which Workloads hold which quota; empty if there is none."""
    held = difference(list(map(_held, ours)), list(map(_held, theirs)))
    return f"{place}{held}" if held else ""


def _held(seen: Observation) -> dict[str, Any]:
    workloads = seen.get("workloads") or {}
    return {name: each["admission"] for name, each in workloads.items() if each["admission"]}


def _applied(plan: Plan, begun: int) -> dict[Ref, Manifest]:
    """Give the last manifest of each object before a moment."""
    found = {}
    for scenario in plan.batch:
        for step in scenario.steps[:begun]:
            for each in step.get("apply") or ():
                found[Ref.of(each)] = each
    return found


class _Merging(ForwardingTarget):
    """Applies work as an update of what its writer applied before the dump, which a dump does not say."""

    def __init__(self, target: Target, before: dict[Ref, Manifest]) -> None:
        super().__init__(target)
        self._before = before

    def apply(self, manifests: Iterable[Manifest]) -> Sequence[Rejection]:
        """Apply each object, work merged into what is stored."""
        found: list[Rejection] = []
        for each in manifests:
            rejected = self.target.apply([self._merged(each)])
            if not rejected:
                self._before[Ref.of(each)] = each
            found += rejected
        return found

    def _merged(self, manifest: Manifest) -> Manifest:
        stored = self.target.read(Ref.of(manifest))
        if manifest["kind"] not in JOB_KINDS or stored is None:
            return manifest
        before = self._before.get(Ref.of(manifest)) or {}
        return merged_work(stored, manifest, before.get("spec") or {})
