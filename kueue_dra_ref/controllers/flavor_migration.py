"""Migration: a variant whose flavor is preferred to that of the admitted one takes its place.

Guards of the scheduler against variants that are not deactivated yet have no effect here: controllers run between
two cycles.

Kueue: pkg/scheduler/scheduler.go (findAdmittedSibling, findAdmittedLessFavorableSibling, issueMigration)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import dropwhile
from operator import ne

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.variants import parent_uid, variant_flavor
from kueue_dra_ref.controllers.workload_conditions import evict
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.scheduler.entry import Entry
from kueue_dra_ref.target import Manifest


class FlavorMigration:
    """Finds the variant from which another one migrates, and evicts it."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour.concurrent

    def less_preferred(self, entry: Entry) -> Key | None:
        """Give the admitted variant of the same parent with a flavor after that of an entry."""
        own = entry.info.obj
        if not parent_uid(own) or not self.rules.migrate:
            return None
        flavor = variant_flavor(own)
        after = _after(flavor, entry.queue.flavor_names)
        for reserved in self.kueue.usage.reservations(entry.queue.name):
            if self._is_left(reserved.key, own, after):
                return reserved.key
        return None

    def _is_left(self, key: Key, variant: Manifest, after: Sequence[str]) -> bool:
        """Whether a Workload is an admitted variant of the same parent, with one of these flavors."""
        found = self.store.get("Workload", key)
        if found is None or not is_true(found, "Admitted"):
            return False
        parent = parent_uid(variant)
        if parent_uid(found) != parent:
            return False
        flavor = variant_flavor(found)
        return flavor in after

    def issue(self, entry: Entry) -> None:
        """Evict the admitted variant that an entry takes the place of, if there is one."""
        key = entry.migrates_from
        if key is None:
            return
        uid = entry.info.obj["metadata"]["uid"]
        migration = self.rules.migrate.answer(uid)
        assert migration is not None
        namespace, name = key
        text = f"it fits, so {namespace}/{name} is evicted: {migration.rule.sentence}"
        step = Step.by(text, migration.rule)
        entry.steps += (*entry.assignment.steps, step)
        self._evict(key, migration.value)

    def _evict(self, key: Key, migration: ReasonMessage) -> None:
        """Evict a variant, and once more in each cycle until the pods of its work have stopped."""
        found = self.store.get("Workload", key)
        assert found is not None
        working = self.kueue.patched(found)
        evict(self.kueue, working, migration)
        self.store.put(working)


def _after(flavor: str, flavors: Sequence[str]) -> Sequence[str]:
    """Give the flavors after one; none after one that the ClusterQueue does not have."""
    is_other = partial(ne, flavor)
    left = dropwhile(is_other, flavors)
    found = list(left)
    return found[1:]
