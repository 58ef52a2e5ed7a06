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
    """How long each kind of waiting may last, in seconds; none is ever waited out when things go well."""

    request: float = 10.0  # one call to the API server, its webhooks included
    ready: float = 20.0  # a Kueue that just started (or is being replaced) answers its webhooks again
    workload: float = 5.0  # Kueue makes the Workload of a Job that was just created
    chain: float = 10.0  # a change of the fence's Job passes through Kueue's Job and Workload controllers
    cycles: float = 10.0  # the scheduler admits the fence's pawns, one in each cycle
    sweep: float = 15.0  # a batched sweep of inadmissible workloads comes by: one second when nothing is slow
    queues: float = (
        10.0  # Kueue rewrites the status of queues that it was asked to look at
    )
    disagreement: float = (
        3.0  # Kueue may count otherwise than Workloads say; then it is taken as it is
    )
    settle: float = (
        60.0  # everything follows from what was applied, and nothing moves any more
    )
    gone: float = 20.0  # a deleted object, its finalizers included, is gone

    def scaled(self, factor: float) -> WaitLimits:
        """Stretch every limit for a slower machine; a factor that is not above zero is a ValueError."""
        if not 0 < factor < inf:
            raise ValueError(
                f"time factor: found {factor:g}, expected a number above 0"
            )
        return WaitLimits(
            **{field.name: getattr(self, field.name) * factor for field in fields(self)}
        )


def limits_of(environment: Mapping[str, str]) -> WaitLimits:
    """Give the limits, stretched by the factor that the environment asks for."""
    written = environment.get(TIME_FACTOR_VARIABLE, "1")
    try:
        return WaitLimits().scaled(float(written))
    except ValueError:
        raise InvalidSetting(
            f"{TIME_FACTOR_VARIABLE}: found {written!r}, expected a number above 0"
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """How long a Kueue itself lets things wait, in seconds: nothing that follows can be seen earlier."""

    sweep: float = 1.0  # from the first notice to the sweep of inadmissible workloads; 0 where it comes at once
    device_class: float | None = (
        1.0  # until it looks at what waits for a class's resource; None: it never does
    )
    retries: float | None = None
    """How often as long as it has refused a workload until it tries it again, at most; None: it need not do so."""


LONGEST_PAUSE = 0.04
"""Seconds: often enough that nobody waits long, seldom enough that asking does not slow down what is waited for."""


class NotYet(Exception):
    """What a probe raises to be asked again; its text says what was seen instead."""


class TimedOut(Exception):
    """Something did not come about in time: ``what`` was waited for, and ``seen`` is what there was at the end."""

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
    """Ask ``probe`` until it does not raise `NotYet`; after ``within`` seconds: `TimedOut`.

    The first pause is ``every`` seconds; each is half as long again as the one before, up to ``at_most`` seconds.
    ``pause`` may return earlier, when there is something new to see.
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


def let_second_pass(second: int) -> None:
    """Wait, for a second at most, until this machine's clock shows a later second of 1970 than ``second``."""
    time.sleep(min(max(second + 1 - time.time(), 0.0), 1.0))


def age_of(stamp: str) -> float:
    """Seconds of this machine's clock since an RFC 3339 time, which has whole seconds."""
    return max(time.time() - datetime.fromisoformat(stamp).timestamp(), 0.0)


def elapsed_since(moment: float) -> float:
    """Seconds of the monotonic clock since ``moment``, which `moment_now` gave."""
    return time.monotonic() - moment


def moment_now() -> float:
    """Give a reading of the monotonic clock, for `elapsed_since`."""
    return time.monotonic()
