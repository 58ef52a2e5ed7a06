"""The page docs/reference/gates.md, the gates of Kueue and what the reference makes of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tabulate import tabulate

from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.behaviours.releases import BY_NAME, KUEUE
from kueue_dra_ref.features.kube_features import Gate
from kueue_dra_ref.features.not_read import Reason, purposes
from kueue_dra_ref.simulation.unsupported_fields import read_by

INTRODUCTION = """\
# Feature gates

Every feature gate of Kueue's own in the releases from 0.14 to 0.20, and what the reference makes of it. What is not
decided is the list of what is left behind a gate: there Kueue decides more than `simulate`, `explain`, `what-if` and
`audit` do. A Configuration that switches such a gate from its default gets a note with its purpose, next to the
verdict; what is on by default without a note on an object or a setting stands in this list alone.

This page is generated: `make docs` writes it, `python -m tests.gates_page` prints it.
"""
NOT_READ = {
    Reason.LEFT: "## Not decided\n",
    Reason.DEFAULT: "## Decided as with the default\n\nMost of these are locked to their default.\n",
    Reason.NOTHING: "## Gates that decide nothing\n\nA Configuration may switch them without a note.\n",
}
READ = (
    "## Read by rules\n\n[The pages of behaviours](../behaviours/README.md) name the rules that depend on each gate.\n"
)
Releases = Mapping[str, Gate]
"""A gate by release, such as 0.19.2."""


def page() -> str:
    """Write the whole page."""
    known = gates()
    return "\n".join([INTRODUCTION, *_not_read(known), READ, _table_of_read(known), ""])


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
        yield tabulate(rows, ["Gate", "on in", "off in", "for"], tablefmt="pipe")
        yield ""


def _table_of_read(known: Mapping[str, Releases]) -> str:
    rows = [(f"`{gate}`", *_states(known[gate])) for gate in sorted(read())]
    return tabulate(rows, ["Gate", "on in", "off in"], tablefmt="pipe")


def _states(releases: Releases) -> tuple[str, str]:
    """Say in which minors a gate is on by default, and in which it is off."""
    return _minors(releases, is_on=True), _minors(releases, is_on=False)


def _minors(releases: Releases, *, is_on: bool) -> str:
    minors = [release.rpartition(".")[0] for release, gate in releases.items() if gate.default is is_on]
    return ", ".join(dict.fromkeys(minors))


if __name__ == "__main__":
    print(page(), end="")
