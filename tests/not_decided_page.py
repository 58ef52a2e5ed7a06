"""The page docs/reference/not-decided.md, the list of what is left: ``python -m tests.not_decided_page``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tabulate import tabulate

from kueue_dra_ref.api.scheme import KUEUE as KUEUE_GROUP
from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.behaviours.releases import BY_NAME, KUEUE
from kueue_dra_ref.features.kube_features import Gate
from kueue_dra_ref.features.not_read import Reason, purposes
from kueue_dra_ref.simulation.later_changes import ALL
from kueue_dra_ref.simulation.unsupported_fields import (
    IN_GROUPS,
    MARKS,
    NOT_DECIDED,
    PLACED,
    SETTINGS,
    TOGETHER,
    read_by,
)

INTRODUCTION = """\
# What is not decided

Where Kueue decides more than `simulate`, `explain`, `what-if` and `audit` do: fields, labels and annotations, settings,
changes of later releases, and feature gates. If an input has one, a note with its place is printed next to the verdict,
and the decision is the one without it. A gate that is on by default has no note of its own: its objects and settings
have one, or it stands in this list alone.

Every feature gate of Kueue's own in the releases from 0.14 to 0.20 stands here, with what the reference makes of it.

This page is generated: `make docs` writes it, `python -m tests.not_decided_page` prints it.
"""
FIELDS = "## Fields\n\nWithout Nodes in the input; with Nodes where pods are placed.\n"
BOTH = "## Fields of ClusterQueues that are decided alone\n"
MARKED = "## Labels and annotations of work and Workloads\n"
IN_TEMPLATES = """\
Those of pods, with Nodes in the input. Without Nodes, no annotation that begins with `podset-` decides.
"""
SET = "## Settings of the Configuration\n"
LATER = "## Changes of releases that could not be run\n\nThe notes of these releases name them.\n"
NOT_READ = {
    Reason.LEFT: "## Feature gates\n",
    Reason.DEFAULT: "## Feature gates whose default is decided\n\nMost of these are locked to their default.\n",
    Reason.NOTHING: "## Feature gates that decide nothing\n\nA Configuration may switch them without a note.\n",
}
READ = """\
## Feature gates that rules read

[The pages of behaviours](../behaviours/README.md) name the rules that depend on each gate.
"""
Releases = Mapping[str, Gate]
"""A gate by release, such as 0.19.2."""


def page() -> str:
    """Write the whole page."""
    known = gates()
    left = [
        INTRODUCTION,
        FIELDS,
        _fields(),
        BOTH,
        _together(),
        MARKED,
        _marks(MARKS),
        IN_TEMPLATES,
        _marks(IN_GROUPS),
        SET,
        _settings(),
        LATER,
        _later(),
    ]
    return "\n".join([*left, *_not_read(known), READ, _table_of_read(known), ""])


def _fields() -> str:
    rows = []
    for kind in sorted({*NOT_DECIDED, *PLACED}):
        without, placed = NOT_DECIDED.get(kind, {}), PLACED.get(kind, {})
        for field in dict.fromkeys((*without, *placed)):
            rows.append((kind, f"`{field}`", without.get(field, ""), placed.get(field, "")))
    return _table(rows, "Kind", "field", "without Nodes", "with Nodes")


def _together() -> str:
    rows = [
        (f"`{field}`", f"`{other}`" if other.startswith("spec") else other, text) for field, other, text in TOGETHER
    ]
    return _table(rows, "Field", "not with", "for")


def _marks(names: Mapping[str, str]) -> str:
    return _table([(f"`{KUEUE_GROUP}/{name}`", text) for name, text in names.items()], "Name", "for")


def _settings() -> str:
    return _table([(f"`{'.'.join(path)}`", text) for path, text in SETTINGS.items()], "Setting", "for")


def _later() -> str:
    rows = [(each.since, f"#{each.pull_request}", each.kind, f"`{each.field}`", each.subject) for each in ALL]
    return _table(rows, "Since", "pull request", "kind", "field", "what")


def _table(rows: Sequence[Sequence[str]], *heads: str) -> str:
    return tabulate(rows, heads, tablefmt="pipe") + "\n"


def gates() -> Mapping[str, Releases]:
    """Give each gate of Kueue's own, by release."""
    found: dict[str, dict[str, Gate]] = {}
    for name in BY_NAME:
        if name.startswith(KUEUE):
            for gate in behaviour(name).gates.table.values():
                if gate.of_kueue:
                    found.setdefault(gate.name, {})[name.removeprefix(KUEUE)] = gate
    return dict(sorted(found.items()))


def read() -> frozenset[str]:
    """Give the gates that a rule reads in a release."""
    return frozenset(gate for gate, releases in gates().items() if any(_is_read(gate, name) for name in releases))


def not_read() -> frozenset[str]:
    """Give the gates that no rule reads in one of the releases that have them."""
    return frozenset(gate for gate, releases in gates().items() if not all(_is_read(gate, name) for name in releases))


def _is_read(gate: str, release: str) -> bool:
    return gate in read_by(behaviour(KUEUE + release))


def _not_read(known: Mapping[str, Releases]) -> Iterator[str]:
    for reason, heading in NOT_READ.items():
        yield heading
        rows = [(f"`{gate}`", *_states(known[gate]), text) for gate, text in purposes()[reason].items()]
        yield _table(rows, "Gate", "on in", "off in", "for")


def _table_of_read(known: Mapping[str, Releases]) -> str:
    rows = [(f"`{gate}`", *_states(known[gate])) for gate in sorted(read())]
    return _table(rows, "Gate", "on in", "off in").rstrip()


def _states(releases: Releases) -> tuple[str, str]:
    """Say in which minors a gate is on by default, and in which it is off."""
    return _minors(releases, is_on=True), _minors(releases, is_on=False)


def _minors(releases: Releases, *, is_on: bool) -> str:
    minors = [release.rpartition(".")[0] for release, gate in releases.items() if gate.default is is_on]
    return ", ".join(dict.fromkeys(minors))


if __name__ == "__main__":
    print(page(), end="")
