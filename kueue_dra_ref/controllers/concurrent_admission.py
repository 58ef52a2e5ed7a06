"""Concurrent admission: the variants of a Workload, and what the Workload gets of them.

Kueue: pkg/controller/concurrentadmission/controller.go (variantReconciler, Reconcile)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kueue_dra_ref.api.conditions import condition, is_true, set_condition
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.metadata import labels_of
from kueue_dra_ref.api.ownership import is_owned_by, owner_reference
from kueue_dra_ref.api.pods_ready import PODS_READY
from kueue_dra_ref.api.variants import (
    ALLOWED,
    PARENT,
    gate_opened,
    is_blocked_on_gate,
    is_parent,
    open_gate,
    parent_of,
    variant_flavor,
    variant_name,
)
from kueue_dra_ref.api.workload_names import LONGEST
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.controllers.backoff import Backoff
from kueue_dra_ref.controllers.deviceclass import may_queue
from kueue_dra_ref.controllers.workload_conditions import (
    apply_condition,
    finish,
    reset_condition,
    unset_quota_reservation,
)
from kueue_dra_ref.controlplane.clock import seconds_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, key_of
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.rules.workload.concurrent_admission import Sibling
from kueue_dra_ref.target import Manifest, Ref

FAMILY = "variants"
"""What is reconciled by the key of a parent: the parent and its variants."""
_KEPT = ("labels", "annotations")
"""The metadata that a variant has of its parent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A parent and its variants, in the order of the flavors of their ClusterQueue."""

    parent: Manifest
    variants: Sequence[Manifest]
    queue: Manifest
    flavors: Sequence[str]

    @property
    def admitted(self) -> Manifest | None:
        """The first variant that is admitted."""
        for each in self.variants:
            if is_true(each, "Admitted"):
                return each
        return None

    @property
    def migration(self) -> Mapping[str, Any]:
        """The mode of the migration and its constraints."""
        policy = self.queue["spec"].get("concurrentAdmissionPolicy") or {}
        found: Mapping[str, Any] = policy.get("migration") or {}
        return found

    def place(self, flavor: str) -> int:
        """Give the place of a flavor in the ClusterQueue; one that it does not have counts as the first."""
        return self.flavors.index(flavor) if flavor in self.flavors else 0

    def place_of(self, variant: Manifest) -> int:
        """Give the place of the flavor of a variant."""
        return self.place(variant_flavor(variant))

    def sibling(self, variant: Manifest, admitted: Manifest) -> Sibling:
        """Compare a variant with the admitted one."""
        constraints = self.migration.get("constraints") or {}
        last = constraints.get("lastAcceptableFlavorName")
        return Sibling(
            mode=self.migration.get("mode") or "",
            flavor=self.place_of(variant),
            admitted=self.place_of(admitted),
            last_acceptable=self.place(last) if last else None,
        )


class VariantReconciler:
    """Reconciles a parent with its variants."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour.concurrent
        self.backoff = Backoff(kueue, FAMILY)

    def on_workload(self, event: Event) -> None:
        """Reconcile the family of a Workload that has changed."""
        workload = event.obj
        parent = parent_of(workload)
        if parent is not None:
            self.kueue.reconcile(FAMILY, (event.key[0], parent["name"]))
        elif is_parent(workload):
            self.kueue.reconcile(FAMILY, event.key)

    def on_cluster_queue(self, event: Event) -> None:
        """Reconcile the families: a ClusterQueue that has changed may have other flavors."""
        if not self.rules.delete:
            return
        for workload in self.store.every("Workload"):
            if is_parent(workload):
                self.kueue.reconcile(FAMILY, key_of(workload))

    def _flavors(self, queue: Manifest) -> list[str]:
        return list(self.rules.variants(queue))

    def mark(self, workload: Manifest) -> bool:
        """Label a Workload that will have variants; False if it has the label, or gets no variants."""
        if is_parent(workload) or not self.kueue.has_variants(workload):
            return False
        meta = workload["metadata"]
        labels = {**labels_of(workload), PARENT: "true"}
        self.store.put({**workload, "metadata": {**meta, "labels": labels}})
        return True

    def reconcile(self, key: Key) -> None:
        """Create, delete, deactivate and activate variants; admit, evict or finish with them."""
        parent = self.store.get("Workload", key)
        self._collect(key, parent)
        if parent is None or not self.rules.variants:
            return
        family = self._family(parent)
        if family is None:
            self.backoff.failed(key)
            return
        self.backoff.forget(key)
        if self.rules.unnamed(parent["metadata"]["name"]):
            return
        self._create(family)
        family = self._without_stale(family)
        if self._sync_eviction(family):
            return
        family = self._newest(family)
        self._deactivate(family)
        self._activate(family)
        self._sync_admission(family)
        self._open_gate(family)
        self._record(family)

    def _collect(self, key: Key, parent: Manifest | None) -> None:
        """Delete the variants of a parent that is gone, as the garbage collector does; another may have its name."""
        uid = parent["metadata"]["uid"] if parent else ""
        for each in self.store.every("Workload"):
            owner = parent_of(each)
            if owner is None or owner["uid"] == uid:
                continue
            if (each["metadata"]["namespace"], owner["name"]) == key:
                self.store.remove(Ref.of(each))

    def _family(self, parent: Manifest) -> Family | None:
        name = self.kueue.cluster_queue_of(parent)
        queue = self.store.find("ClusterQueue", name)
        if queue is None:
            return None
        flavors = self._flavors(queue)
        uid = parent["metadata"]["uid"]
        own = []
        for each in self.store.every("Workload"):
            if is_owned_by(each, uid):
                own.append(each)
        family = Family(parent=parent, variants=own, queue=queue, flavors=flavors)
        own.sort(key=family.place_of)
        return family

    def _newest(self, family: Family) -> Family:
        """Read the variants again."""
        variants = []
        for each in family.variants:
            found = self.store.get("Workload", key_of(each))
            assert found is not None
            variants.append(found)
        return replace(family, variants=variants)

    def _create(self, family: Family) -> None:
        """Create the variants that are missing."""
        if self.rules.keep(len(family.variants), len(family.flavors)):
            return
        known = set(map(variant_flavor, family.variants))
        for flavor in family.flavors:
            if flavor not in known:
                self.store.put(self._variant(family.parent, flavor))

    def _variant(self, parent: Manifest, flavor: str) -> Manifest:
        """Make the variant of a Workload for a flavor: a copy of its spec."""
        meta = parent["metadata"]
        longest = self.kueue.behaviour.jobs.longest_name.or_else(LONGEST)
        kept = {name: dict(meta[name]) for name in _KEPT if meta.get(name)}
        kept.get("labels", {}).pop(PARENT, None)
        annotations = {**kept.get("annotations", {}), ALLOWED: flavor}
        owner = owner_reference(parent["apiVersion"], "Workload", meta)
        spec = copied(parent["spec"])
        for name in self.rules.gate():
            spec.setdefault("preemptionGates", []).append({"name": name})
        return {
            "apiVersion": parent["apiVersion"],
            "kind": "Workload",
            "metadata": {
                **kept,
                "name": variant_name(parent, flavor, longest),
                "namespace": meta["namespace"],
                "annotations": annotations,
                "ownerReferences": [{**owner, "controller": True}],
            },
            "spec": spec,
        }

    def _without_stale(self, family: Family) -> Family:
        """Delete the variants whose flavors are gone; give the family without them."""
        left = []
        for each in family.variants:
            is_known = variant_flavor(each) in family.flavors
            if self.rules.delete(is_known):
                self.store.remove(Ref.of(each))
            else:
                left.append(each)
        return replace(family, variants=left)

    def _sync_eviction(self, family: Family) -> bool:
        """Evict the parent with a variant, and release the quota of that once the parent has none; True until then."""
        for each in family.variants:
            if not is_true(each, "Evicted") or not is_true(each, "QuotaReserved"):
                continue
            if is_true(family.parent, "QuotaReserved"):
                if not is_true(family.parent, "Evicted"):
                    self._evict(family.parent, self.rules.evict_with_variant())
                return True
            working = self.kueue.patched(each)
            unset_quota_reservation(self.kueue, working)
            return False
        return False

    def _evict(self, parent: Manifest, eviction: ReasonMessage | None) -> None:
        if eviction is None:
            return
        working = self.kueue.patched(parent)
        rules = self.kueue.behaviour.reporting
        for each in rules.evicted(eviction.full_reason, eviction.message):
            apply_condition(working, each, self.kueue.clock.now)
        self.store.put(working)

    def _deactivate(self, family: Family) -> None:
        if self.rules.deactivate_all(is_active(family.parent)):
            for each in family.variants:
                self._set_active(each, False)
            return
        admitted = family.admitted
        if admitted is None:
            return
        for each in family.variants:
            if self.rules.give_up(family.sibling(each, admitted)):
                self._set_active(each, False)

    def _activate(self, family: Family) -> None:
        if not is_active(family.parent):
            return
        admitted = family.admitted
        for each in family.variants:
            if admitted is None:
                is_activated = self.rules.activate_all(False)
            else:
                is_activated = self.rules.activate(family.sibling(each, admitted))
            if is_activated:
                self._set_active(each, True)

    def _set_active(self, variant: Manifest, active: bool) -> None:
        found = self.store.get("Workload", key_of(variant))
        assert found is not None
        if is_active(found) is not active:
            self.store.put({**found, "spec": {**found["spec"], "active": active}})

    def _sync_admission(self, family: Family) -> None:
        """Give the parent what its variants have: the end, the admission or the loss of it."""
        parent, admitted = family.parent, family.admitted
        if is_true(parent, "Finished"):
            self._finish_with(family)
        elif admitted is None and is_true(parent, "Admitted"):
            self._evict(parent, self.rules.evict_without_variant())
        elif admitted is not None:
            self._copy_pods_ready(parent, admitted)
            if not is_true(parent, "Admitted"):
                self._admit(parent, admitted)

    def _finish_with(self, family: Family) -> None:
        """Finish the variants as their parent has finished."""
        finished = condition(family.parent, "Finished")
        assert finished is not None
        for end in self.rules.finish(finished):
            for each in family.variants:
                if not is_true(each, "Finished"):
                    finish(self.kueue, each, end.reason, end.message)

    def _copy_pods_ready(self, parent: Manifest, variant: Manifest) -> None:
        found = condition(parent, PODS_READY)
        if found is None or not self.rules.copy_pods_ready():
            return
        working = self.kueue.patched(variant)
        value, since = found["status"] == "True", found["lastTransitionTime"]
        set_condition(
            working, PODS_READY, value, found["reason"], found["message"], since
        )
        self.store.put(working)

    def _admit(self, parent: Manifest, variant: Manifest) -> None:
        """Copy the admission of a variant to its parent."""
        conditions = self.rules.admitted(variant["metadata"]["name"])
        working = self.kueue.patched(parent)
        admission = copied(variant["status"]["admission"])
        working["status"]["admission"] = admission
        now = self.kueue.clock.now
        reserved = self.kueue.behaviour.reporting.quota_reserved
        for each in (*reserved(admission["clusterQueue"]), *conditions):
            apply_condition(working, each, now)
        for kind in ("Evicted", "Preempted"):
            reset_condition(working, kind, now)
        self.store.put(working)

    def _open_gate(self, family: Family) -> None:
        """Open the preemption gate of the first variant that is blocked by it, if it is time to."""
        waiting = [each for each in family.variants if _is_admissible(each)]
        blocked = _first_blocked(waiting)
        if blocked is None:
            return
        now = self.kueue.clock.seconds
        opened = [seconds_of(each) for each in map(gate_opened, waiting) if each]
        elapsed = now - max(opened) if opened else None
        wait = self.rules.open_gate(elapsed)
        assert wait is not None
        if wait:
            self.kueue.reconcile_later(wait, key_of(family.parent), FAMILY)
        else:
            working = self.kueue.patched(blocked)
            open_gate(working, self.kueue.clock.now)
            self.store.put(working)

    def _record(self, family: Family) -> None:
        """Explain a parent by its variants, unless its claims cannot be read."""
        key = key_of(family.parent)
        charged = self.kueue.derivations.get(key)
        if charged is None or not charged.refused:
            self.kueue.decisions[key] = tuple(self._steps(family))

    def _steps(self, family: Family) -> Iterator[Step]:
        admitted = family.admitted
        for each in family.variants:
            flavor, name = variant_flavor(each), each["metadata"]["name"]
            rules: list[Rule[..., Any]] = [*self.rules.variants.rules]
            state = "waits"
            if each is admitted:
                rules, state = [*self.rules.admitted.rules], "is admitted"
            elif not is_active(each):
                rules, state = self._given_up(family, each), "is deactivated"
            yield Step.by(f"variant {name} for flavor {flavor} {state}", *rules)

    def _given_up(self, family: Family, variant: Manifest) -> list[Rule[..., Any]]:
        """Give the rules by which a variant is deactivated."""
        admitted = family.admitted
        if admitted is None:
            return [*self.rules.deactivate_all.rules]
        return [*self.rules.give_up.holding(family.sibling(variant, admitted))]


def _is_admissible(variant: Manifest) -> bool:
    return may_queue(variant) and not is_true(variant, "QuotaReserved")


def _first_blocked(variants: Sequence[Manifest]) -> Manifest | None:
    """Give the first variant that is blocked by its gate, unless one before it was not tried yet."""
    for each in variants:
        if gate_opened(each):
            continue
        if is_blocked_on_gate(each):
            return each
        if condition(each, "QuotaReserved") is None:
            return None
    return None
