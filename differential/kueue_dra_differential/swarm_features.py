"""The features of generated scenarios that a run may ask for by name."""

from __future__ import annotations

FEATURES = {
    "admission-checks": ("checks",),
    "topology": ("placed",),
    "elastic-jobs": ("elastic", "edits"),
    "admission-fair-sharing": ("used",),
}
"""Their names, with their fields in `SwarmConfig`."""
