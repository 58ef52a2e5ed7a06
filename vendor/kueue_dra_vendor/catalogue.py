"""Every check, in the order of its ID."""

from __future__ import annotations

from kueue_dra_vendor import (
    checks_amounts,
    checks_classes,
    checks_intent,
    checks_pools,
    checks_work,
)
from kueue_dra_vendor.check import CHECKS

MODULES = (
    checks_classes,
    checks_pools,
    checks_amounts,
    checks_work,
    checks_intent,
)
"""The modules that register checks when they are imported."""
ALL = tuple(CHECKS[each] for each in sorted(CHECKS))
