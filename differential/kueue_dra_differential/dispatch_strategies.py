"""The events of scenarios with MultiKueue, as hypothesis draws them."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from kueue_dra_differential.dispatch_events import (
    Amount,
    Complete,
    Dispatch,
    DispatchEvent,
    Halt,
    Lose,
    Offered,
    Pods,
    Prefer,
    Provide,
    Rejoin,
    Respond,
    Switch,
    Use,
    Withdraw,
)
from kueue_dra_differential.dispatch_fleet import Fleet
from kueue_dra_differential.strategies import EARLIER, PRIORITIES, weighted
from kueue_dra_ref.api.admission_checks import READY, REJECTED, RETRY

_TEMPLATES = (
    *("one",) * 6,
    "nics",
    "three",
    "unmapped",
    "two-and-one",
    "gpu-and-nic",
    "either",
    *("two",) * 5,
    *("one",) * 6,
)
_STATES = (READY, READY, RETRY, REJECTED, READY)
_AMOUNTS = (0, 1, 2, 3, 4, 6)
_POLICIES = ("None", "None", "Hold", "HoldAndDrain")
_WAYS = ("secret", "cluster", "renamed")
_USED: tuple[tuple[int, ...], ...] = ((1, 2), (1, 2), (1,), (2,))
_CLUSTER, _WORKER = st.integers(0, 2), st.integers(1, 2)


def dispatch_events(fleet: Fleet) -> SearchStrategy[DispatchEvent]:
    """The events of a scenario, mostly submissions."""
    submit = submissions(fleet)
    complete = st.builds(Complete, job=EARLIER)
    withdraw = st.builds(Withdraw, job=EARLIER)
    active = st.sampled_from((1, 1, 0))
    report = st.builds(Pods, active=active)
    priority = st.sampled_from(PRIORITIES)
    prefer = st.builds(Prefer, job=EARLIER, priority=priority)
    return weighted(
        {
            withdraw: 2,
            _of_clusters(): 16,
            report: 5,
            prefer: 3,
            _of_workloads(): 9,
            complete: 6,
            submit: 16,
        }
    )


def _of_workloads() -> SearchStrategy[DispatchEvent]:
    """Events of a Workload or of its copies: activity, answers of checks, a template that comes late."""
    like = st.sampled_from(_TEMPLATES)
    state = st.sampled_from(_STATES)
    active = st.booleans()
    provide = st.builds(Provide, job=EARLIER, cluster=_CLUSTER, like=like)
    switch = st.builds(Switch, job=EARLIER, active=active, cluster=_CLUSTER)
    respond = st.builds(Respond, job=EARLIER, worker=_WORKER, state=state)
    return provide | switch | respond


def _of_clusters() -> SearchStrategy[DispatchEvent]:
    """Events of a queue, or of a connection."""
    amounts = st.sampled_from(_AMOUNTS)
    policies = st.sampled_from(_POLICIES)
    ways = st.sampled_from(_WAYS)
    used = st.sampled_from(_USED)
    amount = st.builds(Amount, cluster=_CLUSTER, nominal=amounts)
    halt = st.builds(Halt, cluster=_CLUSTER, policy=policies)
    lose = st.builds(Lose, worker=_WORKER, how=ways)
    rejoin = st.builds(Rejoin, worker=_WORKER)
    use = st.builds(Use, workers=used)
    return weighted({amount: 6, halt: 3, lose: 3, rejoin: 3, use: 1})


def submissions(fleet: Fleet) -> SearchStrategy[Dispatch]:
    """Work with a claim or without one."""
    return st.builds(
        Dispatch,
        kind=st.sampled_from(fleet.kinds),
        pods=st.sampled_from((1, 1, 1, 2)),
        # Work that requests nothing has no check: whether it was dispatched before Kueue noticed is chance.
        cpu=st.integers(1, 2),
        priority=st.sampled_from(PRIORITIES),
        offered=_offered(),
        claims=st.integers(0, 9).map(bool),
    )


@st.composite
def _offered(draw: DrawFn) -> Offered:
    """Draw the templates of each cluster: mostly the same one, or none on a worker."""
    like = draw(st.sampled_from(_TEMPLATES))
    others = st.sampled_from(_TEMPLATES)
    same = st.just(like)
    missing = st.none()
    manager = weighted({missing: 1, others: 1, same: 14})
    worker = weighted({missing: 2, others: 1, same: 10})
    own = draw(manager)
    first = draw(worker)
    second = draw(worker)
    return own, first, second
