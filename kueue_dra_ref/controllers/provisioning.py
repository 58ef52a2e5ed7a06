"""ProvisioningRequests: Kueue asks a cluster autoscaler for the nodes of work with quota, and follows its answer.

Kueue: pkg/controller/admissionchecks/provisioning/controller.go (Controller, Reconcile)
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.api.admission_checks import READY
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.provisioning import REQUEST, owned_by
from kueue_dra_ref.controllers.provisioning_checks import (
    AskingCheck,
    AskingChecks,
    state_of,
)
from kueue_dra_ref.controllers.provisioning_requests import RequestedPods
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import key_of
from kueue_dra_ref.explain.step import AnyRule, Step, listed
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.target import Manifest, Ref


class ProvisioningWorkloads:
    """Asks for nodes, and keeps the checks that depend on them."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour.provisioning
        self.pods = RequestedPods(kueue)
        self.checks = AskingChecks(kueue, self.pods)

    def reconcile(self, key: Key) -> None:
        """Bring the requests of a workload in line with it, and its checks in line with them."""
        workload = self.store.get("Workload", key)
        if workload is not None:
            self._reconcile(workload)

    def _reconcile(self, workload: Manifest) -> None:
        """Delete the requests of a workload that nothing waits for; follow and make those of one with quota."""
        every = list(self.store.every(REQUEST))
        requests = list(owned_by(every, workload))
        finished = is_true(workload, "Finished")
        evicted = is_true(workload, "Evicted")
        if self.rules.drop(finished, evicted):
            self._withdraw(requests)
        elif finished or evicted or not _has_quota(workload):
            return
        elif self.checks.are_read(workload):
            self._follow(workload, requests)

    def _follow(
        self,
        workload: Manifest,
        requests: Sequence[Manifest],
    ) -> None:
        checks = list(self.checks.of(workload, requests))
        working = self._answered(workload, checks)
        kept = [each.request for each in checks]
        unused = [each for each in requests if each not in kept]
        self._withdraw(unused)
        for check in checks:
            self._ask(working, check)

    def _withdraw(self, requests: Sequence[Manifest]) -> None:
        for request in requests:
            ref = Ref.of(request)
            self.store.remove(ref)

    def _answered(
        self,
        workload: Manifest,
        checks: Sequence[AskingCheck],
    ) -> Manifest:
        """Write the states of the checks, all of them or none: none while a request is still to be made."""
        working = self.kueue.patched(workload)
        for check in checks:
            answer = self.checks.answer(working, check)
            if answer is None:
                return workload
            self.checks.write(working, check, answer)
            if answer.state == READY and check.request is None:
                self._explain_unasked(working, check)
        self.store.put(working)
        return working

    def _explain_unasked(
        self,
        working: Manifest,
        check: AskingCheck,
    ) -> None:
        rules: list[AnyRule] = [*self.rules.ask.rules]
        rules += self.rules.needless.rules
        message = state_of(working, check.name)["message"]
        self._explain(working, check, message, *rules)

    def _ask(
        self,
        working: Manifest,
        check: AskingCheck,
    ) -> None:
        """Make a request, unless there is one that counts."""
        config = check.config
        if config is None or not self.pods.needed(working, config):
            return
        state = state_of(working, check.name)
        if state["state"] == READY:
            return
        number = self._next_number(working, check)
        if number is None:
            return
        names = self.pods.request(working, check.name, config, number)
        what = f"a ProvisioningRequest asks for the nodes of {listed(names)}"
        self._explain(working, check, what, *self.rules.ask.rules)

    def _next_number(
        self,
        working: Manifest,
        check: AskingCheck,
    ) -> int | None:
        """Give the number of the request to make; None while the one before counts."""
        attempt = self.checks.attempt(working, check)
        if attempt is None:
            retries = self.checks.retries(working, check)
            return self.rules.number.or_else(1, retries)
        if not self.rules.follow(attempt):
            return None
        return attempt.number + 1

    def _explain(
        self,
        working: Manifest,
        check: AskingCheck,
        what: str,
        *rules: AnyRule,
    ) -> None:
        """Add a step to the decision on a workload."""
        key = key_of(working)
        step = Step.by(f"admission check {check.name}: {what}", *rules)
        before = self.kueue.decisions.get(key, ())
        self.kueue.decisions[key] = (*before, step)


def _has_quota(workload: Manifest) -> bool:
    """Whether a workload has an admission, which it keeps while it is deactivated."""
    if not is_true(workload, "QuotaReserved"):
        return False
    return bool(workload["status"].get("admission"))
