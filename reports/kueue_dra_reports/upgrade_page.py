"""Print the page about upgrades of Kueue: what each release decides otherwise than the one before it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kueue_dra_ref.behaviours.releases import RELEASES, RegisteredRelease
from kueue_dra_ref.features.gate_changes import GateChanges, gate_changes
from kueue_dra_ref.requirements.catalogue import catalogue
from kueue_dra_ref.requirements.difference import Difference, Sentence, difference

INTRODUCTION = """\
# Upgrade Kueue

Which decisions about quota change when you upgrade, from each release to the next one. Patches that decide nothing
otherwise are left out. Read every step between the release that you run and the one that you want. To see what a
release changes in your cluster, ask for it, with a dump or with `--context`; nothing is sent to the cluster:

```console
$ kueue-dra dump --context prod -o cluster.yaml
$ kueue-dra what-if cluster.yaml --kueue 0.19
```

A step is marked `seen` if its release was compared with a real Kueue, and `read` if it follows change notes, as it
could not be run. Gates are Kueue's own: with a gate that is gone, or with a locked one that is set to another value,
Kueue does not start. `kueue-dra requirements ID` explains a decision and names the cases that prove it. This page is
generated: `make docs` writes it, and `kueue-dra diff-texts A B` compares any two releases.
"""
_GATES = (
    ("gone", "Gates that no longer exist; remove them from your Configuration"),
    ("locked", "Gates that can no longer be changed"),
    ("now_on", "Gates that are on by default now"),
    ("now_off", "Gates that are off by default now"),
    ("new_on", "New gates, on by default"),
    ("new_off", "New gates, off by default"),
)


def page() -> str:
    """Every step from a release to the next one."""
    found: list[str] = []
    for earlier, later in pairwise(RELEASES):
        found += _step(earlier, later)
    return "\n".join([INTRODUCTION, *found])


def gate_lines(changes: GateChanges) -> Iterator[str]:
    """List the gates that differ, one line for each kind of change."""
    for name, title in _GATES:
        gates = getattr(changes, name)
        if gates:
            yield f"- {title}: {', '.join(gates)}."


def _step(earlier: RegisteredRelease, later: RegisteredRelease) -> Iterator[str]:
    how = "read" if later.provisional else "seen"
    yield f"## From {earlier.version} to {later.version} ({how})\n"
    configuration = [*_versions(earlier, later), *_gates(earlier, later)]
    if configuration:
        yield "### Before you upgrade\n"
        yield from configuration
        yield ""
    yield from _decisions(difference(catalogue(), earlier.name, later.name))


def _gates(earlier: RegisteredRelease, later: RegisteredRelease) -> Iterator[str]:
    before = earlier.behaviour().gates
    after = later.behaviour().gates
    return gate_lines(gate_changes(before, after))


def _versions(earlier: RegisteredRelease, later: RegisteredRelease) -> Iterator[str]:
    gone = [each for each in earlier.serves if each not in later.serves]
    if gone:
        names = ", ".join(f"kueue.x-k8s.io/{each}" for each in gone)
        yield f"- API versions that are no longer served: {names}. Convert your manifests."
    if earlier.reads != later.reads:
        yield f"- Kueue reads resource.k8s.io/{later.reads}, which the API server has to serve."


def _decisions(found: Difference) -> Iterator[str]:
    if not (found.added or found.changed or found.dropped):
        yield "No decision about quota changes.\n"
        return
    if found.changed:
        yield "### Decisions that change\n"
        for change in found.changed:
            yield f"- Now: {_joined(change.after)}"
            yield f"  Before: {_joined(change.before)}"
        yield ""
    yield from _listed("What no longer holds", found.dropped)
    yield from _listed("What is new", found.added)


def _joined(sentences: tuple[Sentence, ...]) -> str:
    return " ".join(f"{one.text} ({one.id})" for one in sentences)


def _listed(title: str, sentences: tuple[Sentence, ...]) -> Iterator[str]:
    if sentences:
        yield f"### {title}\n"
        yield from (f"- {one.text} ({one.id})" for one in sentences)
        yield ""


if __name__ == "__main__":
    print(page(), end="")
