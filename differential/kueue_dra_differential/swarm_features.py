"""The features of generated scenarios that a run may ask for by name."""

from __future__ import annotations

MULTIKUEUE = "multikueue"
"""Scenarios of their own, with a manager and two workers."""

FEATURES = {
    "admission-checks": ("checks",),
    "topology": ("placed",),
    "elastic-jobs": ("elastic", "edits"),
    "admission-fair-sharing": ("used",),
    "wait-for-pods-ready": ("waits",),
    "retention": ("retained", "checks"),
    "concurrent-admission": ("varied",),
    "admission-gates": ("gated",),
    MULTIKUEUE: (),
}
"""Their names, with their fields in `SwarmConfig`."""
