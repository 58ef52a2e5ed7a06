"""Names of work as kubectl shows them: a Job, a Workload, or a pod of a Job, with or without a namespace."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kueue_dra_cli.errors import CliError
from kueue_dra_ref.api.elastic_work import replaced_by, slice_key
from kueue_dra_ref.api.job_kinds import JOB_KINDS, owner_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.simulation.run import SimulationResult

_KINDS = {
    **{each.name.lower(): each.name for each in JOB_KINDS.values()},
    **{each.plural: each.name for each in JOB_KINDS.values()},
    "workload": "Workload",
    "workloads": "Workload",
    "wl": "Workload",
    "pod": "Pod",
    "pods": "Pod",
    "po": "Pod",
}
"""The kinds before a name, as kubectl takes them."""
_POD = re.compile(r"(?P<job>.+?)(-\d+)?-[a-z0-9]{5}")
"""The name of a pod: that of its Job, the index of an Indexed Job, and five characters."""
_SHOWN = 5
"""How many names a message lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedWork:
    """One Workload; ``kind`` and ``job`` name the owner, empty without one."""

    namespace: str
    workload: str
    kind: str
    job: str

    @property
    def key(self) -> Key:
        """The namespace and the name of the Workload."""
        return self.namespace, self.workload

    @property
    def title(self) -> str:
        """The name that selects this and no other."""
        if self.job:
            return f"{self.namespace}/{self.job}"
        return f"{self.namespace}/{self.workload}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkName:
    """A name as it is written on the command line; empty fields match any."""

    kind: str
    namespace: str
    name: str

    @property
    def shown(self) -> str:
        """The name for messages."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def matches(self, every: Iterable[NamedWork]) -> list[NamedWork]:
        """Give the work of this name; pods only if nothing else has it."""
        inside = [each for each in every if self.namespace in ("", each.namespace)]
        exact = [each for each in inside if self._is_name_of(each)]
        if exact or self.kind not in ("", "Pod"):
            return exact
        pod = _POD.fullmatch(self.name)
        if pod is None:
            return []
        # The shortest name of a Job may leave out what belongs to it: job-1-abcde is of job or of job-1.
        jobs = {pod["job"], self.name[:-6]}
        return [each for each in inside if each.job in jobs]

    def _is_name_of(self, work: NamedWork) -> bool:
        if not self.kind:
            return self.name in (work.job, work.workload)
        by_kind = {"Workload": work.workload}
        if work.kind:
            by_kind[work.kind] = work.job
        return self.name == by_kind.get(self.kind)


def work_name(written: str, namespace: str) -> WorkName:
    """Read a name: NAME, NAMESPACE/NAME, KIND/NAME or NAMESPACE/KIND/NAME."""
    *first, name = written.split("/")
    kind = ""
    for part in first:
        known = _KINDS.get(part.lower().partition(".")[0], "")
        if known:
            kind = known
        else:
            namespace = part
    return WorkName(kind=kind, namespace=namespace, name=name)


def work_of(result: SimulationResult) -> list[NamedWork]:
    """Give every Workload of a simulation by its names; of elastic work, the newest has those of the work."""
    found = []
    workloads = list(result.target.store.every("Workload"))
    replaced = {replaced_by(each) for each in workloads}
    for each in workloads:
        meta = each["metadata"]
        kind, job = owner_of(each) or ("", "")
        if slice_key(each) in replaced:
            kind, job = "", ""
        work = NamedWork(
            namespace=meta["namespace"],
            workload=meta["name"],
            kind=kind,
            job=job,
        )
        found.append(work)
    return found


def the_only(name: WorkName, every: Sequence[NamedWork]) -> NamedWork:
    """Give the work of a name.

    Raises:
        CliError: none has it, or several have.

    """
    found = name.matches(every)
    if len(found) == 1:
        return found[0]
    if not found:
        raise CliError([not_found(name, every)])
    raise CliError([ambiguous(name, found)])


def ambiguous(name: WorkName, found: Sequence[NamedWork]) -> str:
    """Say which work has the same name."""
    which = [
        f"{each.title} (workload/{each.workload})" if each.job else each.title
        for each in found
    ]
    shown = ", ".join(sorted(which)[:_SHOWN])
    return (
        f"several Jobs or Workloads match {name.shown}: {shown}; "
        "give the namespace, or the kind as in job/NAME or workload/NAME"
    )


def not_found(name: WorkName, every: Sequence[NamedWork]) -> str:
    """Say that no work has a name, with the nearest names."""
    known = sorted({each.title for each in every})
    prefix = f"found no Job or Workload {name.shown}"
    if len(known) <= _SHOWN:
        return f"{prefix}; known: {', '.join(known) or 'none'}"
    near = _near(name, every)
    if near:
        return f"{prefix}; did you mean {', '.join(near)}?"
    shown = ", ".join(known[:_SHOWN])
    return f"{prefix}; known: {shown} and {len(known) - _SHOWN} more"


def _near(name: WorkName, every: Sequence[NamedWork]) -> list[str]:
    """Give the titles of the work whose name is nearest."""
    titles: dict[str, str] = {}
    for each in every:
        for own in (each.job, each.workload):
            if own:
                titles.setdefault(own, each.title)
    near = difflib.get_close_matches(name.name, titles, n=_SHOWN)
    return list(dict.fromkeys(titles[each] for each in near))
