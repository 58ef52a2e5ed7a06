"""One condition of a status, as a rule asks for it to be written.

Kubernetes: k8s.io/apimachinery/pkg/apis/meta/v1/types.go (Condition)
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition to write."""

    type: str
    value: bool
    reason: str
    message: str
