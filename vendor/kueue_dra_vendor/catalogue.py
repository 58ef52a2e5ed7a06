"""Every check, in the order of its ID."""

from __future__ import annotations

from kueue_dra_vendor import (
    checks_amounts,
    checks_classes,
    checks_hardware,
    checks_intent,
    checks_pools,
    checks_requests,
    checks_selectors,
    checks_served,
    checks_sharing,
    checks_work,
)
from kueue_dra_vendor.check import CHECKS

MODULES = (
    checks_amounts,
    checks_classes,
    checks_hardware,
    checks_intent,
    checks_pools,
    checks_requests,
    checks_selectors,
    checks_served,
    checks_sharing,
    checks_work,
)
"""The modules that register checks when they are imported."""
ALL = tuple(CHECKS[each] for each in sorted(CHECKS))
