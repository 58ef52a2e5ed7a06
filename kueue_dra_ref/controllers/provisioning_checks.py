"""The checks of a workload that ask for nodes: their newest requests, and what these make of the checks.

Kueue: pkg/controller/admissionchecks/provisioning/controller.go (activeOrLastPRForChecks, syncCheckStates)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kueue_dra_ref.api.admission_checks import (
    ADMISSION_CHECK,
    PENDING,
    READY,
    RETRY,
    check_states,
)
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.provisioning import (
    ACCEPTED,
    CONFIG,
    EXPIRED,
    FAILED,
    PROVISIONED,
    REVOKED,
    ProvisioningConfig,
    attempt_of,
    config_of,
    details_of,
    is_provisioning,
    message_of,
)
from kueue_dra_ref.controllers.provisioning_requests import RequestedPods
from kueue_dra_ref.controlplane.clock import time_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.rules.workload.provisioning import (
    Attempt,
    CheckAnswer,
    Provisioned,
    RequestedClass,
)
from kueue_dra_ref.target import Manifest

_CONDITIONS = (FAILED, REVOKED, EXPIRED, PROVISIONED, ACCEPTED)


@dataclass(slots=True, kw_only=True)
class AskingCheck:
    """One check of a workload: its configuration, and the newest request that fits it; None for none."""

    name: str
    config: ProvisioningConfig | None
    request: Manifest | None = None
    number: int = 0


class AskingChecks:
    """Finds the checks of workloads that ask for nodes, and writes their states."""

    def __init__(self, kueue: Kueue, pods: RequestedPods) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour.provisioning
        self.pods = pods

    def of(
        self, workload: Manifest, requests: Sequence[Manifest]
    ) -> Iterator[AskingCheck]:
        """Give the checks of a workload that ask for nodes, each with its newest request."""
        for check in self._asking(workload):
            config = self.config(check)
            found = AskingCheck(name=check["metadata"]["name"], config=config)
            if config is not None and self.pods.needed(workload, config):
                for request in requests:
                    self._consider(found, config, request, workload)
            yield found

    def are_read(self, workload: Manifest) -> bool:
        """Whether Kueue reads what the checks of a workload name as their configurations."""
        written = (each["spec"].get("parameters") for each in self._asking(workload))
        return not any(map(self.rules.unread, written))

    def _asking(self, workload: Manifest) -> Iterator[Manifest]:
        for state in check_states(workload):
            check = self.store.find(ADMISSION_CHECK, state["name"])
            if check is not None and is_provisioning(check):
                yield check

    def config(self, check: Manifest) -> ProvisioningConfig | None:
        """Give the configuration of a check; None without it."""
        written = check["spec"].get("parameters") or {}
        name = written.get("name", "")
        found = self.store.find(CONFIG, name)
        return None if found is None else config_of(found)

    def _consider(
        self,
        check: AskingCheck,
        config: ProvisioningConfig,
        request: Manifest,
        workload: Manifest,
    ) -> None:
        """Take a request as the newest one of a check, if it is, and fits the configuration."""
        name = request["metadata"]["name"]
        number = attempt_of(name, workload["metadata"]["name"], check.name)
        if number <= check.number:
            return
        spec = request["spec"]
        asked = RequestedClass(
            class_name=spec["provisioningClassName"],
            parameters=spec.get("parameters") or {},
            wanted_class=config.class_name,
            wanted=config.parameters,
        )
        if not self.rules.outdated(asked):
            check.request = request
            check.number = number

    def answer(self, working: Manifest, check: AskingCheck) -> CheckAnswer | None:
        """Give what becomes of a check; None while its request is still to be made."""
        state = state_of(working, check.name)
        if check.config is None:
            message = self.rules.inactive()
            assert message is not None
            return CheckAnswer(state=PENDING, message=message)
        if not self.pods.needed(working, check.config):
            message = self.rules.needless()
            if message is None or state["state"] == READY:
                return CheckAnswer()
            return CheckAnswer(state=READY, message=message)
        attempt = self.attempt(working, check)
        if attempt is None:
            return None
        return self.rules.answer.or_else(CheckAnswer(), attempt)

    def attempt(self, working: Manifest, check: AskingCheck) -> Attempt | None:
        """Describe the newest request of a check; None without one."""
        if check.config is None or check.request is None:
            return None
        state = state_of(working, check.name)
        messages = _messages(check.request)
        holding = [kind for kind in messages if is_true(check.request, kind)]
        return Attempt(
            number=check.number,
            is_true=frozenset(holding),
            messages=messages,
            limit=check.config.retries.limit,
            retries=self.retries(working, check),
            state=state["state"],
            admitted=is_true(working, "Admitted"),
        )

    def retries(self, working: Manifest, check: AskingCheck) -> int:
        """Give how often a workload was tried again."""
        state = state_of(working, check.name)
        return sum(self.rules.retries(state, working))

    def write(self, working: Manifest, check: AskingCheck, answer: CheckAnswer) -> None:
        """Write an answer to a check, with a delay when it is retried, and updates of the pods when it is Ready."""
        state = state_of(working, check.name)
        if answer.message is not None:
            state["message"] = answer.message
        if answer.state in (None, state["state"]):
            return
        state["state"] = answer.state
        state["lastTransitionTime"] = self.kueue.clock.now
        state.pop("podSetUpdates", None)
        if answer.state == RETRY:
            self._delay(working, check)
        if answer.state == READY and check.request is not None:
            state["podSetUpdates"] = self._updates(working, check, check.request)

    def _delay(self, working: Manifest, check: AskingCheck) -> None:
        assert check.config is not None
        strategy = check.config.retries
        retries = self.retries(working, check)
        seconds = self.rules.delay(strategy, retries)
        if seconds is not None:
            state = state_of(working, check.name)
            state["requeueAfterSeconds"] = seconds
        seconds = self.rules.delay_workload(strategy, retries)
        if seconds is not None:
            until = self.kueue.clock.seconds + seconds
            requeued = {"requeueAt": time_of(until), "count": retries + 1}
            working["status"]["requeueState"] = requeued

    def _updates(
        self, working: Manifest, check: AskingCheck, request: Manifest
    ) -> list[Manifest]:
        """Give what the pod sets of a request get."""
        assert check.config is not None
        found = Provisioned(
            name=request["metadata"]["name"],
            class_name=request["spec"]["provisioningClassName"],
            details=details_of(request),
            selectors=check.config.selectors,
        )
        updates = []
        for name in self.pods.names(working, request):
            update: Manifest = {"name": name}
            for added in self.rules.updates(found):
                update |= added
            updates.append(update)
        return updates


def _messages(request: Manifest) -> Mapping[str, str]:
    """Give the messages of the conditions of a request."""
    messages = {}
    for kind in _CONDITIONS:
        message = message_of(request, kind)
        if message is not None:
            messages[kind] = message
    return messages


def state_of(working: Manifest, name: str) -> Manifest:
    """Give what the status of a workload has of a check."""
    states = {each["name"]: each for each in check_states(working)}
    return states[name]
