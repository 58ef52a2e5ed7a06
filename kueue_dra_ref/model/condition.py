"""A condition that a rule sets in a status.

Kubernetes: k8s.io/apimachinery/pkg/apis/meta/v1/types.go (Condition)
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """The type, status, reason and message to set."""

    type: str
    value: bool
    reason: str
    message: str
