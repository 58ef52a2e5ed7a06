"""The one module that waits: time limits with one scale factor, and `eventually`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from math import inf
from typing import TypeVar

from tenacity import (
    RetryError,
    Retrying,
    retry_if_exception_type,
    stop_after_delay,
    wait_exponential,
)

from kueue_dra_clusters.errors import InvalidSetting

Seen = TypeVar("Seen")

TIME_FACTOR_VARIABLE = "KUEUE_DRA_TIME_FACTOR"
"""The environment variable with the factor of `Limits.scaled`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitLimits:
    """The timeout of each kind of wait, in seconds; a wait ends earlier unless something is wrong."""

    request: float = 10.0  # one call to the API server, its webhooks included
    ready: float = 20.0  # a Kueue that has just started answers its webhooks
    report: float = 1.0  # Kueue reports that it waits for pods, or adds a finalizer, if it ever does
    workload: float = 5.0  # Kueue creates the Workload of a Job that was just created
    chain: float = 10.0  # Kueue's Job and Workload controllers have reconciled a change of the fence's Job
    cycles: float = 10.0  # the scheduler tries the fence's probes, one in each cycle
    sweep: float = (
        15.0  # Kueue requeues inadmissible workloads: one second when nothing is slow
    )
    queues: float = (
        10.0  # Kueue updates the status of queues after a triggered reconcile
    )
    disagreement: float = 3.0  # Kueue's counts agree with the Workloads; after that, they are accepted as they are
    settle: float = 60.0  # Kueue has decided about everything that was applied, and nothing changes any more
    gone: float = 20.0  # a deleted object, its finalizers included, is gone

    def scaled(self, factor: float) -> WaitLimits:
        """Multiply every limit for a slower machine; a factor that is not above zero is a ValueError."""
        if not 0 < factor < inf:
            raise ValueError(
                f"time factor: found {factor:g}, expected a number above 0"
            )
        return WaitLimits(
            **{field.name: getattr(self, field.name) * factor for field in fields(self)}
        )


def limits_of(environment: Mapping[str, str]) -> WaitLimits:
    """Give the limits, multiplied by the factor of the environment."""
    written = environment.get(TIME_FACTOR_VARIABLE, "1")
    try:
        return WaitLimits().scaled(float(written))
    except ValueError:
        raise InvalidSetting(
            f"{TIME_FACTOR_VARIABLE}: found {written!r}, expected a number above 0"
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """The delays of a Kueue release, in seconds: nothing can be observed earlier."""

    sweep: float = 1.0  # from a change to the requeue of inadmissible workloads; 0 if it is immediate
    device_class: float | None = (
        1.0  # until it retries workloads of a changed DeviceClass; None: it never does
    )
    retries: float | None = None
    """The most that the next retry of an inadmissible workload takes, as a multiple of its age; None: no retry."""


LONGEST_PAUSE = 0.04
"""Seconds between two probes: short enough for a quick answer, long enough not to slow down Kueue."""


class NotYet(Exception):
    """Raised by a probe that has to be called again; the text describes what it observed."""


class TimedOut(Exception):
    """A timeout: ``what`` was expected, and ``seen`` is the last observation."""

    def __init__(self, *, what: str, seen: str, within: float) -> None:
        super().__init__(f"waited {within:g} s for {what}; last seen: {seen}")
        self.what = what
        self.seen = seen
        self.within = within


def eventually(
    probe: Callable[[], Seen],
    *,
    within: float,
    what: str,
    every: float = 0.004,
    at_most: float = LONGEST_PAUSE,
    pause: Callable[[float], None] = time.sleep,
) -> Seen:
    """Call ``probe`` until it does not raise `NotYet`; after ``within`` seconds: `TimedOut`.

    The first pause is ``every`` seconds; each pause is 1.5 times the one before, up to ``at_most`` seconds.
    ``pause`` may return earlier, after a change.
    """
    asking = Retrying(
        retry=retry_if_exception_type(NotYet),
        stop=stop_after_delay(within),
        wait=wait_exponential(multiplier=every, exp_base=1.5, max=max(every, at_most)),
        sleep=pause,
    )
    try:
        return asking(probe)
    except RetryError as error:
        raise TimedOut(
            what=what, seen=str(error.last_attempt.exception()), within=within
        ) from None


def let_pass(seconds: float) -> None:
    """Wait between two readings of a cluster, so that late updates are in the second one."""
    time.sleep(seconds)


def let_second_pass(second: int) -> None:
    """Wait, for a second at most, until this machine's clock is past a second since 1970."""
    time.sleep(min(max(second + 1 - time.time(), 0.0), 1.0))


def age_of(stamp: str) -> float:
    """Seconds of this machine's clock since an RFC 3339 time, which has whole seconds."""
    return max(-seconds_until(stamp), 0.0)


def seconds_until(stamp: str) -> float:
    """Seconds of this machine's clock until an RFC 3339 time; negative after it."""
    return datetime.fromisoformat(stamp).timestamp() - time.time()


def elapsed_since(moment: float) -> float:
    """Seconds of the monotonic clock since ``moment``, which `moment_now` gave."""
    return time.monotonic() - moment


def moment_now() -> float:
    """Give a reading of the monotonic clock, for `elapsed_since`."""
    return time.monotonic()
