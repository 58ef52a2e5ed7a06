"""What a selector is asked about, a device of resource.k8s.io/v1, and the three ways of not answering.

Kubernetes: k8s.io/dynamic-resource-allocation/cel/compile.go (Device, CompilationResult)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

UNDECIDED = "kueue_dra_undecided: "


class Undecidable(Exception):
    """Raised inside a function that the engine calls: Kubernetes would answer, but the answer is not known."""

    raised: ClassVar[list[str]] = []
    """The reasons of one evaluation: an error of one operand must not hide that the other could have decided."""

    def __init__(self, reason: str) -> None:
        super().__init__(UNDECIDED + reason)
        self.raised.append(reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One device as a ResourceSlice publishes it, with the driver and pool of its slice."""

    name: str
    driver: str
    pool: str = ""
    attributes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    capacity: Mapping[str, str] = field(default_factory=dict)
    # Kueue 0.19 compiles device.allowMultipleAllocations and never fills it: an evaluation for Kueue leaves this False.
    allow_multiple_allocations: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileError:
    """The expression is refused; `detail` is what follows "CEL compilation failed: " in Kueue's message."""

    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationError:
    """The expression fails on this device; `detail` is the run-time error, where known in Kubernetes' words."""

    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """Kubernetes would give an answer here and this reference does not know which."""

    reason: str
