"""The condition PodsReady of a Workload, and the settings of waitForPodsReady in a Configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.durations import seconds
from kueue_dra_ref.target import Manifest

WAIT_FOR_PODS_READY = "waitForPodsReady"
"""The section of a Configuration."""
PODS_READY = "PodsReady"
"""The condition."""
WAIT_FOR_START, WAIT_FOR_RECOVERY = "WaitForStart", "WaitForRecovery"
"""Its reasons while pods are not ready, which are also the causes of evictions."""
PODS_READY_TIMEOUT = "PodsReadyTimeout"
"""The reason of an eviction because pods were not ready in time."""
CREATION, EVICTION = "Creation", "Eviction"
"""The times by which Kueue orders a workload that was evicted for that reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitForPodsReady:
    """What a Configuration says of waitForPodsReady, in seconds; None where it says nothing."""

    is_written: bool = False
    is_first_version: bool = False
    """Whether the Configuration has version v1beta1, in which the section needs ``enable``."""
    enable: bool = False
    timeout: float | None = None
    recovery_timeout: float | None = None
    block_admission: bool | None = None
    timestamp: str = EVICTION
    backoff_base: int = 60
    backoff_limit: int | None = None
    backoff_max: int = 3600

    @property
    def is_in_force(self) -> bool:
        """Whether the section is written, and enabled where that is a field of its own."""
        return self.is_written and (self.enable or not self.is_first_version)


def wait_for_pods_ready(document: Manifest) -> WaitForPodsReady:
    """Read the section of a Configuration that was decoded."""
    section = document.get(WAIT_FOR_PODS_READY)
    written: Manifest = section or {}
    strategy = written.get("requeuingStrategy") or {}
    version = str(document.get("apiVersion", ""))
    return WaitForPodsReady(
        is_written=section is not None,
        is_first_version=version.endswith("/v1beta1"),
        enable=bool(written.get("enable")),
        timeout=_seconds(written.get("timeout")),
        recovery_timeout=_seconds(written.get("recoveryTimeout")),
        block_admission=written.get("blockAdmission"),
        timestamp=strategy.get("timestamp") or EVICTION,
        backoff_base=_number(strategy, "backoffBaseSeconds", 60),
        backoff_limit=strategy.get("backoffLimitCount"),
        backoff_max=_number(strategy, "backoffMaxSeconds", 3600),
    )


def _seconds(written: Any) -> float | None:
    return None if written is None else seconds(written)


def _number(written: Manifest, key: str, default: int) -> int:
    found = written.get(key)
    return default if found is None else int(found)
